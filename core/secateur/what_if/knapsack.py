"""Finds the best possible selection of the same candidates: solves a 0/1 knapsack exactly, or gives an upper bound.

The linear relaxation fixes candidates that every better selection contains, or that none contains. Dynamic programming
solves the rest, if that does not take too long.

The candidates of a group may share a cost. The relaxation charges each candidate an equal part of it, as if the whole
group were chosen; no choice costs less. Dynamic programming goes through one group after the other, and pays the shared
cost of each group that it chooses from.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from secateur.model import QUANTUM, BoolArray, IntArray
from secateur.what_if.trials import Knapsack, SharedCost

MOST_CELLS = 40_000_000
"""The most candidates times tokens for dynamic programming: a tenth of a second."""

_NEVER = -(1 << 60)
"""The value of an impossible choice: less than any sum, whatever is added to it."""


class Best(Struct, frozen=True):
    """The best selection that was found, and an upper bound.

    Attributes:
        worth: the worth of the best selection that was found.
        present: the worth of the items that go out whole now.
        bound: no selection is worth more; equal to `worth` if that is proven to be the best.
        enters, leaves: the items that go out whole in only one of the two selections.
    """

    worth: float
    present: float
    bound: float
    enters: tuple[int, ...]
    leaves: tuple[int, ...]

    @property
    def exact(self) -> bool:
        """True if no selection is worth more."""
        return self.bound <= self.worth


def best_selection(question: Knapsack, whole: BoolArray) -> Best:
    """Finds the selection with the greatest worth in the same room.

    Args:
        whole: a mask of the items that go out whole now.
    """
    room = question.room - int(question.cost[question.held].sum())
    alone = question.cost if question.shared is None else question.cost + question.shared.cost
    free = question.eligible & ~question.held & (alone <= room) & (question.worth > 0)
    items = np.flatnonzero(free)
    values = np.rint(question.worth[items] / QUANTUM).astype(np.int64)
    costs = question.cost[items].astype(np.int64)
    now = whole[items]
    shared = question.shared.of(items) if question.shared is not None else None
    taken, bound = solve(values, costs, max(0, room), now, shared=shared)
    present = int(values[now].sum())
    if int(values[taken].sum()) <= present:
        taken = now
    rest = float(np.rint(question.worth[question.held & whole].sum() / QUANTUM))
    worth, most = (float((value + rest) * QUANTUM) for value in (int(values[taken].sum()), bound))
    enters, leaves = (tuple(items[side].tolist()) for side in (taken & ~now, now & ~taken))
    return Best(round(worth, 6), round((present + rest) * QUANTUM, 6), round(most, 6), enters, leaves)


def solve(
    values: IntArray,
    costs: IntArray,
    room: int,
    now: BoolArray,
    cells: int = MOST_CELLS,
    shared: SharedCost | None = None,
) -> tuple[BoolArray, int]:
    """Returns a choice and an upper bound of the value. The choice reaches the bound, unless there was too much to try.

    Args:
        now: a choice that fits the room, to start from.
        cells: the most candidates times tokens for dynamic programming.
    """
    everything = np.ones(len(values), dtype=np.bool_)
    shared = shared or SharedCost(np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.int64))
    parts = costs + _parts(shared)
    if int(parts.sum()) <= room:
        return everything, int(values.sum())
    order = np.lexsort((np.arange(len(values)), parts, -(values / np.maximum(parts, 1))))
    spent = np.cumsum(parts[order])
    split = int(np.searchsorted(spent, room, side="right"))  # the first candidate that does not fit whole
    relaxed = np.zeros(len(values), dtype=np.bool_)
    relaxed[order[:split]] = True
    density = float(values[order[split]] / max(1, parts[order[split]]))
    left = room - (int(spent[split - 1]) if split else 0)
    highest = float(values[relaxed].sum()) + left * density
    incumbent = max((now, _fill_greedily(order, costs, shared, room)), key=lambda taken: int(values[taken].sum()))
    reached = int(values[incumbent].sum())
    # Forcing a candidate in or out lowers the relaxed value by at least its distance from the density of the split. A
    # candidate whose bound does not beat the incumbent is fixed as in the relaxation.
    most = np.floor(highest - np.abs(values - parts * density) + _slack(highest))
    open_ = most > reached
    bound = int(np.floor(highest + _slack(highest)))
    if not open_.any():
        return incumbent, reached
    inside = relaxed & ~open_
    spare = room - int(costs[inside].sum()) - shared.of(np.flatnonzero(inside)).once
    if spare < 0:  # the candidates that every better choice contains do not fit, so no choice is better
        return incumbent, reached
    if int(open_.sum()) * (spare + 1) > cells:
        return incumbent, max(reached, bound)
    rest = shared.of(np.flatnonzero(open_))
    rest = SharedCost(rest.group, np.where(np.isin(rest.group, shared.group[inside]), 0, rest.cost))
    chosen = np.flatnonzero(open_)[_solve_exactly(values[open_], costs[open_], rest, spare)]
    taken = inside.copy()
    taken[chosen] = True
    if int(values[taken].sum()) <= reached:
        taken = incumbent
    return taken, int(values[taken].sum())


def _slack(highest: float) -> float:
    """Returns more than rounding can take away from a sum of this size."""
    return 1e-6 + highest * 1e-12


def _parts(shared: SharedCost) -> IntArray:
    """Divides the shared cost of each group among its items."""
    parts = np.zeros(len(shared.group), dtype=np.int64)
    for items in shared.groups:
        whole, rest = divmod(int(shared.cost[items[0]]), len(items))
        parts[items] = whole + (np.arange(len(items)) < rest)
    return parts


def _fill_greedily(order: IntArray, costs: IntArray, shared: SharedCost, room: int) -> BoolArray:
    taken = np.zeros(len(costs), dtype=np.bool_)
    paid = set[int]()
    for item in order.tolist():
        group = int(shared.group[item])
        price = int(costs[item]) + (0 if group in paid else int(shared.cost[item]))
        if price <= room:
            taken[item] = True
            room -= price
            paid.add(group)
    return taken


def _solve_exactly(values: IntArray, costs: IntArray, shared: SharedCost, room: int) -> IntArray:
    """Returns the positions of the choice with the greatest value, by dynamic programming."""
    most = np.zeros(room + 1, dtype=np.int64)  # the greatest value for each number of tokens
    tried: list[tuple[IntArray, npt.NDArray[np.uint8], list[npt.NDArray[np.uint8]]]] = []
    for items in shared.groups:
        heading = min(int(shared.cost[items[0]]), room + 1)
        inside = np.full(room + 1, _NEVER, dtype=np.int64)
        inside[heading:] = most[: room + 1 - heading]
        taken = []
        for value, cost in zip(values[items].tolist(), costs[items].tolist(), strict=True):
            better = np.zeros(room + 1, dtype=np.bool_)
            if cost <= room:
                with_it = inside[: room + 1 - cost] + value
                better[cost:] = with_it > inside[cost:]
                inside[cost:] = np.where(better[cost:], with_it, inside[cost:])
            taken.append(np.packbits(better))
        tried.append((items, np.packbits(inside > most), taken))
        most = np.maximum(most, inside)
    chosen = []
    for items, entered, taken in reversed(tried):  # read the choice back from the last group to the first
        if not np.unpackbits(entered, count=room + 1)[room]:
            continue
        for position in reversed(range(len(items))):
            if np.unpackbits(taken[position], count=room + 1)[room]:
                chosen.append(int(items[position]))
                room -= int(costs[items[position]])
        room -= int(shared.cost[items[0]])
    return np.array(sorted(chosen), dtype=np.int64)
