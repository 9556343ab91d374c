"""The graph: storage, bounded deterministic search in both directions, the networkx view."""

from __future__ import annotations

from collections.abc import Collection

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.errors import IndexingError
from secateur.index.graph.code_graph import CodeGraph, Direction, Reach, components, to_networkx
from secateur.index.graph.resolve.edges import EdgeBuilder, EdgeKind, How

CALLS, IMPORTS, INHERITS = EdgeKind.CALLS, EdgeKind.IMPORTS, EdgeKind.INHERITS


def graph(nodes: int, *edges: tuple[int, int, EdgeKind, int]) -> CodeGraph:
    builder = EdgeBuilder()
    for source, target, kind, confidence in edges:
        builder.add(source, target, kind, confidence, How.IMPORT)
    return CodeGraph.from_edges(builder.build(), nodes)


def bfs(
    graph: CodeGraph, roots: list[int], depth: int, kinds: Collection[EdgeKind] = (CALLS,), **options: int
) -> Reach:
    """Searches along edges of some kinds in both directions."""
    return graph.search(roots, depth, [way for way in Direction if way.kind in kinds], **options)


def chain(length: int) -> CodeGraph:
    return graph(length, *((n, n + 1, CALLS, 900) for n in range(length - 1)))


def test_callers_and_callees_stop_exactly_at_the_depth() -> None:
    line = chain(9)
    reach = bfs(line, [4], 2)
    assert dict(zip(reach.nodes.tolist(), reach.depth.tolist(), strict=True)) == {4: 0, 3: 1, 5: 1, 2: 2, 6: 2}
    assert line.search([4], 3, (Direction.CALLS,)).nodes.tolist() == [4, 5, 6, 7]
    assert line.search([4], 1, (Direction.CALLED_BY,)).nodes.tolist() == [4, 3]
    assert bfs(line, [4], 0).nodes.tolist() == [4]


def test_each_node_names_the_step_that_leads_to_it() -> None:
    line = chain(5)
    reach = bfs(line, [2], 2)
    assert reach.predecessor.tolist() == [-1, 2, 2, 1, 3]
    assert reach.predecessor_edge == ["", "called_by", "calls", "called_by", "calls"]


def test_the_better_step_wins_and_orders_its_level() -> None:
    diamond = graph(
        5, (0, 1, CALLS, 600), (0, 2, CALLS, 950), (1, 3, CALLS, 950), (2, 3, CALLS, 700), (2, 4, CALLS, 950)
    )
    reach = bfs(diamond, [0], 2)
    assert reach.nodes.tolist() == [0, 2, 1, 3, 4]
    assert reach.predecessor.tolist() == [-1, 0, 0, 1, 2]


def test_only_kinds_and_confidences_asked_for_are_followed() -> None:
    mixed = graph(5, (0, 1, CALLS, 900), (0, 2, IMPORTS, 900), (3, 0, INHERITS, 900), (0, 4, CALLS, 300))
    assert set(bfs(mixed, [0], 1).nodes.tolist()) == {0, 1}
    assert set(bfs(mixed, [0], 1, kinds=list(EdgeKind)).nodes.tolist()) == {0, 1, 2, 3}
    assert set(bfs(mixed, [0], 1, min_confidence=1).nodes.tolist()) == {0, 1, 4}
    assert bfs(mixed, [0], 1, kinds=(INHERITS,)).predecessor_edge == ["", "inherited_by"]


def test_a_hub_is_reached_and_expands_only_its_best_steps() -> None:
    hub = graph(302, (300, 301, CALLS, 900), *((n, 300, CALLS, 990 if n == 299 else 900) for n in range(300)))
    reach = bfs(hub, [301], 2, hub_cap=10)
    assert reach.hubs == (300,)
    assert reach.nodes.tolist() == [301, 300, 299, *range(9)]
    assert bfs(hub, [301], 2, hub_cap=300).hubs == ()


def test_several_roots_share_one_search_and_keep_their_order() -> None:
    reach = bfs(chain(10), [8, 1, 8], 1)
    assert reach.nodes.tolist() == [8, 1, 0, 2, 7, 9]
    assert reach.predecessor.tolist() == [-1, -1, 1, 1, 8, 8]
    assert len(bfs(chain(3), [], 2)) == 0


def test_neighbours_come_best_first() -> None:
    fan = graph(4, (0, 1, CALLS, 600), (0, 2, CALLS, 900), (0, 3, CALLS, 200))
    assert fan.neighbours(0, Direction.CALLS).tolist() == [2, 1]
    assert fan.neighbours(2, Direction.CALLED_BY).tolist() == [0]
    assert fan.neighbours(0, Direction.IMPORTS).tolist() == []


def test_roots_and_edges_outside_the_graph_are_errors() -> None:
    with pytest.raises(IndexingError, match="outside"):
        bfs(chain(3), [3], 1)
    with pytest.raises(IndexingError, match="outside"):
        graph(1, (0, 1, CALLS, 900))


def test_arrays_survive_storage_and_damage_is_noticed() -> None:
    line = chain(6)
    arrays = line.to_arrays()
    again = CodeGraph.from_arrays(arrays)
    assert all(np.array_equal(array, again.to_arrays()[name]) for name, array in arrays.items())
    with pytest.raises(IndexingError, match="lacks"):
        CodeGraph.from_arrays({name: array for name, array in arrays.items() if name != "kind"})
    with pytest.raises(IndexingError, match="belong together"):
        CodeGraph.from_arrays(arrays | {"how": arrays["how"][:-1]})


@given(
    st.integers(1, 12).flatmap(
        lambda nodes: st.tuples(
            st.just(nodes),
            st.lists(
                st.tuples(
                    st.integers(0, nodes - 1),
                    st.integers(0, nodes - 1),
                    st.sampled_from(list(EdgeKind)),
                    st.integers(1, 1000),
                ),
                max_size=40,
            ),
            st.integers(0, nodes - 1),
            st.integers(0, 4),
        )
    )
)
def test_search_agrees_with_networkx(case: tuple[int, list[tuple[int, int, EdgeKind, int]], int, int]) -> None:
    nodes, edges, root, depth = case
    ours = graph(nodes, *edges)
    reach = bfs(ours, [root], depth, kinds=list(EdgeKind), min_confidence=1)
    view = to_networkx(ours, [f"s{n}" for n in range(nodes)], ["p"] * nodes, min_confidence=1)
    truth = networkx.single_source_shortest_path_length(view.to_undirected(), root, cutoff=depth)
    depths = dict(zip(reach.nodes.tolist(), reach.depth.tolist(), strict=True))
    assert depths == dict(truth)
    for node, predecessor, level in zip(
        reach.nodes.tolist(), reach.predecessor.tolist(), reach.depth.tolist(), strict=True
    ):
        assert level == 0 or depths[node] == depths[predecessor] + 1
        assert predecessor == -1 if level == 0 else view.has_edge(node, predecessor) or view.has_edge(predecessor, node)


def test_the_view_carries_what_a_reader_needs() -> None:
    view = to_networkx(
        graph(3, (0, 1, CALLS, 960), (0, 1, IMPORTS, 960), (1, 2, CALLS, 300)), ["a", "b", "c"], ["x.py"] * 3
    )
    assert isinstance(view, networkx.DiGraph)
    assert view.nodes[1] == {"symbol_id": "b", "path": "x.py"}
    assert view.edges[0, 1, "calls"] == {"kind": "calls", "confidence": 0.96, "how": "import", "count": 1}
    assert view.number_of_edges() == 2


def test_components_are_connected_by_any_edge() -> None:
    view = to_networkx(graph(5, (0, 1, CALLS, 900), (1, 2, CALLS, 900), (2, 3, IMPORTS, 900)), list("abcde"), ["x"] * 5)
    assert components(view) == [4, 1]
