"""Decides a pool under many budgets at once: the decision of `select`, with a column of budgets in place of one.

    swept = sweep(pool, settings, np.arange(0, 20_000))
    swept.kept[row]       # per budget, whether the row goes out whole

A hundred rows and ten thousand budgets take milliseconds. What is told of a budget is proven by `select` besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from secateur.model import BoolArray, FloatArray, IntArray, Pool, Reason
from secateur.selection.priority import terms_of, total_of
from secateur.selection.select import mask_of, packed, reasons_of, strategy_score
from secateur.settings import Settings


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
