"""Reads what linters say of the changed files: SARIF, the JSON of ruff and of ESLint, and lines `path:line:column:
message`.

    findings = read_findings(Path("ruff.json").read_bytes())
    findings.notices       # what of it is no finding

Nothing in such a file is believed: an entry without a path or a message is passed over, and a notice counts such
entries. Lines of text that name no place are what linters print around their findings; they are passed over without a
word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from secateur.errors import SecateurError
from secateur.kinds.diff.chunk_text import one_line
from secateur.model import Notice

LONGEST_FINDING = 240
"""Cells of a finding in a chunk; messages that quote the code can be pages."""

ERROR, WARNING, REMARK = 0, 1, 2

PASSED_OVER = "findings_passed_over"
"""Code of the warning about entries of a linter's output that are no findings."""

_LINE = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[^:\0]+?):(?P<line>\d{1,9})(?:[:,](?P<column>\d{1,9}))?:?\s+(?P<message>\S.*)"
)
_SEVERITY = re.compile(
    r"(?:\[?(error|fatal|critical|warning|warn|note|info|hint|style)\]?:?\s+)(.*)", re.IGNORECASE | re.DOTALL
)
_LEVELS = {"error": ERROR, "fatal": ERROR, "critical": ERROR, "warning": WARNING, "warn": WARNING}
_LARGEST_LINE = 10**9
_BACKTICKS = re.compile("`{3,}")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One remark of a linter. All text is from outside."""

    path: str  # as the linter writes it
    line: int  # 0: the file as a whole
    column: int
    severity: int  # ERROR, WARNING, REMARK
    rule: str
    message: str

    @property
    def text(self) -> str:
        """One line: "12:5 error F401 `os` imported but unused"."""
        place = f"{self.line}:{self.column} " if self.column else f"{self.line} "
        words = (("error", "warning", "remark")[self.severity], self.rule, self.message)
        said = _BACKTICKS.sub("'''", " ".join(word for word in words if word))
        return one_line(place + said, LONGEST_FINDING, quotes=False) + "\n"


class Findings(list[Finding]):
    """Findings in a total order, each once; `notices` say what was passed over."""

    def __init__(self, findings: Iterable[Finding] = (), notices: Iterable[Notice] = ()) -> None:
        super().__init__(findings)
        self.notices = tuple(notices)


class _Passed:
    """The entries that are passed over: how many, and where the first is."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def over(self, place: str) -> None:
        """Count one."""
        self.first = self.first or place
        self.count += 1

    def notices(self, name: str) -> list[Notice]:
        """The warning about them, if there are any."""
        if not self.count:
            return []
        entries = "1 entry names" if self.count == 1 else f"{self.count:,} entries name"
        said = f"{name}: {entries} no file or no message and cannot be shown; the first is {self.first}."
        return [Notice(PASSED_OVER, said)]


def read_findings(data: bytes, name: str = "the linter's output") -> Findings:
    """The findings in a linter's output.

    Raises:
        SecateurError: `LINTER_OUTPUT`: JSON that is damaged or of an unknown shape, or no line that names a place.
    """
    text = data.decode("utf-8-sig", "replace")
    if not text.strip():
        return Findings()
    passed = _Passed()
    hint = "give SARIF, the JSON of ruff or ESLint, or lines `path:line:column: message`"
    if text.lstrip()[0] in "[{":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SecateurError(
                f"{name}: not the JSON it begins as: {error}", hint=hint, code="LINTER_OUTPUT"
            ) from error
        found = _of_json(value, passed)
        if found is None:
            raise SecateurError(f"{name}: JSON of no known linter", hint=hint, code="LINTER_OUTPUT")
    else:
        found = _of_lines(text)
    findings = sorted(set(found))
    if not findings and not text.lstrip().startswith(("[", "{")):
        raise SecateurError(f"{name}: no line names a file and a line", hint=hint, code="LINTER_OUTPUT")
    return Findings(findings, passed.notices(name))


def by_changed_file(findings: Iterable[Finding], paths: Iterable[str]) -> tuple[dict[str, list[Finding]], int]:
    """The findings of every changed file, and how many are about other files.

    A linter run elsewhere names files by longer paths: the longest changed path that such a one ends in is meant.
    """
    known = set(paths)
    found: dict[str, list[Finding]] = {}
    elsewhere = 0
    for finding in findings:
        parts = finding.path.removeprefix("file://").replace("\\", "/").removeprefix("./").split("/")
        path = next((tail for start in range(len(parts)) if (tail := "/".join(parts[start:])) in known), None)
        if path is None:
            elsewhere += 1
        else:
            found.setdefault(path, []).append(finding)
    return found, elsewhere


def _of_lines(text: str) -> Iterator[Finding]:
    for line in text.split("\n"):
        match = _LINE.fullmatch(line.strip())
        if match:
            severity, message = WARNING, match["message"]
            said = _SEVERITY.fullmatch(message)
            if said:
                severity, message = _LEVELS.get(said[1].lower(), REMARK), said[2]
            yield Finding(match["path"], int(match["line"]), int(match["column"] or 0), severity, "", message)


def _of_json(value: Any, passed: _Passed) -> Iterator[Finding] | None:
    """The findings of a known shape; None for an unknown one."""
    if isinstance(value, dict) and isinstance(value.get("runs"), list):
        return _of_sarif(value["runs"], passed)
    if isinstance(value, list):
        entries = [entry for entry in value if isinstance(entry, dict)]
        if not value or any("filePath" in entry for entry in entries):
            return _of_eslint(value, passed)
        if any("filename" in entry for entry in entries):
            return _of_ruff(value, passed)
    return None


def _of_ruff(entries: Sequence[Any], passed: _Passed) -> Iterator[Finding]:
    for number, entry in enumerate(entries):
        found = entry if isinstance(entry, dict) else {}
        place = _dict(found, "location")
        finding = _finding(
            found.get("filename"),
            place.get("row"),
            place.get("column"),
            WARNING,
            found.get("code"),
            found.get("message"),
        )
        yield from _kept(finding, f"$[{number}]", passed)


def _of_eslint(entries: Sequence[Any], passed: _Passed) -> Iterator[Finding]:
    for number, entry in enumerate(entries):
        messages = entry.get("messages") if isinstance(entry, dict) else None
        if not isinstance(messages, list):
            passed.over(f"$[{number}]")
            continue
        for place, message in enumerate(messages):
            found = message if isinstance(message, dict) else {}
            severity = ERROR if found.get("severity") == 2 else WARNING
            finding = _finding(
                entry.get("filePath"),
                found.get("line"),
                found.get("column"),
                severity,
                found.get("ruleId"),
                found.get("message"),
            )
            yield from _kept(finding, f"$[{number}].messages[{place}]", passed)


def _of_sarif(runs: Sequence[Any], passed: _Passed) -> Iterator[Finding]:
    for number, run in enumerate(runs):
        results = run.get("results") if isinstance(run, dict) else None
        if not isinstance(results, list):
            if not isinstance(run, dict) or results is not None:
                passed.over(f"$.runs[{number}]")
            continue
        for place, result in enumerate(results):
            found = list(_of_result(result))
            yield from found
            if not found:
                passed.over(f"$.runs[{number}].results[{place}]")


def _of_result(result: Any) -> Iterator[Finding]:
    """A finding a place that a result of SARIF names."""
    level = _text(result, "level")
    severity = {"error": ERROR, "warning": WARNING, None: WARNING}.get(level, REMARK)
    message = _text(_dict(result, "message"), "text")
    for location in _list(result, "locations"):
        place = _dict(location, "physicalLocation")
        region = _dict(place, "region")
        uri = _text(_dict(place, "artifactLocation"), "uri")
        finding = _finding(
            unquote(uri) if uri else uri,
            region.get("startLine", 0),
            region.get("startColumn", 0),
            severity,
            result.get("ruleId"),
            message,
        )
        if finding is not None:
            yield finding


def _kept(finding: Finding | None, place: str, passed: _Passed) -> Iterator[Finding]:
    """The finding; an entry that is none is counted."""
    if finding is None:
        passed.over(place)
    else:
        yield finding


def _finding(path: Any, line: Any, column: Any, severity: int, rule: Any, message: Any) -> Finding | None:
    """The finding, if it is one."""
    numbers = [
        value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST_LINE else 0
        for value in (line, column)
    ]
    if not (isinstance(path, str) and path and isinstance(message, str) and message.strip()):
        return None
    return Finding(path, numbers[0], numbers[1], severity, rule if isinstance(rule, str) else "", message)


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _dict(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Any, key: str) -> str | None:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else None
