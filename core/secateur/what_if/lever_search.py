"""Finds the levers that decide whether an item goes out whole: holding it, the nearest budget, another strategy, and
the nearest value of each knob. Each lever is proven by deciding with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from secateur.ledger import State
from secateur.what_if.knob_values import knob_lever
from secateur.what_if.levers import HALVINGS, Cost, Lever, differs, halve, improving, make_lever, turns_item
from secateur.what_if.trials import BUDGET, FAR, HOLD, Swept, TrialRuns, Tried

_LEAST_PART = 0.05
"""A lever that keeps less than 1/20 of an item is not listed: a reader cannot use so small a part."""

_LEAST_SHARE = 0.1
"""Of an item larger than the budget, a part that fills 1/10 of the budget is large enough to be listed."""

_NEAR_ITS_SIZE = 32
"""Tries the 32 budgets from the one with exactly the item's room on: a few tokens decide what goes out last."""

_NEAR_ENOUGH = 100
"""Stops when the spare room is at most 1/100 of the budget: a closer budget would save the user nothing."""

_FINER, _FINER_STEPS = 400, 40
"""Tries up to 40 smaller budgets, in steps of 1/400 of the present one: cheaper ones lie just below the first."""

_NEAR_AND_WHOLE = (False, False)
"""The first two fields of `Cost` for a lever that keeps the whole item at up to FAR times the budget."""


def levers_of(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> tuple[Lever, ...]:
    """Returns the levers of `find_levers`, the cheapest first."""
    return tuple(sorted(find_levers(runs, item, swept, alone=alone), key=lambda lever: lever.cost))


def find_levers(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> Iterator[Lever]:
    """Finds what would let an item go out whole; for an item that does, what would prevent it.

    `alone`: the caller asks about no other item, so that fewer trials give the same result."""
    first = first_levers(runs, item, swept)
    yield from first
    fewest = _fewest_dearer(first)
    for knob in () if runs.trials.fixed[item] else runs.trials.knobs:
        lever = knob_lever(runs, item, knob, alone)
        if lever is not None and (lever.state in (State.KEPT, State.DROPPED) or _is_cheaper(lever, fewest)):
            yield lever


def first_levers(runs: TrialRuns, item: int, swept: Swept | None) -> list[Lever]:
    """Finds the levers that take few trials, the cheapest first: holding the item, the nearest budget, a cheaper one,
    and other choices. If holding it at a larger budget is cheaper, so is that. If every lever drops or shortens
    other items, so is a budget that keeps a part and drops fewer."""
    nearest = budget_lever(runs, item, swept)
    tried = [held_lever(runs, item), nearest, _cheaper_budget(runs, item, swept, nearest)]
    tried += [improving(runs, item, *choice) for choice in runs.trials.choices]
    levers = [lever for lever in tried if lever is not None]
    if not runs.trials.now.whole[item]:
        held = _held_with_room(runs, item, min((lever.cost for lever in levers if not lever.cost[1]), default=None))
        levers += [held] if held is not None else []
        if fewest := _fewest_dearer(levers):
            partly = _part_at_budget(runs, item)
            levers += [partly] if partly is not None and _is_cheaper(partly, fewest) else []
        if fewest == math.inf:
            least = _held_part(runs, item)
            levers += [least] if least is not None else []
            most = max((lever.portion[0] for lever in levers if not lever.far), default=0)
            greatest = _greatest_part(runs, item, most)
            levers += [greatest] if greatest is not None else []
    return sorted(levers, key=lambda lever: lever.cost)


def _fewest_dearer(levers: Sequence[Lever]) -> float:
    """Among levers that let the whole item out at up to FAR times the budget: the fewest items dropped or shortened."""
    return min((lever.others.dearer for lever in levers if lever.cost[:2] == _NEAR_AND_WHOLE), default=math.inf)


def _is_cheaper(lever: Lever, fewest: float) -> bool:
    """Tells whether a lever drops or shortens fewer items than `fewest`, and keeps at least _LEAST_PART of its own."""
    out, of = lever.portion
    return lever.others.dearer < fewest and (fewest == math.inf or not out or out >= _LEAST_PART * of)


def _cheaper_budget(runs: TrialRuns, item: int, swept: Swept | None, nearest: Lever | None) -> Lever | None:
    """Finds a budget, up to FAR times the present one, that keeps an item and drops or shortens fewer others than the
    nearest budget does."""
    present = runs.trials.budget
    if nearest is None or nearest.far or runs.trials.now.whole[item] or not nearest.others.dearer:
        return None
    if swept is not None:
        near = np.flatnonzero(swept.whole(item) & (swept.every > present) & (swept.every <= FAR * present))
        budgets = swept.every[near[[np.argmin(swept.dearer[near])]]].tolist() if len(near) else []
    else:
        budgets = runs.near_budgets

    def lever_at(budget: int) -> Lever | None:
        return make_lever(runs, item, BUDGET, budget) if turns_item(runs, item, BUDGET, budget) else None

    best = _cheapest(runs, budgets, lever_at)
    if best is None or best.others.dearer >= nearest.others.dearer:
        return None
    return replace(best, again=_again(runs, item, int(best.value), swept))


def _part_at_budget(runs: TrialRuns, item: int) -> Lever | None:
    """Finds the cheapest near budget at which a useful part of an item goes out."""
    budgets = [budget for budget in runs.near_budgets if budget <= runs.enough]
    return _cheapest(runs, budgets, lambda budget: _partly(runs, item, (BUDGET, budget)))


def _held_part(runs: TrialRuns, item: int) -> Lever | None:
    """Finds the cheapest near budget at which holding an item keeps a useful part of it."""
    if runs.trials.fixed[item]:
        return None
    return _cheapest(runs, runs.grid, lambda budget: _partly(runs, item, (f"{HOLD} {budget}", item)), finer=True)


def _partly(runs: TrialRuns, item: int, tried: tuple[str, int]) -> Lever | None:
    """Returns the lever if it lets out a useful part of an item, but not all of it."""
    lever = improving(runs, item, *tried)
    if lever is None or lever.state is State.KEPT:  # other functions find what keeps the whole
        return None
    least = runs.trials.portion(item, runs.trials.now)[0] + _least_part(runs, item)
    return lever if lever.portion[0] >= least else None


def _greatest_part(runs: TrialRuns, item: int, out: int) -> Lever | None:
    """Finds the lever that keeps the greatest part of an item without dropping or shortening others, at the smallest
    such budget. None if it keeps hardly more than the `out` tokens that other levers keep."""
    least = out + _least_part(runs, item)

    def greatest(at: Callable[[int], tuple[str, int]], budgets: Sequence[int]) -> Lever | None:
        def lever_at(budget: int) -> Lever | None:
            lever = improving(runs, item, *at(budget))
            return None if lever is None or lever.state is State.KEPT or lever.others.dearer else lever

        best = next((lever for lever in map(lever_at, reversed(budgets)) if lever is not None), None)
        if best is None or best.portion[0] < least:
            return None
        below, turn = runs.trials.budget, runs.trials.budget + best.room

        def keeps_as_much(budget: int) -> bool:
            lever = lever_at(budget)
            return lever is not None and lever.portion[0] >= best.portion[0]

        for budget in (budget for budget in reversed(budgets) if budget < turn):
            if not keeps_as_much(budget):
                below = budget
                break
            turn = budget
        return lever_at(halve(below, turn, keeps_as_much))

    parts = [greatest(lambda budget: (BUDGET, budget), runs.near_budgets)]
    if not runs.trials.fixed[item]:
        parts.append(greatest(lambda budget: (f"{HOLD} {budget}", item), runs.grid))
    found = (lever for lever in parts if lever is not None)
    return max(found, key=lambda lever: (lever.portion[0], -max(lever.tokens, lever.room)), default=None)


def _least_part(runs: TrialRuns, item: int) -> float:
    """The tokens by which a larger budget has to keep more of an item to be listed."""
    return min(_LEAST_PART * runs.trials.portion(item, runs.trials.now)[1], _LEAST_SHARE * runs.trials.budget)


def _cheapest(
    runs: TrialRuns, budgets: Sequence[int], lever_at: Callable[[int], Lever | None], *, finer: bool = False
) -> Lever | None:
    """Returns the cheapest lever at ascending `budgets` above the present one, moved down to the smallest budget that
    costs no more items. `finer`: also tries _FINER_STEPS small steps below it before it halves the distance."""
    present = runs.trials.budget
    below = before = present
    best = None
    for budget in budgets:
        lever = lever_at(budget)
        if lever is not None and (best is None or lever.cost < best.cost):
            best, below = lever, before
        if best is not None and not best.others.dearer:
            break
        before = budget
    if best is None:
        return None
    costs, turn = best.cost[:3], present + best.room

    def costs_as_much(budget: int) -> bool:
        lever = lever_at(budget)
        return lever is not None and lever.cost[:3] <= costs

    steps = [*range(below, present, -max(1, present // _FINER))][: _FINER_STEPS if finer else 0]
    for lower, budget in pairwise(reversed(steps)):
        if costs_as_much(budget):
            below, turn = lower, budget
            break
    return lever_at(halve(below, turn, costs_as_much))


def _held_with_room(runs: TrialRuns, item: int, best: Cost | None) -> Lever | None:
    """Finds the cheapest larger budget at which holding an item lets all of it out; None if it costs more than `best`,
    the cost of the best other lever."""
    trials = runs.trials
    if trials.fixed[item]:
        return None
    far = best is None or best[0]
    present, (out, size) = trials.budget, trials.portion(item, trials.now)
    sizes = {trials.needed(item) - out, size - out, size, size * 5 // 4} | _room_for_others(runs, item)
    most = max((FAR - 1) * present, size * 5 // 4) if far else (FAR - 1) * present

    def lever_at(budget: int) -> Lever | None:
        lever = improving(runs, item, f"{HOLD} {budget}", item)
        return lever if lever is not None and lever.state is State.KEPT else None

    rooms = sorted(room for room in {*sizes, *runs.few_rooms} if 0 < room <= most)
    cheapest = _cheapest(runs, [present + room for room in rooms], lever_at)
    if cheapest is None:
        return None
    added = {*np.flatnonzero(trials.added).tolist()}  # summaries, which are written anew in any case
    lossy = not added.issuperset((*cheapest.others.loses, *cheapest.others.shortens))
    exact = max(1, trials.needed(item) - out, size - out)
    if lossy or cheapest.room > exact + present // _NEAR_ENOUGH:
        swept = trials.sweep_held(item, most)
        if swept is not None:
            whole = np.flatnonzero(swept.whole(item))
            budgets = swept.every[whole[[np.argmin(swept.dearer[whole])]]].tolist() if whole.size else []
        else:
            near = {present + exact + more for more in range(_NEAR_ITS_SIZE)} if exact < most else set[int]()
            most_tried = present + (most if lossy else cheapest.room)
            budgets = sorted({*(budget for budget in (*near, *runs.grid) if budget < most_tried), most_tried})
        found = _cheapest(runs, budgets, lever_at, finer=True)
        cheapest = min(cheapest, found or cheapest, key=lambda lever: lever.cost)
    return cheapest if best is None or cheapest.cost < best else None


def _room_for_others(runs: TrialRuns, item: int) -> set[int]:
    """The tokens that holding an item takes from other items, and a quarter more."""
    if (held := runs.at(HOLD, item)) is None:
        return set()
    trials, others = runs.trials, runs.differences(HOLD, item).without(item)
    dearer = (*others.loses, *others.shortens)
    lost = sum(trials.portion(other, trials.now)[0] - trials.portion(other, held)[0] for other in dearer)
    return {lost, lost * 5 // 4}


def held_lever(runs: TrialRuns, item: int) -> Lever | None:
    """Holds an item that does not go out whole. If it is too large, tries the other choices, which may shorten it."""
    names = (HOLD, *(f"{HOLD} {choice}" for _, choice in runs.trials.choices))
    tried = (improving(runs, item, name, item) for name in names)
    return next((lever for lever in tried if lever is not None), None)


def budget_lever(runs: TrialRuns, item: int, swept: Swept | None) -> Lever | None:
    """Finds the nearest budget that changes whether an item goes out whole: above the present one if it does not go out
    whole now, else below. No tried budget in between changes it."""
    trials = runs.trials
    if trials.fixed[item]:
        return None
    up = not trials.now.whole[item]
    still = trials.budget
    if swept is not None:
        whole = swept.whole(item)
        beyond = swept.every > trials.budget if up else swept.every < trials.budget
        turning = swept.every[(whole == up) & beyond].tolist()
        nearest = turning[0 if up else -1] if turning else trials.budget
        if nearest != trials.budget and turns_item(runs, item, BUDGET, nearest):
            return make_lever(runs, item, BUDGET, nearest, again=_again(runs, item, nearest, swept) if up else 0)
        still = max(still, swept.high) if up else min(still, swept.low)
    end = runs.enough if up else runs.least
    if (end > still) is not up:
        return None
    tried = sorted(
        {end, *(budget for budget in runs.first_budgets if (still < budget < end if up else end < budget < still))}
    )
    turn = None
    for budget in tried if up else reversed(tried):
        if turns_item(runs, item, BUDGET, budget):
            turn = budget
            break
        still = budget
    turn = None if turn is None else _halve(runs, still, turn, lambda decided: differs(runs, decided, item))
    if turn is None:
        return None
    return make_lever(runs, item, BUDGET, turn, again=_again(runs, item, turn, None) if up else 0)


def _halve(runs: TrialRuns, still: int, turn: int, changes: Callable[[Tried], bool]) -> int | None:
    """Finds the budget nearest to `still` that `changes` a decision, as `turn` does; None: an unknown one may."""
    for _ in range(HALVINGS):
        middle = (turn + still) // 2
        if middle in (turn, still):
            break
        decided = runs.at(BUDGET, middle)
        if not runs.knows(BUDGET, middle):
            return None
        if decided is None:
            break
        turn, still = (middle, still) if changes(decided) else (turn, middle)
    return turn


def _again(runs: TrialRuns, item: int, turn: int, swept: Swept | None) -> int:
    """Finds a budget above `turn` at which an item that goes out whole at `turn` no longer does; 0: none was tried."""
    if swept is not None:
        return next(iter(swept.every[~swept.whole(item) & (swept.every > turn)].tolist()), 0)
    whole = turn
    for budget in runs.first_budgets:
        if budget <= turn:
            continue
        if (decided := runs.at(BUDGET, budget)) is not None and not decided.whole[item]:
            while budget - whole > 1 and (decided := runs.at(BUDGET, (budget + whole) // 2)) is not None:
                middle = (budget + whole) // 2
                whole, budget = (middle, budget) if decided.whole[item] else (whole, middle)
            return budget
        whole = budget
    return 0


def nearest_change(runs: TrialRuns, swept: Swept | None, *, up: bool) -> Lever | None:
    """Finds the nearest tried budget, above (`up`) or below the present one, that changes any decision."""
    trials = runs.trials
    present, still = trials.budget, trials.budget
    other = None
    if swept is not None and swept.low <= present <= swept.high:
        columns = swept.columns
        rows = np.stack([columns.tokens, columns.whole, columns.worth])
        position = int(np.searchsorted(columns.budgets, present))
        changed = (rows != rows[:, [position]]).any(axis=0)
        nearest = np.flatnonzero(changed[position:]) + position if up else np.flatnonzero(changed[:position])[::-1]
        other = int(columns.budgets[nearest[0]]) if len(nearest) else None
        still = other + (-1 if up else 1) if other is not None else still
    else:
        tried = [int(budget) for budget in runs.list_tried(BUDGET) if (budget > present if up else budget < present)]
        for budget in tried if up else reversed(tried):
            decided = runs.at(BUDGET, budget)
            if decided is None or not np.array_equal(decided.state, runs.trials.now.state):
                other = budget
                break
            still = budget
    if other is None or runs.at(BUDGET, other) is None:
        return None
    other = _halve(runs, still, other, lambda decided: not np.array_equal(decided.state, runs.trials.now.state))
    return None if other is None else make_lever(runs, -1, BUDGET, other)
