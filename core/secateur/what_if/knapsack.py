"""The best possible selection of the same candidates: a 0/1 knapsack by worth, exact, or with a bound that nothing
exceeds.

Candidates that no better selection can hold, or can do without, are set aside by the linear relaxation; what is left is
solved by dynamic programming, where that is not too much.

Where candidates of a group share a cost, the relaxation charges each its part of it, as if all of the group were there:
no choice takes less than that. Dynamic programming goes through one group after the other, and pays for each that it
enters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from secateur.model import QUANTUM, BoolArray, IntArray
from secateur.what_if.trials import Knapsack, SharedCost

MOST_CELLS = 40_000_000
"""Candidates times tokens that dynamic programming may go through: a tenth of a second."""

_NEVER = -(1 << 60)
"""The value of what does not fit: less than any sum, whatever is added to it."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best selection that was found, and how good one can be at most.

    Attributes:
        worth: of the best one that was found.
        present: of what goes out whole now.
        bound: nothing is worth more; equal to `worth` where that is proven to be the best.
        enters, leaves: items by which it differs from what goes out whole now.
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
    """Finds what would be worth most within the room.

    Args:
        whole: per item, whether it goes out whole now.
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
    worth, most = (float((number + rest) * QUANTUM) for number in (int(values[taken].sum()), bound))
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
    """(what to take, the most that can be had). The first reaches the second, unless there was too much to try.

    Args:
        now: a choice that fits the room, to start from.
        cells: candidates times tokens that dynamic programming may go through.
    """
    everything = np.ones(len(values), dtype=np.bool_)
    shared = shared or SharedCost(np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.int64))
    parts = costs + _parts(shared)
    if int(parts.sum()) <= room:
        return everything, int(values.sum())
    order = np.lexsort((np.arange(len(values)), parts, -(values / np.maximum(parts, 1))))
    spent = np.cumsum(parts[order])
    split = int(np.searchsorted(spent, room, side="right"))  # the first that does not fit whole
    relaxed = np.zeros(len(values), dtype=np.bool_)
    relaxed[order[:split]] = True
    density = float(values[order[split]] / max(1, parts[order[split]]))
    left = room - (int(spent[split - 1]) if split else 0)
    highest = float(values[relaxed].sum()) + left * density
    incumbent = max((now, _filled(order, costs, shared, room)), key=lambda taken: int(values[taken].sum()))
    reached = int(values[incumbent].sum())
    # Taking one in, or leaving one out, costs at least what it is away from the density at which the room is full.
    most = np.floor(highest - np.abs(values - parts * density) + _slack(highest))
    open_ = most > reached
    bound = int(np.floor(highest + _slack(highest)))
    if not open_.any():
        return incumbent, reached
    inside = relaxed & ~open_
    spare = room - int(costs[inside].sum()) - shared.of(np.flatnonzero(inside)).once
    if spare < 0:  # what every better one holds does not fit
        return incumbent, reached
    if int(open_.sum()) * (spare + 1) > cells:
        return incumbent, max(reached, bound)
    rest = shared.of(np.flatnonzero(open_))
    rest = SharedCost(rest.group, np.where(np.isin(rest.group, shared.group[inside]), 0, rest.cost))
    chosen = np.flatnonzero(open_)[_programmed(values[open_], costs[open_], rest, spare)]
    taken = inside.copy()
    taken[chosen] = True
    if int(values[taken].sum()) <= reached:
        taken = incumbent
    return taken, int(values[taken].sum())


def _slack(highest: float) -> float:
    """More than rounding can take away from a sum of this size."""
    return 1e-6 + highest * 1e-12


def _parts(shared: SharedCost) -> IntArray:
    """The part of the shared cost that each item bears: those of a group add up to it."""
    parts = np.zeros(len(shared.group), dtype=np.int64)
    for items in shared.groups:
        whole, rest = divmod(int(shared.cost[items[0]]), len(items))
        parts[items] = whole + (np.arange(len(items)) < rest)
    return parts


def _filled(order: IntArray, costs: IntArray, shared: SharedCost, room: int) -> BoolArray:
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


def _programmed(values: IntArray, costs: IntArray, shared: SharedCost, room: int) -> IntArray:
    """Places of the choice of most value within the room."""
    most = np.zeros(room + 1, dtype=np.int64)
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
    for items, entered, taken in reversed(tried):
        if not np.unpackbits(entered, count=room + 1)[room]:
            continue
        for place in reversed(range(len(items))):
            if np.unpackbits(taken[place], count=room + 1)[room]:
                chosen.append(int(items[place]))
                room -= int(costs[items[place]])
        room -= int(shared.cost[items[0]])
    return np.array(sorted(chosen), dtype=np.int64)
