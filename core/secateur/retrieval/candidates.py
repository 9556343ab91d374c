"""The result of a search as columns: its candidates, and what is to be said of them. Plain values that travel between
processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.snapshot import Snapshot
from secateur.model import BoolArray, FloatArray, IntArray, Notice, Redaction
from secateur.sources.parts import RepositoryPart

ONLY = "only"
"""Code of the notice that answers are drawn from a part."""

_known: WeakKeyDictionary[Snapshot, tuple[tuple[str, ...], BoolArray]] = WeakKeyDictionary()
"""The rows of the part that was asked for last."""


def rows_in_part(snapshot: Snapshot, only: Sequence[str]) -> BoolArray | None:
    """True for fragments of the part; None where it is all. Raises UsageError: one is no glob."""
    if not only:
        return None
    globs, known = tuple(only), _known.get(snapshot)
    if known is None or known[0] != globs:
        part = RepositoryPart(globs)
        files = np.array([part.holds(path) for path in snapshot.paths], dtype=np.bool_)
        known = _known[snapshot] = globs, files[snapshot.file] if len(snapshot) else np.zeros(0, dtype=np.bool_)
    return known[1]


def part_notices(only: Sequence[str], elsewhere: BoolArray) -> list[Notice]:
    """The notice that a part is asked for, and how many candidates lie elsewhere."""
    if not only:
        return []
    inside = int((~elsewhere).sum())
    none = "" if inside else "No candidate lies there. "
    left = f"{int(elsewhere.sum()):,} candidates elsewhere are left out."
    return [Notice(ONLY, f"Drawn from {', '.join(only)} alone (--only). {none}{left}")]


C = TypeVar("C", bound=msgspec.Struct)


class CallWalk(msgspec.Struct, frozen=True, eq=False):
    """The steps by which calls lead from the anchors to each candidate.

    Attributes:
        distance: 1 for anchors, UNREACHABLE where no calls lead.
        predecessor: the `number` of the row through which the graph search reached this one; -1 for none.
        caller_depth, callee_depth: as of `Pool`.
        calls, called: the anchors that each calls, and those that call it, nearest first: the `number` of the anchor,
            and how many calls lead there.
    """

    distance: IntArray
    predecessor: IntArray
    predecessor_edge: list[str]
    caller_depth: IntArray
    callee_depth: IntArray
    calls: list[list[list[int]]]
    called: list[list[list[int]]]


class Candidates(msgspec.Struct, frozen=True, eq=False):
    """The candidates of a query, in the order of a pool: higher relevance, then smaller token count, then their rows.

    Attributes:
        headings: tokens of each row's heading.
        wrapping: columns of `render.pack.ingredients`.
        parts: of relevance.
        ranks: parts of the hotspot score.
        number: the row of each in the snapshot; of several snapshots behind each other.
        redactions: credentials taken out of each.
        elsewhere: outside the part that answers are drawn from.
    """

    symbol_id: list[str]
    path: list[str]
    qualname: list[str]
    kind: list[str]
    language: list[str]
    line_start: IntArray
    line_end: IntArray
    tokens: IntArray
    sig_start: IntArray
    sig_end: IntArray
    sig_tokens: IntArray
    has_sig: BoolArray
    headings: IntArray
    wrapping: IntArray
    relevance: FloatArray
    parts: dict[str, FloatArray]
    hotspot: FloatArray
    ranks: dict[str, FloatArray]
    channels: IntArray
    anchor: BoolArray
    number: IntArray
    walk: CallWalk
    redactions: list[tuple[Redaction, ...]]
    elsewhere: BoolArray

    def __len__(self) -> int:
        return len(self.symbol_id)

    @property
    def predecessors(self) -> IntArray:
        """The place of each row's predecessor here; -1 for none."""
        order = np.argsort(self.number)
        found = np.searchsorted(self.number[order], self.walk.predecessor)
        place = np.append(order, -1)[found]
        return np.where(np.append(self.number, -2)[place] == self.walk.predecessor, place, -1)

    def at_rows(self, anchors: list[list[list[int]]]) -> list[list[list[int]]]:
        """Anchors of each row, as places here instead of numbers."""
        place = {number: row for row, number in enumerate(self.number.tolist())}
        return [[[place[number], depth] for number, depth in found if number in place] for found in anchors]


def anchors_of(steps: Iterable[tuple[int, int, int]], rows: IntArray) -> list[list[list[int]]]:
    """Per row the anchors that steps lead from, nearest first. `steps`: anchor, row, depth."""
    found: dict[int, list[list[int]]] = {}
    for anchor, row, depth in steps:
        if depth:
            found.setdefault(row, []).append([anchor, depth])
    return [sorted(found.get(row, []), key=lambda pair: (pair[1], pair[0])) for row in rows.tolist()]


class PartSteps(msgspec.Struct, frozen=True, eq=False):
    """The steps of a search along calls from each of a part's likely anchors alone, as columns.

    Attributes:
        root, node, predecessor: rows; the predecessor of a root is -1.
        depth: steps from the root.
        confidence, way: of the step that leads to the node; the number of its direction, -1 for a root.
    """

    root: IntArray
    node: IntArray
    predecessor: IntArray
    depth: IntArray
    confidence: IntArray
    way: IntArray


class PartFew(msgspec.Struct, frozen=True, eq=False):
    """A column of evidence that rests on the best few of all parts, as `BestFew`.

    Attributes:
        columns: of the candidates, where none of the part's few is taken, the first, the first two, ...
        largest: in each case, of all fragments of the part.
    """

    keys: tuple[FloatArray, ...]
    most: int
    columns: FloatArray
    largest: FloatArray


class PartEvidence(msgspec.Struct, frozen=True, eq=False):
    """The figures by which the asking process scores the candidates of a part of a workspace among those of the others.

    Attributes:
        columns, kept, vectors: of the candidates, as `relevance` takes them.
        present: as of `Scores`.
        few: by name, of the columns that rest on the best few.
        steps: by calls either way, by those that call, and by those that are called.
        hubs: of which only the best calls were followed: the anchor that led there, the row, and its symbol id.
        pinned: whether each candidate is one whatever its relevance.
        documents: texts that a better model is to compare, by the place of the candidate.
        size: fragments of the part.
    """

    columns: dict[str, FloatArray]
    kept: FloatArray
    vectors: Vectors
    present: frozenset[str]
    few: dict[str, PartFew]
    steps: tuple[PartSteps, PartSteps, PartSteps]
    hubs: list[tuple[int, int, str]]
    pinned: BoolArray
    documents: dict[int, str]
    size: int


class SearchResult(msgspec.Struct, frozen=True, eq=False):
    """The result of a search.

    Attributes:
        fragments, files: of all that was searched.
        frequency: per term of the query, how many fragments of all that was searched hold it.
        occurring: the share of the query's words that occur there.
        suggestions: near names taken, by identifier of the query.
        anchors: how many fragments the graph search began with.
        best: relevance of the best of them; 0 where there is none.
        nearest: the largest relevance, and the symbol id of the first row that has it; "" where nothing is indexed.
        relevant: fragments with any relevance.
        hubs: symbol ids of which only the best calls were followed.
        known: of the symbols that the settings name, those that are here.
        part: where a part of a workspace was searched.
    """

    candidates: Candidates
    fragments: int
    files: int
    frequency: list[int]
    occurring: float
    suggestions: dict[str, list[str]]
    anchors: int
    best: float
    nearest: tuple[float, str]
    relevant: int
    hubs: list[str]
    known: list[str]
    part: PartEvidence | None = None


def joined_rows(parts: Sequence[C]) -> C:
    """Columns of several parts behind each other."""
    return _columnwise(parts[0], lambda name: _behind([getattr(part, name) for part in parts]))


def taken_rows(rows: C, chosen: npt.NDArray[Any]) -> C:
    """Some rows of columns, in this order."""
    return _columnwise(rows, lambda name: _taken(getattr(rows, name), chosen))


def _columnwise(rows: C, column: Any) -> C:
    return type(rows)(**{name: column(name) for name in rows.__struct_fields__})


def _behind(columns: Sequence[Any]) -> Any:
    first = columns[0]
    if isinstance(first, msgspec.Struct):
        return joined_rows(columns)
    if isinstance(first, dict):
        names = dict.fromkeys(name for column in columns for name in column)
        size = [len(next(iter(column.values()), ())) for column in columns]
        return {
            name: np.concatenate([column.get(name, np.zeros(rows)) for column, rows in zip(columns, size, strict=True)])
            for name in names
        }
    return [value for column in columns for value in column] if isinstance(first, list) else np.concatenate(columns)


def _taken(column: Any, chosen: npt.NDArray[Any]) -> Any:
    if isinstance(column, msgspec.Struct):
        return taken_rows(column, chosen)
    if isinstance(column, dict):
        return {name: values[chosen] for name, values in column.items()}
    return [column[row] for row in chosen.tolist()] if isinstance(column, list) else column[chosen]
