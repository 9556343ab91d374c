"""Single steps along calls, with the rule that resolved each call, and shortest chains of steps.

A search (`CodeGraph.search`) follows only trusted edges. A report also shows the guesses: they come last,
and are marked as steps that no search follows.

    step = steps(graph, node, Direction.CALLED_BY)
    step.nodes, step.how, step.confidence, step.sites, step.followed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from secateur.index.graph.code_graph import DISPATCHED, CodeGraph, Direction, Int32
from secateur.index.graph.resolve.edges import CONFIDENCE, TRUSTED, How


@dataclass(frozen=True, eq=False)
class CallSteps:
    """The steps from one node in one direction, as columns: followed steps first, then by confidence, number of call
    sites, and number of the node."""

    nodes: Int32
    how: npt.NDArray[np.uint8]  # How
    confidence: npt.NDArray[np.uint16]  # per mille
    sites: npt.NDArray[np.uint8]  # call sites, at most 255
    followed: npt.NDArray[np.bool_]  # whether a search takes this step

    def __len__(self) -> int:
        return len(self.nodes)


def steps(graph: CodeGraph, node: int, direction: Direction) -> CallSteps:
    """Returns all steps from `node` in one direction, guesses included."""
    pointers = graph.indptr if direction.forward else graph.in_indptr
    slots = np.arange(pointers[node], pointers[node + 1], dtype=np.int32)
    rows = slots if direction.forward else graph.in_edge[slots]
    of_kind = graph.kind[rows] == direction.kind
    slots, rows = slots[of_kind], rows[of_kind]
    ends = graph.indices[rows] if direction.forward else graph.in_indices[slots]
    confidence, sites, how = graph.confidence[rows], graph.count[rows], graph.how[rows]
    followed = confidence >= TRUSTED
    if direction is Direction.CALLED_BY:
        followed |= np.isin(how, DISPATCHED) & (confidence >= CONFIDENCE[How.OVERRIDE])
    order = np.lexsort((ends, -sites.astype(np.int32), -confidence.astype(np.int32), ~followed))
    return CallSteps(ends[order], how[order], confidence[order], sites[order], followed[order])


def chains_from(graph: CodeGraph, source: int, targets: Sequence[int]) -> list[list[int]]:
    """Finds shortest chains of calls that a search follows from one node to each of several, both ends included; empty
    if no chain exists. Of several chains, the one whose last call is most certain wins."""
    reach = graph.search([source], graph.node_count, (Direction.CALLS,), hub_cap=graph.edge_count + 1)
    # the last slot stays -1: a root's predecessor is -1, which indexes that slot and ends the chain
    position = np.full(graph.node_count + 1, -1, dtype=np.int64)
    position[reach.nodes] = np.arange(len(reach))
    chains = []
    for target in targets:
        chain, at = [], int(position[target])
        while at >= 0:
            chain.append(int(reach.nodes[at]))
            at = int(position[reach.predecessor[at]])
        chains.append(chain[::-1])
    return chains
