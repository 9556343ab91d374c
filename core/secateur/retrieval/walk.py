"""Follows the calls around the items of a selection: neighbours of each, connected parts, chains, the next
step.

A `CallMap` answers single steps at once, whatever the size of the repository. `walk_of` gathers a bounded account for
reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import CodeGraph, Direction, chains_from, connected_components, steps, to_networkx
from secateur.index.graph.resolve.edges import EdgeKind, How
from secateur.model import IntArray, Pool, Selection, State
from secateur.render.walk_text import CallChain, CallEnd, DeeperSearch, NextItem, NextStep, Together, Walk, WalkedItem
from secateur.retrieval.retrieve import MODELLESS
from secateur.settings import Settings
from secateur.settings.keys import keys

if TYPE_CHECKING:
    import networkx

# Answers a query under settings: the snapshot that was searched, and the selection.
Search = Callable[[str, Settings], tuple[Snapshot, Selection]]

CONNECTING = (EdgeKind.CALLS, EdgeKind.INHERITS)  # kinds of edges that connect a part
MOST_ENDS = 8  # most callers, and most callees, of one item that an account lists
MOST_LEAVING = 100  # most items that leave whose calls an account lists
MOST_DROPPED = 20  # most dropped items whose calls an account lists
MOST_NODES = 400  # most items that an account lists, counting the items that the others name
MOST_PARTS, MOST_NAMES = 20, 50  # most connected parts that an account lists, and most ids of one list

# Chains are sought between this many of the best items; at most this many chains are listed.
MOST_ENDS_OF_CHAINS, MOST_CHAINS = 20, 60

# Most items of the next step that are listed, and most ids of what each of them touches.
MOST_NEXT, MOST_TOUCHED = 20, 3

LINE_BITS = 32  # a file's number and a line, in one integer: the key by which fragments are found


class CallMap:
    """Looks at the call graph of one snapshot from the candidates of one selection.

    >>> calls = CallMap(snapshot, selection)
    >>> calls.item(node).callers, calls.chains()
    """

    def __init__(self, snapshot: Snapshot, selection: Selection) -> None:
        self.snapshot, self.selection = snapshot, selection
        self.node_of_row = _find_nodes(snapshot, selection.pool)
        known = np.flatnonzero(self.node_of_row >= 0)
        self._row_of_node = np.full(len(snapshot) + 1, -1, dtype=np.int64)
        self._row_of_node[self.node_of_row[known]] = known

    @property
    def graph(self) -> CodeGraph:
        return self.snapshot.graph

    @cached_property
    def leaving(self) -> list[int]:
        """The nodes of the items that leave, by rank."""
        return [node for node in self.node_of_row[self.selection.kept_rows].tolist() if node >= 0]

    def row(self, node: int) -> int | None:
        """Returns the row of the pool; None if the node is not a candidate."""
        row = int(self._row_of_node[node])
        return row if row >= 0 else None

    def symbol(self, node: int) -> str:
        return self.snapshot.symbol_id(node)

    def steps(self, node: int, direction: Direction) -> tuple[list[tuple[int, CallEnd]], int]:
        """Lists the callers or callees of a node, the most certain first, and counts the ones that are not listed."""
        ends = steps(self.graph, node, direction)
        columns = [
            column[:MOST_ENDS].tolist() for column in (ends.nodes, ends.how, ends.confidence, ends.sites, ends.followed)
        ]
        shown = [
            (
                end,
                CallEnd(self.symbol(end), How(how).label, confidence / 1000, sites, self._state(self.row(end)), known),
            )
            for end, how, confidence, sites, known in zip(*columns, strict=True)
        ]
        return shown, len(ends) - len(shown)

    def named(self, node: int) -> list[int]:
        """Returns the nodes that `item` names."""
        return [end for way in (Direction.CALLED_BY, Direction.CALLS) for end, _ in self.steps(node, way)[0]]

    def item(self, node: int) -> WalkedItem:
        """Returns a node with its callers and callees, and the decision on it."""
        snapshot, row = self.snapshot, self.row(node)
        callers, callers_more = self.steps(node, Direction.CALLED_BY)
        callees, callees_more = self.steps(node, Direction.CALLS)
        return WalkedItem(
            symbol_id=self.symbol(node),
            name=snapshot.qualnames[node],
            file_path=snapshot.paths[int(snapshot.file[node])],
            line_start=int(snapshot.line_start[node]),
            line_end=int(snapshot.line_end[node]),
            token_count=int(snapshot.column("tokens")[node]),
            state=self._state(row),
            rank=self._rank(row),
            callers=[end for _, end in callers],
            callers_more=callers_more,
            callees=[end for _, end in callees],
            callees_more=callees_more,
        )

    def chains(self) -> list[CallChain]:
        """Lists chains of calls between the best items that leave, through items that do not leave. Every other chain
        consists of these and of single calls."""
        best, leaves = self.leaving[:MOST_ENDS_OF_CHAINS], set(self.leaving)
        chains: list[CallChain] = []
        for caller in best:
            paths = chains_from(self.graph, caller, [node for node in best if node != caller])
            for nodes in (path for path in paths if len(path) > 2 and leaves.isdisjoint(path[1:-1])):
                calls = [(steps(self.graph, node, Direction.CALLS), end) for node, end in pairwise(nodes)]
                hops = [How(int(hop.how[hop.nodes == end][0])).label for hop, end in calls]
                chains.append(CallChain(self._symbols(nodes), hops))
        return chains[:MOST_CHAINS]

    def parts(self) -> list[list[int]]:
        """Divides what leaves into parts that calls or inheritance connect: nodes by rank, the part of the best first.
        Imports would join whatever stands in one file with all that it names."""
        rank = {node: index for index, node in enumerate(self.leaving)}
        names = {node: self.symbol(node) for node in rank}
        view = to_networkx(self.graph, names, names, nodes=self.leaving, kinds=CONNECTING)
        return sorted(
            (sorted(part, key=rank.__getitem__) for part in connected_components(view)), key=lambda part: rank[part[0]]
        )

    def next_step(self, parts: Sequence[Sequence[int]]) -> NextStep:
        """Finds what is one call from what leaves, by calls that a search follows."""
        leaves = set(self.leaving)
        part_of = {node: index for index, part in enumerate(parts) for node in part}
        calls: dict[int, list[int]] = {}  # next item -> items that leave and that it calls, by rank
        called_by: dict[int, list[int]] = {}
        for node in self.leaving:
            for direction, touched in ((Direction.CALLED_BY, calls), (Direction.CALLS, called_by)):
                ends = steps(self.graph, node, direction)
                for end in ends.nodes[ends.followed].tolist():
                    if end not in leaves:
                        touched.setdefault(end, []).append(node)
        joins = {
            node: len({part_of[end] for end in (*calls.get(node, ()), *called_by.get(node, ()))})
            for node in sorted({*calls, *called_by})
        }

        def order(node: int) -> tuple[int, int, int]:
            return -joins[node], -len(calls.get(node, ())) - len(called_by.get(node, ())), node

        items = [
            self._next_item(node, calls.get(node, []), called_by.get(node, []), joins[node])
            for node in sorted(joins, key=order)[:MOST_NEXT]
        ]
        every = np.array(list(joins), dtype=np.int64)
        return NextStep(
            items=items,
            count=len(joins),
            token_count=int(self.snapshot.column("tokens")[every].sum(dtype=np.int64)),
            candidates=int((self._row_of_node[every] >= 0).sum()),
        )

    def _next_item(self, node: int, calls: list[int], called_by: list[int], joins: int) -> NextItem:
        row = self.row(node)
        return NextItem(
            symbol_id=self.symbol(node),
            token_count=int(self.snapshot.column("tokens")[node]),
            state=self._state(row),
            rank=self._rank(row),
            calls=self._symbols(calls[:MOST_TOUCHED]),
            calls_more=max(0, len(calls) - MOST_TOUCHED),
            called_by=self._symbols(called_by[:MOST_TOUCHED]),
            called_by_more=max(0, len(called_by) - MOST_TOUCHED),
            joins=joins,
        )

    def _state(self, row: int | None) -> str | None:
        return None if row is None else State(int(self.selection.state[row])).label

    def _rank(self, row: int | None) -> int | None:
        return None if row is None else int(self.selection.rank[row])

    def _symbols(self, nodes: Iterable[int]) -> list[str]:
        return [self.symbol(node) for node in nodes]


def walk_of(calls: CallMap, deeper: DeeperSearch | None = None, *, opened: int = 0) -> Walk:
    """Builds the account of a selection's calls.

    Args:
        deeper: what one more step of calls brought, where it was tried.
        opened: how many further steps from the listed items have their own calls listed, up to MOST_NODES items.
    """
    selection, leaving = calls.selection, calls.leaving
    dropped = calls.node_of_row[selection.dropped_rows[:MOST_DROPPED]].tolist()
    listed = [*leaving[:MOST_LEAVING], *(node for node in dropped if node >= 0)]
    nodes = [calls.item(node) for node in listed]
    seen, level = set(listed), listed
    for _ in range(opened):
        named = (end for node in level for end in calls.named(node))
        level = [node for node in dict.fromkeys(named) if node not in seen][: MOST_NODES - len(nodes)]
        seen |= set(level)
        nodes += [calls.item(node) for node in level]
    parts = calls.parts()
    together, alone = [part for part in parts if len(part) > 1], [part[0] for part in parts if len(part) == 1]
    tokens = calls.snapshot.column("tokens")
    return Walk(
        nodes=nodes,
        nodes_more=max(0, len(leaving) - MOST_LEAVING),
        together=[
            Together(
                symbol_ids=[calls.symbol(node) for node in part[:MOST_NAMES]],
                more=max(0, len(part) - MOST_NAMES),
                token_count=int(tokens[part].sum(dtype=np.int64)),
            )
            for part in together[:MOST_PARTS]
        ],
        together_more=max(0, len(together) - MOST_PARTS),
        alone=[calls.symbol(node) for node in alone[:MOST_NAMES]],
        alone_more=max(0, len(alone) - MOST_NAMES),
        chains=calls.chains(),
        next_step=calls.next_step(parts),
        deeper=deeper,
    )


def search_deeper(calls: CallMap, settings: Settings, search: Search) -> DeeperSearch | None:
    """Searches again with one more step of calls.

    Returns None if the settings allow no further step, if no calls are followed, or if a model would be asked once
    more. The same holds if the files have changed since: the answers could not be compared.
    """
    rag, most = settings.graph_rag, keys()["graph_rag.max_depth"].high
    if not rag.enabled or (most is not None and rag.max_depth >= most) or settings.embedding.model not in MODELLESS:
        return None
    depth = rag.max_depth + 1
    now = calls.selection
    snapshot, then = search(now.pool.query, replace(settings, graph_rag=replace(rag, max_depth=depth)))
    if snapshot is not calls.snapshot:
        return None
    known = now.pool.row_of
    new = [row for row, symbol in enumerate(then.pool.symbol_id) if symbol not in known]
    left = [now.pool.symbol_id[row] for row in now.kept_rows]
    leaves = [then.pool.symbol_id[row] for row in then.kept_rows]
    before, after = set(left), set(leaves)
    gained = [symbol for symbol in leaves if symbol not in before]
    lost = [symbol for symbol in left if symbol not in after]
    return DeeperSearch(
        depth=depth,
        candidates=len(new),
        token_count=int(then.pool.tokens[new].sum()),
        kept=gained[:MOST_NAMES],
        kept_more=max(0, len(gained) - MOST_NAMES),
        lost=lost[:MOST_NAMES],
        lost_more=max(0, len(lost) - MOST_NAMES),
    )


def graph_view(snapshot: Snapshot) -> networkx.MultiDiGraph[int]:
    """Converts the whole graph of a snapshot to networkx."""
    paths = [snapshot.paths[int(file)] for file in snapshot.file]
    return to_networkx(snapshot.graph, [snapshot.symbol_id(row) for row in range(len(snapshot))], paths)


def _find_nodes(snapshot: Snapshot, pool: Pool) -> IntArray:
    file_of_path = {path: file for file, path in enumerate(snapshot.paths)}
    file = np.array([file_of_path.get(path, -1) for path in pool.path], dtype=np.int64)
    begins = (snapshot.file.astype(np.int64) << LINE_BITS) + snapshot.line_start
    wanted = (file << LINE_BITS) + pool.line_start
    at = np.minimum(np.searchsorted(begins, wanted), max(0, len(begins) - 1))
    if not len(begins):
        return np.full(len(pool), -1, dtype=np.int64)
    return np.where((begins[at] == wanted) & (file >= 0), at, -1).astype(np.int64)
