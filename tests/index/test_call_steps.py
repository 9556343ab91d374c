"""Single steps along calls: both ends agree, guesses come last, chains are shortest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.graph.code_graph import CodeGraph, Direction, steps
from secateur.index.graph.resolve.edges import CONFIDENCE, EdgeBuilder, EdgeKind, How

NODES = 9

edges = st.lists(
    st.tuples(
        st.integers(0, NODES - 1),
        st.integers(0, NODES - 1),
        st.sampled_from(EdgeKind),
        st.sampled_from(How),
        st.integers(1, 300),
    ),
    max_size=30,
)


def graph(given_edges: list[tuple[int, int, EdgeKind, How, int]], nodes: int = NODES) -> CodeGraph:
    builder = EdgeBuilder()
    for source, target, kind, how, sites in given_edges:
        builder.add(source, target, kind, CONFIDENCE[how], how, sites)
    return CodeGraph.from_edges(builder.build(), nodes)


@given(edges)
def test_what_is_a_callee_here_is_a_caller_there(made: list[tuple[int, int, EdgeKind, How, int]]) -> None:
    calls = graph(made)
    forwards = {(node, end) for node in range(NODES) for end in steps(calls, node, Direction.CALLS).nodes.tolist()}
    backwards = {(end, node) for node in range(NODES) for end in steps(calls, node, Direction.CALLED_BY).nodes.tolist()}
    assert forwards == backwards
    assert forwards == {(one, other) for one, other, kind, *_ in made if kind is EdgeKind.CALLS and one != other}


@given(edges, st.sampled_from([Direction.CALLS, Direction.CALLED_BY]))
def test_followed_is_what_a_search_follows_and_comes_first(
    made: list[tuple[int, int, EdgeKind, How, int]], direction: Direction
) -> None:
    calls = graph(made)
    for node in range(NODES):
        found = steps(calls, node, direction)
        assert set(found.nodes[found.followed].tolist()) == set(calls.neighbours(node, direction).tolist())
        order = list(
            zip(~found.followed, -found.confidence.astype(int), -found.sites.astype(int), found.nodes, strict=True)
        )
        assert order == sorted(order)


def test_a_call_says_how_it_was_resolved() -> None:
    calls = graph([(0, 1, EdgeKind.CALLS, How.IMPORT, 2), (0, 2, EdgeKind.CALLS, How.UNIQUE_NAME, 1)])
    found = steps(calls, 0, Direction.CALLS)
    assert [(How(how), sites) for how, sites in zip(found.how, found.sites, strict=True)] == [
        (How.IMPORT, 2),
        (How.UNIQUE_NAME, 1),
    ]
    assert found.nodes.tolist() == [1, 2]
    assert found.followed.tolist() == [True, False]


def test_an_override_is_followed_backwards_only() -> None:
    calls = graph([(0, 1, EdgeKind.CALLS, How.OVERRIDE, 1)])
    assert steps(calls, 0, Direction.CALLS).followed.tolist() == [False]
    assert steps(calls, 1, Direction.CALLED_BY).followed.tolist() == [True]


@pytest.mark.parametrize("direction", [Direction.CALLS, Direction.CALLED_BY])
def test_a_node_without_calls_has_no_steps(direction: Direction) -> None:
    assert len(steps(graph([], 1), 0, direction)) == 0
