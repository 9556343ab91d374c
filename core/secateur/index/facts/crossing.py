"""Calls, imports and inheritance that lead from one repository of a workspace into another, or from one part of a
repository that is split into another.

Rows of several repositories are numbered behind each other, as in the one index over all of them: the joined number of
a row is its own with that of its repository's first row added. A shard knows of others no more than the ends of the
edges that touch it:

    around = surroundings(graph, begin, crossing)
    around.graph     # its own edges and those, over its rows and the rows of others at their ends
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve import Edges
from secateur.model import IntArray, distinct

VERSION = 1
"""Changes when the same repositories lead to other edges."""

COLUMNS: Mapping[str, type[np.generic]] = {
    "source": np.int64,
    "target": np.int64,
    "kind": np.uint8,
    "confidence": np.uint16,
    "how": np.uint8,
    "count": np.uint8,
}
"""Types by name."""


class CrossingEdges(msgspec.Struct, frozen=True, eq=False):
    """Edges between shards, as columns like those of `Edges`; `source` and `target` are joined numbers.

    Attributes:
        said: what is missing among them, for people.
    """

    source: IntArray
    target: IntArray
    kind: npt.NDArray[np.uint8]
    confidence: npt.NDArray[np.uint16]
    how: npt.NDArray[np.uint8]
    count: npt.NDArray[np.uint8]
    said: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Mapping[str, npt.NDArray[Any]], said: Sequence[str] = ()) -> CrossingEdges:
        """The edges of columns by name; of none, no edges."""
        none = np.zeros(0)
        typed = {name: np.asarray(columns.get(name, none), dtype=dtype) for name, dtype in COLUMNS.items()}
        return cls(**typed, said=tuple(said))

    @classmethod
    def united(cls, parts: Sequence[CrossingEdges]) -> CrossingEdges:
        """The edges of all parts behind each other."""
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
        return cls.of(columns, [text for part in parts for text in part.said])

    def __len__(self) -> int:
        return len(self.source)

    def taken(self, chosen: npt.NDArray[Any]) -> CrossingEdges:
        """Some of the edges."""
        return CrossingEdges.of({name: getattr(self, name)[chosen] for name in COLUMNS}, self.said)

    def between(self, begin: int, end: int) -> CrossingEdges:
        """The edges of which both ends are among the rows `begin` to `end`."""
        return self.taken(_inside(self.source, begin, end) & _inside(self.target, begin, end))

    def touching(self, begin: int, end: int) -> CrossingEdges:
        """The edges of which one end alone is among the rows `begin` to `end`."""
        return self.taken(_inside(self.source, begin, end) != _inside(self.target, begin, end))


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The call graph of a shard together with the rows of others that are one step away.

    Attributes:
        graph: over all of these rows; of the others' rows it has the edges to and from the shard alone.
        numbers: joined number of each node of it, ascending: what is decided by number is decided as in one graph.
        begin: joined number of the shard's first row.
        own: the nodes that are the shard's rows.
        others: the nodes that are not.
        lent: the shard's rows, ascending, that others are one step away from.
    """

    graph: CodeGraph
    numbers: IntArray
    begin: int
    own: slice
    others: IntArray
    lent: IntArray


def surroundings(graph: CodeGraph, begin: int, crossing: CrossingEdges) -> Surroundings:
    """The surroundings of a shard with the graph `graph`; of `crossing` the edges count that touch it."""
    rows, here = graph.node_count, crossing.touching(begin, begin + graph.node_count)
    ends, _, _ = distinct(np.concatenate([here.source, here.target]))
    inside = _inside(ends, begin, begin + rows)
    before, after = ends[ends < begin], ends[ends >= begin + rows]
    numbers = np.concatenate([before, np.arange(begin, begin + rows), after])
    own = slice(len(before), len(before) + rows)
    others = np.concatenate([np.arange(own.start), np.arange(own.stop, len(numbers))])
    if not len(here):
        return Surroundings(graph, numbers, begin, own, others, ends)
    source, target = (np.searchsorted(numbers, column) for column in (here.source, here.target))
    whole = CodeGraph.from_edges(_united(graph, own.start, here, source, target), len(numbers))
    return Surroundings(whole, numbers, begin, own, others, ends[inside] - begin)


def crossed(graph: CodeGraph, begin: int, crossing: CrossingEdges) -> CodeGraph:
    """A graph over the rows of several repositories, the first of which has the joined number `begin`, with the edges
    between them."""
    here = crossing.between(begin, begin + graph.node_count)
    if not len(here):
        return graph
    whole = _united(graph, 0, here, here.source - begin, here.target - begin)
    return CodeGraph.from_edges(whole, graph.node_count)


def _united(graph: CodeGraph, moved: int, crossing: CrossingEdges, source: IntArray, target: IntArray) -> Edges:
    """The edges of a graph, with `moved` added to the numbers of its nodes, and those of `crossing` with these ends."""
    own = np.repeat(np.arange(graph.node_count), np.diff(graph.indptr))
    return Edges(
        np.concatenate([own + moved, source]).astype(np.int32),
        np.concatenate([graph.indices + moved, target]).astype(np.int32),
        np.concatenate([graph.kind, crossing.kind]),
        np.concatenate([graph.confidence, crossing.confidence]),
        np.concatenate([graph.how, crossing.how]),
        np.concatenate([graph.count, crossing.count]),
    )


def _inside(numbers: IntArray, begin: int, end: int) -> npt.NDArray[np.bool_]:
    return (numbers >= begin) & (numbers < end)
