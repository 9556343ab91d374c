"""Every proof holds when it is tried again: of pools with all there is to them, and of every other kind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from secateur import Environment, Settings
from secateur.errors import BudgetExceeded
from secateur.kinds import registry
from secateur.kinds.run import answer_of, trials_of
from secateur.model import Pool, State
from secateur.selection import select
from secateur.selection.pool_trials import PoolTrials
from secateur.settings import with_values
from secateur.what_if.explanation import Explanation, explain, explain_one
from secateur.what_if.levers import Lever
from secateur.what_if.trials import BUDGET, TrialRuns
from support.kind_cases import CASES
from support.strategies import cases

ALL_BUDGETS = 120
"""Budgets between the present one and a reported one that are all tried again."""


def holds(explanation: Explanation) -> None:
    """Decides again at every value that is told, and sees what is told."""
    trials = explanation.trials
    runs = TrialRuns(trials)
    for item, levers in explanation.levers.items():
        assert [lever.cost for lever in levers] == sorted(lever.cost for lever in levers)
        for lever in levers:
            turned(runs, item, lever)
    for knob in trials.knobs:
        low, high = explanation.ranges[knob.name]
        assert low <= knob.present <= high
        for value in (low, high):
            again = runs.at(knob.name, value)
            assert again is not None and np.array_equal(again.state, trials.now.state)
            assert again.tokens == trials.now.tokens
    for point in explanation.curve.points:
        again = runs.at(BUDGET, point.budget)
        assert again is not None and again.tokens == point.tokens
        assert (int(again.whole.sum()), int((again.out & ~trials.added).sum())) == (
            point.whole,
            point.whole + point.partly,
        )
    assert trials.budget in [point.budget for point in explanation.curve.points]
    least = explanation.curve.least
    assert (trials.decide(BUDGET, trials.low) is None) is (least is not None)
    if least is not None:
        assert trials.decide(BUDGET, least) is not None and trials.decide(BUDGET, least - 1) is None


def turned(runs: TrialRuns, item: int, lever: Lever) -> None:
    again, now, others = runs.at(lever.name, lever.value), runs.trials.now, lever.others
    assert again is not None and again.state[item] == lever.state
    if lever.grows:
        assert again.rank[item] > now.rank[item] or again.left[item] > now.left[item]
    else:
        assert lever.state != now.state[item]
    if lever.again:
        further = runs.at(BUDGET, lever.again)
        assert further is not None and not further.whole[item] and lever.again > lever.value
    assert lever.tokens == again.tokens - now.tokens
    differs = again.state != now.state
    if now.left is not None and again.left is not None:
        differs |= ~now.whole & (again.left != now.left)  # of a shortened entry more or less goes out
    changed = {one for one in np.flatnonzero(differs).tolist() if one != item}
    assert set(others.loses) | set(others.gains) | set(others.shortens) | set(others.restores) == changed
    assert others.loses == tuple(one for one in np.flatnonzero(now.out & ~again.out).tolist() if one != item)
    assert others.gains == tuple(one for one in np.flatnonzero(~now.out & again.out).tolist() if one != item)


@settings(max_examples=8)
@given(cases(8))
def test_what_is_proven_of_a_search_holds_and_no_budget_between_turns_it(case: tuple[Pool, Settings]) -> None:
    pool, now = case
    if not len(pool):
        return
    explanation = explain(PoolTrials(pool, now), range(len(pool)))
    holds(explanation)
    for row in range(len(pool)):  # asked about alone, the same is told of it, in fewer trials
        alone, runs = explain_one(PoolTrials(pool, now), row)
        assert alone == explanation.levers[row]
        assert runs.number <= explanation.runs
    whole = select(pool, now).state == State.KEPT
    budgets: dict[int, np.ndarray] = {}
    for row, levers in explanation.levers.items():
        of_budget = next((lever for lever in levers if lever.name == BUDGET), None)
        if of_budget is None:
            continue
        told, present = int(of_budget.value), now.effective_budget
        assert (told > present) is not bool(whole[row])
        between = range(present + 1, told) if told > present else range(told + 1, present)
        for budget in between[:: 1 + len(between) // ALL_BUDGETS]:
            if budget not in budgets:
                budgets[budget] = select(pool, replace(now, budget=budget)).state == State.KEPT
            assert budgets[budget][row] == whole[row]


@settings(max_examples=4)
@given(cases(8))
def test_where_no_budget_is_told_of_a_search_none_turns_it(case: tuple[Pool, Settings]) -> None:
    pool, now = case
    if not len(pool):
        return
    explanation = explain(PoolTrials(pool, now), range(len(pool)))
    whole = select(pool, now).state == State.KEPT
    for budget in range(0, now.effective_budget + 10**4, 397):
        again = select(pool, replace(now, budget=budget)).state == State.KEPT
        for row, levers in explanation.levers.items():
            if all(lever.name != BUDGET for lever in levers):
                assert again[row] == whole[row] or now.smart_pruning.signature_share > 0


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=6)
@given(data=st.data())
def test_what_is_proven_of_any_kind_holds(name: str, data: st.DataObject) -> None:
    kind = registry.get_kind(name)
    with tempfile.TemporaryDirectory() as folder:
        told = CASES[name].draw(data, Path(folder))
        chosen = with_values(Settings(), told.changed)
        material = kind.read(told.inputs, chosen, Environment())
        try:
            outcome = answer_of(kind, material, told.inputs, chosen)
        except BudgetExceeded:
            assume(False)
    trials = trials_of(kind, material, told.inputs, chosen, outcome)
    again = trials.decide(BUDGET, trials.budget)
    entries = outcome.ledger.entries[: len(trials.ids)]  # of which an added summary is no item that goes out
    states = [State.DROPPED if entry.before == 0 < entry.after else entry.state for entry in entries]
    assert again is not None and list(again.state) == states
    explanation = explain(trials)
    holds(explanation)
    assert explanation.runs <= trials.most + len(trials.ids) * (1 + len(trials.choices))  # each is held
    runs = TrialRuns(trials)
    for budget in range(trials.low, trials.enough + 1, 1 + (trials.enough - trials.low) // 12):
        again = runs.at(BUDGET, budget)
        assert again is None or not (trials.fixed & (again.whole != trials.now.whole)).any(), "said to be fixed"
