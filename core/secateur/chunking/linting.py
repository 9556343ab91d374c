"""What linters say of the changed files: SARIF, the JSON of ruff and of ESLint, and lines `path:line:column: message`.

    findings = read_findings(Path("ruff.json").read_bytes())

Nothing in such a file is believed: what has no path, line or message is passed over and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from secateur.chunking.composing import one_line
from secateur.errors import SecateurError

LONGEST_FINDING = 240
"""Cells of a finding in a chunk; messages that quote the code can be pages."""

ERROR, WARNING, REMARK = 0, 1, 2

_LINE = re.compile(r"(?P<path>(?:[A-Za-z]:)?[^:\0]+?):(?P<line>\d{1,9})(?:[:,](?P<column>\d{1,9}))?:?\s+(?P<message>\S.*)")
_SEVERITY = re.compile(r"(?:\[?(error|fatal|critical|warning|warn|note|info|hint|style)\]?:?\s+)(.*)", re.IGNORECASE | re.DOTALL)
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


def read_findings(data: bytes, name: str = "the linter's output") -> list[Finding]:
    """The findings in a linter's output, in a total order, each once.

    Raises:
        SecateurError: `LINTER_OUTPUT`: JSON that is damaged or of an unknown shape, or no line that names a place.
    """
    text = data.decode("utf-8-sig", "replace")
    if not text.strip():
        return []
    hint = "give SARIF, the JSON of ruff or ESLint, or lines `path:line:column: message`"
    if text.lstrip()[0] in "[{":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SecateurError(f"{name}: not the JSON it begins as: {error}", hint=hint, code="LINTER_OUTPUT") from error
        found = _of_json(value)
        if found is None:
            raise SecateurError(f"{name}: JSON of no known linter", hint=hint, code="LINTER_OUTPUT")
    else:
        found = _of_lines(text)
    findings = sorted(set(found))
    if not findings and not text.lstrip().startswith(("[", "{")):
        raise SecateurError(f"{name}: no line names a file and a line", hint=hint, code="LINTER_OUTPUT")
    return findings


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


def _of_json(value: Any) -> Iterator[Finding] | None:
    """The findings of a known shape; None for an unknown one."""
    if isinstance(value, dict) and isinstance(value.get("runs"), list):
        return _of_sarif(value["runs"])
    if isinstance(value, list):
        entries = [entry for entry in value if isinstance(entry, dict)]
        if not value or any("filePath" in entry for entry in entries):
            return _of_eslint(entries)
        if any("filename" in entry for entry in entries):
            return _of_ruff(entries)
    return None


def _of_ruff(entries: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    for entry in entries:
        place = entry.get("location")
        row, column = (place.get("row"), place.get("column")) if isinstance(place, dict) else (0, 0)
        yield from _finding(entry.get("filename"), row, column, WARNING, entry.get("code"), entry.get("message"))


def _of_eslint(entries: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    for entry in entries:
        messages = entry.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict):
                severity = ERROR if message.get("severity") == 2 else WARNING
                yield from _finding(entry.get("filePath"), message.get("line"), message.get("column"), severity, message.get("ruleId"), message.get("message"))


def _of_sarif(runs: Iterable[Any]) -> Iterator[Finding]:
    for result in (result for run in runs for result in _list(run, "results")):
        severity = {"error": ERROR, "warning": WARNING, None: WARNING}.get(_text(result, "level"), REMARK)
        message = _text(_dict(result, "message"), "text")
        for location in _list(result, "locations"):
            place = _dict(location, "physicalLocation")
            region = _dict(place, "region")
            uri = _text(_dict(place, "artifactLocation"), "uri")
            yield from _finding(unquote(uri) if uri else uri, region.get("startLine", 0), region.get("startColumn", 0), severity, result.get("ruleId"), message)


def _finding(path: Any, line: Any, column: Any, severity: int, rule: Any, message: Any) -> Iterator[Finding]:
    """The finding, if it is one."""
    numbers = [value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST_LINE else 0 for value in (line, column)]
    if isinstance(path, str) and path and isinstance(message, str) and message.strip():
        yield Finding(path, numbers[0], numbers[1], severity, rule if isinstance(rule, str) else "", message)


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _dict(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Any, key: str) -> str | None:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else None
