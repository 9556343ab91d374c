"""Finds the values that turn the decision whether an item goes out whole: the nearest budget and the nearest value of
each knob, each proven by deciding with it. Also finds the range of a knob in which nothing changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct

from secateur.what_if.trials import BUDGET, NumberKnob, Swept, TrialRuns, Tried

_HALVINGS = 40
"""Enough halvings to narrow any budget to one token."""


class TurningValue(Struct, frozen=True):
    """A value that turns a decision, and the other items that it changes, in their order."""

    value: float
    loses: tuple[int, ...]  # items that go out now, whole or in part, and would be dropped
    gains: tuple[int, ...]  # items that are dropped now, and would go out


class ItemFlip(Struct, frozen=True):
    """The values that turn the decision on an item.

    Attributes:
        budget: the nearest budget that turns it; None if no tried budget does.
        knobs: the nearest value of each knob that turns it; a knob without such a value is left out.
    """

    budget: TurningValue | None
    knobs: Mapping[str, TurningValue]


def flip_of(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> ItemFlip | None:
    """Finds the values that would let an item go out whole, or, if it does, would prevent that; None if no tried value
    does. `alone`: no other item is asked about, which needs fewer trials for the same result."""
    if runs.trials.fixed[item]:
        return None
    budget = budget_flip(runs, item, swept)
    knobs = {knob.name: turn for knob in runs.trials.knobs if (turn := knob_flip(runs, item, knob, alone)) is not None}
    return ItemFlip(budget, knobs) if budget is not None or knobs else None


def budget_flip(runs: TrialRuns, item: int, swept: Swept | None) -> TurningValue | None:
    """Finds the nearest budget that turns an item: the smallest one above the present budget if the item does not go
    out whole, else the largest one below. No tried budget in between turns it."""
    trials = runs.trials
    if trials.fixed[item]:
        return None
    up = not trials.now.whole[item]
    still = trials.budget
    if swept is not None:
        nearest = swept.nearest(item)
        if nearest >= 0 and _turns_item(runs, item, BUDGET, nearest):
            return _change(runs, item, BUDGET, nearest)
        still = max(still, swept.high) if up else min(still, swept.low)
    end = runs.enough if up else trials.low
    if (end > still) is not up:
        return None
    runs.at(BUDGET, end)
    tried = [int(budget) for budget in runs.list_tried(BUDGET) if (budget > still if up else budget < still)]
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
    return _change(runs, item, BUDGET, turn)


def nearest_change(runs: TrialRuns, swept: Swept | None, *, up: bool) -> TurningValue | None:
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
    loses, gains = runs.differences(BUDGET, other)
    return TurningValue(other, tuple(loses), tuple(gains))


def _same(runs: TrialRuns, budget: int) -> bool:
    decided = runs.at(BUDGET, budget)
    return decided is not None and np.array_equal(decided.state, runs.trials.now.state)


def knob_flip(runs: TrialRuns, item: int, knob: NumberKnob, alone: bool = False) -> TurningValue | None:
    """Finds the tried value of a knob, nearest to the present one, that turns an item."""
    if runs.trials.fixed[item]:
        return None
    if knob.every:
        index = runs.first(knob, item) if alone else int(runs.nearest(knob)[item])
        return None if index < 0 else _change(runs, item, knob.name, knob.values[index])
    sides = [side for step in (-1, 1) if (side := _first_on_side(runs, item, knob, step)) is not None]
    if not sides:
        return None
    value = min((knob.values[index] for index in sides), key=lambda value: (abs(value - knob.present), value))
    return _change(runs, item, knob.name, value)


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


def _change(runs: TrialRuns, item: int, name: str, value: float) -> TurningValue:
    loses, gains = (tuple(other for other in side if other != item) for side in runs.differences(name, value))
    return TurningValue(value, loses, gains)
