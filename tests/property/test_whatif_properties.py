"""What-if answers hold when they are tried."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.model import Pool, State
from secateur.selection import select
from secateur.selection.whatif import (
    WEIGHT_LIMIT,
    WEIGHT_STEP,
    budget_to_keep,
    unchanged_range,
    weight_to_keep,
    with_weight,
)
from secateur.settings import Settings
from support.strategies import cases

SIGNALS = st.sampled_from(["relevance", "hotspot", "distance"])


@given(cases(8), st.data())
def test_at_the_budget_named_the_row_is_kept_and_what_is_lost_is_lost(case: tuple[Pool, Settings], data: st.DataObject):
    pool, now = case
    if not len(pool):
        return
    row = data.draw(st.integers(0, len(pool) - 1))
    flip = budget_to_keep(pool, now, row)
    if flip is None:  # then no budget keeps it: with room for everything it is still dropped
        assert select(pool, replace(now, budget=10**9)).state[row] != State.KEPT
        return
    before, then = select(pool, now), select(pool, replace(now, budget=flip.budget))
    assert then.state[row] == State.KEPT
    assert flip.budget >= before.budget
    assert sorted(flip.lost) == [
        r for r in range(len(pool)) if before.state[r] != State.DROPPED and then.state[r] == State.DROPPED
    ]
    if flip.budget > before.budget:
        assert select(pool, replace(now, budget=flip.budget - 1)).state[row] != State.KEPT


@settings(max_examples=30)
@given(cases(6), SIGNALS)
def test_inside_the_range_nothing_changes_and_a_step_outside_something_does(case: tuple[Pool, Settings], signal: str):
    pool, now = case
    present = getattr(now.smart_pruning.priority_weights, signal)
    states = select(pool, now).state

    def same(weight: float) -> bool:
        return np.array_equal(select(pool, with_weight(now, signal, weight)).state, states)

    low, high = unchanged_range(pool, now, signal)
    assert 0 <= low <= present <= high <= max(WEIGHT_LIMIT, present)
    assert same(low)
    assert same(high)
    assert low == 0 or not same(max(0.0, round(low - WEIGHT_STEP, 6)))
    assert high == max(WEIGHT_LIMIT, present) or not same(min(max(WEIGHT_LIMIT, present), round(high + WEIGHT_STEP, 6)))


@settings(max_examples=30)
@given(cases(6), SIGNALS, st.data())
def test_at_the_weight_named_the_row_is_kept_and_at_no_nearer_one(
    case: tuple[Pool, Settings], signal: str, data: st.DataObject
):
    pool, now = case
    if not len(pool):
        return
    row = data.draw(st.integers(0, len(pool) - 1))
    present = getattr(now.smart_pruning.priority_weights, signal)

    def holds(weight: float) -> bool:
        return bool(select(pool, with_weight(now, signal, weight)).state[row] == State.KEPT)

    grid = [round(step * WEIGHT_STEP, 6) for step in range(101)]
    weight = weight_to_keep(pool, now, row, signal)
    if weight is None:
        assert not any(holds(trial) for trial in grid)
    else:
        assert holds(weight)
        assert not any(holds(trial) for trial in grid if abs(trial - present) < abs(weight - present))
