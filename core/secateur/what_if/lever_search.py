"""Finds the levers that decide whether an item goes out whole: holding it, the nearest budget, another strategy, and
the nearest value of each knob; and the range of a knob in which nothing changes. Each lever is proven by deciding with
it."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from msgspec.structs import replace

from secateur.ledger import State
from secateur.what_if.levers import Cost, Lever, differs, halve, improving, make_lever, nearest_turn
from secateur.what_if.trials import BUDGET, FAR, HOLD, NumberKnob, Swept, TrialRuns


def knob_lever(runs: TrialRuns, item: int, knob: NumberKnob, alone: bool = False) -> Lever | None:
    """Finds the tried value of a knob, nearest to the present one, that turns an item."""
    if runs.trials.fixed[item]:
        return None
    if knob.every:
        index = runs.first(knob, item) if alone else int(runs.nearest(knob)[item])
        return make_lever(runs, item, knob.name, knob.values[index]) if index >= 0 else None
    turning = partial(nearest_turn, runs, knob.name, knob.values.__getitem__, knob.place)
    sides = [turning(_outwards(knob, step), lambda decided: differs(runs, decided, item)) for step in (-1, 1)]
    if not (values := [knob.values[index] for index in sides if index is not None]):
        return None
    return make_lever(runs, item, knob.name, min(values, key=lambda value: (abs(value - knob.present), value)))


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

# Stops when the spare room is at most 1/100 of the budget: a closer budget would save the user nothing.
_NEAR_ENOUGH = 100

# The first two fields of `Cost` for a lever that keeps the whole item at up to FAR times the budget.
_NEAR_AND_WHOLE = (False, False)


def levers_of(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> tuple[Lever, ...]:
    """Returns the levers of `find_levers`, the cheapest first."""
    return tuple(sorted(find_levers(runs, item, swept, alone=alone), key=lambda lever: lever.cost))


def find_levers(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> Iterator[Lever]:
    """Finds what would let an item go out whole; for an item that does, what would prevent it.

    `alone`: the caller asks about no other item, so that fewer trials give the same result."""
    yield from first_levers(runs, item, swept)
    yield from filter(None, (knob_lever(runs, item, knob, alone) for knob in runs.trials.knobs))


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
        whole = [lever.others.dearer for lever in levers if lever.cost[:2] == _NEAR_AND_WHOLE]
        if fewest := min(whole, default=math.inf):
            partly = _cheapest(runs, runs.near_budgets, lambda budget: _partly(runs, item, (BUDGET, budget)))
            levers += [partly] if partly is not None and partly.others.dearer < fewest else []
        if not whole:
            held_parts = () if runs.trials.fixed[item] else runs.steps
            least = _cheapest(runs, held_parts, lambda budget: _partly(runs, item, (f"{HOLD} {budget}", item)))
            levers += [least] if least is not None else []
    return sorted(levers, key=lambda lever: lever.cost)


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

    best = _cheapest(runs, budgets, lambda budget: _keeping(runs, item, BUDGET, budget))
    if best is None or best.others.dearer >= nearest.others.dearer:
        return None
    return replace(best, again=_again(runs, item, int(best.value), swept))


def _keeping(runs: TrialRuns, item: int, name: str, value: int) -> Lever | None:
    lever = improving(runs, item, name, value)
    return lever if lever is not None and lever.state is State.KEPT else None


def _partly(runs: TrialRuns, item: int, tried: tuple[str, int]) -> Lever | None:
    """Returns the lever if it lets out a useful part of an item, but not all of it."""
    lever = improving(runs, item, *tried)
    if lever is None or lever.state is State.KEPT:  # other functions find what keeps the whole
        return None
    out, size = runs.trials.portion(item, runs.trials.now)
    least = min(_LEAST_PART * size, _LEAST_SHARE * runs.trials.budget)
    return lever if lever.portion[0] >= out + least else None


def _cheapest(runs: TrialRuns, budgets: Sequence[int], lever_at: Callable[[int], Lever | None]) -> Lever | None:
    """Returns the cheapest lever at ascending `budgets` above the present one, moved down by halving the distance to a
    budget that costs no more items."""
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

    return lever_at(halve(below, turn, costs_as_much))


def _held_with_room(runs: TrialRuns, item: int, best: Cost | None) -> Lever | None:
    """Finds the cheapest larger budget at which holding an item lets all of it out; None if it costs more than `best`,
    the cost of the best other lever."""
    trials = runs.trials
    if trials.fixed[item]:
        return None
    far = best is None or best[0]
    present, (out, size) = trials.budget, trials.portion(item, trials.now)
    exact = max(1, trials.needed(item) - out, size - out)
    sizes = {exact, exact + present // _NEAR_ENOUGH, size, size * 5 // 4} | _room_for_others(runs, item)
    most = max((FAR - 1) * present, size * 5 // 4) if far else (FAR - 1) * present

    def lever_at(budget: int) -> Lever | None:
        return _keeping(runs, item, f"{HOLD} {budget}", item)

    rooms = sorted(room for room in {*sizes, *(budget - present for budget in runs.steps)} if 0 < room <= most)
    if (cheapest := _cheapest(runs, [present + room for room in rooms], lever_at)) is None:
        return None
    dear = cheapest.others.dearer or cheapest.room > exact + present // _NEAR_ENOUGH
    swept = trials.sweep_held(item, most) if dear else None
    if swept is not None and (whole := np.flatnonzero(swept.whole(item))).size:
        fewest = [int(swept.every[whole[np.argmin(swept.dearer[whole])]])]
        cheapest = min(cheapest, _cheapest(runs, fewest, lever_at) or cheapest, key=lambda lever: lever.cost)
    return cheapest if best is None or cheapest.cost < best else None


def _room_for_others(runs: TrialRuns, item: int) -> set[int]:
    if (held := runs.at(HOLD, item)) is None:
        return set()
    trials, others = runs.trials, runs.differences(HOLD, item).without(item)
    dearer = (*others.loses, *others.shortens)
    lost = sum(trials.portion(other, trials.now)[0] - trials.portion(other, held)[0] for other in dearer)
    return {lost, lost * 5 // 4}


def held_lever(runs: TrialRuns, item: int) -> Lever | None:
    """Holds an item, or takes out one that goes out whole; where that changes nothing, together with another choice."""
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
    tried = [budget for budget in runs.first_budgets if (budget > still if up else budget < still)]
    turns = partial(nearest_turn, runs, BUDGET, int, still, changes=lambda decided: differs(runs, decided, item))
    if (turn := turns(tried if up else reversed(tried))) is None and swept is None:
        end = find_enough(runs, None)[0] if up else find_least(runs)[0]
        within = sorted({end or still, *(budget for budget in tried if up or budget > (end or still))}, reverse=not up)
        turn = turns(within)
    if turn is None:
        return None
    return make_lever(runs, item, BUDGET, turn, again=_again(runs, item, turn, None) if up else 0)


def find_least(runs: TrialRuns) -> tuple[int | None, bool]:
    """Returns the least budget with an answer, and whether that is proven; None if the least budget that is tried has
    an answer."""
    low = runs.trials.low
    if runs.at(BUDGET, low) is not None or not runs.knows(BUDGET, low):
        return None, runs.knows(BUDGET, low)
    above = int(runs.list_tried(BUDGET)[0])
    below = max(budget for budget in (low, *runs.list_tried(BUDGET, answered=False)) if budget < above)
    least = halve(int(below), above, lambda budget: runs.at(BUDGET, budget) is not None)
    return (least, True) if runs.knows(BUDGET, least - 1) else (None, False)


_PLENTY = 4  # everything fits this many times the budget that should be enough


def find_enough(runs: TrialRuns, swept: Swept | None) -> tuple[int | None, bool]:
    """Returns a budget that lets out as much as plenty of tokens do, and whether that is proven; None if no such budget
    was found. Sets `runs.enough` to it."""
    if swept is not None:
        return runs.enough, True
    most = runs.enough * _PLENTY
    if (plenty := runs.at(BUDGET, most)) is None:  # no such budget is allowed
        return (runs.enough, True) if runs.knows(BUDGET, most) else (None, False)

    def fits(budget: int) -> bool:
        decided = runs.at(BUDGET, budget)
        return decided is not None and np.array_equal(decided.state, plenty.state)

    below = above = runs.enough
    step = 1
    while above < most and not fits(above):
        below, above, step = above, min(most, above + step), 2 * step
    above = halve(below, above, fits)
    if not runs.knows(BUDGET, above) or (above > runs.enough and not runs.knows(BUDGET, above - 1)):
        return None, False
    runs.enough = above
    return above, True


def _again(runs: TrialRuns, item: int, turn: int, swept: Swept | None) -> int:
    """Finds a budget above `turn` at which an item that goes out whole at `turn` no longer does; 0: none was tried."""
    if swept is not None:
        return next(iter(swept.every[~swept.whole(item) & (swept.every > turn)].tolist()), 0)

    def cuts(budget: int) -> bool:
        return (decided := runs.at(BUDGET, budget)) is not None and not decided.whole[item]

    whole = turn
    for budget in (budget for budget in runs.near_budgets if budget > turn):
        if cuts(budget):
            return halve(whole, budget, cuts)
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
