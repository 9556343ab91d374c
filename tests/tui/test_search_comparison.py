import re
from dataclasses import replace

import pytest
from inspector_kit import ORDERS, make_pool
from msgspec import structs
from secateur.model import State
from secateur.selection import select
from secateur.settings import Settings, with_values
from secateur_tui.state.ledger_answer import ABSENT
from secateur_tui.state.search_answer import SearchComparison
from secateur_tui.styled_text import plain
from secateur_tui.widgets.candidate_list import draw_trim_diff


def test_ranks_and_flips_between_two_budgets() -> None:
    pool = make_pool()
    then, now = select(pool, Settings(budget=2000)), select(pool, Settings(budget=4000))
    comparison = SearchComparison(then, now)
    assert not comparison.moved.any(), "a budget does not change ranks"
    entered = comparison.flips(State.DROPPED, None)
    left = comparison.flips(None, State.DROPPED)
    assert entered == [row for row in now.kept_rows if row not in then.kept_rows]
    assert left == [row for row in then.kept_rows if row not in now.kept_rows]


def test_places_gained_are_counted_upwards() -> None:
    pool = make_pool()
    then = select(pool, Settings())
    now = select(
        pool, structs.replace(Settings(), smart_pruning=structs.replace(Settings().smart_pruning, strategy="relevance"))
    )
    comparison = SearchComparison(then, now)
    for row in range(len(pool)):
        assert comparison.moved[row] == int(then.rank[row]) - int(now.rank[row])


def test_candidates_only_one_pool_holds() -> None:
    flat = [replace(candidate, predecessor=-1) for candidate in ORDERS]
    then, now = select(make_pool(flat[:6]), Settings()), select(make_pool(flat[3:]), Settings())
    comparison = SearchComparison(then, now)
    assert list(comparison.row_then[:3]) == [3, 4, 5]
    assert all(comparison.row_then[3:] == ABSENT)
    assert comparison.vanished == [row for row in then.kept_rows if row < 3]
    assert set(comparison.flips(State.DROPPED, None)) == {row for row in now.kept_rows if row >= 3}


@pytest.mark.parametrize(("heading", "budget", "more"), [("moved", 100_000, True), ("left", 2_000, False)])
def test_a_heading_counts_what_is_listed_below_it_and_what_is_said_to_be_more(
    heading: str, budget: int, more: bool
) -> None:
    pool, weights = make_pool(), "smart_pruning.priority_weights."
    turned = with_values(Settings(budget=budget), {f"{weights}relevance": 0.0, f"{weights}hotspot": 1.0})
    comparison = SearchComparison(select(pool, Settings(budget=100_000)), select(pool, turned))
    lines = [plain(one) for one in draw_trim_diff(comparison, (0, 0), 80)]
    place, count = next((at, int(text.split("(")[1][:-1])) for at, text in enumerate(lines) if text.startswith(heading))
    below = [*lines[place + 1 :], ""]
    listed = below[: below.index("")]
    unlisted = re.fullmatch(r"and (\d+) more", listed[-1])
    assert (unlisted is not None) == more
    assert count == len(listed) + (int(unlisted[1]) - 1 if unlisted is not None else 0)
