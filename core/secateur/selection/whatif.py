"""What-if answers, each proven by running `select` again: nothing here estimates.

Under greedy selection with skip a larger budget can drop what a smaller one kept, so a margin computed from the figures of
one selection is only a first guess; every answer below was checked by a run that held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from secateur.model import Pool, Selection, State
from secateur.selection.select import mask_of, select
from secateur.settings import PriorityWeights, Settings

WEIGHT_STEP = 0.01
"""Grid on which weights are tried; the finest step of the inspector's sliders."""

WEIGHT_LIMIT = 1.0
"""Largest weight tried."""

_BUDGET_RUNS = 24
"""Most re-runs spent on one budget question."""


@dataclass(frozen=True, slots=True)
class BudgetFlip:
    """The row is kept whole at `budget`; `lost` are rows that go out now and would not at that budget."""

    budget: int
    lost: tuple[int, ...]


def budget_to_keep(pool: Pool, settings: Settings, row: int) -> BudgetFlip | None:
    """The smallest budget found at which `row` is kept whole, proven by a run; None when no budget keeps it.

    The first guess adds what was missing; if that does not hold, budgets are bisected up to one that holds everything tried before
    it. Under greedy a still smaller one may exist between budgets that were tried.
    """
    now = select(pool, settings)
    if now.state[row] == State.KEPT:
        return BudgetFlip(now.budget, ())
    earlier = mask_of(pool, settings.pins)
    earlier[now.order[: int(now.rank[row])]] = True
    everything = int(pool.cost[earlier].sum())
    low, high = now.budget, max(now.budget, pool.overhead + math.ceil(everything / (1 - settings.smart_pruning.signature_share))) + 1
    if not _kept_at(pool, settings, row, high):
        return None
    guess = now.budget + int(now.needed[row]) - int(now.left[row])
    for attempt in range(_BUDGET_RUNS):
        trial = guess if attempt == 0 and low < guess < high else (low + high) // 2
        if trial in (low, high):
            break
        if _kept_at(pool, settings, row, trial):
            high = trial
        else:
            low = trial
    return _with_losses(now, pool, settings, high)


def unchanged_range(pool: Pool, settings: Settings, signal: str) -> tuple[float, float]:
    """Weights of `signal` ("relevance", "hotspot", "distance") around the present one that keep the same rows in the same state.

    Walks outward in steps of WEIGHT_STEP, one run a step, until a state changes or the limit is reached: 0 below, above
    WEIGHT_LIMIT or the present weight if that is larger.
    """
    now = select(pool, settings).state
    present = getattr(settings.smart_pruning.priority_weights, signal)

    def same(weight: float) -> bool:
        return bool(np.array_equal(select(pool, with_weight(settings, signal, weight)).state, now))

    def walk(step: float, limit: float) -> float:
        reached = present
        while reached != limit:
            trial = round(reached + step, 6)
            trial = min(trial, limit) if step > 0 else max(trial, limit)
            if not same(trial):
                break
            reached = trial
        return float(reached)

    return walk(-WEIGHT_STEP, 0.0), walk(WEIGHT_STEP, max(WEIGHT_LIMIT, present))


def weight_to_keep(pool: Pool, settings: Settings, row: int, signal: str) -> float | None:
    """The weight of `signal` nearest to the present one at which `row` is kept whole, proven by a run; None if none on the grid."""
    present = getattr(settings.smart_pruning.priority_weights, signal)
    steps = round(WEIGHT_LIMIT / WEIGHT_STEP)
    grid = {present, *(round(i * WEIGHT_STEP, 6) for i in range(steps + 1))}
    nearest = sorted(grid, key=lambda weight: (abs(weight - present), weight))
    return next((weight for weight in nearest if select(pool, with_weight(settings, signal, weight)).state[row] == State.KEPT), None)


def with_weight(settings: Settings, signal: str, weight: float) -> Settings:
    """The same settings with one weight of the priority changed."""
    weights: PriorityWeights = replace(settings.smart_pruning.priority_weights, **{signal: weight})
    return replace(settings, smart_pruning=replace(settings.smart_pruning, priority_weights=weights))


def _kept_at(pool: Pool, settings: Settings, row: int, budget: int) -> bool:
    return bool(select(pool, replace(settings, budget=budget)).state[row] == State.KEPT)


def _with_losses(now: Selection, pool: Pool, settings: Settings, budget: int) -> BudgetFlip:
    then = select(pool, replace(settings, budget=budget))
    lost = np.flatnonzero((now.state != State.DROPPED) & (then.state == State.DROPPED))
    return BudgetFlip(budget, tuple(int(i) for i in lost))
