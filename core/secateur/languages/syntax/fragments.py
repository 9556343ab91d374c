"""`parse_file` turns the bytes of one file into its fragments and facts. It is a pure function of path, bytes and
installed grammars.

Fragments of a file are sorted and disjoint, and together contain every non-blank line exactly once; none starts or ends
with a blank line. Problems (a missing grammar, broken syntax, a slow file) cost precision, never lines, and are listed
in `FileFacts.problems`:

- `invalid_utf8`: bytes that are not text were replaced
- `syntax_errors`: the tree has errors; the parsed part is used
- `grammar_missing:LANGUAGE`, `parse_timeout`, `too_large`, `minified`: the file was split into blocks of lines instead
- `reader_failed`: the same, because reading its tree raised an error, which is a fault of this package

Finds units without a grammar: SQL statements, messages, services and calls of Protobuf, types and operations of
GraphQL.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from secateur.languages import HEAD_BYTES, language_of, traits_of
from secateur.languages.ecmascript.imports import MANIFEST, read_manifest
from secateur.languages.plain import MARKUP, UNPARSED
from secateur.languages.syntax import grammar
from secateur.languages.syntax.blocks import read_blocks
from secateur.languages.syntax.collector import (
    ALWAYS,
    LONG_FUNCTION,
    NAME_LENGTH,
    Captures,
    Collector,
    Definition,
    last_row,
)
from secateur.languages.syntax.partition import make_facts
from secateur.languages.syntax.prose import split_blocks, split_sections
from secateur.languages.syntax.text import CONFLICT, DAMAGED_TEXT, decode, find_conflict, read_text, split_lines
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
    return make_facts(language, lines, out, notes, problems)


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


__all__ = ["decode", "language_of", "parse_file", "read_text", "split_lines"]

_NOTHING_MORE = b" \t\r\f;"  # bytes that may follow a comment or attribute in a row without other code

_MACRO_LINE = re.compile(r"\s*[A-Z]\w*\s*+(?:\(.*\)\s*+)?")

# SQL whose statements hold units: macros of dbt, packages of Oracle
_IS_NESTED = re.compile(r"\{[{%]|\bcreate\b[\w\s]{1,60}\bpackage\b", re.IGNORECASE)

READER_FAILED = "reader_failed"  # problem of a file whose reader raised an error


def parse_file(path: str, data: bytes) -> FileFacts:
    """Returns the fragments, calls, imports, bases and declared types of a file. Never raises for bad input."""
    try:
        return _read_file(path, data)
    except BaseException as error:
        if concerns_run(error):
            raise
        return make_text_blocks(path, data, READER_FAILED)


def make_text_blocks(path: str, data: bytes, problem: str) -> FileFacts:
    """Returns the facts of a file whose syntax is not read: blocks of lines, and `problem` as the reason."""
    text, damaged = read_text(path, data)
    problems = (DAMAGED_TEXT,) if damaged else ()
    return FileFacts(
        language_of(path, data[:HEAD_BYTES]), tuple(split_blocks(split_lines(text))), problems=(*problems, problem)
    )


def concerns_run(error: BaseException) -> bool:
    """Tells whether an error concerns the whole run, not the file that was being read.

    Panics of extension modules also derive from `BaseException`, so not all of its subclasses may be passed on.
    """
    return isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit))


def _read_file(path: str, data: bytes) -> FileFacts:
    language = language_of(path, data[:HEAD_BYTES])
    text, damaged = read_text(path, data)
    lines = split_lines(text)
    problems = (DAMAGED_TEXT,) if damaged else ()
    if "<<<<<<< " in text and find_conflict(list(enumerate(lines, 1))):
        problems = (*problems, CONFLICT)
    traits = traits_of(language)
    by_indentation = language in UNPARSED or language in MARKUP or (language == "sql" and _IS_NESTED.search(text))
    if (units := (read_blocks if by_indentation else read_outline)(language, lines, problems)) is not None:
        return units
    if traits.grammar is None:
        fragments = tuple(split_sections(language, lines))
        package, annotations = read_manifest(path, text) if language == MANIFEST and fragments else ("", ())
        return FileFacts(language, fragments, annotations=annotations, package=package, problems=problems)
    source = text.encode()
    problem = ""
    if len(source) > grammar.MAX_PARSE_BYTES:
        problem = "too_large"
    elif traits.is_often_minified and len(source) > grammar.MINIFIED_BYTES_A_LINE * max(len(lines), 1):
        problem = "minified"
    else:
        try:
            return _parse(language, source, lines, problems)
        except grammar.GrammarMissing:
            problem = f"grammar_missing:{language}"
        except grammar.ParseStopped:
            problem = "parse_timeout"
    problems = (*problems, problem)
    blocks = None if problem in ("too_large", "minified") else read_blocks(language, lines, problems)
    return blocks or FileFacts(language, tuple(split_blocks(lines)), problems=problems)


def _parse(language: str, source: bytes, lines: Sequence[str], problems: tuple[str, ...]) -> FileFacts:
    out, nodes, parsed = grammar.read_tree(language, source)
    if out.has_error:
        problems = (*problems, "syntax_errors")
    notes = set(_find_note_rows(nodes, lines))
    if parsed is not source:  # rows with only a macro, such as `UFUNCTION(...)`, belong to the definition below
        rows = enumerate(zip(lines, parsed.split(b"\n"), strict=False))
        notes.update(row for row, (line, quiet) in rows if quiet.isspace() and _MACRO_LINE.fullmatch(line))
    return make_facts(language, lines, out, frozenset(notes), problems)


def _find_note_rows(nodes: Captures, lines: Sequence[str]) -> Iterator[int]:
    for node in nodes.get("note", ()):
        row, column = node.start_point
        last = last_row(node)
        # Leading white space is ASCII in every grammar here, so the byte column equals the column of characters.
        if not lines[row][:column].strip():
            tail = node.end_point
            alone = tail.row > last or not lines[last].encode()[tail.column :].strip(_NOTHING_MORE)
            yield from range(row, last + 1 if alone else last)
