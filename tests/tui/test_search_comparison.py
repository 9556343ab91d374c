from dataclasses import replace

from inspector_kit import ORDERS, make_pool
from secateur.model import State
from secateur.selection import select
from secateur.settings import Settings
from secateur_tui.state.search_comparison import ABSENT, SearchComparison


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
    now = select(pool, replace(Settings(), smart_pruning=replace(Settings().smart_pruning, strategy="relevance")))
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
