"""Finds units without a grammar: SQL statements, messages, services and calls of Protobuf, types and operations of
GraphQL."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from secateur.languages.syntax.collector import ALWAYS, LONG_FUNCTION, NAME_LENGTH, Collector, Definition
from secateur.languages.syntax.partition import make_facts
from secateur.model import FileFacts, FragmentKind

_HEAD = 600  # most characters of a statement that are searched for its name


@dataclass(slots=True)
class _OutlineUnit:
    """A unit in rows `first..last` whose head ends in row `head`. `depth`: braces around it; `has_body`: its brace has
    opened."""

    kind: FragmentKind
    name: str
    first: int
    last: int
    head: int
    depth: int = 0
    has_body: bool = False


_KindAndName = tuple[FragmentKind, str]


def read_outline(language: str, lines: Sequence[str], problems: tuple[str, ...]) -> FileFacts | None:
    """Returns the facts of a file; None for a format that is not handled here, and for a file without units."""
    if language not in _READERS:
        return None
    silent, read = _READERS[language]
    quiet = silent.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), "\n".join(lines)).split("\n")
    if not (units := read(quiet)):
        return None
    out = Collector(b"")
    for unit in units:
        is_class = unit.kind is FragmentKind.CLASS
        span, rows = (unit.first, unit.last + 1), (unit.first, unit.last, unit.first, unit.head)
        opens_at = ALWAYS if is_class else LONG_FUNCTION
        out.definitions.append(Definition(unit.kind, unit.name[:NAME_LENGTH], *span, *rows, opens_at, methods=is_class))
    notes = frozenset(
        row for row, (line, code) in enumerate(zip(lines, quiet, strict=True)) if line.strip() and not code.strip()
    )
    return make_facts(language, lines, out, (), notes, problems)


def _read_braces(
    find: Callable[[str, Sequence[str]], _KindAndName | None],
) -> Callable[[Sequence[str]], list[_OutlineUnit]]:
    """Returns a reader of units whose bodies are in braces. `find` gets a line and the names of the outer units."""

    def read(quiet: Sequence[str]) -> list[_OutlineUnit]:
        units: list[_OutlineUnit] = []
        outer_units: list[_OutlineUnit] = []
        depth = parentheses = 0
        for row, line in enumerate(quiet):
            unit_head = find(line, [unit.name for unit in outer_units if unit.has_body]) if parentheses <= 0 else None
            if outer_units and not outer_units[-1].has_body and (unit_head or not line.strip()) and parentheses <= 0:
                outer_units.pop()
            if unit_head:
                units.append(_OutlineUnit(*unit_head, row, row, row, depth))
                outer_units.append(units[-1])
            for mark in re.findall(r"[{}();]", line):
                parentheses += (mark == "(") - (mark == ")")
                if mark == "{":
                    depth += 1
                    if outer_units and not outer_units[-1].has_body:
                        outer_units[-1].has_body, outer_units[-1].head = True, row
                elif mark == "}":
                    depth -= 1
                    parentheses = 0
                while outer_units and (
                    (mark == "}" and depth <= outer_units[-1].depth)
                    or (mark == ";" and not outer_units[-1].has_body and parentheses <= 0)
                ):
                    outer_units.pop().last = row
                    if mark == ";":
                        break
            for unit in outer_units:
                unit.last = row if line.strip() else unit.last
        return units

    return read


_PROTO = re.compile(r"\s*(message|service|enum|extend|rpc)\s+([\w.]+)")


def _find_in_protobuf(line: str, _around: Sequence[str]) -> _KindAndName | None:
    if (match := _PROTO.match(line)) is None:
        return None
    return FragmentKind.FUNCTION if match[1] == "rpc" else FragmentKind.CLASS, match[2]


_TYPE = re.compile(r"(?:extend\s+)?(?:type|interface|input|enum|union|scalar|directive|schema)\b\s*@?(\w*)")
_OPERATION = re.compile(r"(?:query|mutation|subscription|fragment)\s+(\w+)")
_FIELD = re.compile(r"\s+(\w+)\s*[(:]")
_ROOTS = frozenset({"Query", "Mutation", "Subscription"})


def _find_in_graphql(line: str, outer_units: Sequence[str]) -> _KindAndName | None:
    if match := _TYPE.match(line):
        return FragmentKind.CLASS, match[1] or "schema"
    if match := _OPERATION.match(line):
        return FragmentKind.FUNCTION, match[1]
    if len(outer_units) == 1 and outer_units[0] in _ROOTS and (match := _FIELD.match(line)):
        return FragmentKind.FUNCTION, match[1]
    return None


_MARK = re.compile(
    r"^[ \t]*DELIMITER[ \t]+(?P<delimiter>\S+)[^\n]*|^[ \t]*(?P<go>GO)[ \t\r]*$|(?P<word>\w+)|(?P<sign>[^\w\s])",
    re.MULTILINE | re.IGNORECASE,
)
_SQL_NAME = r"(?:if\s+(?:not\s+)?exists\s+)?((?:[\w\[\]`\"#@$]+\.)*[\w\[\]`\"#@$]+)"
_CREATE = re.compile(
    r"create\s+(?:or\s+\w+\s+)?(?:\w+\s+){0,4}?(table|view|function|procedure|proc|trigger|index|type|schema|database"
    r"|sequence|role|user|event|package(?:\s+body)?|domain|policy|extension|macro)\s+(?:concurrently\s+)?" + _SQL_NAME,
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"(insert|update|delete|merge|alter|drop|truncate|comment|grant|replace|copy|call|exec)\b"
    r"(?:\s+(?:into|from|on|only|overwrite|table|view|function|procedure|index|column|type|schema|sequence|or|ignore))*"
    r"\s+" + _SQL_NAME,
    re.IGNORECASE,
)
_SELECT = re.compile(r"(select|with)\b(?:(?!\bfrom\b)[\s\S])*\bfrom\s+" + _SQL_NAME, re.IGNORECASE)
_ROUTINES = frozenset({"function", "procedure", "proc", "trigger", "view", "event", "macro"})
_CLASSES = frozenset({"table", "type", "schema", "package", "package body"})
_NO_BLOCK = frozenset({"if", "loop", "while", "repeat", "for"})


def _read_sql(quiet: Sequence[str]) -> list[_OutlineUnit]:
    """Splits statements at semicolons outside routines, or at the delimiter that DELIMITER sets."""
    text = "\n".join(quiet)
    line_of = [row for row, line in enumerate(quiet) for _ in range(len(line) + 1)]
    units: list[_OutlineUnit] = []
    delimiter = ";"
    start, depth, before = -1, 0, ""
    is_routine = False

    def finish(end: int) -> None:
        nonlocal start
        if start >= 0:
            head = text[start : start + _HEAD]
            first = line_of[start]
            kind, name = FragmentKind.SECTION, " ".join(head.split()[:2])
            if match := _CREATE.match(head):
                what = " ".join(match[1].lower().split())
                if what in _ROUTINES:
                    kind = FragmentKind.FUNCTION
                elif what in _CLASSES:
                    kind = FragmentKind.CLASS
                name = match[2]
            elif match := _CHANGE.match(head) or _SELECT.match(head):
                name = f"{match[1].upper()} {match[2]}"
            if kind is not FragmentKind.SECTION:
                name = re.sub(r"[\[\]`\"]", "", name).rsplit(".", 1)[-1]
            units.append(_OutlineUnit(kind, name, first, line_of[end], first))
        start = -1

    for match in _MARK.finditer(text):
        at = match.start()
        word = (match["word"] or "").lower()
        if match["delimiter"] or match["go"]:
            finish(at - 1)
            delimiter = match["delimiter"] or delimiter
        elif text.startswith(delimiter, at) and (depth <= 0 or delimiter != ";"):
            finish(at)
            depth = 0
        elif start < 0 and not (match["sign"] and match["sign"] in delimiter):
            start, depth = at, 0
            creation = _CREATE.match(text[at : at + _HEAD])
            is_routine = creation is not None and creation[1].lower() in _ROUTINES - {"view"}
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


_C_SILENT = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*?/?|"
_QUOTED = r"(?<!\\)(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
_READERS: dict[str, tuple[re.Pattern[str], Callable[[Sequence[str]], list[_OutlineUnit]]]] = {
    "protobuf": (re.compile(_C_SILENT + _QUOTED), _read_braces(_find_in_protobuf)),
    "graphql": (
        re.compile(r'#[^\n]*|"""(?:[^"]|"(?!""))*(?:""")?|(?<!\\)"(?:\\.|[^"\\\n])*"'),
        _read_braces(_find_in_graphql),
    ),
    "sql": (
        re.compile(
            r"--[^\n]*|/\*(?:[^*]|\*(?!/))*\*?/?|'(?:[^'\\]|\\.|'')*'?"
            r"|(\$\w*\$)(?:[^$]|\$(?!\w*\$))*(?:\1)?"
        ),
        _read_sql,
    ),
}
