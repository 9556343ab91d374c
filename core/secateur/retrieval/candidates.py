"""The result of a shard: its candidates as columns, and what is to be said of them. Plain values, like the messages of
`rounds`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from secateur.model import BoolArray, FloatArray, IntArray, Redaction


class Candidates(msgspec.Struct, frozen=True, eq=False):
    """The candidates of one shard, or of all, in the order of a pool: higher relevance, then smaller token count, then
    the order of the shards and of their rows.

    Attributes:
        headings: tokens of each row's heading.
        wrapping: columns of `render.pack.ingredients`.
        parts: of relevance.
        ranks: parts of the hotspot score.
        number: joined number of each row (`index.facts.crossing`).
        predecessor: the `number` of the row through which the graph search reached this one; -1 for none.
        redactions: credentials taken out, by row.
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
    distance: IntArray
    anchor: BoolArray
    number: IntArray
    predecessor: IntArray
    predecessor_edge: list[str]
    caller_depth: IntArray
    callee_depth: IntArray
    redactions: dict[int, tuple[Redaction, ...]]
    elsewhere: BoolArray

    def __len__(self) -> int:
        return len(self.symbol_id)

    @property
    def predecessors(self) -> IntArray:
        """The place of each row's predecessor here; -1 for none."""
        order = np.argsort(self.number)
        found = np.searchsorted(self.number[order], self.predecessor)
        place = np.append(order, -1)[found]
        return np.where(np.append(self.number, -2)[place] == self.predecessor, place, -1)


class ShardResult(msgspec.Struct, frozen=True, eq=False):
    """The result of a shard, or of all shards.

    Attributes:
        fragments, files: of all that was searched.
        frequency: per term of the query, how many fragments of all that was searched hold it.
        suggestions: near names taken, by identifier of the query.
        anchors: how many fragments of all shards the graph search began with.
        best: relevance of the best of them; 0 where there is none.
        nearest: the largest relevance, and the symbol id of the first row that has it; "" where nothing is indexed.
        relevant: fragments with any relevance, of this shard.
        hubs: symbol ids of this shard of which only the best calls were followed.
        known: of the symbols that the settings name, those of this shard.
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


def merged(shards: Sequence[ShardResult]) -> ShardResult:
    """The results of all shards as one."""
    if len(shards) == 1:
        return shards[0]
    first, nearest = shards[0], max((shard.nearest for shard in shards), key=lambda one: one[0])
    return ShardResult(
        candidates=_ordered(_joined([shard.candidates for shard in shards])),
        fragments=first.fragments,
        files=first.files,
        frequency=first.frequency,
        suggestions=first.suggestions,
        anchors=first.anchors,
        best=first.best,
        nearest=nearest,
        relevant=sum(shard.relevant for shard in shards),
        hubs=[hub for shard in shards for hub in shard.hubs],
        known=[symbol for shard in shards for symbol in shard.known],
    )


def _joined(shards: Sequence[Candidates]) -> Candidates:
    """The rows of all shards behind each other."""
    begins = np.cumsum([0, *(len(shard) for shard in shards)]).tolist()

    def column(name: str) -> Any:
        columns = [getattr(shard, name) for shard in shards]
        if isinstance(columns[0], dict):
            return {key: np.concatenate([one[key] for one in columns]) for key in columns[0]}
        if isinstance(columns[0], list):
            return [value for one in columns for value in one]
        return np.concatenate(columns)

    redactions = {
        row + begin: found
        for shard, begin in zip(shards, begins[:-1], strict=True)
        for row, found in shard.redactions.items()
    }
    own: dict[str, Any] = {"redactions": redactions}
    return Candidates(**{name: own[name] if name in own else column(name) for name in Candidates.__struct_fields__})


def _ordered(rows: Candidates) -> Candidates:
    """The rows of several shards in the order of a pool."""
    order = np.lexsort((np.arange(len(rows)), rows.tokens, -rows.relevance))
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.arange(len(rows))

    def column(name: str) -> Any:
        values = getattr(rows, name)
        if isinstance(values, dict):
            return {key: one[order] for key, one in values.items()}
        return [values[row] for row in order.tolist()] if isinstance(values, list) else values[order]

    redactions = {int(place[row]): rows.redactions[row] for row in order.tolist() if row in rows.redactions}
    own: dict[str, Any] = {"redactions": redactions}
    return Candidates(**{name: own[name] if name in own else column(name) for name in Candidates.__struct_fields__})
