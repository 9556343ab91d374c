import re
from dataclasses import replace

import numpy as np
import pytest
from inspector_kit import ORDERS, make_pool, search_answer
from secateur.model import Pool, State
from secateur.selection import select
from secateur.settings import Settings, with_values
from secateur_tui.state.answer import ABSENT, AnswerComparison, SearchAnswer
from secateur_tui.styled_text import plain
from secateur_tui.widgets.candidates import draw_trim_diff


def answer(pool: Pool, settings: Settings) -> SearchAnswer:
    return search_answer(select(pool, settings), settings)


def flips(comparison: AnswerComparison, before: bool, after: bool) -> set[int]:
    """The rows that went out before, or did not, and do now, or do not."""
    was, are = comparison.state_then != State.DROPPED, comparison.now.state != State.DROPPED
    return set(np.flatnonzero(comparison.flipped & (was == before) & (are == after)).tolist())


def test_ranks_and_flips_between_two_budgets() -> None:
    pool = make_pool()
    then, now = answer(pool, Settings(budget=2000)), answer(pool, Settings(budget=4000))
    comparison = AnswerComparison(then, now)
    assert not comparison.climbed.any(), "a budget does not change ranks"
    out_then, out_now = set(then.selection.kept_rows), set(now.selection.kept_rows)
    assert flips(comparison, False, True) == out_now - out_then
    assert flips(comparison, True, False) == out_then - out_now


def test_places_gained_are_counted_upwards() -> None:
    pool = make_pool()
    then = answer(pool, Settings())
    now = answer(pool, with_values(Settings(), {"smart_pruning.strategy": "relevance"}))
    comparison = AnswerComparison(then, now)
    for row in range(len(pool)):
        assert comparison.climbed[row] == int(then.rank[row]) - int(now.rank[row])


def test_candidates_only_one_pool_holds() -> None:
    flat = [replace(candidate, predecessor=-1) for candidate in ORDERS]
    then, now = answer(make_pool(flat[:6]), Settings()), answer(make_pool(flat[3:]), Settings())
    comparison = AnswerComparison(then, now)
    assert list(comparison.item_then[:3]) == [3, 4, 5]
    assert all(comparison.item_then[3:] == ABSENT)
    assert comparison.vanished == [row for row in then.selection.kept_rows if row < 3]
    assert flips(comparison, False, True) == {row for row in now.selection.kept_rows if row >= 3}


@pytest.mark.parametrize(("heading", "budget", "more"), [("moved", 100_000, True), ("left", 2_000, False)])
def test_a_heading_counts_what_is_listed_below_it_and_what_is_said_to_be_more(
    heading: str, budget: int, more: bool
) -> None:
    pool, weights = make_pool(), "smart_pruning.priority_weights."
    turned = with_values(Settings(budget=budget), {f"{weights}relevance": 0.0, f"{weights}hotspot": 1.0})
    comparison = AnswerComparison(answer(pool, Settings(budget=100_000)), answer(pool, turned))
    lines = [plain(one) for one in draw_trim_diff(comparison, 80)]
    place, count = next((at, int(text.split("(")[1][:-1])) for at, text in enumerate(lines) if text.startswith(heading))
    below = [*lines[place + 1 :], ""]
    listed = below[: below.index("")]
    unlisted = re.fullmatch(r"and (\d+) more", listed[-1])
    assert (unlisted is not None) == more
    assert count == len(listed) + (int(unlisted[1]) - 1 if unlisted is not None else 0)
