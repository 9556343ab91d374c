"""Calls from one shard into another: what a shard asks of the rows of others that its own are one step away from.

Where nothing leads from any shard into another, `Snapshot.around` is None for all of them, nothing here yields a
message, and each follows its own graph.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.facts.crossing import Surroundings
from secateur.index.facts.shard import Shard
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import HUB_CAP, CodeGraph, Direction, Reach, best_steps
from secateur.index.graph.resolve import TRUSTED
from secateur.model import FloatArray, IntArray
from secateur.retrieval.rounds import Rounds

_NUMBER_BITS = 40
"""Bits of a joined number in the order of a level: 10¹² rows."""


class FarFigures(msgspec.Struct, frozen=True, eq=False):
    """Figures of a shard's rows that others are one step away from, those that are all 0 left out; the reply holds
    those of all shards.

    Attributes:
        numbers: joined numbers of the rows, ascending.
        figures: [figures, rows].
    """

    numbers: IntArray
    figures: FloatArray

    @staticmethod
    def answered(messages: Sequence[FarFigures]) -> list[FarFigures]:
        return [FarFigures.united(messages)] * len(messages)

    @staticmethod
    def united(messages: Sequence[FarFigures]) -> FarFigures:
        some = [one for one in messages if len(one.numbers)] or messages[:1]
        return FarFigures(
            np.concatenate([one.numbers for one in some]), np.concatenate([one.figures for one in some], axis=1)
        )

    @staticmethod
    def shared(messages: Sequence[FarFigures], reply: FarFigures) -> list[FarFigures]:
        return [reply] * len(messages)


class FarSteps(msgspec.Struct, frozen=True, eq=False):
    """The steps of one level that lead out of a shard; the reply holds those of all that lead into it.

    Attributes:
        begin, end: joined numbers of the shard's rows; the same where nothing leads into it.
        source, target: joined numbers of the ends of each step.
        rank: orders the sources as they were found.
        confidence, way: per mille, and the number of the direction.
    """

    begin: int
    end: int
    source: IntArray
    target: IntArray
    rank: IntArray
    confidence: IntArray
    way: IntArray

    def taken(self, chosen: npt.NDArray[np.bool_], begin: int, end: int) -> FarSteps:
        """Some of the steps, as those of the rows `begin` to `end`."""
        return FarSteps(begin, end, *(getattr(self, name)[chosen] for name in _STEP))

    @staticmethod
    def answered(messages: Sequence[FarSteps]) -> list[FarSteps]:
        every = FarSteps.united(messages)
        return FarSteps.shared(messages, every) if len(every.target) else list(messages)

    @staticmethod
    def united(messages: Sequence[FarSteps]) -> FarSteps:
        some = [one for one in messages if len(one.target)] or messages[:1]
        columns = (np.concatenate([getattr(one, name) for one in some]) for name in _STEP)
        linked = [one for one in messages if one.begin < one.end] or messages
        return FarSteps(linked[0].begin, linked[-1].end, *columns)

    @staticmethod
    def shared(messages: Sequence[FarSteps], reply: FarSteps) -> list[FarSteps]:
        target = reply.target
        return [reply.taken((target >= one.begin) & (target < one.end), one.begin, one.end) for one in messages]


_STEP = ("source", "target", "rank", "confidence", "way")

_NONE = np.zeros(0, dtype=np.int64)


def begin_of(snapshot: Snapshot) -> int:
    """The joined number of the first row."""
    return snapshot.begin if isinstance(snapshot, Shard) else 0


def graph_around(snapshot: Snapshot) -> tuple[CodeGraph, slice]:
    """The graph of a shard with what others' rows its own are one step away from; and which of its nodes are its own
    rows."""
    around = snapshot.around
    return (snapshot.graph, slice(None)) if around is None else (around.graph, around.own)


def figures_around(snapshot: Snapshot, *figures: FloatArray) -> Rounds[list[FloatArray]]:
    """Figures of a shard's rows as figures of all nodes of `graph_around`."""
    around = snapshot.around
    if around is None:
        return list(figures)
    own = np.stack(figures)
    some = around.lent[(own[:, around.lent] != 0).any(axis=0)]
    told: FarFigures = yield FarFigures(around.begin + some, own[:, some])
    if not len(around.others):
        return list(figures)
    out = np.zeros((len(figures), len(around.numbers)))
    out[:, around.own] = own
    wanted = around.numbers[around.others]
    there = np.searchsorted(told.numbers, wanted)
    known = np.append(told.numbers, -1)[there] == wanted
    out[:, around.others[known]] = told.figures[:, there[known]]
    return list(out)


def search_around(
    snapshot: Snapshot,
    roots: IntArray,
    ranks: IntArray,
    max_depth: int,
    directions: Sequence[Direction],
    hub_cap: int = HUB_CAP,
) -> Rounds[Reach]:
    """Finds what `CodeGraph.search` over the graph of all shards does, from the roots of all of them; of that, the
    shard's own rows, and its own hubs. `predecessor` is a joined number.

    Args:
        roots: of the shard; no row twice.
        ranks: of each, its place among the roots of all shards.
    """
    around = snapshot.around
    if around is None:
        reach = snapshot.graph.search(roots.tolist(), max_depth, directions, hub_cap=hub_cap)
        return _numbered(reach, begin_of(snapshot))
    if not len(around.others):
        reach = snapshot.graph.search(roots.tolist(), max_depth, directions, hub_cap=hub_cap)
        for _ in range(max_depth):
            yield FarSteps(0, 0, _NONE, _NONE, _NONE, _NONE, _NONE)
        return _numbered(reach, around.begin)
    return (yield from _search(around, roots, ranks, max_depth, directions, hub_cap))


def _search(
    around: Surroundings,
    roots: IntArray,
    ranks: IntArray,
    max_depth: int,
    directions: Sequence[Direction],
    hub_cap: int,
) -> Rounds[Reach]:
    own, begin, numbers = around.own, around.begin, around.numbers
    end = begin + own.stop - own.start
    frontier, rank = (roots + own.start).astype(np.int32), ranks
    seen = np.zeros(len(numbers), dtype=np.bool_)
    seen[frontier] = True
    hubs: set[int] = set()
    levels = [(frontier, np.full(len(frontier), -1), np.full(len(frontier), -1), np.full(len(frontier), 1000))]
    for _ in range(max_depth):
        steps = [
            around.graph.steps(frontier, way, number, TRUSTED, hub_cap, hubs) for number, way in enumerate(directions)
        ]
        place, ends, confidence, way = (np.concatenate(column).astype(np.int64) for column in zip(*steps, strict=True))
        every = FarSteps(begin, end, numbers[frontier[place]], numbers[ends], rank[place], confidence, way)
        inside = (ends >= own.start) & (ends < own.stop)
        coming: FarSteps = yield every.taken(~inside, begin, end)
        stay = every.taken(inside, begin, end)
        source, target, ranked, confidence, way = (
            np.concatenate([getattr(stay, name), getattr(coming, name)]) for name in _STEP
        )
        ends = target - begin + own.start
        best = best_steps(ends, confidence, ranked, way, seen)
        frontier = ends[best].astype(np.int32)
        rank = (1000 - confidence[best]) << _NUMBER_BITS | target[best]  # the order that `best_steps` gives all of them
        seen[frontier] = True
        levels.append((frontier, source[best], way[best], confidence[best]))
    nodes, predecessor, ways, confidence = (np.concatenate(column) for column in zip(*levels, strict=True))
    names = [str(direction) for direction in directions]
    return Reach(
        nodes=nodes - np.int32(own.start),
        depth=np.repeat(np.arange(len(levels), dtype=np.int32), [len(level[0]) for level in levels]),
        predecessor=predecessor,
        predecessor_edge=[names[way] if way >= 0 else "" for way in ways.tolist()],
        confidence=confidence.astype(np.uint16),
        hubs=tuple(hub - own.start for hub in sorted(hubs)),
    )


def _numbered(reach: Reach, begin: int) -> Reach:
    """The rows of a search in one shard, with joined numbers as predecessors."""
    predecessor = np.where(reach.predecessor >= 0, reach.predecessor.astype(np.int64) + begin, -1)
    return Reach(reach.nodes, reach.depth, predecessor, reach.predecessor_edge, reach.confidence, reach.hubs)
