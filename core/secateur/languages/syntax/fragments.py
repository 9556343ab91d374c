"""`parse_file` turns the bytes of one file into its fragments and facts. It is a pure function of path, bytes and
installed grammars.

Fragments of a file are sorted and disjoint, and together contain every non-blank line exactly once; none starts or ends
with a blank line. Problems (a missing grammar, broken syntax, a slow file) cost precision, never lines, and are listed
in `FileFacts.problems`:

- `invalid_utf8`: bytes that are not text were replaced
- `syntax_errors`: the tree has errors; the parsed part is used
- `grammar_missing:LANGUAGE`, `parse_timeout`, `too_large`, `minified`: the file was split into blocks of lines instead
- `reader_failed`: the same, because reading its tree raised an error, which is a fault of this package
"""

import re
from collections.abc import Iterator, Sequence

from secateur.languages import HEAD_BYTES, language_of, traits_of
from secateur.languages.ecmascript.imports import MANIFEST, read_manifest
from secateur.languages.syntax import grammar
from secateur.languages.syntax.collector import Captures, Collector, last_row
from secateur.languages.syntax.names import read_receiver
from secateur.languages.syntax.outlines import read_outline
from secateur.languages.syntax.partition import make_facts
from secateur.languages.syntax.prose import split_blocks, split_sections
from secateur.languages.syntax.text import DAMAGED_TEXT, decode, read_text, split_lines
from secateur.model import FileFacts

__all__ = ["decode", "language_of", "parse_file", "read_text", "split_lines"]

# Scripts with longer average lines were written by a tool: their names mean nothing, and their lines cannot be
# selected.
_MINIFIED_BYTES_A_LINE = 500

_NOTHING_MORE = b" \t\r\f;"  # bytes that may follow a comment or attribute in a row without other code

_MACRO_LINE = re.compile(r"\s*[A-Z]\w*\s*+(?:\(.*\)\s*+)?")

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
    traits = traits_of(language)
    if (outline := read_outline(language, lines, problems)) is not None:
        return outline
    if traits.grammar is None:
        fragments = tuple(split_sections(language, lines))
        package, annotations = read_manifest(path, text) if language == MANIFEST and fragments else ("", ())
        return FileFacts(language, fragments, annotations=annotations, package=package, problems=problems)
    source = text.encode()
    problem = ""
    if len(source) > grammar.MAX_PARSE_BYTES:
        problem = "too_large"
    elif traits.is_often_minified and len(source) > _MINIFIED_BYTES_A_LINE * max(len(lines), 1):
        problem = "minified"
    else:
        try:
            return _parse(language, source, lines, problems)
        except grammar.GrammarMissing:
            problem = f"grammar_missing:{language}"
        except grammar.ParseStopped:
            problem = "parse_timeout"
    return FileFacts(language, tuple(split_blocks(lines)), problems=(*problems, problem))


def _parse(language: str, source: bytes, lines: Sequence[str], problems: tuple[str, ...]) -> FileFacts:
    loaded = grammar.load(language)
    parsed = loaded.prepare(source, language) if loaded.prepare is not None else source
    root = grammar.parse(loaded, parsed).root_node
    nodes = grammar.query_nodes(loaded, root)
    out = Collector(source)
    names = {node.id for node in nodes.get("name", ())}  # in `def f(x) do` the grammar sees a call of `f`
    for node in nodes.get("call", ()) if not loaded.reads_calls else ():
        if node.id in names:
            continue
        out.calls.append((node.start_point.row, out.text(node), read_receiver(source, node.start_byte)))
    loaded.read(nodes, out)
    if root.has_error:
        problems = (*problems, "syntax_errors")
    branches = [node.start_point.row for node in nodes.get("branch", ())]
    notes = {*_find_note_rows(nodes, lines), *(_find_macro_rows(lines, parsed) if parsed is not source else ())}
    return make_facts(language, lines, out, branches, frozenset(notes), problems)


def _find_macro_rows(lines: Sequence[str], parsed: bytes) -> Iterator[int]:
    """Yields rows that contain only a macro, such as `UFUNCTION(...)`: they belong to the definition below."""
    for row, (line, without_macros) in enumerate(zip(lines, parsed.split(b"\n"), strict=False)):
        if without_macros.isspace() and _MACRO_LINE.fullmatch(line):
            yield row


def _find_note_rows(nodes: Captures, lines: Sequence[str]) -> Iterator[int]:
    for node in nodes.get("note", ()):
        row, column = node.start_point
        last = last_row(node)
        # Leading white space is ASCII in every grammar here, so the byte column equals the column of characters.
        if not lines[row][:column].strip():
            tail = node.end_point
            alone = tail.row > last or not lines[last].encode()[tail.column :].strip(_NOTHING_MORE)
            yield from range(row, last + 1 if alone else last)
