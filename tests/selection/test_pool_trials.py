"""The values that turn the decision on a row of a pool: each turns it, and the next one on the side of the present does
not."""

from __future__ import annotations

import pytest
from secateur.model import Pool, State
from secateur.selection import select
from secateur.selection.pool_trials import SIGNALS, WEIGHT_STEP, PoolTrials
from secateur.settings import Settings, with_values
from secateur.what_if.lever_search import budget_lever, knob_lever, levers_of, unchanged_range
from secateur.what_if.levers import Lever
from secateur.what_if.trials import BUDGET, HOLD, TrialRuns
from support.pools import Row, kept, names, pool_of

SIZES = (3000, 5000, 2000)
WEIGHTS = "smart_pruning.priority_weights."


def settings(**values: object) -> Settings:
    return with_values(Settings(), {name.replace("__", "."): value for name, value in values.items()})


def weighing(now: Settings, signal: str, weight: float) -> Settings:
    return with_values(now, {WEIGHTS + signal: weight})


def of_budget(pool: Pool, now: Settings, name: str) -> Lever | None:
    trials = PoolTrials(pool, now)
    return budget_lever(TrialRuns(trials), pool.qualname.index(name), trials.sweep())


def of_weight(pool: Pool, now: Settings, name: str, signal: str) -> Lever | None:
    trials = PoolTrials(pool, now)
    knob = next(knob for knob in trials.knobs if knob.name == signal)
    return knob_lever(TrialRuns(trials), pool.qualname.index(name), knob)


def of_row(pool: Pool, now: Settings, name: str) -> dict[str, Lever]:
    trials = PoolTrials(pool, now)
    levers = levers_of(TrialRuns(trials), pool.qualname.index(name), trials.sweep())
    assert [lever.cost for lever in levers] == sorted(lever.cost for lever in levers)
    return {lever.name: lever for lever in levers}


def unchanged(pool: Pool, now: Settings, signal: str) -> tuple[float, float] | None:
    trials = PoolTrials(pool, now)
    return unchanged_range(TrialRuns(trials), next(knob for knob in trials.knobs if knob.name == signal))


def is_kept(pool: Pool, now: Settings, name: str) -> bool:
    return bool(select(pool, now).state[pool.qualname.index(name)] == State.KEPT)


def close_pair() -> Pool:
    """Room for one: A leads by relevance, B by its nearness."""
    return pool_of([Row("A", relevance=0.9, distance=2), Row("B", relevance=0.4, distance=1)])


def three() -> Pool:
    return pool_of(
        [Row("A", tokens=90, relevance=0.9), Row("C", tokens=40, relevance=0.8), Row("D", tokens=20, relevance=0.7)]
    )


# --- budgets ---


def test_the_budget_that_keeps_a_row_is_exact_and_names_what_it_costs() -> None:
    """90 + 20 fit into 120; with 10 more tokens C fits before D has its turn."""
    pool, now = three(), settings(budget=120)
    assert kept(select(pool, now)) == ["A", "D"]
    found = of_budget(pool, now, "C")
    assert found is not None
    assert (found.value, names(select(pool, now), found.others.loses)) == (130, ["D"])
    assert kept(select(pool, settings(budget=129))) == ["A", "D"]


def test_the_budget_that_drops_a_row_is_the_last_one_below_its_cost() -> None:
    pool, now = three(), settings(budget=150)
    assert kept(select(pool, now)) == ["A", "C", "D"]
    dropped = of_budget(pool, now, "A")
    assert dropped is not None and (dropped.value, dropped.others.loses) == (89, ())
    for name in ("A", "C", "D"):
        dropped = of_budget(pool, now, name)
        assert dropped is not None and dropped.value < 150
        assert not is_kept(pool, with_values(now, {"budget": dropped.value}), name)
        assert is_kept(pool, with_values(now, {"budget": dropped.value + 1}), name)


def test_a_smaller_budget_that_halving_passes_over_is_found() -> None:
    """With 100 only B and C go out; A fits from 150 to 199 and from 250 on: from 200 Z is before it, and needs the
    room."""
    pool = pool_of(
        [
            Row("Z", tokens=200, relevance=0.9),
            Row("A", tokens=150, relevance=0.8),
            Row("B", tokens=60, relevance=0.7),
            Row("C", tokens=40, relevance=0.6),
        ]
    )
    now = settings(budget=100)
    found = of_budget(pool, now, "A")
    assert found is not None and found.value == 150
    assert not is_kept(pool, settings(budget=225), "A") and is_kept(pool, settings(budget=350), "A")


@pytest.mark.parametrize("budget", [1, 2, 3, 100, 101, 5000])
def test_a_row_of_one_token_is_dropped_at_a_budget_of_none(budget: int) -> None:
    found = of_budget(pool_of([Row("A", tokens=1)]), settings(budget=budget), "A")
    assert found is not None and found.value == 0


def test_a_barred_row_is_kept_at_no_budget() -> None:
    pool = pool_of([Row("A", tokens=90), Row("B", relevance=0.0, distance=0)])
    now = settings(budget=10, excludes=["a.py::A"])
    assert [of_budget(pool, now, name) for name in ("A", "B")] == [None, None]


def test_pins_that_rank_lower_are_paid_first() -> None:
    """Everything ranked before the row costs 50; the pin takes 500 ahead of it."""
    pool = pool_of([Row("A", tokens=50, relevance=0.9), Row("Pin", tokens=500, relevance=0.1)])
    found = of_budget(pool, settings(budget=520, pins=["pin.py::Pin"]), "A")
    assert found is not None and found.value == 550


def test_the_least_budget_is_found_where_the_first_guess_is_not_it() -> None:
    """Only half of the budget is for whole rows until declarations have had theirs, so what was missing is not
    enough."""
    pool = pool_of(
        [Row(f"R{number}", tokens=size, relevance=0.9 - number / 10, sig=700) for number, size in enumerate(SIZES)]
    )
    now = settings(budget=400, smart_pruning__signature_share=0.5)
    for name in pool.qualname:
        found = of_budget(pool, now, name)
        assert found is not None
        assert is_kept(pool, with_values(now, {"budget": found.value}), name)
        assert not is_kept(pool, with_values(now, {"budget": found.value - 1}), name)


def test_a_budget_far_beyond_those_that_are_swept_is_found() -> None:
    pool = pool_of([Row("A", tokens=900_000, relevance=0.9), Row("B", tokens=5, relevance=0.8)])
    found = of_budget(pool, settings(budget=10), "A")
    assert found is not None and found.value == 900_000


# --- weights ---


@pytest.mark.parametrize("name", ["A", "B"])
def test_every_value_turns_the_decision_and_its_neighbour_does_not(name: str) -> None:
    pool, now = close_pair(), settings(budget=100)
    was = is_kept(pool, now, name)
    found = of_row(pool, now, name)
    assert was == (name == "A")
    assert is_kept(pool, with_values(now, {"budget": found[BUDGET].value}), name) is not was
    assert found[BUDGET].value == (99 if was else 200)
    weights = {name: turn.value for name, turn in found.items() if name in SIGNALS}
    assert sorted(weights) == ["distance", "relevance"], "neither row is a hotspot"
    for signal, weight in weights.items():
        present = getattr(now.smart_pruning.priority_weights, signal)
        before = weight + (WEIGHT_STEP if weight < present else -WEIGHT_STEP)
        assert weight != present
        assert is_kept(pool, weighing(now, signal, weight), name) is not was
        assert is_kept(pool, weighing(now, signal, round(before, 6)), name) is was


@pytest.mark.parametrize(("signal", "weight"), [("relevance", 0.29), ("distance", 0.41)])
def test_the_nearest_weight_that_keeps_a_row(signal: str, weight: float) -> None:
    pool, now = close_pair(), settings(budget=100)
    assert kept(select(pool, now)) == ["A"]
    found = of_weight(pool, now, "B", signal)
    assert found is not None and found.value == weight


def test_no_weight_keeps_what_does_not_fit_at_all() -> None:
    assert of_weight(pool_of([Row("A", tokens=500)]), settings(budget=100), "A", "relevance") is None


def test_only_a_pin_turns_a_row_that_is_left_out_by_name() -> None:
    found = of_row(close_pair(), settings(budget=1000, excludes=["b.py::B"]), "B")
    assert list(found) == [HOLD] and found[HOLD].typed == "--pin b.py::B"


def test_a_row_that_does_not_fit_alone_is_turned_by_a_budget_alone() -> None:
    found = of_row(pool_of([Row("A", tokens=90)]), settings(budget=50), "A")
    assert [(lever.typed, lever.tokens, lever.far) for lever in found.values()] == [("--budget 90", 90, False)]


def test_a_pin_with_room_stands_before_a_pin_that_pushes_out_and_a_budget_of_more_than_twice_as_much() -> None:
    larger = [Row(name, tokens=60 - 5 * place, relevance=0.9 - place / 10) for place, name in enumerate("ABD")]
    pool = pool_of([*larger, Row("C", tokens=50, relevance=0.1)])
    found = of_row(pool, settings(budget=65), "C")
    typed = [lever.typed for lever in found.values()]
    assert typed[:2] == ["--pin c.py::C --budget 110", "--pin c.py::C"] and list(found)[-1] == BUDGET
    assert not found[f"{HOLD} 110"].others.dearer
    assert found[BUDGET].far and found[HOLD].others.loses == (0,) and found[HOLD].tokens == -10


# --- ranges ---


def test_the_unchanged_range_reaches_the_limits_where_nothing_ever_changes() -> None:
    pool = pool_of([Row("A", relevance=0.9), Row("B", relevance=0.1)])
    for signal in SIGNALS:
        assert unchanged(pool, settings(budget=10_000), signal) == (0.0, 1.0)


def test_a_weight_above_the_limit_is_a_limit_of_its_own() -> None:
    now = settings(budget=500, smart_pruning__priority_weights__hotspot=2.5)
    assert unchanged(pool_of([Row("A")]), now, "hotspot") == (0.0, 2.5)


def test_the_unchanged_range_ends_where_the_next_step_changes_a_state() -> None:
    """A leads B as long as 0.5 * relevance > 0.5 * 0.3: its weight may fall to 0.31."""
    pool, now = close_pair(), settings(budget=100)
    assert unchanged(pool, now, "relevance") == (0.3, 1.0)  # at 0.3 both have 0.42: the tie goes to the more relevant
    assert kept(select(pool, weighing(now, "relevance", 0.29))) == ["B"]


def test_a_decision_is_worked_out_for_the_value_that_is_asked_for_and_once() -> None:
    pool, now = close_pair(), settings(budget=100)
    runs = TrialRuns(PoolTrials(pool, now))
    for signal in SIGNALS:
        for weight in (0.0, 0.29, 1.0, 0.29):
            decided = runs.at(signal, weight)
            assert decided is not None
            assert decided.state.tolist() == select(pool, weighing(now, signal, weight)).state.tolist()
    assert runs.at("relevance", 0.29) is runs.at("relevance", 0.29)
    assert runs.at(BUDGET, 100) is runs.trials.now and runs.number == 3 * len(SIGNALS)
