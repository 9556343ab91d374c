from dataclasses import replace

import numpy as np
from inspector_kit import ORDERS, make_pool, orders_engine
from secateur.kinds.search.knobs import DEPTH, TOP_K, WEIGHTS
from secateur.settings import Settings, with_profile, with_values
from secateur_tui.state.search_state import SearchRequest, SearchState


def opened(settings: Settings | None = None) -> SearchState:
    state = SearchState(orders_engine(), settings or Settings(budget=4000), "refund")
    wanted = state.wanted
    assert wanted is not None
    assert state.accept(wanted, make_pool(query="refund"))
    return state


def test_the_first_change_pins_the_answer_before_it() -> None:
    state = opened()
    first = state.answer
    for _ in range(3):
        state.change(WEIGHTS[1].turned(state.settings, 1))
        state.reselect()
    assert state.baseline is first
    assert state.comparison is not None
    assert state.comparison.then is first.selection if first else False


def test_repinning_compares_with_the_present_answer() -> None:
    state = opened()
    state.change(replace(state.settings, budget=1000))
    state.reselect()
    state.pin_baseline()
    assert state.comparison is None


def test_undo_and_redo_walk_the_list_of_settings() -> None:
    state = opened()
    start = state.settings
    state.change(replace(start, budget=1000))
    state.change(replace(start, budget=2000))
    assert state.undo() and state.settings.budget == 1000
    assert state.undo() and state.settings == start
    assert not state.undo()
    assert state.redo() and state.settings.budget == 1000
    state.change(replace(start, budget=3000))
    assert not state.redo(), "a new change forgets what was undone"


def test_an_answer_to_an_older_question_is_refused() -> None:
    state = opened()
    old = SearchRequest("refund", state.settings)
    before = state.answer
    assert state.ask("rounding")
    assert not state.accept(old, make_pool(query="refund"))
    assert state.answer is before
    assert state.needs_pool


def test_another_query_ends_the_comparison() -> None:
    state = opened()
    state.change(replace(state.settings, budget=1000))
    state.ask("rounding")
    assert state.baseline is None


def test_a_smaller_depth_is_a_mask_and_a_larger_one_needs_a_pool() -> None:
    state = opened()
    state.change(DEPTH.put(state.settings, 1))
    assert not state.needs_pool
    state.reselect()
    assert state.answer is not None and state.answer.settings.graph_rag.max_depth == 1
    state.change(DEPTH.put(state.settings, 3))
    assert state.needs_pool
    answer = state.answer
    state.reselect()
    assert state.answer is answer, "the old pool must not answer for the larger depth"


def test_what_changes_the_pool_needs_a_pool_and_going_back_does_not() -> None:
    state = opened()
    for changed in (
        TOP_K.turned(state.settings, 1),
        with_profile(state.settings, "recommended"),
        with_values(state.settings, {"tokens.counter": "chars4"}),
    ):
        state.change(changed)
        assert state.needs_pool
        state.undo()
        assert not state.needs_pool


def test_the_cursor_follows_the_candidate_into_another_pool() -> None:
    state = opened()
    state.cursor = 5
    assert state.pool is not None
    symbol = state.pool.symbol_id[5]
    state.change(TOP_K.turned(state.settings, 1))
    wanted = state.wanted
    assert wanted is not None
    # Only rows without `predecessor` are reordered safely; the order of rows is all that matters here.
    flat = [replace(candidate, predecessor=-1) for candidate in ORDERS]
    assert state.accept(wanted, make_pool(flat[::-1], query="refund"))
    assert state.pool.symbol_id[state.cursor] == symbol
    assert state.comparison is not None
    assert np.count_nonzero(state.comparison.flipped) == 0, (
        "the same candidates in another row order are the same candidates"
    )


def test_an_emptied_query_forgets_its_answer() -> None:
    state = opened()
    state.ask("  ")
    assert state.answer is None and state.pool is None and not state.needs_pool
