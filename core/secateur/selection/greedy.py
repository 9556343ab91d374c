"""Greedy with skip: what does not fit is passed over and the next is tried (REQ-SP-003, SC-SP-003).

The loop over candidates is vectorised: a prefix sum keeps everything up to the first that does not fit, then only
candidates that fit what is left are looked at again. Each round either ends or removes at least one candidate; on real
pools it takes a handful of rounds, because what is left shrinks quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np

from secateur.errors import UsageError
from secateur.model import BoolArray, FloatArray, IntArray, falling
from secateur.selection.headings import Headings

_FIRST_SLICE = 2048
"""Rows sorted at first: more than a budget of the usual size keeps, few enough to sort in no time."""

_SLICE_GROWTH = 4
"""Each further slice is this many times larger, so that a budget that holds everything costs little more than one full
sort."""

_SAMPLE_STEP = 64
"""The score at which a slice begins is guessed from every so many-th row; a poor guess costs time, never
correctness."""

_LARGEST_SUM = np.iinfo(np.int64).max


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
    return [int(i) for i in np.flatnonzero(greedy_mask(np.array(sizes, dtype=np.int64), min(budget, total)))]


def greedy_mask(costs: IntArray, budget: int, headings: Headings | None = None) -> BoolArray:
    """True where a candidate is kept; `costs`, and the headings that candidates share, in the order of trial."""
    headings = headings.copy() if headings is not None else None
    kept = np.zeros(len(costs), dtype=np.bool_)
    left = budget
    alive = np.flatnonzero(costs <= left)
    while len(alive):
        total = np.cumsum(costs[alive] if headings is None else costs[alive] + headings.in_turn(alive))
        fitting = int(np.searchsorted(total, left, side="right"))
        kept[alive[:fitting]] = True
        if fitting:
            left -= int(total[fitting - 1])
        if headings is not None:
            headings.take(alive[:fitting])
        rest = alive[fitting + 1 :]
        alive = rest[(costs[rest] if headings is None else costs[rest] + headings.due(rest)) <= left]
    return kept


def greedy_rows(
    score: FloatArray, costs: IntArray, eligible: BoolArray, budget: int, headings: Headings | None = None
) -> IntArray:
    """Rows kept, best first, when eligible rows are tried by falling score, equal ones by row: `greedy_mask` without
    the full sort.

    Only a slice of the best rows is sorted and tried; of the rest only rows that still fit are looked at again, and
    usually none does.
    """
    headings = headings.copy() if headings is not None else None
    rows = np.flatnonzero(eligible & (costs <= budget))
    kept = []
    size = _FIRST_SLICE
    while len(rows):
        best, rest = _slice(score, rows, size)
        best = best[falling(score[best])]
        taken = best[greedy_mask(costs[best], budget, headings.at(best) if headings is not None else None)]
        kept.append(taken)
        budget -= int(costs[taken].sum()) + (headings.take(taken) if headings is not None else 0)
        rows = rest[costs[rest] <= budget]
        size *= _SLICE_GROWTH
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


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
