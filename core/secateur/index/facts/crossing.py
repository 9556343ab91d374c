"""Calls, imports and inheritance that lead from one repository of a workspace into another.

Rows are numbered across repositories, in the order of the joined snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve import Edges
from secateur.model import IntArray

VERSION = 2
"""Increase it when the computed edges or their storage format change."""

COLUMNS: Mapping[str, type[np.generic]] = {
    "source": np.int64,
    "target": np.int64,
    "kind": np.uint8,
    "confidence": np.uint16,
    "how": np.uint8,
    "count": np.uint8,
}
"""The type of each column."""


class CrossingEdges(msgspec.Struct, frozen=True, eq=False):
    """Edges between repositories, as columns like those of `Edges`.

    `source` and `target` are row numbers in the joined snapshot.

    Attributes:
        warnings: sentences that say which edges are missing.
    """

    source: IntArray
    target: IntArray
    kind: npt.NDArray[np.uint8]
    confidence: npt.NDArray[np.uint16]
    how: npt.NDArray[np.uint8]
    count: npt.NDArray[np.uint8]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Mapping[str, npt.NDArray[Any]], warnings: Sequence[str] = ()) -> CrossingEdges:
        """Makes edges from columns by name; a missing column is empty."""
        empty = np.zeros(0)
        typed = {name: np.asarray(columns.get(name, empty), dtype=dtype) for name, dtype in COLUMNS.items()}
        return cls(**typed, warnings=tuple(warnings))

    def __len__(self) -> int:
        return len(self.source)

    def select(self, chosen: npt.NDArray[Any]) -> CrossingEdges:
        """Returns the edges that a mask or an array of positions chooses."""
        return CrossingEdges.of({name: getattr(self, name)[chosen] for name in COLUMNS}, self.warnings)


def add_crossing_edges(graph: CodeGraph, crossing: CrossingEdges) -> CodeGraph:
    """Adds the edges between repositories to the graph over their joined rows."""
    if not len(crossing):
        return graph
    own = np.repeat(np.arange(graph.node_count), np.diff(graph.indptr))
    whole = Edges(
        np.concatenate([own, crossing.source]).astype(np.int32),
        np.concatenate([graph.indices, crossing.target]).astype(np.int32),
        np.concatenate([graph.kind, crossing.kind]),
        np.concatenate([graph.confidence, crossing.confidence]),
        np.concatenate([graph.how, crossing.how]),
        np.concatenate([graph.count, crossing.count]),
    )
    return CodeGraph.from_edges(whole, graph.node_count)
