"""Fills a budget greedily: a row that does not fit is skipped, and the next one is tried (REQ-SP-003, SC-SP-003).

One pass serves one budget or a column of budgets: `select`, the sweep over budgets and `tune` call it.

    packing = GreedyPacking(pool.file, pool.headings, capacity)
    taken = packing.take(score, tried, pool.cost)        # rows that go out now, each with its budgets
    packing.free                                         # for each budget, the tokens that are left

Rows of a file share a heading. The first of them that is taken pays for it, so the total does not depend on the order:
it is the sum of the rows' own costs, and of the heading of each file once. A row that does not
fit now will never fit: if another row of its file pays for the heading, that row takes at least as much room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index

import numpy as np
from msgspec import Struct

from secateur.errors import UsageError
from secateur.model import BoolArray, FloatArray, IntArray, falling

# Rows that are sorted at first: more than a usual budget keeps, and few enough to be sorted at once.
_FIRST_SLICE = 2048

# The factor by which each further slice is larger, so that a budget for all rows takes little more than one full sort.
_SLICE_GROWTH = 4

# Every 64th row is looked at to guess the least score of a slice. A bad guess costs time, and never changes the result.
_SAMPLE_STEP = 64

_ONE_BY_ONE = 32  # rows that are tried one by one before all rows are dropped that no budget has room for any more
_LARGEST_SUM = np.iinfo(np.int64).max


class TakenRows(Struct, frozen=True, eq=False):
    """The rows that a pass takes, best first, and for each budget whether it takes them there."""

    rows: IntArray
    at: BoolArray


class Reached:
    """For each row, or each file, the budgets at which it goes out."""

    def __init__(self, count: int, budgets: int) -> None:
        self.everywhere = np.zeros(count, dtype=np.bool_)  # at every budget
        self.somewhere = np.zeros(count, dtype=np.bool_)  # at some budgets, but not at every one
        self._at: dict[int, BoolArray] = {}
        self._all, self._none = np.ones(budgets, dtype=np.bool_), np.zeros(budgets, dtype=np.bool_)

    def missing(self, number: int) -> BoolArray:
        """Tells for each budget whether a row, or file, does not go out."""
        if self.somewhere[number]:
            return ~self._at[number]
        return self._none if self.everywhere[number] else self._all

    def add(self, number: int, at: BoolArray) -> None:
        """Adds budgets at which a row, or file, goes out."""
        at = at | ~self.missing(number)
        self.everywhere[number] = every = bool(at.all())
        self.somewhere[number], self._at[number] = not every, at


class GreedyPacking:
    """The rows that go out so far, for each budget.

    Args:
        file: the file number of each row.
        headings: the tokens of each file's heading.
        room: the tokens of each budget.
    """

    def __init__(self, file: IntArray, headings: IntArray, room: IntArray) -> None:
        self._file, self._headings, self.free = file, headings, room.copy()
        self._due = headings.copy()  # for each file, the least tokens that its next row pays at any budget
        self._first = np.empty_like(headings)
        self._everywhere = np.ones(len(room), dtype=np.bool_)
        self.rows = Reached(len(file), len(room))
        self.files = Reached(len(headings), len(room))

    def take(
        self,
        score: FloatArray,
        tried: BoolArray,
        cost: IntArray,
        room: IntArray | None = None,
        *,
        new_files: bool = False,
    ) -> list[TakenRows]:
        """Tries rows by descending score, equal scores by row, without sorting all rows.

        Only a slice with the best rows is sorted and tried. Then the rows that still fit are looked at again; usually
        there are none.

        Args:
            tried: a mask of the rows to try; none of them goes out at every budget already.
            cost: the tokens of each row, without the heading.
            room: for each budget, the most tokens that this pass may spend; is reduced by what it spends. None: all
                that are free.
            new_files: offers a row only at budgets where nothing of its file goes out; `tried` has one row per file.
        """
        room = self.free.copy() if room is None else room
        taken: list[TakenRows] = []
        rows = np.flatnonzero(tried & (cost <= room.max(initial=0)))
        size = _FIRST_SLICE
        while len(rows):
            best = _mark_best(score.take(rows), size) if len(rows) > 2 * size else None
            chosen = rows if best is None else rows[best]
            taken += self.take_in_order(chosen[falling(score.take(chosen))], cost, room, new_files=new_files)
            if best is None:
                break
            rows = self._fitting(rows[~best & (cost.take(rows) <= room.max())], cost, room)
            size *= _SLICE_GROWTH
        return taken

    def take_in_order(
        self, rows: IntArray, cost: IntArray, room: IntArray, *, new_files: bool = False
    ) -> list[TakenRows]:
        """Tries rows in this order; for the arguments see `take`."""
        taken: list[TakenRows] = []
        while len(rows):
            run, spent = self._run(rows, cost, int(room.min()))
            if run:
                self._spend(spent, room)
                files = self._file[rows[:run]]
                self.rows.everywhere[rows[:run]] = self.files.everywhere[files] = True
                self._due[files] = 0
                taken.append(TakenRows(rows[:run], self._everywhere))
            else:
                taken += self._take_one_by_one(rows[:_ONE_BY_ONE], cost, room, new_files)
            rows = self._fitting(rows[run or _ONE_BY_ONE :], cost, room)
        return taken

    def _take_one_by_one(self, rows: IntArray, cost: IntArray, room: IntArray, new_files: bool) -> Iterator[TakenRows]:
        for row in rows.tolist():
            file = int(self._file[row])
            price = cost[row] + self._headings[file] * self.files.missing(file)
            offered = self.files.missing(file) if new_files else self.rows.missing(row)
            fits = offered & (price <= room)
            if fits.any():
                self._spend(fits * price, room)
                self.rows.add(row, fits)
                self.files.add(file, fits)
                self._due[file] = 0
                yield TakenRows(np.array([row]), fits)

    def _run(self, rows: IntArray, cost: IntArray, least: int) -> tuple[int, int]:
        """Returns how many rows, from the first, fit one after the other at every budget, and their tokens. `least` is
        the smallest room of all budgets. A smaller number than possible is also right, and only costs time."""
        if cost[rows[0]] > least:
            return 0, 0
        if len(self._everywhere) > 1:
            uneven = self.rows.somewhere[rows] | self.files.somewhere[self._file.take(rows)]
            rows = rows[: int(uneven.argmax()) if uneven.any() else len(rows)]
        fitting = np.searchsorted(np.cumsum(cost.take(rows)), least, side="right")  # without headings
        rows = rows[: int(fitting)]
        file, positions = self._file.take(rows), np.arange(len(rows))
        # The first row of each file pays: of equal indices the last assignment wins, so write in reverse order.
        self._first[file[::-1]] = positions[::-1]
        total = np.cumsum(cost.take(rows) + np.where(self._first[file] == positions, self._due[file], 0))
        run = int(np.searchsorted(total, least, side="right"))
        return run, int(total[run - 1]) if run else 0

    def _spend(self, tokens: IntArray | int, room: IntArray) -> None:
        room -= tokens
        self.free -= tokens

    def _fitting(self, rows: IntArray, cost: IntArray, room: IntArray) -> IntArray:
        most = room.max(initial=0)
        rows = rows[cost.take(rows) <= most]  # leaves few, for which headings are looked up
        return rows[cost.take(rows) + self._due[self._file.take(rows)] <= most] if len(rows) else rows


def _mark_best(scores: FloatArray, size: int) -> BoolArray:
    sample = scores[::_SAMPLE_STEP]
    position = len(sample) - 1 - size // _SAMPLE_STEP
    return np.asarray(scores >= np.partition(sample, position)[position])


def select_greedy(tokens_in_priority_order: Sequence[int], budget: int) -> list[int]:
    """Tries candidates by priority, skips those that do not fit, and returns the indices of the kept ones, in order.

    Args:
        tokens_in_priority_order: the size of each candidate in tokens, best first; at least 0.
        budget: the most tokens that may be kept; at least 0.

    Raises:
        UsageError: a size or the budget is negative or not an integer, or the sizes add up to 2**63 or more.

    >>> select_greedy([400, 300, 350, 200], 1000)
    [0, 1, 3]
    """
    try:
        sizes, budget = [index(size) for size in tokens_in_priority_order], index(budget)
    except TypeError as error:
        raise UsageError(f"sizes and budget are integers ({error})", hint="count tokens before selecting") from error
    if budget < 0:
        raise UsageError(f"budget is {budget}", hint="a budget is 0 or more tokens")
    for position, size in enumerate(sizes):
        if size < 0:
            raise UsageError(f"candidate {position} has a negative size", hint="sizes are 0 or more tokens")
    total = sum(sizes)
    if total > _LARGEST_SUM:
        raise UsageError("the sizes add up to more than 64 bits hold", hint="sizes are counts of tokens")
    rows, room = np.arange(len(sizes)), np.array([min(budget, total)], dtype=np.int64)
    taken = GreedyPacking(rows, np.zeros_like(rows), room).take_in_order(rows, np.array(sizes, dtype=np.int64), room)
    return [row for part in taken for row in part.rows.tolist()]
