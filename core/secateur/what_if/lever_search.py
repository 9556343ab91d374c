"""Finds the levers that decide whether an item goes out whole: holding it, the nearest budget, another strategy, and
the nearest value of each knob; and the range of a knob in which nothing changes. Each lever is proven by deciding with
it."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from secateur.ledger import State
from secateur.what_if.levers import Cost, Lever, differs, halve, improves, improving, make_lever, nearest_turn
from secateur.what_if.trials import BUDGET, FAR, HOLD, NumberKnob, Swept, TrialRuns


def knob_lever(runs: TrialRuns, item: int, knob: NumberKnob, alone: bool = False) -> Lever | None:
    """Finds the tried value of a knob, nearest to the present one, that turns an item."""
    if runs.trials.fixed[item]:
        return None
    if knob.every:
        index = runs.first(knob, item) if alone else int(runs.nearest(knob)[item])
        return (
            _improving_value(runs, item, knob) if index < 0 else make_lever(runs, item, knob.name, knob.values[index])
        )
    turning = partial(nearest_turn, runs, knob.name, knob.values.__getitem__, knob.place)
    sides = [turning(_outwards(knob, step), lambda decided: differs(runs, decided, item)) for step in (-1, 1)]
    if not (values := [knob.values[index] for index in sides if index is not None]):
        return _improving_value(runs, item, knob)
    return make_lever(runs, item, knob.name, min(values, key=lambda value: (abs(value - knob.present), value)))


def _improving_value(runs: TrialRuns, item: int, knob: NumberKnob) -> Lever | None:
    """Finds the value nearest to the present one at which more of an item goes out: on each side the first of those
    that were tried to turn it, and then by halving the distance."""

    def improves_at(place: int) -> bool:
        decided = runs.at(knob.name, knob.values[place])
        return decided is not None and improves(runs, decided, item)

    nearest = []
    for step in (-1, 1):
        still = knob.place
        for place in _outwards(knob, step):
            if not runs.knows(knob.name, knob.values[place]):
                break
            if improves_at(place):
                nearest.append(halve(still, place, improves_at))
                break
            still = place
    best = min(nearest, key=lambda place: (abs(place - knob.place), place), default=None)
    return make_lever(runs, item, knob.name, knob.values[best]) if best is not None else None


class _NotTried(Exception):
    """A limit kept a value from being tried."""


def unchanged_range(runs: TrialRuns, knob: NumberKnob) -> tuple[float, float] | None:
    """Finds the range of a knob around the present value in which no tried value changes a state or the number of
    tokens. None if a limit was reached before both ends were found."""
    now = runs.trials.now

    def changed(index: int) -> bool:
        decided = runs.at(knob.name, knob.values[index])
        if decided is None and not runs.knows(knob.name, knob.values[index]):
            raise _NotTried
        return decided is None or decided.tokens != now.tokens or not np.array_equal(decided.state, now.state)

    ends = []
    try:
        for step in (-1, 1):
            reached = knob.place
            for index in _outwards(knob, step):
                if changed(index):
                    reached = halve(reached, index, changed) - step
                    break
                reached = index
            ends.append(knob.values[reached])
    except _NotTried:
        return None
    finer = _finer(knob)
    return unchanged_range(runs, finer) if ends[0] == ends[1] and finer else (ends[0], ends[1])


def _finer(knob: NumberKnob) -> NumberKnob | None:
    """Returns a knob with values of three decimals between the neighbours of the present one; None if it has them."""
    near = knob.values[max(0, knob.place - 1) : knob.place + 2]
    low, high = (round(end * 1000) for end in (near[0], near[-1]))
    values = tuple(sorted({knob.present, *(step / 1000 for step in range(low, high + 1))}))
    return replace(knob, values=values, every=False) if isinstance(knob.present, float) and high - low > 2 else None


def _outwards(knob: NumberKnob, step: int) -> Iterator[int]:
    """Yields the indexes of the values on one side, from the present one outwards: each, or in doubling steps with the
    last."""
    end = 0 if step < 0 else len(knob.values) - 1
    away, index = 1, knob.place
    while index != end:
        index = max(0, knob.place - away) if step < 0 else min(end, knob.place + away)
        yield index
        away = away + 1 if knob.every else away * 2


_LEAST_PART = 0.05  # a lever that keeps less than 1/20 of an item is not listed: a reader cannot use so small a part

# Of an item larger than the budget, a part that fills 1/10 of the budget is large enough to be listed.
_LEAST_SHARE = 0.1

# Tries the 32 budgets from the one with exactly the item's room on: a few tokens decide what goes out last.
_NEAR_ITS_SIZE = 32

# Stops when the spare room is at most 1/100 of the budget: a closer budget would save the user nothing.
_NEAR_ENOUGH = 100

# Tries up to 40 smaller budgets, in steps of 1/400 of the present one: cheaper ones lie just below the first.
_FINER, _FINER_STEPS = 400, 40

# The first two fields of `Cost` for a lever that keeps the whole item at up to FAR times the budget.
_NEAR_AND_WHOLE = (False, False)


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
            budgets = [budget for budget in runs.near_budgets if budget <= runs.enough]
            partly = _cheapest(runs, budgets, lambda budget: _partly(runs, item, (BUDGET, budget)))
            levers += [partly] if partly is not None and _is_cheaper(partly, fewest) else []
        if fewest == math.inf:
            held_parts = () if runs.trials.fixed[item] else runs.grid  # near budgets at which holding it keeps a part
            least = _cheapest(
                runs, held_parts, lambda budget: _partly(runs, item, (f"{HOLD} {budget}", item)), finer=True
            )
            levers += [least] if least is not None else []
            most = max((lever.portion[0] for lever in levers if not lever.far), default=0)
            greatest = _greatest_part(runs, item, most)
            levers += [greatest] if greatest is not None else []
    return sorted(levers, key=lambda lever: lever.cost)


def _fewest_dearer(levers: Sequence[Lever]) -> float:
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
        decided = runs.at(BUDGET, budget)
        turns = decided is not None and differs(runs, decided, item)
        return make_lever(runs, item, BUDGET, budget) if turns else None

    best = _cheapest(runs, budgets, lever_at)
    if best is None or best.others.dearer >= nearest.others.dearer:
        return None
    return replace(best, again=_again(runs, item, int(best.value), swept))


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
        if (lever := lever_at(budget)) is not None and (best is None or lever.cost < best.cost):
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
    if (cheapest := _cheapest(runs, [present + room for room in rooms], lever_at)) is None:
        return None
    added = {*np.flatnonzero(trials.added).tolist()}  # summaries, which are written anew in any case
    lossy = not added.issuperset((*cheapest.others.loses, *cheapest.others.shortens))
    exact = max(1, trials.needed(item) - out, size - out)
    if lossy or cheapest.room > exact + present // _NEAR_ENOUGH:
        if (swept := trials.sweep_held(item, most)) is not None:
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
        if (decided := runs.at(BUDGET, nearest)) is not None and differs(runs, decided, item):
            return make_lever(runs, item, BUDGET, nearest, again=_again(runs, item, nearest, swept) if up else 0)
        still = max(still, swept.high) if up else min(still, swept.low)
    end = runs.enough if up else runs.least
    if (end > still) is not up:
        return None
    low, high = sorted((still, end))
    tried = sorted({end, *(budget for budget in runs.first_budgets if low < budget < high)}, reverse=not up)
    turn = nearest_turn(runs, BUDGET, int, still, tried, lambda decided: differs(runs, decided, item))
    if turn is None:
        return None
    return make_lever(runs, item, BUDGET, turn, again=_again(runs, item, turn, None) if up else 0)


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
    present = trials.budget
    if swept is not None and swept.low <= present <= swept.high:
        columns = swept.columns
        rows = np.stack([columns.tokens, columns.whole, columns.worth])
        position = int(np.searchsorted(columns.budgets, present))
        changed = (rows != rows[:, [position]]).any(axis=0)
        nearest = np.flatnonzero(changed[position:]) + position if up else np.flatnonzero(changed[:position])[::-1]
        other = int(columns.budgets[nearest[0]]) if len(nearest) else None
    else:
        tried = [int(budget) for budget in runs.list_tried(BUDGET) if (budget > present if up else budget < present)]
        now = trials.now.state
        outwards = tried if up else tried[::-1]
        other = nearest_turn(
            runs, BUDGET, int, present, outwards, lambda decided: not np.array_equal(decided.state, now)
        )
    return make_lever(runs, -1, BUDGET, other) if other is not None and runs.at(BUDGET, other) is not None else None
