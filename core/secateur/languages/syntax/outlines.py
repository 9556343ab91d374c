"""Finds the units of formats whose outline can be read without a grammar: SQL statements, the messages, services and
calls of Protobuf, the types and operations of GraphQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from secateur.languages.syntax.collector import ALWAYS, LONG_FUNCTION, NAME_LENGTH, Collector, Definition
from secateur.languages.syntax.partition import facts
from secateur.model import FileFacts, FragmentKind

_HEAD = 600
"""Characters of a statement in which its name is looked for."""


@dataclass(slots=True)
class _OutlineUnit:
    """Rows `first..last`; the head ends in `head`. `depth`: brackets around it; `has_body`: one has opened since."""

    kind: FragmentKind
    name: str
    first: int
    last: int
    head: int
    depth: int = 0
    has_body: bool = False


_Found = tuple[FragmentKind, str]


def outline_facts(language: str, lines: Sequence[str], problems: tuple[str, ...]) -> FileFacts | None:
    """Returns the facts of a file of a format of this module; None for another, and where nothing is found."""
    if language not in _READERS:
        return None
    silent, read = _READERS[language]
    text = "\n".join(lines)
    quiet = silent.sub(_blanked, text).split("\n")
    units = read(quiet)
    if not units:
        return None
    out = Collector(b"")
    for unit in units:
        opens_at = ALWAYS if unit.kind is FragmentKind.CLASS else LONG_FUNCTION
        is_class = unit.kind is FragmentKind.CLASS
        rows = (unit.first, unit.last, unit.first, unit.head)
        name = unit.name[:NAME_LENGTH]
        out.definitions.append(
            Definition(unit.kind, name, unit.first, unit.last + 1, *rows, opens_at, methods=is_class)
        )
    notes = frozenset(
        row for row, (line, left) in enumerate(zip(lines, quiet, strict=True)) if line.strip() and not left.strip()
    )
    return facts(language, lines, out, (), notes, problems)


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _braced(find: Callable[[str, Sequence[str]], _Found | None]) -> Callable[[Sequence[str]], list[_OutlineUnit]]:
    """Returns a reader of units whose bodies stand between braces. `find` gets a line and the names around it."""

    def read(quiet: Sequence[str]) -> list[_OutlineUnit]:
        units: list[_OutlineUnit] = []
        around: list[_OutlineUnit] = []
        depth = parentheses = 0
        for row, line in enumerate(quiet):
            found = find(line, [unit.name for unit in around if unit.has_body]) if parentheses <= 0 else None
            if around and not around[-1].has_body and (found or not line.strip()) and parentheses <= 0:
                around.pop()
            if found:
                units.append(_OutlineUnit(*found, row, row, row, depth))
                around.append(units[-1])
            for mark in re.findall(r"[{}();]", line):
                parentheses += (mark == "(") - (mark == ")")
                if mark == "{":
                    depth += 1
                    if around and not around[-1].has_body:
                        around[-1].has_body, around[-1].head = True, row
                elif mark == "}":
                    depth -= 1
                    parentheses = 0
                while around and (
                    (mark == "}" and depth <= around[-1].depth)
                    or (mark == ";" and not around[-1].has_body and parentheses <= 0)
                ):
                    around.pop().last = row
                    if mark == ";":
                        break
            for unit in around:
                unit.last = row if line.strip() else unit.last
        return units

    return read


_PROTO = re.compile(r"\s*(message|service|enum|extend|rpc)\s+([\w.]+)")


def _find_in_protobuf(line: str, _around: Sequence[str]) -> _Found | None:
    match = _PROTO.match(line)
    if match is None:
        return None
    return FragmentKind.FUNCTION if match[1] == "rpc" else FragmentKind.CLASS, match[2]


_TYPE = re.compile(r"(?:extend\s+)?(?:type|interface|input|enum|union|scalar|directive|schema)\b\s*@?(\w*)")
_OPERATION = re.compile(r"(?:query|mutation|subscription|fragment)\s+(\w+)")
_FIELD = re.compile(r"\s+(\w+)\s*[(:]")
_ROOTS = frozenset({"Query", "Mutation", "Subscription"})


def _find_in_graphql(line: str, around: Sequence[str]) -> _Found | None:
    if match := _TYPE.match(line):
        return FragmentKind.CLASS, match[1] or "schema"
    if match := _OPERATION.match(line):
        return FragmentKind.FUNCTION, match[1]
    if len(around) == 1 and around[0] in _ROOTS and (match := _FIELD.match(line)):
        return FragmentKind.FUNCTION, match[1]
    return None


_MARK = re.compile(
    r"^[ \t]*DELIMITER[ \t]+(?P<delimiter>\S+)[^\n]*|^[ \t]*(?P<go>GO)[ \t\r]*$|(?P<word>\w+)|(?P<sign>[^\w\s])",
    re.MULTILINE | re.IGNORECASE,
)
_SQL_NAME = r"(?:if\s+(?:not\s+)?exists\s+)?((?:[\w\[\]`\"#@$]+\.)*[\w\[\]`\"#@$]+)"
_MADE = re.compile(
    r"create\s+(?:or\s+\w+\s+)?(?:\w+\s+){0,4}?(table|view|function|procedure|proc|trigger|index|type|schema|database"
    r"|sequence|role|user|event|package(?:\s+body)?|domain|policy|extension|macro)\s+(?:concurrently\s+)?" + _SQL_NAME,
    re.IGNORECASE,
)
_DONE = re.compile(
    r"(insert|update|delete|merge|alter|drop|truncate|comment|grant|replace|copy|call|exec)\b"
    r"(?:\s+(?:into|from|on|only|overwrite|table|view|function|procedure|index|column|type|schema|sequence|or|ignore))*"
    r"\s+" + _SQL_NAME,
    re.IGNORECASE,
)
_READ = re.compile(r"(select|with)\b(?:(?!\bfrom\b)[\s\S])*\bfrom\s+" + _SQL_NAME, re.IGNORECASE)
_ROUTINES = frozenset({"function", "procedure", "proc", "trigger", "view", "event", "macro"})
_CLASSES = frozenset({"table", "type", "schema", "package", "package body"})
_NO_BLOCK = frozenset({"if", "loop", "while", "repeat", "for"})


def _read_sql(quiet: Sequence[str]) -> list[_OutlineUnit]:
    """Splits at semicolons, or at what DELIMITER names, outside of the bodies of routines."""
    text = "\n".join(quiet)
    line_of: list[int] = []
    for row, line in enumerate(quiet):
        line_of += [row] * (len(line) + 1)
    units: list[_OutlineUnit] = []
    delimiter = ";"
    start, depth, before = -1, 0, ""
    is_routine = False

    def finish(end: int) -> None:
        nonlocal start
        if start >= 0:
            units.append(_statement(text[start : start + _HEAD], line_of[start], line_of[end]))
        start = -1

    for match in _MARK.finditer(text):
        at = match.start()
        word = (match["word"] or "").lower()
        if match["delimiter"]:
            finish(at - 1)
            delimiter = match["delimiter"]
        elif match["go"]:
            finish(at - 1)
        elif text.startswith(delimiter, at) and (depth <= 0 or delimiter != ";"):
            finish(at)
            depth = 0
        elif start < 0 and not (match["sign"] and match["sign"] in delimiter):
            start, depth = at, 0
            made = _MADE.match(text[at : at + _HEAD])
            is_routine = made is not None and made[1].lower() in _ROUTINES - {"view"}
        elif is_routine and word in ("begin", "case"):
            depth += before != "end"
        elif is_routine and before == "end":
            depth += word in _NO_BLOCK
        if is_routine and word == "end":
            depth -= 1
        if match["word"] or match["sign"]:
            before = word
    finish(len(text) - 1)
    return units


def _statement(head: str, first: int, last: int) -> _OutlineUnit:
    kind, name = FragmentKind.SECTION, " ".join(head.split()[:2])
    if match := _MADE.match(head):
        what = " ".join(match[1].lower().split())
        if what in _ROUTINES:
            kind = FragmentKind.FUNCTION
        elif what in _CLASSES:
            kind = FragmentKind.CLASS
        name = match[2]
    elif match := _DONE.match(head) or _READ.match(head):
        name = f"{match[1].upper()} {match[2]}"
    return _OutlineUnit(
        kind,
        re.sub(r"[\[\]`\"]", "", name).rsplit(".", 1)[-1] if kind is not FragmentKind.SECTION else name,
        first,
        last,
        first,
    )


_C_SILENT = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*?/?|"
_QUOTED = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_READERS: dict[str, tuple[re.Pattern[str], Callable[[Sequence[str]], list[_OutlineUnit]]]] = {
    "protobuf": (re.compile(_C_SILENT + _QUOTED), _braced(_find_in_protobuf)),
    "graphql": (re.compile(r'#[^\n]*|"""(?:[^"]|"(?!""))*(?:""")?|"(?:\\.|[^"\\\n])*"'), _braced(_find_in_graphql)),
    "sql": (
        re.compile(
            r"--[^\n]*|/\*(?:[^*]|\*(?!/))*\*?/?|'(?:[^'\\]|\\.|'')*'?"
            r"|(\$\w*\$)(?:[^$]|\$(?!\w*\$))*(?:\1)?"
        ),
        _read_sql,
    ),
}
OUTLINED = frozenset(_READERS)
"""The languages of this module."""
