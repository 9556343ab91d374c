"""Holds the result of a search as columns: its candidates, and the figures that go with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from secateur.index.facts.snapshot import Snapshot
from secateur.model import BoolArray, FloatArray, IntArray, Notice, Redaction
from secateur.sources.globs import RepositoryPart

ONLY = "only"
"""Code of the notice that answers come from a part of the repository alone."""

_known: WeakKeyDictionary[Snapshot, tuple[tuple[str, ...], BoolArray]] = WeakKeyDictionary()
"""By snapshot: the globs that were asked for last, and their rows."""


def rows_in_part(snapshot: Snapshot, only: Sequence[str]) -> BoolArray | None:
    """Returns True for each fragment of the part that `only` names; None if `only` is empty. Raises UsageError if
    `only` holds something that is not a glob."""
    if not only:
        return None
    globs, known = tuple(only), _known.get(snapshot)
    if known is None or known[0] != globs:
        part = RepositoryPart(globs)
        files = np.array([part.holds(path) for path in snapshot.paths], dtype=np.bool_)
        known = _known[snapshot] = globs, files[snapshot.file] if len(snapshot) else np.zeros(0, dtype=np.bool_)
    return known[1]


def part_notices(only: Sequence[str], elsewhere: BoolArray) -> list[Notice]:
    """Returns the notice that only a part answers, and how many candidates lie elsewhere."""
    if not only:
        return []
    inside = int((~elsewhere).sum())
    none = "" if inside else "No candidate lies there; --everywhere answers from all of it. "
    left = f"{int(elsewhere.sum()):,} candidates elsewhere are left out."
    return [Notice(ONLY, f"Drawn from {', '.join(only)} alone (--only). {none}{left}")]


class CallWalk(msgspec.Struct, frozen=True, eq=False):
    """Holds the steps by which calls lead from the anchors to each candidate.

    Attributes:
        distance: 1 for anchors, UNREACHABLE where no calls lead.
        predecessor: the `row_number` of the row through which the graph search reached this one; -1 for none.
        caller_depth, callee_depth: as of `Pool`.
        calls, called: the anchors that each calls, and those that call it, nearest first: the `row_number` of the
            anchor, and how many calls lead there.
    """

    distance: IntArray
    predecessor: IntArray
    predecessor_edge: list[str]
    caller_depth: IntArray
    callee_depth: IntArray
    calls: list[list[list[int]]]
    called: list[list[list[int]]]


class Candidates(msgspec.Struct, frozen=True, eq=False):
    """Holds the candidates of a query in the order of a pool: higher relevance, then fewer tokens, then their rows.

    Attributes:
        headings: tokens of each row's heading.
        wrapping: columns of `render.pack.ingredients`.
        parts: the parts of the relevance.
        ranks: the parts of the hotspot score.
        row_number: the row in the snapshot.
        redactions: the credentials that were taken out of each.
        elsewhere: True outside the part that answers come from.
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
    row_number: IntArray
    walk: CallWalk
    redactions: list[tuple[Redaction, ...]]
    elsewhere: BoolArray

    def __len__(self) -> int:
        return len(self.symbol_id)

    @property
    def predecessors(self) -> IntArray:
        """Finds the position of each row's predecessor among these rows; -1 if it is not among them."""
        order = np.argsort(self.row_number)
        at = np.searchsorted(self.row_number[order], self.walk.predecessor)
        position = np.append(order, -1)[at]
        return np.where(np.append(self.row_number, -2)[position] == self.walk.predecessor, position, -1)

    def at_rows(self, anchors: list[list[list[int]]]) -> list[list[list[int]]]:
        """Replaces the row number of each anchor by its position among these rows. Anchors that are not here are left
        out."""
        position = {node: row for row, node in enumerate(self.row_number.tolist())}
        return [[[position[node], depth] for node, depth in steps if node in position] for steps in anchors]


def anchors_of(steps: Iterable[tuple[int, int, int]], rows: IntArray) -> list[list[list[int]]]:
    """Lists for each row the anchors from which steps lead to it, nearest first. A step is (anchor, row, depth)."""
    anchors: dict[int, list[list[int]]] = {}
    for anchor, row, depth in steps:
        if depth:
            anchors.setdefault(row, []).append([anchor, depth])
    return [sorted(anchors.get(row, []), key=lambda pair: (pair[1], pair[0])) for row in rows.tolist()]


class SearchResult(msgspec.Struct, frozen=True, eq=False):
    """Holds the result of a search.

    Attributes:
        fragments, files: how many fragments and files were searched.
        frequency: per term of the query, how many of these fragments hold it.
        suggestions: by identifier of the query, the near names that were taken for it.
        anchors: how many fragments the graph search began with.
        best: the relevance of the best anchor; 0 if there is no anchor.
        nearest: the largest relevance, and the symbol id of the first row that has it; "" if nothing is indexed.
        relevant: how many fragments have any relevance.
        hubs: the symbol ids of the hubs: only their best calls were followed.
        known: the symbols that the settings name and the snapshot holds.
    """

    candidates: Candidates
    fragments: int
    files: int
    frequency: list[int]
    suggestions: dict[str, list[str]]
    anchors: int
    best: float
    nearest: tuple[float, str]
    relevant: int
    hubs: list[str]
    known: list[str]
