"""The what-if answers, each proven by running `select` again: nothing here estimates.

Under greedy selection with skip a larger budget can drop what a smaller one kept, so a margin computed from the figures
of one selection is only a first guess; every answer below was checked by a run that held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from secateur.model import Pool, Selection, State
from secateur.selection.select import mask_of, select
from secateur.settings import PriorityWeights, Settings

WEIGHT_STEP = 0.01
"""Grid on which weights are tried; the finest step of the inspector's sliders."""

WEIGHT_LIMIT = 1.0
"""Largest weight tried."""

SIGNALS = ("relevance", "hotspot", "distance")
"""Signals whose weights are tried."""

_BUDGET_RUNS = 24
"""Most re-runs spent on one budget question."""


@dataclass(frozen=True, slots=True)
class BudgetFlip:
    """The row is kept whole at `budget`; `lost` are rows that go out now and would not at that budget."""

    budget: int
    lost: tuple[int, ...]


def budget_to_keep(pool: Pool, settings: Settings, row: int) -> BudgetFlip | None:
    """The smallest budget found at which `row` is kept whole, proven by a run; None when no budget keeps it.

    The first guess adds what was missing; if that does not hold, budgets are bisected up to one that holds everything
    tried before it. Under greedy a still smaller one may exist between budgets that were tried.
    """
    now = select(pool, settings)
    if now.state[row] == State.KEPT:
        return BudgetFlip(now.budget, ())
    earlier = mask_of(pool, settings.pins)
    earlier[now.order[: int(now.rank[row])]] = True
    everything = int(pool.cost[earlier].sum())
    low, high = (
        now.budget,
        max(now.budget, pool.overhead + math.ceil(everything / (1 - settings.smart_pruning.signature_share))) + 1,
    )
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


def budget_to_drop(pool: Pool, settings: Settings, row: int) -> BudgetFlip | None:
    """A budget below the present one at which `row` is no longer kept whole and above which the next one keeps it,
    proven by runs.

    None where it is not kept whole now. Under greedy a larger such budget may exist between budgets that were tried.
    """
    now = select(pool, settings)
    if now.state[row] != State.KEPT:
        return None
    low, high = 0, now.budget
    while high - low > 1:
        trial = (low + high) // 2
        low, high = (low, trial) if _kept_at(pool, settings, row, trial) else (trial, high)
    return _with_losses(now, pool, settings, low)


class WeightRuns:
    """The states that each weight leads to, each worked out once, for whoever asks about many rows."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool, self._settings = pool, settings
        self._states: dict[tuple[str, float], npt.NDArray[np.int8]] = {}

    def state(self, signal: str, weight: float) -> npt.NDArray[np.int8]:
        """State per row where `signal` has this weight, the others as they are."""
        if (signal, weight) not in self._states:
            self._states[signal, weight] = select(self._pool, with_weight(self._settings, signal, weight)).state
        return self._states[signal, weight]


@dataclass(frozen=True, slots=True)
class Flip:
    """The values that flip the decision on a row: whether it is kept whole. Every value was proven by a run.

    Attributes:
        budget: one at which it turns, and the rows that are lost there; None where none does.
        weights: per signal the nearest weight at which it turns; signals of which none does are left out.
    """

    budget: BudgetFlip | None
    weights: dict[str, float]


def flip(pool: Pool, settings: Settings, row: int, runs: WeightRuns) -> Flip | None:
    """Finds what would keep a row that is not kept whole, or cost one its place that is; None where nothing in range
    does."""
    weights = settings.smart_pruning.priority_weights
    kept = bool(runs.state("relevance", weights.relevance)[row] == State.KEPT)
    budget = budget_to_drop(pool, settings, row) if kept else budget_to_keep(pool, settings, row)
    found = {}
    for signal in SIGNALS:
        turned = (
            weight
            for weight in _nearest_first(settings, signal)
            if bool(runs.state(signal, weight)[row] == State.KEPT) is not kept
        )
        if (weight := next(turned, None)) is not None:
            found[signal] = weight
    return Flip(budget, found) if budget is not None or found else None


def unchanged_range(pool: Pool, settings: Settings, signal: str, runs: WeightRuns | None = None) -> tuple[float, float]:
    """Weights of `signal` ("relevance", "hotspot", "distance") around the present one that keep the same rows in the
    same state.

    Walks outward in steps of WEIGHT_STEP, one run a step, until a state changes or the limit is reached: 0 below, above
    WEIGHT_LIMIT or the present weight if that is larger.
    """
    runs = runs or WeightRuns(pool, settings)
    present = getattr(settings.smart_pruning.priority_weights, signal)
    now = runs.state(signal, present)

    def same(weight: float) -> bool:
        return bool(np.array_equal(runs.state(signal, weight), now))

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
    """The weight of `signal` nearest to the present one at which `row` is kept whole, proven by a run; None if none on
    the grid."""
    nearest = _nearest_first(settings, signal)
    return next(
        (weight for weight in nearest if select(pool, with_weight(settings, signal, weight)).state[row] == State.KEPT),
        None,
    )


def _nearest_first(settings: Settings, signal: str) -> list[float]:
    """The grid of weights, from the present one outwards."""
    present = getattr(settings.smart_pruning.priority_weights, signal)
    steps = round(WEIGHT_LIMIT / WEIGHT_STEP)
    grid = {present, *(round(i * WEIGHT_STEP, 6) for i in range(steps + 1))}
    return sorted(grid, key=lambda weight: (abs(weight - present), weight))


def with_weight(settings: Settings, signal: str, weight: float) -> Settings:
    """A copy of the settings with one weight of the priority changed."""
    weights: PriorityWeights = replace(settings.smart_pruning.priority_weights, **{signal: weight})
    return replace(settings, smart_pruning=replace(settings.smart_pruning, priority_weights=weights))


def _kept_at(pool: Pool, settings: Settings, row: int, budget: int) -> bool:
    return bool(select(pool, replace(settings, budget=budget)).state[row] == State.KEPT)


def _with_losses(now: Selection, pool: Pool, settings: Settings, budget: int) -> BudgetFlip:
    then = select(pool, replace(settings, budget=budget))
    lost = np.flatnonzero((now.state != State.DROPPED) & (then.state == State.DROPPED))
    return BudgetFlip(budget, tuple(int(i) for i in lost))
