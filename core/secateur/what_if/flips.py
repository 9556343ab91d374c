"""The values that turn the decision on an item, whether it goes out whole: the nearest budget, the nearest value of
each knob, each proven by deciding with it. And the values of a knob between which nothing changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from secateur.what_if.trials import BUDGET, NumberKnob, Swept, TrialRuns, Tried

_HALVINGS = 40
"""More than halve any budget to one token."""


@dataclass(frozen=True, slots=True)
class TurningValue:
    """A value that turns a decision, and what else it changes: items, in their order."""

    value: float
    loses: tuple[int, ...]  # something of them goes out now, and then nothing
    gains: tuple[int, ...]  # nothing of them goes out now, and then something


@dataclass(frozen=True, slots=True)
class ItemFlip:
    """The values that turn the decision on an item.

    Attributes:
        budget: the nearest budget that does; None where none does of those tried.
        knobs: by name the nearest value that does; knobs of which none does are left out.
    """

    budget: TurningValue | None
    knobs: Mapping[str, TurningValue]


def flip_of(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> ItemFlip | None:
    """Finds what would let an item go out whole, or keep it from that if it does; None where nothing does that is
    tried. `alone`: no other item is asked about, which takes fewer trials and gives the same."""
    if runs.trials.fixed[item]:
        return None
    budget = budget_flip(runs, item, swept)
    knobs = {knob.name: turn for knob in runs.trials.knobs if (turn := knob_flip(runs, item, knob, alone)) is not None}
    return ItemFlip(budget, knobs) if budget is not None or knobs else None


def budget_flip(runs: TrialRuns, item: int, swept: Swept | None) -> TurningValue | None:
    """The nearest budget that turns an item: the smallest above the present one where it does not go out whole, the
    largest below where it does. No budget between that was tried turns it."""
    trials = runs.trials
    if trials.fixed[item]:
        return None
    up = not trials.now.whole[item]
    still = trials.budget
    if swept is not None:
        nearest = swept.nearest(item)
        if nearest >= 0 and _turned(runs, item, BUDGET, nearest):
            return _change(runs, item, BUDGET, nearest)
        still = max(still, swept.high) if up else min(still, swept.low)
    end = trials.enough if up else trials.low
    if (end > still) is not up:
        return None
    runs.at(BUDGET, end)
    tried = [int(budget) for budget in runs.tried(BUDGET) if (budget > still if up else budget < still)]
    turn = None
    for budget in tried if up else reversed(tried):
        if _turned(runs, item, BUDGET, budget):
            turn = budget
            break
        still = budget
    if turn is None:
        return None
    for _ in range(_HALVINGS):
        middle = (turn + still) // 2
        if middle in (turn, still) or (decided := runs.at(BUDGET, middle)) is None:
            break
        turn, still = (middle, still) if _differs(runs, decided, item) else (turn, middle)
    return _change(runs, item, BUDGET, turn)


def nearest_change(runs: TrialRuns, swept: Swept | None, *, up: bool) -> TurningValue | None:
    """The budget nearest to the present one, above it or below it, at which anything is decided otherwise, and what it
    changes; of those tried."""
    trials = runs.trials
    present, still = trials.budget, trials.budget
    other = None
    if swept is not None and swept.low <= present <= swept.high:
        columns = swept.columns
        rows = np.stack([columns.tokens, columns.whole, columns.worth])
        place = int(np.searchsorted(columns.budgets, present))
        differs = (rows != rows[:, [place]]).any(axis=0)
        places = np.flatnonzero(differs[place:]) + place if up else np.flatnonzero(differs[:place])[::-1]
        other = int(columns.budgets[places[0]]) if len(places) else None
        still = other + (-1 if up else 1) if other is not None else still
    else:
        tried = [int(budget) for budget in runs.tried(BUDGET) if (budget > present if up else budget < present)]
        for budget in tried if up else reversed(tried):
            if not _same(runs, budget):
                other = budget
                break
            still = budget
    if other is None or runs.at(BUDGET, other) is None:
        return None
    for _ in range(_HALVINGS):
        middle = (other + still) // 2
        if middle in (other, still) or runs.at(BUDGET, middle) is None:
            break
        other, still = (other, middle) if _same(runs, middle) else (middle, still)
    loses, gains = runs.differences(BUDGET, other)
    return TurningValue(other, tuple(loses), tuple(gains))


def _same(runs: TrialRuns, budget: int) -> bool:
    decided = runs.at(BUDGET, budget)
    return decided is not None and np.array_equal(decided.state, runs.trials.now.state)


def knob_flip(runs: TrialRuns, item: int, knob: NumberKnob, alone: bool = False) -> TurningValue | None:
    """The value of a knob nearest to the present one that turns an item; of those tried."""
    if runs.trials.fixed[item]:
        return None
    if knob.every:
        found = runs.first(knob, item) if alone else int(runs.nearest(knob)[item])
        return None if found < 0 else _change(runs, item, knob.name, knob.values[found])
    sides = [side for step in (-1, 1) if (side := _first_on_side(runs, item, knob, step)) is not None]
    if not sides:
        return None
    value = min((knob.values[place] for place in sides), key=lambda value: (abs(value - knob.present), value))
    return _change(runs, item, knob.name, value)


def unchanged_range(runs: TrialRuns, knob: NumberKnob) -> tuple[float, float] | None:
    """Values of a knob around the present one between which, of those tried, nothing changes: every item keeps its
    state, and as many tokens go out. None where a limit was reached before both ends were found."""
    try:
        return _unchanged_range(runs, knob)
    except _NotTried:
        return None


class _NotTried(Exception):
    """A limit kept a value from being tried."""


def _unchanged_range(runs: TrialRuns, knob: NumberKnob) -> tuple[float, float]:
    now = runs.trials.now

    def same(place: int) -> bool:
        decided = runs.at(knob.name, knob.values[place])
        if decided is None and not runs.knows(knob.name, knob.values[place]):
            raise _NotTried
        return decided is not None and decided.tokens == now.tokens and np.array_equal(decided.state, now.state)

    ends = []
    for step in (-1, 1):
        reached = knob.place
        for place in _outwards(knob, step):
            if not same(place):
                while abs(place - reached) > 1:
                    middle = (place + reached) // 2
                    place, reached = (place, middle) if same(middle) else (middle, reached)
                break
            reached = place
        ends.append(knob.values[reached])
    return ends[0], ends[1]


def _first_on_side(runs: TrialRuns, item: int, knob: NumberKnob, step: int) -> int | None:
    """The place of the nearest value on one side that turns an item."""
    still = knob.place
    for place in _outwards(knob, step):
        if not _turned(runs, item, knob.name, knob.values[place]):
            still = place
            continue
        while abs(place - still) > 1:
            middle = (place + still) // 2
            if (decided := runs.at(knob.name, knob.values[middle])) is None:
                break
            place, still = (middle, still) if _differs(runs, decided, item) else (place, middle)
        return place
    return None


def _outwards(knob: NumberKnob, step: int) -> Iterator[int]:
    """Places of the values on one side, from the present one outwards: each, or in steps that double, and the last."""
    end = 0 if step < 0 else len(knob.values) - 1
    away, place = 1, knob.place
    while place != end:
        place = max(0, knob.place - away) if step < 0 else min(end, knob.place + away)
        yield place
        away = away + 1 if knob.every else away * 2


def _turned(runs: TrialRuns, item: int, name: str, value: float) -> bool:
    decided = runs.at(name, value)
    return decided is not None and _differs(runs, decided, item)


def _differs(runs: TrialRuns, decided: Tried, item: int) -> bool:
    return bool(decided.whole[item] != runs.trials.now.whole[item])


def _change(runs: TrialRuns, item: int, name: str, value: float) -> TurningValue:
    loses, gains = (tuple(one for one in side if one != item) for side in runs.differences(name, value))
    return TurningValue(value, loses, gains)
