"""Turns definitions into fragments: finds the owner of each line, then splits the lines into pieces.

A line belongs to the innermost definition that becomes a fragment, or else to the module. A piece is a run of lines
with one owner. Lines that only close brackets join the piece above; comments and conditionals that introduce a
definition join it. So the pieces are disjoint, and contain every non-blank line exactly once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from msgspec.structs import replace

from secateur.languages.syntax.collector import ALWAYS, Collector, Definition
from secateur.languages.syntax.text import REGION_LINES, cut, is_blank, is_closing
from secateur.model import Annotation, Base, Call, FileFacts, Fragment, FragmentKind, Import

_DEEPEST = 12  # most levels of nested definitions that become fragments; deeper ones stay inside
_CONTAINER_SHARE = 3  # a long function is a container if inner functions fill at least one third of its lines
_NOTE_LINES = 6  # most comment lines that join the definition below despite a blank line between
_IMPORT_GAP = 4  # most rows between two import statements of one group
_WORTH_CUTTING = 3  # least rows of code after the imports that become a separate region

_INTRODUCTION = re.compile(
    r"\s*(?:#\s*(?:if|ifdef|ifndef|else|elif|region)\b.*|(?:public|private|protected)\s*(?:slots|Q_SLOTS)?\s*:?"
    r"|[\]\)\}\s]*(?:if|elif|else|try|except|catch|finally|with)\b.*[:{]"
    r"|type\s*\(|(?:inline\s+)?namespace\b[\w\s:.\\]*[{;]?|\{|extern\s*\"C\"\s*\{?)\s*"
)
_INTRODUCTION_LENGTH = 200

_MODULE = -1


@dataclass(slots=True)
class _OwnedRows:
    owner: int
    first: int
    last: int


def make_facts(
    language: str, lines: Sequence[str], out: Collector, notes: frozenset[int], problems: tuple[str, ...]
) -> FileFacts:
    """Makes the facts of a file from what was collected. `notes` are rows that contain nothing but comments or
    attributes."""
    definitions = _nest(out.definitions)
    pieces = _split_by_owner(lines, _find_owners(definitions, lines, notes))
    pieces = list(_cut_regions(lines, pieces, definitions, out.import_rows))
    pieces = _join_introductions(lines, pieces, notes, definitions)
    fragments = list(_make_fragments(pieces, definitions))
    rows = len(lines)
    fragment_of_row = [0] * (rows + 1)  # blank rows between two fragments belong to the one above
    for position, fragment in enumerate(fragments):
        following = fragments[position + 1].line_start - 1 if position + 1 < len(fragments) else rows + 1
        fragment_of_row[fragment.line_start - 1 : following] = [position] * (following - fragment.line_start + 1)
    calls = {(*call, "") for call in out.calls} | set(out.overloaded_calls)
    bases = (Base(fragment_of_row[row], name) for row, name in sorted(out.bases, key=_row))
    annotations = (
        Annotation(fragment_of_row[row], name, type_) for row, name, type_ in sorted(out.annotations, key=_row)
    )
    complexity = [1] * len(fragments)
    for row in out.branches:
        complexity[fragment_of_row[row]] += 1
    return FileFacts(
        language=language,
        fragments=tuple(
            fragment if points == 1 else replace(fragment, complexity=points)
            for fragment, points in zip(fragments, complexity, strict=True)
        ),
        calls=tuple(
            Call(fragment_of_row[row], name, receiver, row + 1, arguments)
            for row, name, receiver, arguments in sorted(calls)
        ),
        imports=tuple(dict.fromkeys(_make_imports(out, fragments, fragment_of_row))),
        bases=tuple(base for base in dict.fromkeys(bases) if fragments[base.fragment].kind is FragmentKind.CLASS),
        annotations=tuple(dict.fromkeys(annotations)),
        package=out.package,
        problems=problems,
    )


_row = itemgetter(0)  # facts of one row stay in the order of the source


def _nest(definitions: list[Definition]) -> list[Definition]:
    definitions = sorted(
        definitions, key=lambda definition: (definition.start, -definition.end, definition.kind is not None)
    )
    chain: list[int] = []
    for position, definition in enumerate(definitions):
        while chain and definitions[chain[-1]].end <= definition.start:
            chain.pop()
        definition.parent = chain[-1] if chain else -1
        if definition.kind is not None:
            for above in reversed(chain):
                definitions[above].inner_rows += definition.last - definition.first + 1
                if definitions[above].kind is not None:
                    break
        if len(chain) < _DEEPEST:
            chain.append(position)
    for definition in definitions:
        outer = definitions[definition.parent] if definition.parent >= 0 else None
        if (
            outer is not None
            and outer.kind in (FragmentKind.FUNCTION, FragmentKind.METHOD)
            and definition.kind is FragmentKind.CLASS
            and definition.first == outer.sig_first
            and definition.last == outer.last > definition.first
        ):  # a function that only returns a class: `module.exports = base => class extends base {`
            outer.kind, outer.opens_at = None, ALWAYS
            outer.qualname = outer.qualname.removesuffix(outer.name).rstrip(".")
        definition.open = outer is None or (outer.open and _is_container(outer))
        names = [outer.qualname if outer and not outer.is_text else "", definition.owner, definition.name]
        definition.qualname = ".".join(name for name in names if name)
        if definition.kind is FragmentKind.FUNCTION and (definition.owner or (outer is not None and outer.methods)):
            definition.kind = FragmentKind.METHOD
    return definitions


def _is_container(definition: Definition) -> bool:
    rows = definition.last - definition.first + 1
    if rows <= definition.opens_at:
        return False
    holds_units = definition.kind in (None, FragmentKind.CLASS, FragmentKind.SECTION)
    return holds_units or definition.inner_rows * _CONTAINER_SHARE >= rows


def _find_owners(definitions: list[Definition], lines: Sequence[str], notes: frozenset[int]) -> list[int]:
    """Returns the definition that owns each row; `_MODULE` for the rest. A row of two definitions goes to the first."""
    owners = [_MODULE] * len(lines)
    for position, definition in enumerate(definitions):
        above = definitions[definition.parent] if definition.parent >= 0 else None
        if above is not None and not above.open:
            definition.open = False
        if not definition.open or definition.kind is None:
            continue
        holder = _find_holder(definitions, definition.parent)
        first, last = definition.first, min(definition.last, len(lines) - 1)
        if first > last or owners[first] != holder or (holder >= 0 and first <= definitions[holder].sig_first):
            definition.open = False
            continue
        floor = definitions[holder].sig_last if holder >= 0 else -1
        while first - 1 > floor and first - 1 in notes and owners[first - 1] == holder:
            first -= 1
        owners[first : last + 1] = [position] * (last + 1 - first)
    return owners


def _find_holder(definitions: list[Definition], position: int) -> int:
    while position >= 0 and definitions[position].kind is None:
        position = definitions[position].parent
    return position


def _split_by_owner(lines: Sequence[str], owners: Sequence[int]) -> list[_OwnedRows]:
    """Returns runs of non-blank rows with one owner. Rows that only close something go to the piece above."""
    pieces: list[_OwnedRows] = []
    owner = _MODULE - 1
    for row, line in enumerate(lines):
        if is_blank(line):
            continue
        if owners[row] != owner:
            if pieces and is_closing(line):
                pieces[-1].last = row
                continue
            owner = owners[row]
            if pieces and pieces[-1].owner == owner:
                pieces[-1].last = row
            else:
                pieces.append(_OwnedRows(owner, row, row))
        pieces[-1].last = row
    return pieces


def _join_introductions(
    lines: Sequence[str], pieces: list[_OwnedRows], notes: frozenset[int], definitions: list[Definition]
) -> list[_OwnedRows]:
    """Joins introducing pieces (a short comment, `#ifdef`, `private:`, `else:`) to the definition below."""
    result: list[_OwnedRows] = []
    for position, piece in enumerate(pieces):
        below = pieces[position + 1] if position + 1 < len(pieces) else None
        if (
            below is not None
            and below.owner != _MODULE
            and piece.last - piece.first < _NOTE_LINES
            and _is_introduction(piece, below, lines, notes, definitions, bool(result))
        ):
            below.first = piece.first
        elif (
            below is None
            and result
            and piece.last - piece.first < _NOTE_LINES
            and all(row in notes or is_blank(lines[row]) for row in range(piece.first, piece.last + 1))
        ):
            result[-1].last = piece.last  # comments at the end of the file
        else:
            result.append(piece)
    return result


def _is_introduction(
    piece: _OwnedRows,
    below: _OwnedRows,
    lines: Sequence[str],
    notes: frozenset[int],
    definitions: list[Definition],
    has_above: bool,
) -> bool:
    if piece.owner != _find_holder(definitions, definitions[below.owner].parent):
        return False  # the end of a class does not introduce what follows the class
    if piece.owner != _MODULE and piece.first <= definitions[piece.owner].sig_first:
        return False  # the declaration of a class, however short, belongs to the class
    rows = [row for row in range(piece.first, piece.last + 1) if not is_blank(lines[row])]
    if all(row in notes for row in rows):
        return has_above  # the first comment of a file is about the file
    return all(
        row in notes or (len(lines[row]) <= _INTRODUCTION_LENGTH and _INTRODUCTION.fullmatch(lines[row]))
        for row in rows
    )


def _cut_regions(
    lines: Sequence[str], pieces: list[_OwnedRows], definitions: list[Definition], import_rows: list[tuple[int, int]]
) -> Iterator[_OwnedRows]:
    """Splits imports from module-level regions, and long regions and class headers by size; functions stay whole."""
    imports, at = sorted(import_rows), 0
    for piece in pieces:
        if piece.owner == _MODULE:
            end = -1
            while at < len(imports) and imports[at][0] <= piece.last:
                first, last = imports[at]
                if first >= piece.first and (end < 0 or first - end <= _IMPORT_GAP):
                    end = max(end, min(last, piece.last))
                at += 1
            if 0 <= end <= piece.last - _WORTH_CUTTING:
                yield from (_OwnedRows(_MODULE, *span) for span in cut(lines, piece.first, end, REGION_LINES))
                piece.first = end + 1
        elif definitions[piece.owner].kind not in (FragmentKind.CLASS, FragmentKind.SECTION):
            yield piece
            continue
        yield from (_OwnedRows(piece.owner, *span) for span in cut(lines, piece.first, piece.last, REGION_LINES))


def _make_fragments(pieces: Sequence[_OwnedRows], definitions: list[Definition]) -> Iterator[Fragment]:
    heads: dict[int, int] = {}  # definition → its first fragment
    for position, piece in enumerate(pieces):
        first, last = piece.first, piece.last
        if piece.owner == _MODULE:
            yield Fragment(FragmentKind.REGION, "", "", first + 1, last + 1, first + 1, first + 1)
            continue
        definition = definitions[piece.owner]
        holder = _find_holder(definitions, definition.parent)
        parent = heads.get(holder, -1) if holder >= 0 and definitions[holder].kind is FragmentKind.CLASS else -1
        heads.setdefault(piece.owner, position)
        sig_first, sig_last = first, first
        if first <= definition.sig_first <= last:
            sig_first, sig_last = definition.sig_first, min(definition.sig_last, last)
        assert definition.kind is not None
        rows = (first + 1, last + 1, sig_first + 1, sig_last + 1)
        yield Fragment(definition.kind, definition.name, definition.qualname, *rows, parent)


def _make_imports(out: Collector, fragments: Sequence[Fragment], fragment_of_row: Sequence[int]) -> Iterable[Import]:
    for row, item in sorted(out.imports, key=_row):
        if (
            out.exports_imports
            and not item.exported
            and item.local
            and fragments[fragment_of_row[row]].kind in (FragmentKind.REGION, FragmentKind.CLASS)
        ):
            item = Import(item.local, item.module, item.symbol, item.level, True)
        yield item
