"""A search as something to try: its candidates, its budget and its weights, decided by `select`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from secateur.model import BoolArray, FloatArray, IntArray, Pool, Reason, Selection, State
from secateur.progress import Progress, unreported
from secateur.selection.greedy import first_of_files
from secateur.selection.priority import terms_of, total_of
from secateur.selection.select import mask_of, packed, reasons_of, select, strategy_score
from secateur.settings import Settings, with_values
from secateur.what_if.trials import BUDGET, FIXED, BudgetColumns, Knapsack, NumberKnob, SharedCost, Swept, Trials, Tried


@dataclass(frozen=True, eq=False)
class Sweep:
    """Decisions on a pool, per budget. A row that stands nowhere goes out at none of them."""

    budgets: IntArray
    kept: Mapping[int, BoolArray]  # row -> per budget, whether it goes out whole
    shortened: Mapping[int, BoolArray]  # row -> per budget, whether its declaration does
    whole: IntArray  # per budget, rows that go out whole
    tokens: IntArray  # per budget, tokens charged
    worth: FloatArray  # per budget, sum of the priorities of what goes out whole
    lost: IntArray  # per budget, rows that the budget before it lets out and it does not


def sweep(pool: Pool, settings: Settings, budgets: IntArray) -> Sweep:
    """Decides as `select` does, for each of these budgets, which ascend."""
    capacity = np.maximum(budgets - pool.overhead, 0)
    priority = total_of(terms_of(pool, settings), pool)
    score, pinned = strategy_score(pool, priority, settings.smart_pruning), mask_of(pool, settings.pins)
    reason = reasons_of(pool, settings, priority, score, pinned)
    packing, passes = packed(pool, settings.smart_pruning, score, reason, pinned, capacity)
    kept, shortened = dict[int, BoolArray](), dict[int, BoolArray]()
    for done in passes:
        column = shortened if done.form == Reason.SIGNATURE else kept
        for part in done.taken:
            for row in part.rows.tolist():
                column[row] = column[row] | part.at if row in column else part.at
    whole, lost, worth = np.zeros_like(budgets), np.zeros_like(budgets), np.zeros(len(budgets))
    for row in sorted({*kept, *shortened}):
        if row in kept:
            whole += kept[row]
            worth += kept[row] * priority[row]
        out = ~packing.rows.missing(row)
        lost[1:] += out[:-1] & ~out[1:]
    used = capacity - packing.free
    return Sweep(budgets, kept, shortened, whole, np.where(used > 0, used + pool.overhead, 0), worth, lost)


WEIGHT_STEP = 0.01
"""Grid on which weights are tried; the finest step of the inspector's sliders."""

WEIGHT_LIMIT = 1.0
"""Largest weight tried."""

SHARE_LIMIT = 0.5
"""Largest share for declarations: the end of its range."""

SIGNALS = ("relevance", "hotspot", "distance")
"""Signals whose weights are tried."""

SHARE, DEPTH, PREFERENCE = "smart_pruning.signature_share", "graph_rag.max_depth", "preference"
LEAST = "smart_pruning.least_chance"
"""Names of further knobs that are tried; `preference` where it counts."""

_CHANCES = tuple(step / 1000 for step in range(501))
"""Least chances that are tried; the first never ends a pack: `stop = "budget"`."""

_MOST_BUDGETS = 1 << 15
_LEAST_BUDGETS = 2_048
_CELLS = 50_000_000
"""Budgets of a sweep, times candidates that go out at one of them: fifty megabytes, a tenth of a second."""

_FURTHER_BUDGETS = 512
"""Budgets of a curve beyond those that are looked at one by one."""

_KEYS = {
    **{signal: f"smart_pruning.priority_weights.{signal}" for signal in SIGNALS},
    PREFERENCE: "preference.weight",
    SHARE: SHARE,
    DEPTH: DEPTH,
    LEAST: LEAST,
}


class PoolTrials(Trials):
    """See `Trials`. Items are the rows of the pool."""

    scored = True
    most = 4_000

    def __init__(self, pool: Pool, settings: Settings, selection: Selection | None = None) -> None:
        selection = selection or select(pool, settings)
        self._pool, self._settings, self._selection = pool, settings, selection
        self.ids = pool.symbol_id
        self.budget, self.low = selection.budget, 0
        self.now = _decided(selection)
        self.fixed = np.isin(selection.reason, [*FIXED])
        self.knobs = _knobs(settings)

    @cached_property
    def enough(self) -> int:  # type: ignore[override]
        """A budget that all fit which may go out, with what is set aside for declarations."""
        pruning, pool = self._settings.smart_pruning, self._pool
        total = int(pool.cost[self._open].sum()) + _headings_of(pool, np.flatnonzero(self._open))
        return pool.overhead + math.ceil(total / (1 - pruning.signature_share)) + 1

    @cached_property
    def _open(self) -> BoolArray:
        """Rows that may go out at some budget."""
        return ~np.isin(self._selection.reason, [*FIXED, Reason.NO_SIGNAL, Reason.UNLIKELY])

    def decide(self, name: str, value: float, progress: Progress = unreported) -> Tried:  # noqa: ARG002 - it is instant
        """Never None: a search has an answer at every budget and weight."""
        if name == BUDGET:
            return _decided(select(self._pool, replace(self._settings, budget=int(value))))
        key = _KEYS[name]
        changed = with_values(self._settings, {key: value})
        return _decided(select(self._pool, changed))

    def sweep(self) -> Swept:
        """Every budget from 0 to the end of the curve, if they are not too many; else those around the present one, and
        some of the others."""
        end = self.end
        cheapest = np.cumsum(np.sort(self._selection.needed[self._open]))
        fitting = int(np.searchsorted(cheapest, min(end, _MOST_BUDGETS)))
        number = max(_LEAST_BUDGETS, min(_MOST_BUDGETS, _CELLS // max(1, fitting)))
        low = max(0, min(min(self.budget, self.enough) - number // 2, end + 1 - number))
        high = min(end, low + number - 1)
        budgets = np.arange(low, high + 1, dtype=np.int64)
        if (low, high) != (0, end):
            further = np.linspace(0, end, _FURTHER_BUDGETS).astype(np.int64)
            budgets = np.unique(np.concatenate([budgets, further]))
        swept = sweep(self._pool, self._settings, budgets)
        inside = (budgets >= low) & (budgets <= high)
        place, whole = int(np.searchsorted(budgets, self.budget)), self.now.whole

        def nearest(row: int) -> int:
            kept = swept.kept.get(row)
            if kept is None:
                return -1
            if whole[row]:
                places = np.flatnonzero((~kept & inside)[:place])
            else:
                places = place + np.flatnonzero((kept & inside)[place:])
            return int(budgets[places[-1] if whole[row] else places[0]]) if len(places) else -1

        columns = BudgetColumns(budgets, swept.tokens, swept.whole, swept.worth, swept.lost)
        return Swept(low, high, nearest, columns)

    def knapsack(self) -> Knapsack:
        """Whole candidates by priority, in the room that declarations leave. Headings that these or
        pinned ones share with others are paid."""
        selection, pool = self._selection, self._pool
        whole = selection.state == State.KEPT
        held = mask_of(pool, self._settings.pins) & whole
        own, room, shared = selection.charged, selection.capacity, None
        if pool.heading is not None and selection.heading is not None:
            own = own - selection.heading
            there = np.flatnonzero((selection.state != State.DROPPED) & (held | ~whole))
            room -= _headings_of(pool, there)
            shared = SharedCost(pool.file, np.where(np.isin(pool.file, pool.file[there]), 0, pool.heading))
        room -= int(own[~whole].sum())
        return Knapsack(room, pool.cost, selection.priority, self._open, held, shared)


def _headings_of(pool: Pool, rows: IntArray) -> int:
    """The tokens of the headings that these rows need; 0 where each has its own."""
    return int(pool.heading[rows[first_of_files(pool.file[rows])]].sum()) if pool.heading is not None else 0


def _decided(selection: Selection) -> Tried:
    whole = selection.state == State.KEPT
    return Tried(selection.state, selection.used, float(selection.priority[whole].sum()))


def _knobs(settings: Settings) -> tuple[NumberKnob, ...]:
    pruning = settings.smart_pruning
    weights = {signal: getattr(pruning.priority_weights, signal) for signal in SIGNALS}
    if settings.preference.enabled:
        weights[PREFERENCE] = settings.preference.weight
    found = [NumberKnob(name, value, _grid(value, WEIGHT_LIMIT), weighs=True) for name, value in weights.items()]
    found.append(NumberKnob(SHARE, pruning.signature_share, _grid(pruning.signature_share, SHARE_LIMIT)))
    if pruning.stop == "marginal":
        tried = tuple(sorted({pruning.least_chance, *_CHANCES}))
        found.append(NumberKnob(LEAST, pruning.least_chance, tried, every=False))
    depth = settings.graph_rag.max_depth
    return (*found, NumberKnob(DEPTH, depth, tuple(range(1, depth + 1))))


def _grid(present: float, limit: float) -> tuple[float, ...]:
    steps = round(limit / WEIGHT_STEP)
    return tuple(sorted({present, *(round(step * WEIGHT_STEP, 6) for step in range(steps + 1))}))
