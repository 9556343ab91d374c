"""Finds the nearest value of a number setting that turns an item, and the range of one in which nothing changes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from secateur.what_if.levers import Lever, differs, halve, improves, make_lever, turns_item
from secateur.what_if.trials import NumberKnob, TrialRuns


def knob_lever(runs: TrialRuns, item: int, knob: NumberKnob, alone: bool = False) -> Lever | None:
    """Finds the tried value of a knob, nearest to the present one, that turns an item."""
    if runs.trials.fixed[item]:
        return None
    if knob.every:
        index = runs.first(knob, item) if alone else int(runs.nearest(knob)[item])
        return (
            _improving_value(runs, item, knob) if index < 0 else make_lever(runs, item, knob.name, knob.values[index])
        )
    sides = [side for step in (-1, 1) if (side := _first_on_side(runs, item, knob, step)) is not None]
    if not sides:
        return _improving_value(runs, item, knob)
    value = min((knob.values[index] for index in sides), key=lambda value: (abs(value - knob.present), value))
    return make_lever(runs, item, knob.name, value)


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

    def same(index: int) -> bool:
        decided = runs.at(knob.name, knob.values[index])
        if decided is None and not runs.knows(knob.name, knob.values[index]):
            raise _NotTried
        return decided is not None and decided.tokens == now.tokens and np.array_equal(decided.state, now.state)

    ends = []
    try:
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
    except _NotTried:
        return None
    return ends[0], ends[1]


def _first_on_side(runs: TrialRuns, item: int, knob: NumberKnob, step: int) -> int | None:
    """Returns the index of the nearest value on one side that turns an item."""
    still = knob.place
    for index in _outwards(knob, step):
        if not turns_item(runs, item, knob.name, knob.values[index]):
            still = index
            continue
        while abs(index - still) > 1:
            middle = (index + still) // 2
            decided = runs.at(knob.name, knob.values[middle])
            if not runs.knows(knob.name, knob.values[middle]):
                return None  # a nearer one may turn it
            if decided is None:
                break
            index, still = (middle, still) if differs(runs, decided, item) else (index, middle)
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
