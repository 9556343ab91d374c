"""Finds the levers that turn the decision whether an item goes out whole: holding it, the nearest budget, another
strategy, and the nearest value of each knob, each proven by deciding with it. Also finds the range of a knob in which
nothing changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from secateur.ledger import State
from secateur.what_if.trials import BUDGET, FAR, HOLD, Differences, NumberKnob, Swept, TrialRuns, Tried

_HALVINGS = 40
"""Enough halvings to narrow any budget to one token."""

_FEW_HALVINGS = 4
"""Enough to come near to the least budget of several."""

_LEAST_PART = 0.05
"""The least share of an item that a lever keeps to be of use where others keep all of it."""

_LEAST_SHARE = 0.1
"""The least share of the budget that a part of an item takes at a larger budget, if the item is so large."""

_NEAR_AND_WHOLE = (False, False)
"""The beginning of the cost of a lever that lets the whole item go out, within the budget or twice that."""


Cost = tuple[bool, bool, int, int]
"""The cost of a lever: whether it is far or exceeds the budget, whether it keeps less than all, the items that it drops
or shortens, and tokens."""


class Lever(Struct, frozen=True):
    """A proven way to turn the decision on an item, and what it costs: what else it changes."""

    name: str  # BUDGET, HOLD, the name of a signal, or the key of a setting
    value: float | str
    typed: str  # as one types it: "--pin modules[7]", "--max-tokens 5990"
    others: Differences
    tokens: int  # tokens that leave with it, less those that leave now
    over: int = 0  # tokens by which what leaves then exceeds the budget
    state: State = State.KEPT  # of the item, with it
    far: bool = False  # whether it is a budget of more than twice the present one
    room: int = 0  # tokens by which it raises the budget
    grows: bool = False  # whether a part of the item goes out now, and with it a larger part
    again: int = 0  # a larger budget at which the item no longer goes out whole; 0: none that was tried
    portion: tuple[int, int] = (0, 0)  # tokens of the item that go out with it, of so many

    @property
    def cost(self) -> Cost:
        """Orders levers, the cheapest first: by the items that it drops or shortens, then by tokens."""
        near_and_whole = self.far or self.over > 0, self.state is not State.KEPT
        return *near_and_whole, self.others.dearer, max(self.tokens, self.room)


def levers_of(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> tuple[Lever, ...]:
    """Returns the levers of `find_levers`, the cheapest first."""
    return tuple(sorted(find_levers(runs, item, swept, alone=alone), key=lambda lever: lever.cost))


def find_levers(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> Iterator[Lever]:
    """Finds what would let an item go out whole, or, if it does, would prevent that. `alone`: no other item is asked
    about, which needs fewer trials for the same result."""
    first = first_levers(runs, item, swept)
    yield from first
    fewest = _fewest_dearer(first)
    for knob in () if runs.trials.fixed[item] else runs.trials.knobs:
        lever = knob_flip(runs, item, knob, alone)
        if lever is not None and (lever.state in (State.KEPT, State.DROPPED) or _is_cheaper(lever, fewest)):
            yield lever


def first_levers(runs: TrialRuns, item: int, swept: Swept | None) -> list[Lever]:
    """Finds what takes few trials: holding the item, the nearest budget and a cheaper one, other choices; a budget at
    which holding it costs less than any of these; and where each of them drops or shortens others, a budget that keeps
    a part and costs fewer. The cheapest first."""
    nearest = budget_flip(runs, item, swept)
    tried = [held_lever(runs, item), nearest, _cheaper_budget(runs, item, swept, nearest)]
    tried += [_improving(runs, item, *choice) for choice in runs.trials.choices]
    levers = [lever for lever in tried if lever is not None]
    if not runs.trials.now.whole[item]:
        held = _held_with_room(runs, item, min((lever.cost for lever in levers if not lever.cost[1]), default=None))
        levers += [held] if held is not None else []
        if fewest := _fewest_dearer(levers):
            partly = _part_at_budget(runs, item)
            levers += [partly] if partly is not None and _is_cheaper(partly, fewest) else []
    return sorted(levers, key=lambda lever: lever.cost)


def _fewest_dearer(levers: Sequence[Lever]) -> float:
    """The fewest items that a lever drops or shortens which lets the whole item go out, within the budget or twice
    that. What keeps a part is of use only where it costs fewer."""
    return min((lever.others.dearer for lever in levers if lever.cost[:2] == _NEAR_AND_WHOLE), default=math.inf)


def _is_cheaper(lever: Lever, fewest: float) -> bool:
    """Tells whether a lever drops and shortens fewer items, and keeps more of its own than a few words."""
    out, of = lever.portion
    return lever.others.dearer < fewest and (fewest == math.inf or not out or out >= _LEAST_PART * of)


def _cheaper_budget(runs: TrialRuns, item: int, swept: Swept | None, nearest: Lever | None) -> Lever | None:
    """Finds the budget, up to FAR times the present one, that keeps an item and drops and shortens fewer others than
    the nearest one does."""
    present = runs.trials.budget
    if nearest is None or nearest.far or runs.trials.now.whole[item] or not nearest.others.dearer:
        return None
    if swept is not None:
        near = np.flatnonzero(swept.whole(item) & (swept.every > present) & (swept.every <= FAR * present))
        budgets = swept.every[near[[np.argmin(swept.dearer[near])]]].tolist() if len(near) else []
    else:
        budgets = [budget for budget in runs.first_budgets if present < budget <= FAR * present]
    levers = [_lever(runs, item, BUDGET, budget) for budget in budgets if _turns_item(runs, item, BUDGET, budget)]
    best = min(levers, key=lambda lever: lever.cost, default=nearest)
    return best if best.others.dearer < nearest.others.dearer else None


def _part_at_budget(runs: TrialRuns, item: int) -> Lever | None:
    """Finds the cheapest of some near budgets at which more of an item goes out than a few words, if not all of it."""
    trials, present = runs.trials, runs.trials.budget
    out, size = trials.portion(item, trials.now)
    least = min(_LEAST_PART * size, _LEAST_SHARE * present)

    def improves(budget: int) -> bool:
        decided = runs.at(BUDGET, budget)
        more = decided is not None and _improves(runs, decided, item)
        return decided is not None and more and trials.portion(item, decided)[0] >= out + least

    budgets = {*runs.first_budgets, *(present + room for room in runs.list_rooms())}
    near = [present, *sorted(budget for budget in budgets if present < budget <= min(FAR * present, runs.enough))]
    improving = [budget for budget in near[1:] if improves(budget)]
    if improving:
        below = near[near.index(improving[0]) - 1]
        improving.insert(0, _halve(below, improving[0], improves, _FEW_HALVINGS))
    levers = (_lever(runs, item, BUDGET, budget) for budget in improving)
    partly = [lever for lever in levers if lever.state is not State.KEPT]  # `budget_flip` finds what keeps the whole
    return min(partly, key=lambda lever: lever.cost, default=None)


def _held_with_room(runs: TrialRuns, item: int, best: Cost | None) -> Lever | None:
    """Holds an item at larger budgets, and finds the cheapest that lets all of it go out, with the least room, if that
    costs less than the best of other levers."""
    trials = runs.trials
    if trials.fixed[item]:
        return None
    far = best is None or best[0]
    present, (out, size) = trials.budget, trials.portion(item, trials.now)
    sizes = {trials.needed(item) - out, size - out, size, size * 5 // 4} | _room_for_others(runs, item)
    most = max((FAR - 1) * present, size * 5 // 4) if far else (FAR - 1) * present
    rooms = sorted(room for room in {*sizes, *runs.list_rooms()} if 0 < room <= most)
    cheapest = None
    for room in rooms:
        lever = _improving(runs, item, f"{HOLD} {present + room}", item)
        if lever is not None and lever.state is State.KEPT and (cheapest is None or lever.cost < cheapest.cost):
            cheapest = lever
        if cheapest is not None and not cheapest.others.dearer:
            break
    if cheapest is None:
        return None
    swept = trials.sweep_held(item, most) if cheapest.others.dearer or cheapest.room > size else None
    if swept is not None and (whole := np.flatnonzero(swept.whole(item))).size:
        found = _improving(runs, item, f"{HOLD} {swept.every[whole[np.argmin(swept.dearer[whole])]]}", item)
        cheapest = min(cheapest, found or cheapest, key=lambda lever: lever.cost)
    if best is not None and cheapest.cost >= best:
        return None
    below, costs = max((room for room in rooms if room < cheapest.room), default=0), cheapest.cost[:3]

    def costs_as_much(budget: int) -> bool:
        lever = _improving(runs, item, f"{HOLD} {budget}", item)
        return lever is not None and lever.cost[:3] <= costs

    least = _halve(present + below, present + cheapest.room, costs_as_much, _HALVINGS)
    return _lever(runs, item, f"{HOLD} {least}", item)


def _room_for_others(runs: TrialRuns, item: int) -> set[int]:
    """The room that what holding an item pushes out would need, and a little more."""
    if (held := runs.at(HOLD, item)) is None:
        return set()
    trials, others = runs.trials, runs.differences(HOLD, item).without(item)
    dearer = (*others.loses, *others.shortens)
    lost = sum(trials.portion(other, trials.now)[0] - trials.portion(other, held)[0] for other in dearer)
    return {lost, lost * 5 // 4}


def _halve(still: int, turn: int, turns: Callable[[int], bool], halvings: int) -> int:
    """Returns a number that turns, between one that does not and one that does, found by halving the distance."""
    for _ in range(halvings):
        middle = (turn + still) // 2
        if abs(turn - still) <= 1:
            break
        turn, still = (middle, still) if turns(middle) else (turn, middle)
    return turn


def held_lever(runs: TrialRuns, item: int) -> Lever | None:
    """Tries to hold an item that does not go out whole; if it is too large, with other choices, which may cut it."""
    names = (HOLD, *(f"{HOLD} {choice}" for _, choice in runs.trials.choices))
    tried = (_improving(runs, item, name, item) for name in names)
    return next((lever for lever in tried if lever is not None), None)


def _improving(runs: TrialRuns, item: int, name: str, value: float | str) -> Lever | None:
    """Returns a lever if more of the item goes out with it."""
    decided = runs.at(name, value)
    return _lever(runs, item, name, value) if decided is not None and _improves(runs, decided, item) else None


def _improves(runs: TrialRuns, decided: Tried, item: int) -> bool:
    """Tells whether more of an item goes out, which does not go out whole now."""
    return bool(decided.more_than(runs.trials.now)[item] > 0)


def budget_flip(runs: TrialRuns, item: int, swept: Swept | None) -> Lever | None:
    """Finds the nearest budget that turns an item: the smallest one above the present budget if the item does not go
    out whole, else the largest one below. No tried budget in between turns it."""
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
        if nearest != trials.budget and _turns_item(runs, item, BUDGET, nearest):
            again = swept.every[~whole & (swept.every > nearest)].tolist() if up else []
            return _lever(runs, item, BUDGET, nearest, again=again[0] if again else 0)
        still = max(still, swept.high) if up else min(still, swept.low)
    end = runs.enough if up else runs.least
    if (end > still) is not up:
        return None
    tried = sorted(
        {end, *(budget for budget in runs.first_budgets if (still < budget < end if up else end < budget < still))}
    )
    turn = None
    for budget in tried if up else reversed(tried):
        if _turns_item(runs, item, BUDGET, budget):
            turn = budget
            break
        still = budget
    if turn is None:
        return None
    for _ in range(_HALVINGS):
        middle = (turn + still) // 2
        if middle in (turn, still):
            break
        decided = runs.at(BUDGET, middle)
        if not runs.knows(BUDGET, middle):
            return None  # a nearer one may turn it
        if decided is None:
            break
        turn, still = (middle, still) if _differs(runs, decided, item) else (turn, middle)
    return _lever(runs, item, BUDGET, turn, again=_again(runs, item, turn, tried) if up else 0)


def _again(runs: TrialRuns, item: int, turn: int, tried: Sequence[int]) -> int:
    """Finds a budget above the one that lets an item go out whole at which it no longer does; 0 if none of the `tried`
    ones is such."""
    whole = turn
    for budget in tried:
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
    """Finds the tried budget nearest to the present one, above or below it, that changes any decision."""
    trials = runs.trials
    present, still = trials.budget, trials.budget
    other = None
    if swept is not None and swept.low <= present <= swept.high:
        columns = swept.columns
        rows = np.stack([columns.tokens, columns.whole, columns.worth])
        position = int(np.searchsorted(columns.budgets, present))
        differs = (rows != rows[:, [position]]).any(axis=0)
        nearest = np.flatnonzero(differs[position:]) + position if up else np.flatnonzero(differs[:position])[::-1]
        other = int(columns.budgets[nearest[0]]) if len(nearest) else None
        still = other + (-1 if up else 1) if other is not None else still
    else:
        tried = [int(budget) for budget in runs.list_tried(BUDGET) if (budget > present if up else budget < present)]
        for budget in tried if up else reversed(tried):
            if not _same(runs, budget):
                other = budget
                break
            still = budget
    if other is None or runs.at(BUDGET, other) is None:
        return None
    for _ in range(_HALVINGS):
        middle = (other + still) // 2
        if middle in (other, still):
            break
        decided = runs.at(BUDGET, middle)
        if not runs.knows(BUDGET, middle):
            return None  # a nearer one may change something
        if decided is None:
            break
        other, still = (other, middle) if _same(runs, middle) else (middle, still)
    return _lever(runs, -1, BUDGET, other)


def _same(runs: TrialRuns, budget: int) -> bool:
    decided = runs.at(BUDGET, budget)
    return decided is not None and np.array_equal(decided.state, runs.trials.now.state)


def knob_flip(runs: TrialRuns, item: int, knob: NumberKnob, alone: bool = False) -> Lever | None:
    """Finds the tried value of a knob, nearest to the present one, that turns an item."""
    if runs.trials.fixed[item]:
        return None
    if knob.every:
        index = runs.first(knob, item) if alone else int(runs.nearest(knob)[item])
        return _improving_value(runs, item, knob) if index < 0 else _lever(runs, item, knob.name, knob.values[index])
    sides = [side for step in (-1, 1) if (side := _first_on_side(runs, item, knob, step)) is not None]
    if not sides:
        return _improving_value(runs, item, knob)
    value = min((knob.values[index] for index in sides), key=lambda value: (abs(value - knob.present), value))
    return _lever(runs, item, knob.name, value)


def _improving_value(runs: TrialRuns, item: int, knob: NumberKnob) -> Lever | None:
    """Finds the value nearest to the present one at which more of an item goes out: on each side the first of those
    that were tried to turn it, and then by halving the distance."""

    def improves(place: int) -> bool:
        decided = runs.at(knob.name, knob.values[place])
        return decided is not None and _improves(runs, decided, item)

    nearest = []
    for step in (-1, 1):
        still = knob.place
        for place in _outwards(knob, step):
            if not runs.knows(knob.name, knob.values[place]):
                break
            if improves(place):
                nearest.append(_halve(still, place, improves, _HALVINGS))
                break
            still = place
    best = min(nearest, key=lambda place: (abs(place - knob.place), place), default=None)
    return _lever(runs, item, knob.name, knob.values[best]) if best is not None else None


def unchanged_range(runs: TrialRuns, knob: NumberKnob) -> tuple[float, float] | None:
    """Finds the range of a knob around the present value in which no tried value changes a state or the number of
    tokens. None if a limit was reached before both ends were found."""
    try:
        return _unchanged_range(runs, knob)
    except _NotTried:
        return None


class _NotTried(Exception):
    """A limit kept a value from being tried."""


def _unchanged_range(runs: TrialRuns, knob: NumberKnob) -> tuple[float, float]:
    now = runs.trials.now

    def same(index: int) -> bool:
        decided = runs.at(knob.name, knob.values[index])
        if decided is None and not runs.knows(knob.name, knob.values[index]):
            raise _NotTried
        return decided is not None and decided.tokens == now.tokens and np.array_equal(decided.state, now.state)

    ends = []
    for step in (-1, 1):
        reached = knob.place
        for index in _outwards(knob, step):
            if not same(index):
                while abs(index - reached) > 1:
                    middle = (index + reached) // 2
                    index, reached = (index, middle) if same(middle) else (middle, reached)
                break
            reached = index
        ends.append(knob.values[reached])
    return ends[0], ends[1]


def _first_on_side(runs: TrialRuns, item: int, knob: NumberKnob, step: int) -> int | None:
    """Returns the index of the nearest value on one side that turns an item."""
    still = knob.place
    for index in _outwards(knob, step):
        if not _turns_item(runs, item, knob.name, knob.values[index]):
            still = index
            continue
        while abs(index - still) > 1:
            middle = (index + still) // 2
            decided = runs.at(knob.name, knob.values[middle])
            if not runs.knows(knob.name, knob.values[middle]):
                return None  # a nearer one may turn it
            if decided is None:
                break
            index, still = (middle, still) if _differs(runs, decided, item) else (index, middle)
        return index
    return None


def _outwards(knob: NumberKnob, step: int) -> Iterator[int]:
    """Yields the indexes of the values on one side, from the present one outwards: each, or in doubling steps with the
    last."""
    end = 0 if step < 0 else len(knob.values) - 1
    away, index = 1, knob.place
    while index != end:
        index = max(0, knob.place - away) if step < 0 else min(end, knob.place + away)
        yield index
        away = away + 1 if knob.every else away * 2


def _turns_item(runs: TrialRuns, item: int, name: str, value: float) -> bool:
    decided = runs.at(name, value)
    return decided is not None and _differs(runs, decided, item)


def _differs(runs: TrialRuns, decided: Tried, item: int) -> bool:
    return bool(decided.whole[item] != runs.trials.now.whole[item])


def _lever(runs: TrialRuns, item: int, name: str, value: float | str, again: int = 0) -> Lever:
    """Makes the lever of a value that was tried. `item`: -1 for none."""
    trials, decided = runs.trials, runs.at(name, value)
    assert decided is not None
    held_at = name.removeprefix(f"{HOLD} ")
    budget = int(value) if name == BUDGET else int(held_at) if held_at.isdecimal() else trials.budget
    tokens, present = runs.leaving(name, value), runs.leaving(BUDGET, trials.budget)
    state = State(int(decided.state[item])) if item >= 0 else State.KEPT
    return Lever(
        name,
        value,
        trials.typed(name, value),
        runs.differences(name, value).without(item),
        tokens - present,
        over=0 if "chunks" in decided.figures else max(0, tokens - max(budget, present)),
        state=state,
        far=budget > FAR * trials.budget,
        room=budget - trials.budget,
        grows=state not in (State.KEPT, State.DROPPED) and bool(trials.now.out[item]) and not trials.now.whole[item],
        again=again,
        portion=trials.portion(item, decided) if item >= 0 else (0, 0),
    )
