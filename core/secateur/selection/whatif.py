"""What-if answers, each proven by running `select` again: nothing here estimates.

Under greedy selection with skip a larger budget can drop what a smaller one kept, so a margin computed from the figures of
one selection is only a first guess; every answer below was checked by a run that held.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from secateur.model import Pool, Selection, State
from secateur.selection.select import select
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

    The first guess adds what was missing; if that does not hold, budgets are bisected up to the sum of everything ranked before.
    """
    now = select(pool, settings)
    if now.state[row] == State.KEPT:
        return BudgetFlip(now.budget, ())
    before = now.order[: int(now.rank[row])]
    ceiling = pool.overhead + int(pool.cost[before].sum())
    ceiling += int(ceiling * settings.smart_pruning.signature_share / (1 - settings.smart_pruning.signature_share)) + 2
    best = _kept_at(pool, settings, row, max(ceiling, now.budget + 1))
    if best is None:
        return None
    guess = now.budget + int(now.needed[row]) - int(now.left[row])
    low, high = now.budget, best.budget
    for attempt in range(_BUDGET_RUNS):
        trial = guess if attempt == 0 and low < guess < high else (low + high) // 2
        if trial in (low, high):
            break
        found = _kept_at(pool, settings, row, trial)
        if found:
            best, high = found, trial
        else:
            low = trial
    return _with_losses(now, pool, settings, best.budget)


def unchanged_range(pool: Pool, settings: Settings, signal: str) -> tuple[float, float]:
    """Weights of `signal` ("relevance", "hotspot", "distance") around the present one that keep the same rows in the same state.

    Walks the grid outward, one run a step, so the range is exact on the grid; bounds are in [0, WEIGHT_LIMIT].
    """
    now = select(pool, settings).state
    present = getattr(settings.smart_pruning.priority_weights, signal)

    def same(weight: float) -> bool:
        return bool(np.array_equal(select(pool, with_weight(settings, signal, weight)).state, now))

    def walk(step: float, limit: float) -> float:
        reached = present
        while (limit - reached) * step > WEIGHT_STEP * WEIGHT_STEP:
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
    grid = sorted((round(i * WEIGHT_STEP, 6) for i in range(steps + 1)), key=lambda weight: (abs(weight - present), weight))
    return next((weight for weight in grid if select(pool, with_weight(settings, signal, weight)).state[row] == State.KEPT), None)


def with_weight(settings: Settings, signal: str, weight: float) -> Settings:
    """The same settings with one weight of the priority changed."""
    weights: PriorityWeights = replace(settings.smart_pruning.priority_weights, **{signal: weight})
    return replace(settings, smart_pruning=replace(settings.smart_pruning, priority_weights=weights))


def _kept_at(pool: Pool, settings: Settings, row: int, budget: int) -> BudgetFlip | None:
    kept = select(pool, replace(settings, budget=budget)).state[row] == State.KEPT
    return BudgetFlip(budget, ()) if kept else None


def _with_losses(now: Selection, pool: Pool, settings: Settings, budget: int) -> BudgetFlip:
    then = select(pool, replace(settings, budget=budget))
    lost = np.flatnonzero((now.state != State.DROPPED) & (then.state == State.DROPPED))
    return BudgetFlip(budget, tuple(int(i) for i in lost))
