"""The graph of calls, imports and inheritance between fragments, searched in both directions.

Nodes are fragments, and edges are compressed sparse rows in int32. A networkx view is built on demand, for questions
that are not worth code of our own. Every search is bounded, stops at cycles, and is deterministic: nodes come by depth,
then by the confidence of the step that reached them, then by number (SC-GRAG-002, SC-GRAG-003).

    graph = CodeGraph.from_edges(edges, node_count)
    reach = graph.search([anchor], 2, (Direction.CALLS, Direction.CALLED_BY))
    reach.nodes, reach.depth, reach.predecessor, reach.predecessor_edge

Single steps along calls, with the rule that resolved each call, and shortest chains of steps.

A search (`CodeGraph.search`) follows only trusted edges. A report also shows the guesses: they come last,
and are marked as steps that no search follows.

    step = steps(graph, node, Direction.CALLED_BY)
    step.nodes, step.how, step.confidence, step.sites, step.followed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from secateur.errors import IndexingError
from secateur.index.graph.resolve.edges import CONFIDENCE, TRUSTED, EdgeKind, Edges, How
from secateur.model import distinct

if TYPE_CHECKING:
    import networkx

HUB_CAP = 200  # most steps followed from one node in one direction, surest first: the cap stops at hubs

# Rules that lead from a call on a base type to the methods that override or implement the called one. A search follows
# such an edge from the override back to its callers although it is below TRUSTED, because each of these calls may reach
# the override. It does not follow it forwards: which of many overrides a call reaches is a guess.
DISPATCHED = (int(How.IMPLEMENTATION), int(How.OVERRIDE))

Int32 = npt.NDArray[np.int32]


class Direction(StrEnum):
    """The direction of a step along an edge, seen from the node that the search comes from."""

    CALLS = "calls"
    CALLED_BY = "called_by"
    IMPORTS = "imports"
    IMPORTED_BY = "imported_by"
    INHERITS = "inherits"
    INHERITED_BY = "inherited_by"

    @property
    def kind(self) -> EdgeKind:
        return _KIND[self]

    @property
    def forward(self) -> bool:
        """Tells whether the step goes from an edge's source to its target."""
        return self in (Direction.CALLS, Direction.IMPORTS, Direction.INHERITS)


_KIND = {
    Direction.CALLS: EdgeKind.CALLS,
    Direction.CALLED_BY: EdgeKind.CALLS,
    Direction.IMPORTS: EdgeKind.IMPORTS,
    Direction.IMPORTED_BY: EdgeKind.IMPORTS,
    Direction.INHERITS: EdgeKind.INHERITS,
    Direction.INHERITED_BY: EdgeKind.INHERITS,
}

_Steps = tuple[Int32, Int32, npt.NDArray[np.uint16], npt.NDArray[np.int8]]


@dataclass(frozen=True, eq=False)
class Reach:
    """The nodes that a search found, in order: columns of equal length, roots first."""

    nodes: Int32
    depth: Int32  # steps from the nearest root; 0 for roots
    predecessor: Int32  # the node the step came from; -1 for roots
    predecessor_edge: list[str]  # Direction of that step, read from `predecessor`; "" for roots
    confidence: npt.NDArray[np.uint16]  # per mille, of that step; 1000 for roots
    hubs: tuple[int, ...] = ()  # nodes with too many steps: only the best were taken

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, eq=False)
class CodeGraph:
    """The edges as arrays. Rows of `indices` are grouped by source; `in_edge` groups the same rows by target. Nobody
    may write to the arrays."""

    indptr: Int32  # nodes + 1: rows of node n are indptr[n]:indptr[n + 1]
    indices: Int32  # target per row
    kind: npt.NDArray[np.uint8]  # EdgeKind per row
    confidence: npt.NDArray[np.uint16]  # per mille per row
    how: npt.NDArray[np.uint8]  # How per row
    count: npt.NDArray[np.uint8]  # call sites per row, at most 255
    in_indptr: Int32  # nodes + 1: incoming rows of node n are in_edge[in_indptr[n]:in_indptr[n + 1]]
    in_indices: Int32  # source per incoming row
    in_edge: Int32  # outgoing row per incoming row

    @classmethod
    def from_edges(cls, edges: Edges, nodes: int) -> CodeGraph:
        """Builds the graph over `nodes` fragments. Raises IndexingError if an edge names a fragment outside of them."""
        ends = np.concatenate([edges.source, edges.target])
        if len(ends) and (int(ends.min()) < 0 or int(ends.max()) >= nodes):
            raise IndexingError(
                f"The call graph names a fragment outside 0..{nodes - 1}.", hint="Run `secateur index` to rebuild it."
            )
        order = np.lexsort((edges.target, edges.kind, edges.source))
        source, target = edges.source[order], edges.target[order]
        back = np.lexsort((edges.kind[order], source, target)).astype(np.int32)
        return cls(
            indptr=_pointers(source, nodes),
            indices=target.astype(np.int32),
            kind=edges.kind[order],
            confidence=edges.confidence[order],
            how=edges.how[order],
            count=edges.count[order],
            in_indptr=_pointers(target, nodes),
            in_indices=source[back].astype(np.int32),
            in_edge=back,
        )

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the graph as named arrays, for a file."""
        return {name: getattr(self, name) for name in _COLUMNS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> CodeGraph:
        """Builds the graph from its arrays. Raises IndexingError if one is missing or the lengths do not match."""
        try:
            graph = cls(**{name: np.asarray(arrays[name], dtype=dtype) for name, dtype in _COLUMNS.items()})
        except KeyError as error:
            raise IndexingError(
                f"The stored call graph lacks the array {error}.", hint="Run `secateur index` to rebuild it."
            ) from None
        rows = {len(getattr(graph, name)) for name in _COLUMNS if not name.endswith("indptr")}
        if (
            len(rows) != 1
            or len(graph.indptr) != len(graph.in_indptr)
            or {int(graph.indptr[-1]), int(graph.in_indptr[-1])} != rows
        ):
            raise IndexingError(
                "The arrays of the stored call graph do not belong together.",
                hint="Run `secateur index` to rebuild it.",
            )
        return graph

    @property
    def node_count(self) -> int:
        return len(self.indptr) - 1

    @property
    def edge_count(self) -> int:
        return len(self.indices)

    def neighbours(self, node: int, direction: Direction) -> Int32:
        """Returns the nodes one step away, best confidence first, then by number."""
        root = np.array([node], dtype=np.int32)
        _, ends, confidence, _ = self.steps(root, direction, 0, TRUSTED, self.edge_count, set())
        return ends[np.lexsort((ends, -confidence.astype(np.int32)))]

    def search(
        self,
        roots: Sequence[int],
        max_depth: int,
        directions: Sequence[Direction],
        *,
        min_confidence: int = TRUSTED,
        hub_cap: int = HUB_CAP,
    ) -> Reach:
        """Searches breadth first from all roots at once.

        If several steps lead to a node at its depth, the best one counts: by confidence, then by the order in which the
        predecessors were found, then by the order of `directions`. A node with more than `hub_cap` steps in one
        direction takes only its best steps and is named in `hubs`.
        """
        start = np.array(list(dict.fromkeys(int(root) for root in roots)), dtype=np.int32)
        if len(start) and (int(start.min()) < 0 or int(start.max()) >= self.node_count):
            raise IndexingError(f"A search starts at a fragment outside 0..{self.node_count - 1}.")
        seen = np.zeros(self.node_count, dtype=np.bool_)
        seen[start] = True
        # of each level: nodes, predecessors, directions and confidences
        none = np.full(len(start), -1, dtype=np.int32)
        levels = [(start, none, none.astype(np.int8), np.full(len(start), 1000, dtype=np.uint16))]
        hubs: set[int] = set()
        for _ in range(max_depth):
            steps = [
                self.steps(levels[-1][0], way, index, min_confidence, hub_cap, hubs)
                for index, way in enumerate(directions)
            ]
            origin, ends, confidence, way = (
                np.concatenate([step[column] for step in steps]) if steps else np.zeros(0, dtype=np.int32)
                for column in range(4)
            )
            best = best_steps(ends, confidence, origin, way, seen)
            if not len(best):
                break
            predecessor = levels[-1][0][origin[best]]
            level = (ends[best], predecessor, way[best].astype(np.int8), confidence[best].astype(np.uint16))
            seen[level[0]] = True
            levels.append(level)
        names = [str(direction) for direction in directions]
        return Reach(
            nodes=np.concatenate([level[0] for level in levels]),
            depth=np.repeat(np.arange(len(levels), dtype=np.int32), [len(level[0]) for level in levels]),
            predecessor=np.concatenate([level[1] for level in levels]),
            predecessor_edge=[names[way] if way >= 0 else "" for level in levels for way in level[2].tolist()],
            confidence=np.concatenate([level[3] for level in levels]),
            hubs=tuple(sorted(hubs)),
        )

    def steps(
        self, frontier: Int32, direction: Direction, index: int, min_confidence: int, hub_cap: int, hubs: set[int]
    ) -> _Steps:
        """Returns all steps from the frontier in one direction: (position in the frontier, node reached, confidence,
        `index` of the direction). Adds the nodes with more than `hub_cap` steps to `hubs`."""
        pointers = self.indptr if direction.forward else self.in_indptr
        first, length = pointers[frontier], pointers[frontier + 1] - pointers[frontier]
        origin = np.repeat(np.arange(len(frontier), dtype=np.int32), length)
        slots = np.arange(len(origin), dtype=np.int32) + np.repeat(
            first - (np.cumsum(length) - length).astype(np.int32), length
        )
        rows = slots if direction.forward else self.in_edge[slots]
        follow = self.confidence[rows] >= min_confidence
        if direction is Direction.CALLED_BY:
            follow |= np.isin(self.how[rows], DISPATCHED) & (self.confidence[rows] >= CONFIDENCE[How.OVERRIDE])
        keep = (self.kind[rows] == direction.kind) & follow
        origin, slots, rows = origin[keep], slots[keep], rows[keep]
        ends = self.indices[rows] if direction.forward else self.in_indices[slots]
        degree = np.bincount(origin, minlength=len(frontier))
        if len(degree) and int(degree.max()) > hub_cap:
            hubs.update(frontier[degree > hub_cap].tolist())
            order = np.lexsort(
                (ends, -self.count[rows].astype(np.int32), -self.confidence[rows].astype(np.int32), origin)
            )
            # `order` is grouped by origin, so this is the rank of each step among those of its node
            nth = np.arange(len(order)) - np.repeat(np.cumsum(degree) - degree, degree)
            chosen = order[nth < hub_cap]
            origin, rows, ends = origin[chosen], rows[chosen], ends[chosen]
        return origin, ends, self.confidence[rows], np.full(len(ends), index, dtype=np.int8)


_COLUMNS: Mapping[str, type[np.generic]] = {
    "indptr": np.int32,
    "indices": np.int32,
    "kind": np.uint8,
    "confidence": np.uint16,
    "how": np.uint8,
    "count": np.uint8,
    "in_indptr": np.int32,
    "in_indices": np.int32,
    "in_edge": np.int32,
}


def _pointers(column: Int32, nodes: int) -> Int32:
    out = np.zeros(nodes + 1, dtype=np.int32)
    np.cumsum(np.bincount(column, minlength=nodes), out=out[1:])
    return out


def best_steps(
    ends: npt.NDArray[Any],
    confidence: npt.NDArray[Any],
    rank: npt.NDArray[Any],
    way: npt.NDArray[Any],
    seen: npt.NDArray[np.bool_],
) -> npt.NDArray[np.intp]:
    """Returns the position of the best step to each node that is not `seen`, ordered by confidence, then node. Of steps
    with equal confidence, the one with the lowest `rank` is best, then the one with the lowest `way`."""
    new = np.flatnonzero(~seen[ends])
    order = new[np.lexsort((way[new], rank[new], -confidence[new].astype(np.int32), ends[new]))]
    best = order[distinct(ends[order])[1]]
    return best[np.lexsort((ends[best], -confidence[best].astype(np.int32)))]


# --- the networkx view ------------------------------------------------------------------------------------------------


def to_networkx(
    graph: CodeGraph, symbol_ids: Sequence[str], paths: Sequence[str], *, min_confidence: int = TRUSTED
) -> networkx.MultiDiGraph[int]:
    """Builds a networkx graph. Nodes are fragment numbers with `symbol_id` and `path`; edges carry `kind`, `confidence`
    (0..1), `how` and `count`.

    Two fragments may have edges of several kinds, so the graph is a multigraph whose keys are the kinds.
    """
    import networkx

    view: networkx.MultiDiGraph[int] = networkx.MultiDiGraph()
    view.add_nodes_from(
        (node, {"symbol_id": symbol_ids[node], "path": paths[node]}) for node in range(graph.node_count)
    )
    source_of = np.repeat(np.arange(graph.node_count), np.diff(graph.indptr))
    rows = np.flatnonzero(graph.confidence >= min_confidence)
    for row, source in zip(rows.tolist(), source_of[rows].tolist(), strict=True):
        kind = EdgeKind(int(graph.kind[row])).name.lower()
        view.add_edge(
            source,
            int(graph.indices[row]),
            key=kind,
            kind=kind,
            confidence=int(graph.confidence[row]) / 1000,
            how=How(int(graph.how[row])).label,
            count=int(graph.count[row]),
        )
    return view


def components(view: networkx.MultiDiGraph[int]) -> list[int]:
    """Returns the sizes of the weakly connected components, largest first."""
    import networkx

    return sorted(map(len, networkx.weakly_connected_components(view)), reverse=True)


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
