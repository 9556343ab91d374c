"""Greedy with skip: what does not fit is passed over and the next is tried (REQ-SP-003, SC-SP-003).

The loop over candidates is vectorised: a prefix sum keeps everything up to the first that does not fit, then only
candidates that fit what is left are looked at again. Each round either ends or removes at least one candidate; on real
pools it takes a handful of rounds, because what is left shrinks quickly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from secateur.errors import UsageError
from secateur.model import BoolArray, IntArray


def select_greedy(tokens_in_priority_order: Sequence[int], budget: int) -> list[int]:
    """Indices kept, in order, when candidates are tried by priority and skipped when they do not fit.

    Args:
        tokens_in_priority_order: size of each candidate in tokens, best first; sizes are at least 0.
        budget: tokens that may be kept, at least 0.

    Raises:
        UsageError: a negative size or budget.

    >>> select_greedy([400, 300, 350, 200], 1000)
    [0, 1, 3]
    """
    sizes = np.asarray(tokens_in_priority_order, dtype=np.int64)
    if budget < 0:
        raise UsageError(f"budget is {budget}", hint="a budget is 0 or more tokens")
    if len(sizes) and sizes.min() < 0:
        raise UsageError(f"candidate {int(sizes.argmin())} has a negative size", hint="sizes are 0 or more tokens")
    return [int(i) for i in np.flatnonzero(greedy_mask(sizes, budget))]


def greedy_mask(costs: IntArray, budget: int) -> BoolArray:
    """True where a candidate is kept; `costs` in the order of trial."""
    kept = np.zeros(len(costs), dtype=np.bool_)
    left = budget
    alive = np.flatnonzero(costs <= left)
    while len(alive):
        total = np.cumsum(costs[alive])
        fitting = int(np.searchsorted(total, left, side="right"))
        kept[alive[:fitting]] = True
        if fitting:
            left -= int(total[fitting - 1])
        rest = alive[fitting + 1 :]
        alive = rest[costs[rest] <= left]
    return kept


def room_at_turn(costs: IntArray, kept: BoolArray, budget: int) -> IntArray:
    """Tokens that were free when each candidate's turn came."""
    spent = np.where(kept, costs, 0)
    return budget - (np.cumsum(spent) - spent)
