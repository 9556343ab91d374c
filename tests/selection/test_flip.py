"""What turns the decision on a row: each value turns it, and the next one on the side of the present does not."""

from __future__ import annotations

import pytest
from secateur.model import Pool, State
from secateur.selection import select
from secateur.selection.whatif import (
    SIGNALS,
    WEIGHT_STEP,
    BudgetFlip,
    Flip,
    WeightRuns,
    budget_to_drop,
    budget_to_keep,
    flip,
    with_weight,
)
from secateur.settings import Settings, with_values
from support.pools import Row, kept, names, pool_of

SIZES = (3000, 5000, 2000)


def settings(**values: object) -> Settings:
    return with_values(Settings(), {name.replace("__", "."): value for name, value in values.items()})


def turns(pool: Pool, now: Settings, name: str) -> Flip | None:
    return flip(pool, now, pool.qualname.index(name), WeightRuns(pool, now))


def is_kept(pool: Pool, now: Settings, name: str) -> bool:
    return bool(select(pool, now).state[pool.qualname.index(name)] == State.KEPT)


def close_pair() -> Pool:
    """Room for one: A leads by relevance, B by its nearness."""
    return pool_of([Row("A", relevance=0.9, distance=2), Row("B", relevance=0.4, distance=1)])


def test_the_budget_that_drops_a_row_is_the_last_one_below_its_cost() -> None:
    pool = pool_of(
        [Row("A", tokens=90, relevance=0.9), Row("C", tokens=40, relevance=0.8), Row("D", tokens=20, relevance=0.7)]
    )
    now = settings(budget=150)
    assert kept(select(pool, now)) == ["A", "C", "D"]
    dropped = budget_to_drop(pool, now, pool.qualname.index("A"))
    assert dropped is not None and dropped.budget == 89
    assert names(select(pool, now), dropped.lost) == ["A"], "C and D fit into 89"
    for name in ("A", "C", "D"):
        dropped = budget_to_drop(pool, now, pool.qualname.index(name))
        assert dropped is not None and dropped.budget < 150
        assert not is_kept(pool, with_values(now, {"budget": dropped.budget}), name)
        assert is_kept(pool, with_values(now, {"budget": dropped.budget + 1}), name)


@pytest.mark.parametrize("budget", [1, 2, 3, 100, 101, 5000])
def test_a_row_of_one_token_is_dropped_at_a_budget_of_none(budget: int) -> None:
    assert budget_to_drop(pool_of([Row("A", tokens=1)]), settings(budget=budget), 0) == BudgetFlip(0, (0,))


def test_what_is_not_kept_is_dropped_by_no_budget() -> None:
    assert budget_to_drop(pool_of([Row("A", tokens=90)]), settings(budget=50), 0) is None


def test_the_least_budget_is_found_where_the_first_guess_is_not_it() -> None:
    """Only half of the budget is for whole rows until declarations have had theirs, so what was missing is not
    enough."""
    pool = pool_of(
        [Row(f"R{number}", tokens=size, relevance=0.9 - number / 10, sig=700) for number, size in enumerate(SIZES)]
    )
    now = settings(budget=400, smart_pruning__signature_share=0.5)
    for row in range(len(SIZES)):
        found = budget_to_keep(pool, now, row)
        assert found is not None
        assert is_kept(pool, with_values(now, {"budget": found.budget}), pool.qualname[row])
        assert not is_kept(pool, with_values(now, {"budget": found.budget - 1}), pool.qualname[row])


@pytest.mark.parametrize("name", ["A", "B"])
def test_every_value_turns_the_decision_and_its_neighbour_does_not(name: str) -> None:
    pool, now = close_pair(), settings(budget=100)
    was = is_kept(pool, now, name)
    found = turns(pool, now, name)
    assert found is not None and found.budget is not None
    assert was == (name == "A")
    assert is_kept(pool, with_values(now, {"budget": found.budget.budget}), name) is not was
    assert found.budget.budget == (99 if was else 200)
    assert sorted(found.weights) == ["distance", "relevance"], "neither row is a hotspot"
    for signal, weight in found.weights.items():
        present = getattr(now.smart_pruning.priority_weights, signal)
        before = weight + (WEIGHT_STEP if weight < present else -WEIGHT_STEP)
        assert weight != present
        assert is_kept(pool, with_weight(now, signal, weight), name) is not was
        assert is_kept(pool, with_weight(now, signal, round(before, 6)), name) is was


def test_nothing_turns_a_row_that_is_left_out_by_name() -> None:
    pool = close_pair()
    assert turns(pool, settings(budget=1000, excludes=["b.py::B"]), "B") is None


def test_a_row_that_only_a_budget_turns_has_no_weights() -> None:
    pool = pool_of([Row("A", tokens=90)])
    assert turns(pool, settings(budget=50), "A") == Flip(BudgetFlip(90, ()), {})


def test_a_state_is_worked_out_for_the_weight_that_is_asked_for() -> None:
    pool, now = close_pair(), settings(budget=100)
    runs = WeightRuns(pool, now)
    for signal in SIGNALS:
        for weight in (0.0, 0.29, 1.0, 0.29):
            expected = select(pool, with_weight(now, signal, weight)).state
            assert runs.state(signal, weight).tolist() == expected.tolist()
    assert runs.state("relevance", 0.29) is runs.state("relevance", 0.29)
