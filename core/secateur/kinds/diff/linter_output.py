"""Reads the findings of linters: SARIF, the JSON of ruff and of ESLint, and lines `path:line:column:
message`.

    findings = read_findings(Path("ruff.json").read_bytes())
    findings.notices       # entries that are not findings

Such a file is not trusted: an entry without a path or a message is skipped, and a notice counts those entries. Lines
of text without a path and a line are skipped without a notice: linters print them around their findings.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from secateur.errors import SecateurError
from secateur.kinds.diff.chunk_text import one_line
from secateur.model import Notice
from secateur.render.page import count_noun

LONGEST_FINDING = 240  # cells of a finding in a chunk; messages that quote the code can be pages

ERROR, WARNING, REMARK = 0, 1, 2

PASSED_OVER = "findings_passed_over"  # code of the warning about entries of a linter's output that are not findings
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
        position = f"{self.line}:{self.column} " if self.column else f"{self.line} "
        words = (("error", "warning", "remark")[self.severity], self.rule, self.message)
        sentence = _BACKTICKS.sub("'''", " ".join(word for word in words if word))
        return one_line(position + sentence, LONGEST_FINDING, quotes=False) + "\n"


class Findings(list[Finding]):
    """Findings in a total order, each once; `notices` count the skipped entries."""

    def __init__(self, findings: Iterable[Finding] = (), notices: Iterable[Notice] = ()) -> None:
        super().__init__(findings)
        self.notices = tuple(notices)


_Entry = tuple[str, Finding | None]  # the place of an entry in the JSON; None: it cannot be shown


def read_findings(data: bytes, name: str = "the linter's output") -> Findings:
    """Reads a linter's output. Raises SecateurError: `LINTER_OUTPUT`: the JSON is damaged or has an unknown shape, or
    no line names a file and a line."""
    text = data.decode("utf-8-sig", "replace")
    if not text.strip():
        return Findings()
    hint = "give SARIF, the JSON of ruff or ESLint, or lines `path:line:column: message`"
    if text.lstrip()[0] in "[{":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SecateurError(f"{name}: invalid JSON: {error}", hint=hint, code="LINTER_OUTPUT") from error
        if (entries := _read_json(value)) is None:
            raise SecateurError(f"{name}: not the JSON of a known linter", hint=hint, code="LINTER_OUTPUT")
    else:
        entries = (("", finding) for finding in _read_lines(text))
    read = list(entries)
    findings = sorted({finding for _, finding in read if finding is not None})
    skipped = [entry for entry, finding in read if finding is None]
    if not findings and not text.lstrip().startswith(("[", "{")):
        raise SecateurError(f"{name}: no line names a file and a line", hint=hint, code="LINTER_OUTPUT")
    if not skipped:
        return Findings(findings)
    many = count_noun(len(skipped), "entry names", "entries name")
    message = f"{name}: {many} no file or no message and cannot be shown; the first is {skipped[0]}."
    return Findings(findings, [Notice(PASSED_OVER, message)])


def group_by_file(findings: Iterable[Finding], paths: Iterable[str]) -> tuple[dict[str, list[Finding]], int]:
    """Groups findings by changed file, and counts those about other files.

    A linter that ran elsewhere gives longer paths; each matches the longest changed path that it ends in.
    """
    known = set(paths)
    by_path: dict[str, list[Finding]] = {}
    elsewhere = 0
    for finding in findings:
        parts = finding.path.removeprefix("file://").replace("\\", "/").removeprefix("./").split("/")
        path = next((tail for start in range(len(parts)) if (tail := "/".join(parts[start:])) in known), None)
        if path is None:
            elsewhere += 1
        else:
            by_path.setdefault(path, []).append(finding)
    return by_path, elsewhere


def _read_lines(text: str) -> Iterator[Finding]:
    for line in text.split("\n"):
        if match := _LINE.fullmatch(line.strip()):
            severity, message = WARNING, match["message"]
            if labelled := _SEVERITY.fullmatch(message):
                severity, message = _LEVELS.get(labelled[1].lower(), REMARK), labelled[2]
            yield Finding(match["path"], int(match["line"]), int(match["column"] or 0), severity, "", message)


def _read_json(value: Any) -> Iterator[_Entry] | None:
    if isinstance(value, dict) and isinstance(value.get("runs"), list):
        return _read_sarif(value["runs"])
    if isinstance(value, list):
        entries = [entry for entry in value if isinstance(entry, dict)]
        if not value or any("filePath" in entry for entry in entries):
            return _read_eslint(value)
        if any("filename" in entry for entry in entries):
            return _read_ruff(value)
    return None


def _read_ruff(entries: Sequence[Any]) -> Iterator[_Entry]:
    for index, entry in enumerate(entries):
        fields = entry if isinstance(entry, dict) else {}
        path, rule, message = map(fields.get, ("filename", "code", "message"))
        line, column = map(_dict(fields, "location").get, ("row", "column"))
        yield f"$[{index}]", _make_finding(path, line, column, WARNING, rule, message)


def _read_eslint(entries: Sequence[Any]) -> Iterator[_Entry]:
    for index, entry in enumerate(entries):
        messages = entry.get("messages") if isinstance(entry, dict) else None
        if not isinstance(messages, list):
            yield f"$[{index}]", None
            continue
        for position, message in enumerate(messages):
            fields = message if isinstance(message, dict) else {}
            severity = ERROR if fields.get("severity") == 2 else WARNING
            line, column, rule, text = map(fields.get, ("line", "column", "ruleId", "message"))
            finding = _make_finding(entry.get("filePath"), line, column, severity, rule, text)
            yield f"$[{index}].messages[{position}]", finding


def _read_sarif(runs: Sequence[Any]) -> Iterator[_Entry]:
    for index, run in enumerate(runs):
        results = run.get("results") if isinstance(run, dict) else None
        if not isinstance(results, list):
            if not isinstance(run, dict) or results is not None:
                yield f"$.runs[{index}]", None
            continue
        for position, result in enumerate(results):
            findings: list[Finding | None] = [finding for finding in _read_result(result) if finding is not None]
            yield from ((f"$.runs[{index}].results[{position}]", finding) for finding in findings or [None])


def _read_result(result: Any) -> Iterator[Finding | None]:
    severity = {"error": ERROR, "warning": WARNING, None: WARNING}.get(_text(result, "level"), REMARK)
    message = _text(_dict(result, "message"), "text")
    locations = result.get("locations") if isinstance(result, dict) else None
    for location in locations if isinstance(locations, list) else ():
        physical = _dict(location, "physicalLocation")
        region = _dict(physical, "region")
        uri = _text(_dict(physical, "artifactLocation"), "uri")
        line, column = region.get("startLine", 0), region.get("startColumn", 0)
        yield _make_finding(uri and unquote(uri), line, column, severity, result.get("ruleId"), message)


def _make_finding(path: Any, line: Any, column: Any, severity: int, rule: Any, message: Any) -> Finding | None:
    numbers = [
        value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST_LINE else 0
        for value in (line, column)
    ]
    if not (isinstance(path, str) and path and isinstance(message, str) and message.strip()):
        return None
    return Finding(path, numbers[0], numbers[1], severity, rule if isinstance(rule, str) else "", message)


def _dict(value: Any, key: str) -> Mapping[str, Any]:
    field = value.get(key) if isinstance(value, dict) else None
    return field if isinstance(field, dict) else {}


def _text(value: Any, key: str) -> str | None:
    field = value.get(key) if isinstance(value, Mapping) else None
    return field if isinstance(field, str) else None
