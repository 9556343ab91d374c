"""The ledger of a search: every input once, and sums that hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from secateur.render.layouts import render_pack
from secateur.render.search_json import WRAPPER_SECTION, count_pack, search_action, search_ledger
from secateur.selection import select
from secateur.settings import Settings
from secateur.tokens import get_counter
from support.pools import Row, pool_of

sizes = st.lists(st.tuples(st.integers(1, 900), st.integers(0, 40), st.floats(0, 1)), max_size=30)


@given(rows=sizes, budget=st.integers(0, 3000), share=st.sampled_from([0.0, 0.1, 0.5]), around=st.integers(0, 50))
def test_every_input_is_accounted_for_exactly_once(
    rows: list[tuple[int, int, float]], budget: int, share: float, around: int
) -> None:
    pool = pool_of(
        [Row(f"f{i}", tokens, relevance, sig=min(sig, tokens)) for i, (tokens, sig, relevance) in enumerate(rows)]
    )
    settings = Settings(budget=budget)
    selection = select(pool, replace(settings, smart_pruning=replace(settings.smart_pruning, signature_share=share)))
    out = sum(decision.tokens_after for decision in selection.decisions)
    report = search_ledger(selection, lambda: out + around).report(search_action)
    inputs = [action for action in report.actions if action.section != WRAPPER_SECTION]
    assert sorted(action.section for action in inputs) == sorted(pool.symbol_id)
    assert sum(action.before for action in report.actions) == report.before == sum(tokens for tokens, *_ in rows)
    assert sum(action.after for action in report.actions) == report.after == out + around
    assert report.applied == any(action.action in ("drop", "shorten") for action in inputs)
    assert all(action.reason for action in report.actions)


def test_the_report_has_the_frozen_names() -> None:
    selection = select(pool_of([Row("a", 100), Row("b", 900)]), Settings(budget=150))
    report = search_ledger(selection, lambda: 120).report(search_action).to_dict()
    assert report | {"actions": []} == {
        "applied": True,
        "estimateBefore": 1000,
        "estimateAfter": 120,
        "contextBudget": 150,
        "reserveForResponse": 0,
        "actions": [],
    }
    assert report["actions"] == [
        {"section": "a.py::a", "action": "keep", "reason": "fits", "beforeTokens": 100, "afterTokens": 100},
        {"section": "b.py::b", "action": "drop", "reason": "larger_than_budget", "beforeTokens": 900, "afterTokens": 0},
        {"section": "pack", "action": "keep", "reason": "headings", "beforeTokens": 0, "afterTokens": 20},
    ]


def test_an_empty_pack_counts_nothing() -> None:
    counter = get_counter("chars4")
    empty = select(pool_of([Row("a", 100)]), Settings(budget=0))
    assert count_pack(empty, render_pack(empty, str, str), counter) == 0
    full = select(pool_of([Row("a", 100)]), Settings(budget=100))
    pack = render_pack(full, str, str)
    assert count_pack(full, pack, counter) == counter.count(pack)
