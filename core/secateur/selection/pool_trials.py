"""Tries other budgets and weights on the candidates of a search, using `select`."""

import math
import shlex
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct

from secateur.model import BoolArray, FloatArray, IntArray, Pool, Reason, Selection, State
from secateur.progress import Progress, unreported
from secateur.selection.priority import terms_of, total_of
from secateur.selection.select import mask_of, reasons_of, room_for_rows, run_passes, select, strategy_score
from secateur.settings import PriorityWeights, Settings, key_of, lookup, with_values
from secateur.settings.search import WEIGHT_KEYS
from secateur.what_if import trials


class Sweep(Struct, frozen=True, eq=False):
    """The decisions on a pool for each budget. A row that is in neither mapping goes out at no budget."""

    budgets: IntArray
    kept: Mapping[int, BoolArray]  # row -> for each budget, whether it goes out whole
    shortened: Mapping[int, BoolArray]  # row -> for each budget, whether its declaration goes out
    whole: IntArray  # for each budget, the rows that go out whole
    tokens: IntArray  # for each budget, the tokens charged
    worth: FloatArray  # for each budget, the sum of the priorities of the rows that go out whole
    lost: IntArray  # for each budget, the rows kept at the previous budget and dropped at this one


def sweep(pool: Pool, settings: Settings, budgets: IntArray) -> Sweep:
    """Decides like `select` for each of these budgets, which ascend."""
    priority = total_of(terms_of(pool, settings))
    score, pinned = strategy_score(pool, priority, settings.smart_pruning), mask_of(pool, settings.pins)
    reason = reasons_of(pool, settings, priority, pinned)
    room = room_for_rows(pool, budgets, reason == Reason.NO_ROOM)
    packing, passes = run_passes(pool, settings.smart_pruning, score, reason, pinned, room)
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
    used = room - packing.free
    return Sweep(budgets, kept, shortened, whole, np.where(used > 0, used + pool.overhead, 0), worth, lost)


WEIGHT_STEP = 0.01  # the distance of weights that are tried: the finest step of the inspector's sliders
WEIGHT_LIMIT = 1.0  # the largest weight that is tried
SHARE_LIMIT = 0.5  # the largest share for declarations that is tried: the end of its range
SIGNALS = PriorityWeights.__struct_fields__  # the signals that `--weights` weighs

# The names of further knobs that are tried; `preference` only if it is enabled.
SHARE, DEPTH, PREFERENCE = "smart_pruning.signature_share", "graph_rag.max_depth", "preference"

STRATEGY = "smart_pruning.strategy"

_MOST_BUDGETS = 1 << 15
_LEAST_BUDGETS = 2_048
_CELLS = 50_000_000  # the most budgets of a sweep times candidates that go out: fifty megabytes, a tenth of a second
_FURTHER_BUDGETS = 512  # evenly spaced budgets, tried in addition when the curve is too long to try every budget


class PoolTrials(trials.Trials):
    """See `Trials`. The items are the rows of the pool."""

    scored = True
    most = 4_000

    def __init__(
        self,
        pool: Pool,
        settings: Settings,
        selection: Selection | None = None,
        recount: Callable[[Selection], int] | None = None,
    ) -> None:
        """`recount` counts the tokens of the output text. If None, upper bounds are used."""
        selection = selection or select(pool, settings)
        self._recount = recount
        self._pool, self._settings, self._selection = pool, settings, selection
        self.ids = pool.symbol_id
        self.budget, self.low = selection.budget, 0
        self.now = _make_tried(selection)
        self.fixed = np.isin(selection.reason, [*trials.FIXED])
        self.knobs = _knobs(settings)
        present = settings.smart_pruning.strategy
        self.choices = [(STRATEGY, other) for other in key_of(STRATEGY).choices if other != present]

    @cached_property
    def enough(self) -> int:  # type: ignore[override]
        """A budget that has room for all rows that may go out, and for the share that is reserved for declarations."""
        pruning, pool = self._settings.smart_pruning, self._pool
        return pool.overhead + math.ceil(pool.cost_of(self._open) / (1 - pruning.signature_share)) + 1

    @cached_property
    def _open(self) -> BoolArray:
        return ~np.isin(self._selection.reason, [*trials.FIXED, Reason.NO_SIGNAL])

    def changes(self, name: str, value: float | str) -> Mapping[str, Any]:
        hold, _, choice = name.partition(" ")
        if hold != trials.HOLD:
            return {WEIGHT_KEYS.get(name, name): value}
        held, settings = self.ids[int(value)], self._settings
        if self.now.whole[int(value)]:  # the reverse
            if held in settings.pins:
                return {"pins": tuple(symbol for symbol in settings.pins if symbol != held)}
            return {"excludes": (*settings.excludes, held)}
        excludes = tuple(symbol for symbol in settings.excludes if symbol != held)
        chosen: dict[str, Any] = (
            {trials.BUDGET: int(choice)} if choice.isdecimal() else {STRATEGY: choice} if choice else {}
        )
        return (
            {"pins": (*settings.pins, held)}
            | chosen
            | ({"excludes": excludes} if excludes != settings.excludes else {})
        )

    def typed(self, name: str, value: float | str) -> str:
        hold, _, choice = name.partition(" ")
        if hold == trials.HOLD:
            also = f" --{trials.BUDGET if choice.isdecimal() else 'strategy'} {choice}" if choice else ""
            pinned = "without --pin" if self.ids[int(value)] in self._settings.pins else "--exclude"
            flag = pinned if self.now.whole[int(value)] else "--pin"
            return f"{flag} {shlex.quote(self.ids[int(value)])}{also}"
        key, text = WEIGHT_KEYS.get(name, name), f"{value:g}" if isinstance(value, float) else f"{value}"
        if name in SIGNALS:
            weights = self._settings.smart_pruning.priority_weights
            return "--weights " + ",".join(
                text if name == signal else f"{getattr(weights, signal):g}" for signal in SIGNALS
            )
        return f"{flag} {text}" if (flag := key_of(key).flag) else f"--set {key}={text}"

    def decide(self, name: str, value: float | str, progress: Progress = unreported) -> trials.Tried:  # noqa: ARG002
        """Decides with another value. Never returns None: a search has an answer at every budget and weight."""
        return _make_tried(select(self._pool, with_values(self._settings, self.changes(name, value))))

    def tokens_leaving(self, name: str, value: float | str, decided: trials.Tried) -> int:
        if self._recount is None:
            return decided.tokens
        return self._recount(select(self._pool, with_values(self._settings, self.changes(name, value))))

    def sweep(self) -> trials.Swept:
        """Decides at every budget from 0 to the end of the curve, or, if these are too many, at every budget around the
        present one and at some others."""
        end = self.end
        fitting = int(np.searchsorted(np.cumsum(np.sort(self._selection.needed[self._open])), min(end, _MOST_BUDGETS)))
        count = max(_LEAST_BUDGETS, min(_MOST_BUDGETS, _CELLS // max(1, fitting)))
        low = max(0, min(min(self.budget, self.enough) - count // 2, end + 1 - count))
        high = min(end, low + count - 1)
        budgets = np.arange(low, high + 1, dtype=np.int64)
        if (low, high) != (0, end):
            sparse_budgets = np.linspace(0, end, _FURTHER_BUDGETS).astype(np.int64)
            budgets = np.unique(np.concatenate([budgets, sparse_budgets]))
        return self._make_swept(low, high, budgets, self._settings)

    def sweep_held(self, item: int, most: int) -> trials.Swept:
        count = max(1, min(most, _LEAST_BUDGETS * 4, _CELLS // max(1, int(self._open.sum()))))
        budgets = np.unique(np.linspace(self.budget, self.budget + most, count + 1).astype(np.int64))
        return self._make_swept(
            self.budget, self.budget + most, budgets, with_values(self._settings, self.changes(trials.HOLD, item))
        )

    def _make_swept(self, low: int, high: int, budgets: IntArray, settings: Settings) -> trials.Swept:
        """Decides at these budgets, and tells of each from `low` to `high` which items go out."""
        swept = sweep(self._pool, settings, budgets)
        inside, no_budget = (budgets >= low) & (budgets <= high), np.zeros(len(budgets), dtype=np.bool_)
        dearer = np.zeros(len(budgets), dtype=np.int64)
        for row in np.flatnonzero(self.now.out).tolist():
            whole, shortened = swept.kept.get(row, no_budget), swept.shortened.get(row, no_budget)
            dearer += ~whole if self.now.whole[row] else ~(whole | shortened)

        def kept(row: int) -> BoolArray:
            return swept.kept.get(row, no_budget)[inside]

        columns = trials.BudgetColumns(budgets, swept.tokens, swept.whole, swept.worth, swept.lost)
        return trials.Swept(low, high, budgets[inside], kept, dearer[inside], columns)

    def portion(self, item: int, decided: trials.Tried) -> tuple[int, int]:
        pool, state = self._pool, decided.state[item]
        sent = pool.tokens if state == State.KEPT else pool.sig_tokens if state == State.SHORTENED else None
        return 0 if sent is None else int(sent[item]), int(pool.tokens[item])

    def needed(self, item: int) -> int:
        return int(self._selection.needed[item])


def _make_tried(selection: Selection) -> trials.Tried:
    whole = selection.state == State.KEPT
    return trials.Tried(selection.state, selection.used, float(selection.priority[whole].sum()))


def _knobs(settings: Settings) -> tuple[trials.NumberKnob, ...]:
    knobs = []
    for name, key in WEIGHT_KEYS.items():
        if name != PREFERENCE or settings.preference.enabled:
            weight = lookup(settings, key)
            knobs.append(trials.NumberKnob(name, weight, _grid(weight, WEIGHT_LIMIT), weighs=True))
    share, depth = settings.smart_pruning.signature_share, settings.graph_rag.max_depth
    knobs.append(trials.NumberKnob(SHARE, share, _grid(share, SHARE_LIMIT)))
    return (*knobs, trials.NumberKnob(DEPTH, depth, tuple(range(1, depth + 1))))


def _grid(present: float, limit: float) -> tuple[float, ...]:
    steps = round(limit / WEIGHT_STEP)
    return tuple(sorted({present, *(round(step * WEIGHT_STEP, 6) for step in range(steps + 1))}))
