from dataclasses import replace

import numpy as np
from inspector_kit import ORDERS, make_pool, orders_engine
from msgspec import structs
from secateur.kinds.search.knobs import DEPTH, TOP_K, WEIGHTS
from secateur.model import Pool
from secateur.settings import Settings, with_profile, with_values
from secateur_tui.pages.search import Retrieved, SearchPage
from secateur_tui.state.bench_state import BenchState, Reading


def opened(settings: Settings | None = None) -> BenchState[SearchPage]:
    page = SearchPage(orders_engine(), "orders")
    state = BenchState(page, settings or Settings(budget=4000), {"query": "refund"})
    read(state, make_pool(query="refund"))
    return state


def read(state: BenchState[SearchPage], pool: Pool) -> None:
    state.read(Reading(state.key, Retrieved(pool, "")))
    reselect(state)


def reselect(state: BenchState[SearchPage]) -> None:
    assert state.reading is not None
    state.accept(state.wanted, state.kind_page.decide(state.reading.material, state.inputs, state.settings))


def test_the_first_change_pins_the_answer_before_it() -> None:
    state = opened()
    first = state.answer
    for _ in range(3):
        state.change(WEIGHTS[1].turned(state.settings, 1))
        reselect(state)
    assert state.baseline is first
    assert state.comparison is not None
    assert state.comparison.then is first


def test_repinning_compares_with_the_present_answer() -> None:
    state = opened()
    state.change(structs.replace(state.settings, budget=1000))
    reselect(state)
    state.pin_baseline()
    assert state.comparison is None


def test_undo_and_redo_walk_the_list_of_settings() -> None:
    state = opened()
    start = state.settings
    state.change(structs.replace(start, budget=1000))
    state.change(structs.replace(start, budget=2000))
    assert state.undo() and state.settings.budget == 1000
    assert state.undo() and state.settings == start
    assert not state.undo()
    assert state.redo() and state.settings.budget == 1000
    state.change(structs.replace(start, budget=3000))
    assert not state.redo(), "a new change forgets what was undone"


def test_an_answer_to_an_older_question_is_refused() -> None:
    state = opened()
    old, asked = state.key, state.wanted
    before, reading = state.answer, state.reading
    assert before is not None and state.type("query", "rounding")
    state.read(Reading(old, Retrieved(make_pool(query="refund"), "")))
    state.accept(asked, before)
    assert state.answer is before and state.reading is reading
    assert state.needs_reading


def test_another_query_ends_the_comparison() -> None:
    state = opened()
    state.change(structs.replace(state.settings, budget=1000))
    state.type("query", "rounding")
    assert state.baseline is None


def test_a_smaller_depth_is_a_mask_and_a_larger_one_needs_a_pool() -> None:
    state = opened()
    state.change(DEPTH.put(state.settings, 1))
    assert not state.needs_reading
    reselect(state)
    assert state.answer is not None and state.answer.settings.graph_rag.max_depth == 1
    state.change(DEPTH.put(state.settings, 3))
    assert state.needs_reading, "the old pool must not answer for the larger depth"


def test_what_changes_the_pool_needs_a_pool_and_going_back_does_not() -> None:
    state = opened()
    for changed in (
        TOP_K.turned(state.settings, 1),
        with_profile(state.settings, "recommended"),
        with_values(state.settings, {"tokens.counter": "chars4"}),
    ):
        state.change(changed)
        assert state.needs_reading
        state.undo()
        assert not state.needs_reading


def test_the_cursor_follows_the_candidate_into_another_pool() -> None:
    state = opened()
    state.cursor = 5
    assert state.answer is not None
    symbol = state.answer.ids[5]
    state.change(TOP_K.turned(state.settings, 1))
    # Only rows without `predecessor` are reordered safely; the order of rows is all that matters here.
    flat = [replace(candidate, predecessor=-1) for candidate in ORDERS]
    read(state, make_pool(flat[::-1], query="refund"))
    assert state.answer.ids[state.cursor] == symbol
    assert state.comparison is not None
    assert np.count_nonzero(state.comparison.flipped) == 0, (
        "the same candidates in another row order are the same candidates"
    )


def test_an_emptied_query_forgets_its_answer() -> None:
    state = opened()
    state.type("query", "  ")
    assert state.answer is None and state.reading is None and not state.needs_reading
