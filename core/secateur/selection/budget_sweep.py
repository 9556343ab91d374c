"""Decides a pool under many budgets at once: `select` for every one of them, row by row over columns of budgets.

    swept = sweep(pool, settings, np.arange(0, 20_000))
    swept.kept[row]       # per budget, whether the row goes out whole

It is the same greedy decision, with a column of budgets in place of one: a hundred rows and ten thousand budgets take
milliseconds. What is told of a budget is proven by `select` besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from secateur.model import BoolArray, FloatArray, IntArray, Pool, Reason, falling
from secateur.selection.priority import terms_of, total_of
from secateur.selection.select import mask_of, reasons_of, strategy_score
from secateur.settings import Settings

_LOOKED_AT = 32
"""Rows that are tried before those that no budget has room for any more are passed over."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Decisions on a pool, per budget. A row that stands nowhere goes out at none of them."""

    budgets: IntArray  # ascending
    kept: Mapping[int, BoolArray]  # row -> per budget, whether it goes out whole
    shortened: Mapping[int, BoolArray]  # row -> per budget, whether its declaration does
    whole: IntArray  # per budget, rows that go out whole
    partly: IntArray  # per budget, rows of which the declaration goes out
    tokens: IntArray  # per budget, tokens charged
    worth: FloatArray  # per budget, sum of the priorities of what goes out whole
    lost: IntArray  # per budget, rows that the budget before it lets out and it does not


def sweep(pool: Pool, settings: Settings, budgets: IntArray) -> Sweep:
    """Decides as `select` does, for each of these budgets, which ascend."""
    pruning = settings.smart_pruning
    capacity = np.maximum(budgets - pool.overhead, 0)
    priority = total_of(terms_of(pool, settings), pool)
    score, pinned = strategy_score(pool, priority, pruning), mask_of(pool, settings.pins)
    reason = reasons_of(pool, settings, priority, score, pinned)
    order = falling(score)
    waiting = order[np.isin(reason[order], (Reason.NO_ROOM, Reason.UNLIKELY)) & ~pinned[order]]
    order = order[reason[order] == Reason.NO_ROOM]
    open_ = order[~pinned[order]]
    turns = _Turns(pool, len(budgets))
    free = capacity.copy()
    free -= turns.keep(order[pinned[order]], free)
    share = pruning.signature_share
    reserve = np.minimum((capacity * share).astype(np.int64), free)
    free -= turns.keep(open_, free - reserve)
    if share > 0:
        if pruning.stop == "marginal":
            reserve = np.minimum(reserve, ((capacity - free) * share / (1.0 - share)).astype(np.int64))
        shorter = (pool.sig_cost[waiting] > 0) & (pool.sig_cost[waiting] < pool.cost[waiting])
        free -= turns.shorten(waiting[shorter], reserve)
        free -= turns.keep(open_, free)
    used = capacity - free
    tokens = np.where(used > 0, used + pool.overhead, 0)
    return turns.result(budgets, tokens, priority)


class _Turns:
    """The rows that go out so far, per budget."""

    def __init__(self, pool: Pool, budgets: int) -> None:
        self._pool, self._budgets = pool, budgets
        self._kept: dict[int, BoolArray] = {}
        self._shortened: dict[int, BoolArray] = {}
        self._paid: dict[int, BoolArray] = {}  # by number of a file, whether the heading that its rows share is paid
        self._nowhere = np.zeros(budgets, dtype=np.bool_)

    def keep(self, rows: IntArray, room: IntArray) -> IntArray:
        """Tries rows whole, in this order, where they do not go out yet; returns tokens spent."""
        room, before = room.copy(), room
        cost = self._pool.cost
        for row in _fitting(rows, cost, room):
            price = self._price(row, cost[row])
            fits = room >= price
            for out in (self._kept.get(row), self._shortened.get(row)):
                if out is not None:
                    fits &= ~out
            if fits.any():
                self._pay(row, fits, room, price)
                self._kept[row] = self._kept[row] | fits if row in self._kept else fits
        return before - room

    def shorten(self, rows: IntArray, room: IntArray) -> IntArray:
        """Tries declarations: first the best of each file of which nothing goes out, then all; returns tokens spent."""
        room, before = room.copy(), room
        file, cost = self._pool.file, self._pool.sig_cost
        seen: dict[int, BoolArray] = {}
        for row in {*self._kept, *self._shortened}:
            seen[int(file[row])] = seen.get(int(file[row]), self._nowhere) | self._out(row)
        _, firsts = np.unique(file[rows], return_index=True)
        for row in _fitting(rows[np.sort(firsts)], cost, room):
            self._take(row, ~seen.get(int(file[row]), self._nowhere), room)
        for row in _fitting(rows, cost, room):
            self._take(row, ~self._out(row), room)
        return before - room

    def _take(self, row: int, offered: BoolArray, room: IntArray) -> None:
        price = self._price(row, self._pool.sig_cost[row])
        fits = offered & (room >= price)
        if fits.any():
            self._pay(row, fits, room, price)
            self._shortened[row] = self._shortened[row] | fits if row in self._shortened else fits

    def _out(self, row: int) -> BoolArray:
        return self._kept.get(row, self._nowhere) | self._shortened.get(row, self._nowhere)

    def _price(self, row: int, cost: np.int64) -> np.int64 | IntArray:
        """Tokens of a form of a row; per budget where its heading is shared, and may be paid already."""
        if self._pool.heading is None:
            return cost
        unpaid = ~self._paid.get(int(self._pool.file[row]), self._nowhere)
        return np.asarray(cost + self._pool.heading[row] * unpaid, dtype=np.int64)

    def _pay(self, row: int, fits: BoolArray, room: IntArray, price: np.int64 | IntArray) -> None:
        room -= fits * price
        if self._pool.heading is not None:
            file = int(self._pool.file[row])
            self._paid[file] = self._paid.get(file, self._nowhere) | fits

    def result(self, budgets: IntArray, tokens: IntArray, priority: FloatArray) -> Sweep:
        whole, partly, lost = (np.zeros(self._budgets, dtype=np.int64) for _ in range(3))
        worth = np.zeros(self._budgets)
        for row in sorted({*self._kept, *self._shortened}):
            if row in self._kept:
                whole += self._kept[row]
                worth += self._kept[row] * priority[row]
            if row in self._shortened:
                partly += self._shortened[row]
            out = self._out(row)
            lost[1:] += out[:-1] & ~out[1:]
        return Sweep(budgets, self._kept, self._shortened, whole, partly, tokens, worth, lost)


def _fitting(rows: IntArray, cost: IntArray, room: IntArray) -> Iterable[int]:
    """The rows in their order, without those for which the room, which shrinks meanwhile, is too small everywhere."""
    while len(rows):
        rows = rows[cost[rows] <= room.max(initial=0)]
        yield from rows[:_LOOKED_AT].tolist()
        rows = rows[_LOOKED_AT:]
