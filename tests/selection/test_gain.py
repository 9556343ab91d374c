"""The strategy `gain`: which form of which candidate the room goes to."""

from __future__ import annotations

import json

import pytest
from secateur.model import Reason, Selection, State
from secateur.render.text import why
from secateur.selection import select
from secateur.selection.pool_trials import PoolTrials
from secateur.settings import Settings, with_values
from secateur.what_if.explanation import explain
from support.cli import secateur
from support.pools import Row, pool_of

VALUES = {
    "smart_pruning.strategy": "gain",
    "smart_pruning.density_exponent": 0.0,
    "smart_pruning.priority_weights.relevance": 1.0,
    "smart_pruning.priority_weights.distance": 0.0,
}


def decided(rows: list[Row], budget: int, **worth: float) -> Selection:
    weighed = {f"smart_pruning.worth.{form}": value for form, value in worth.items()}
    return select(pool_of(rows), with_values(Settings(), VALUES | {"budget": budget} | weighed))


def forms(selection: Selection) -> dict[str, str]:
    """Reason by name."""
    reasons = {
        name: Reason(int(why)).label for name, why in zip(selection.pool.qualname, selection.reason, strict=True)
    }
    return {name: reason for name, reason in sorted(reasons.items()) if reason not in ("no_room", "larger_than_budget")}


LARGE = Row("A", tokens=400, sig=20, condensed=300, statements=80, relevance=0.9)
"""Gain for 400, 300, 80 and 20 tokens: 1, .95, .4 and .1 of its chance."""


@pytest.mark.parametrize(
    ("budget", "form"), [(19, {}), (20, {}), (79, {}), (80, "statements"), (299, "statements"), (300, "condensed")]
)
def test_a_candidate_goes_out_in_the_form_that_the_room_allows(budget: int, form: str | dict[str, str]) -> None:
    """Statements bring .4 / 80 a token and the declaration .1 / 20: at the same rate the better form is tried."""
    assert forms(decided([LARGE], budget)) == ({"A": form} if form else {})


def test_more_room_upgrades_it_to_the_whole() -> None:
    assert forms(decided([LARGE], 399)) == {"A": "condensed"}
    assert forms(decided([LARGE], 400)) == {"A": "fits"}


def test_a_declaration_of_one_makes_room_for_another_where_that_brings_more() -> None:
    """B brings less than A, but for a twentieth of the tokens: it goes out before A is upgraded."""
    rows = [Row("A", tokens=400, sig=20, relevance=0.9), Row("B", tokens=20, relevance=0.8)]
    first = decided(rows, 100, declaration=0.3)
    assert forms(first) == {"A": "signature", "B": "fits"}
    assert forms(decided(rows, 420, declaration=0.3)) == {"A": "fits", "B": "fits"}
    assert forms(decided(rows, 100, declaration=0.0)) == {"B": "fits"}


def test_what_would_build_on_a_refused_step_is_refused_with_it() -> None:
    """The whole of A would take 10 tokens more than its statements, for which there is no room."""
    rows = [Row("A", tokens=110, statements=100, relevance=0.9), Row("B", tokens=60, relevance=0.89)]
    selection = decided(rows, 99, statements=0.99)
    assert forms(selection) == {"B": "fits"}


def test_every_decision_prints_its_gain_and_its_tokens() -> None:
    selection = decided([LARGE, Row("B", tokens=500, relevance=0.1)], 300)
    first, second = selection.decisions
    chance = float(selection.chance[first.row])
    assert first.to_dict() == {
        "state": "shortened",
        "reason": "condensed",
        "gain": round(0.95 * chance, 6),
        "form": "condensed",
        "tokens": 300,
        "lines": 8,
        "of": 10,
        "saved": 100,
    }
    assert why(selection, first).startswith(f"condensed it brings {round(0.95 * chance, 6):.4f} for 300 tokens")
    assert second.reason is Reason.LARGER_THAN_BUDGET
    refused = decided([Row("A", tokens=90, relevance=0.9), Row("B", tokens=50, relevance=0.1)], 100)
    said = why(refused, refused.decision(refused.pool.row_of["b.py::B"]))
    assert said.startswith("whole it would bring 0.") and said.endswith(
        "for 50 tokens, what brings more per token left 10"
    )


def test_a_pin_goes_out_whole_and_first() -> None:
    pool = pool_of([LARGE, Row("B", tokens=90, sig=5, relevance=0.1)])
    settings = with_values(Settings(), VALUES | {"budget": 110, "pins": ["b.py::B"]})
    selection = select(pool, settings)
    assert forms(selection) == {"B": "pinned"}
    assert forms(select(pool, with_values(settings, {"budget": 180}))) == {"A": "statements", "B": "pinned"}


def test_a_budget_that_turns_a_decision_is_proven() -> None:
    pool, settings = pool_of([LARGE, Row("B", tokens=90, relevance=0.5)]), with_values(Settings(), VALUES)
    settings = with_values(settings, {"budget": 200})
    trials = PoolTrials(pool, settings)
    row = pool.row_of["a.py::A"]
    flip = explain(trials, [row]).flips[row]
    assert flip is not None and flip.budget is not None
    at, before = (select(pool, with_values(settings, {"budget": flip.budget.value - one})) for one in (0, 1))
    assert at.in_full[row] and not before.in_full[row]
    assert select(pool, with_values(settings, {"budget": trials.enough})).state.tolist() == [State.KEPT] * 2


def test_the_command_prints_it_and_keeps_to_the_budget() -> None:
    line = ("search", "refund total rounded", "sample:orders", "--profile", "recommended", "--strategy", "gain")
    forms = ("--set", "shorten.docstrings=true", "--set", "smart_pruning.worth.declaration=0.5", "--budget", "1500")
    answer = json.loads(secateur(*line, *forms, "--format", "json").out)
    decisions = [item["decision"] for item in answer["candidates"]]
    assert 0 < answer["token_count"] <= 1500
    assert all(decision["gain"] > 0 and decision["tokens"] > 0 for decision in decisions)
    assert len({decision["reason"] for decision in decisions}) > 1
    assert "it brings 0." in secateur(*line, *forms).out
