"""Greedy with skip: what does not fit is passed over and the next is tried (REQ-SP-003, SC-SP-003).

One pass serves a single budget and a column of them: `select`, the sweep over budgets and `tune` call it.

    packing = GreedyPacking(pool.file, pool.heading, capacity)
    taken = packing.take(score, tried, pool.cost)        # rows that go out now, each with the budgets at which it does
    packing.free                                         # per budget, the tokens that are left

Rows of a file may share a heading (`shorten.headings`): the first of them that is taken pays for it. The sum over what
goes out does not depend on the order: own costs, and the heading of each of its files once. And what does not fit never
will: another row of its file could pay for the heading, and takes as much of the room and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import index

import numpy as np

from secateur.errors import UsageError
from secateur.model import BoolArray, FloatArray, IntArray, falling

_FIRST_SLICE = 2048
"""Rows sorted at first: more than a budget of the usual size keeps, few enough to sort in no time."""

_SLICE_GROWTH = 4
"""Each further slice is this many times larger, so that a budget that holds everything costs little more than one full
sort."""

_SAMPLE_STEP = 64
"""The score at which a slice begins is guessed from every so many-th row; a poor guess costs time, never
correctness."""

_ONE_BY_ONE = 32
"""Rows that are tried at each budget before those that no budget has room for any more are passed over."""

_LARGEST_SUM = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class TakenRows:
    """Rows that a pass takes, best first, and per budget whether it takes them there."""

    rows: IntArray
    at: BoolArray


class Reached:
    """Per row, or per file, the budgets at which it goes out."""

    def __init__(self, count: int, budgets: int) -> None:
        self.everywhere = np.zeros(count, dtype=np.bool_)  # at every budget
        self.somewhere = np.zeros(count, dtype=np.bool_)  # at some budgets, but not at every one
        self._at: dict[int, BoolArray] = {}
        self._all, self._none = np.ones(budgets, dtype=np.bool_), np.zeros(budgets, dtype=np.bool_)

    def missing(self, number: int) -> BoolArray:
        """Per budget, whether it does not go out there."""
        if self.somewhere[number]:
            return ~self._at[number]
        return self._none if self.everywhere[number] else self._all

    def add(self, number: int, at: BoolArray) -> None:
        """It goes out at these budgets, too."""
        at = at | ~self.missing(number)
        self.everywhere[number] = every = bool(at.all())
        self.somewhere[number], self._at[number] = not every, at


class GreedyPacking:
    """The rows that go out so far, per budget.

    Args:
        file: per row, the number of its file.
        heading: per row, the tokens of the heading that the rows of its file share; None where they share none.
        room: per budget, the tokens that there are.
    """

    def __init__(self, file: IntArray, heading: IntArray | None, room: IntArray) -> None:
        self._file, self._heading, self.free = file, heading, room.copy()
        self._everywhere = np.ones(len(room), dtype=np.bool_)
        self.rows = Reached(len(file), len(room))
        self.files = Reached(int(file.max(initial=-1)) + 1, len(room))

    def take(
        self,
        score: FloatArray,
        tried: BoolArray,
        cost: IntArray,
        room: IntArray | None = None,
        *,
        new_files: bool = False,
    ) -> list[TakenRows]:
        """Tries rows by falling score, equal ones by row, without the full sort.

        Only a slice of the best rows is sorted and tried; of the rest only rows that still fit are looked at again, and
        usually none does.

        Args:
            tried: per row; none that goes out at every budget.
            cost: tokens per row, the heading not counted.
            room: per budget, the most that this pass may spend; falls by what it spends. None: all that is free.
            new_files: rows are offered only at budgets where nothing of their file goes out; one of each file is tried.
        """
        room = self.free.copy() if room is None else room
        taken: list[TakenRows] = []
        rows = np.flatnonzero(tried & (cost <= room.max(initial=0)))
        size = _FIRST_SLICE
        while len(rows):
            best, rest = _slice(score, rows, size)
            taken += self.take_in_order(best[falling(score[best])], cost, room, new_files=new_files)
            rows = rest[cost[rest] <= room.max()]
            size *= _SLICE_GROWTH
        return taken

    def take_in_order(
        self, rows: IntArray, cost: IntArray, room: IntArray, *, new_files: bool = False
    ) -> list[TakenRows]:
        """Tries rows in this order; arguments as for `take`."""
        taken: list[TakenRows] = []
        while len(rows):
            run, spent = self._run(rows, cost, int(room.min()))
            if run:
                self._spend(spent, room)
                self.rows.everywhere[rows[:run]] = self.files.everywhere[self._file[rows[:run]]] = True
                taken.append(TakenRows(rows[:run], self._everywhere))
            else:
                taken += self._take_one_by_one(rows[:_ONE_BY_ONE], cost, room, new_files)
            rows = rows[run or _ONE_BY_ONE :]
            rows = rows[self._price(rows, cost) <= room.max()]
        return taken

    def _take_one_by_one(self, rows: IntArray, cost: IntArray, room: IntArray, new_files: bool) -> Iterator[TakenRows]:
        for row in rows.tolist():
            file, price = int(self._file[row]), cost[row]
            if self._heading is not None:
                price = price + self._heading[row] * self.files.missing(file)
            offered = self.files.missing(file) if new_files else self.rows.missing(row)
            fits = offered & (price <= room)
            if fits.any():
                self._spend(fits * price, room)
                self.rows.add(row, fits)
                self.files.add(file, fits)
                yield TakenRows(np.array([row]), fits)

    def _run(self, rows: IntArray, cost: IntArray, least: int) -> tuple[int, int]:
        """The number of rows, from the first, that fit one after the other at every budget, of which `least` is the
        smallest room, and their tokens. 0 is always right: a smaller number costs time."""
        if cost[rows[0]] > least:
            return 0, 0
        if len(self._everywhere) > 1:
            uneven = self.rows.somewhere[rows] | self.files.somewhere[self._file[rows]]
            rows = rows[: int(uneven.argmax()) if uneven.any() else len(rows)]
        price = self._price(rows, cost)
        if self._heading is not None:
            price = np.where(first_of_files(self._file[rows]), price, cost[rows])
        total = np.cumsum(price)
        run = int(np.searchsorted(total, least, side="right"))
        return run, int(total[run - 1]) if run else 0

    def _spend(self, tokens: IntArray | int, room: IntArray) -> None:
        room -= tokens
        self.free -= tokens

    def _price(self, rows: IntArray, cost: IntArray) -> IntArray:
        """Per row the least that it takes at any budget if it comes next."""
        if self._heading is None:
            return cost[rows]
        file = self._file[rows]
        return cost[rows] + np.where(self.files.everywhere[file] | self.files.somewhere[file], 0, self._heading[rows])


def first_of_files(file: IntArray) -> BoolArray:
    """Per place, whether none before it is of the same file."""
    places = np.arange(len(file))
    first = np.empty(int(file.max(initial=-1)) + 1, dtype=np.int64)
    first[file[::-1]] = places[::-1]
    return np.asarray(first[file] == places)


def _slice(score: FloatArray, rows: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Split rows, both parts in row order: about `size` with the best scores, all of an equal score among them, and the
    rest."""
    if len(rows) <= 2 * size:
        return rows, rows[:0]
    scores = score[rows]
    sample = scores[::_SAMPLE_STEP]
    place = len(sample) - 1 - size // _SAMPLE_STEP
    best = scores >= np.partition(sample, place)[place]
    return rows[best], rows[~best]


def select_greedy(tokens_in_priority_order: Sequence[int], budget: int) -> list[int]:
    """Indices kept, in order, when candidates are tried by priority and skipped when they do not fit.

    Args:
        tokens_in_priority_order: size of each candidate in tokens, best first; sizes are at least 0.
        budget: tokens that may be kept, at least 0.

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
    for place, size in enumerate(sizes):
        if size < 0:
            raise UsageError(f"candidate {place} has a negative size", hint="sizes are 0 or more tokens")
    total = sum(sizes)
    if total > _LARGEST_SUM:
        raise UsageError("the sizes add up to more than 64 bits hold", hint="sizes are counts of tokens")
    rows, room = np.arange(len(sizes)), np.array([min(budget, total)], dtype=np.int64)
    taken = GreedyPacking(rows, None, room).take_in_order(rows, np.array(sizes, dtype=np.int64), room)
    return [row for part in taken for row in part.rows.tolist()]
