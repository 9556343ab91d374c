"""`stop = "marginal"`: the pack ends before what is unlikely to be needed, whatever the budget."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.model import Pool, Reason, Selection, State
from secateur.selection import select
from secateur.selection.pool_trials import PoolTrials
from secateur.settings import PROFILES, Settings, with_values
from secateur.what_if.explanation import explain
from support.cli import secateur
from support.pools import Row, names, pool_of
from support.strategies import cases

RELEVANCE = {f"smart_pruning.priority_weights.{name}": weight for name, weight in (("relevance", 1.0), ("distance", 0))}


def decided(rows: list[Row], least: float, *, budget: int = 10_000, **further: object) -> Selection:
    values = {"smart_pruning.stop": "marginal", "smart_pruning.least_chance": least, "budget": budget}
    return select(pool_of(rows), with_values(Settings(), values | RELEVANCE | further))


def falling_rows(count: int, sig: int = 0) -> list[Row]:
    return [Row(f"R{n}", tokens=50, relevance=1 - n / 20, sig=sig) for n in range(count)]


def test_the_pack_ends_before_the_first_that_is_unlikely() -> None:
    selection = decided(falling_rows(8), 0.1)
    chances = [float(selection.chance[row]) for row in selection.order]
    assert chances == sorted(chances, reverse=True)
    likely = sum(chance >= 0.1 for chance in chances)
    assert 1 < likely < 8
    assert names(selection, selection.kept_rows) == [f"R{n}" for n in range(likely)]
    assert selection.ended == likely
    assert {Reason(int(selection.reason[row])) for row in selection.dropped_rows} == {Reason.UNLIKELY}
    told = selection.decision(selection.dropped_rows[0]).shape().to_dict()
    assert told == {
        "state": "dropped",
        "reason": "unlikely",
        "needed": 50,
        "chance": chances[likely],
        "least": 0.1,
    }


def test_a_small_one_that_is_unlikely_stays_out_and_a_large_one_behind_it_does_not() -> None:
    rows = falling_rows(4)
    rows[2] = Row("R2", tokens=15, relevance=rows[2].relevance)
    selection = decided(rows, 0.045)
    assert names(selection, selection.kept_rows) == ["R0", "R1", "R3"]
    assert float(selection.chance[selection.pool.row_of["r2.py::R2"]]) < 0.045
    assert selection.ended == 4


def test_the_best_stays_and_so_does_what_is_pinned() -> None:
    selection = decided(falling_rows(5), 1.0, pins=("r3.py::R3",))
    assert names(selection, selection.kept_rows) == ["R0", "R3"]


def test_what_may_not_leave_takes_no_place() -> None:
    first = decided(falling_rows(8), 0.1)
    without = decided(falling_rows(8), 0.1, excludes=("r0.py::R0",))
    assert names(without, without.kept_rows)[0] == "R1"
    assert float(without.chance[without.pool.row_of["r1.py::R1"]]) == float(first.chance[first.order[0]])


def test_declarations_go_out_behind_the_end_in_proportion() -> None:
    selection = decided(falling_rows(12, sig=10), 0.1, **{"smart_pruning.signature_share": 0.2})
    kept, tokens = selection.counts(State.KEPT)
    shortened, declared = selection.counts(State.SHORTENED)
    assert kept == 2 and tokens == 100
    assert shortened == 2 and declared <= 0.2 * (tokens + declared)
    reasons = {Reason(int(selection.reason[row])) for row in selection.kept_rows[kept:]}
    assert reasons == {Reason.UNLIKELY_WHOLE}


@given(cases(), st.sampled_from([0.01, 0.1, 0.4]))
def test_a_higher_chance_or_a_smaller_one_keeps_more_or_less_and_never_another_order(
    case: tuple[Pool, Settings], least: float
) -> None:
    pool, settings = case
    unlimited = with_values(settings, {"budget": 1_000_000, "smart_pruning.signature_share": 0.0})
    marginal = with_values(unlimited, {"smart_pruning.stop": "marginal", "smart_pruning.least_chance": least})
    stricter = with_values(marginal, {"smart_pruning.least_chance": 2 * least})
    whole, some, fewer = (select(pool, one).kept_rows for one in (_filling(unlimited), marginal, stricter))
    assert set(fewer) <= set(some) <= set(whole)
    assert bool(whole) == bool(fewer)


@given(cases())
def test_a_least_chance_of_nothing_fills_the_budget(case: tuple[Pool, Settings]) -> None:
    pool, settings = case
    marginal = with_values(settings, {"smart_pruning.stop": "marginal", "smart_pruning.least_chance": 0.0})
    filled = select(pool, with_values(_filling(settings), {"smart_pruning.signature_share": 0.0}))
    ended = select(pool, with_values(marginal, {"smart_pruning.signature_share": 0.0}))
    assert ended.state.tolist() == filled.state.tolist() and ended.reason.tolist() == filled.reason.tolist()


def _filling(settings: Settings) -> Settings:
    return with_values(settings, {"smart_pruning.stop": "budget"})


def test_what_would_let_a_candidate_stay_is_proven() -> None:
    rows = falling_rows(8)
    settings = with_values(
        Settings(budget=10_000), RELEVANCE | {"smart_pruning.stop": "marginal", "smart_pruning.least_chance": 0.1}
    )
    pool = pool_of(rows)
    selection = select(pool, settings)
    row = selection.dropped_rows[0]
    flip = explain(PoolTrials(pool, settings), [row]).flips[row]
    assert flip is not None and flip.budget is None
    value = flip.knobs["smart_pruning.least_chance"].value
    at, above = (
        select(pool, with_values(settings, {"smart_pruning.least_chance": one})) for one in (value, value + 0.001)
    )
    assert at.state[row] == State.KEPT and above.state[row] == State.DROPPED


@pytest.mark.parametrize("profile", PROFILES)
def test_spec_fills_its_budget(profile: str) -> None:
    if profile == "spec":
        assert PROFILES[profile]["smart_pruning"].get("stop", "budget") == "budget"
    assert Settings().smart_pruning.stop == "budget"


def test_the_report_says_where_the_pack_ends() -> None:
    query = ("search", "refund total rounded", "sample:orders", "--profile", "recommended", "--stop", "marginal")
    text = secateur(*query).out
    assert text.count("-- the pack ends here: what follows is needed with a chance below 15.0% --") == 1
    answer = json.loads(secateur(*query, "--format", "json").out)
    unlikely = [item["decision"] for item in answer["dropped"] if item["decision"]["reason"] == "unlikely"]
    assert unlikely and all(item["chance"] < item["least"] == 0.15 for item in unlikely)
    filled = json.loads(secateur(*query[:-1], "budget", "--format", "json").out)
    assert answer["token_count"] < filled["token_count"]
