"""Finds the levers that turn the decision whether an item goes out whole: holding it, the nearest budget, another
strategy, and the nearest value of each knob, each proven by deciding with it. Also finds the range of a knob in which
nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct

from secateur.ledger import State
from secateur.what_if.curve import find_enough, find_least, spread
from secateur.what_if.trials import BUDGET, FAR, HOLD, Differences, NumberKnob, Swept, TrialRuns, Tried

_HALVINGS = 40
"""Enough halvings to narrow any budget to one token."""


_FEW_HALVINGS = 4
"""Enough to come near to the least budget of several."""

_FIRST_BUDGETS, _NEAR_BUDGETS = 16, 9
"""Budgets that are tried first if they are tried one by one: of the whole curve, and up to FAR times the present
one."""

_NEAR_AND_WHOLE = (False, False)
"""The beginning of the cost of a lever that lets the whole item go out, within the budget or twice that."""


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

    @property
    def cost(self) -> tuple[bool, bool, int, int]:
        """Orders levers, the cheapest first: by the items that it drops or shortens, then by tokens."""
        near_and_whole = self.far or self.over > 0, self.state is not State.KEPT
        return *near_and_whole, self.others.dearer, max(self.tokens, self.room)


def levers_of(runs: TrialRuns, item: int, swept: Swept | None, *, alone: bool = False) -> tuple[Lever, ...]:
    """Finds what would let an item go out whole, or, if it does, would prevent that; the cheapest first. `alone`: no
    other item is asked about, which needs fewer trials for the same result."""
    knobs = () if runs.trials.fixed[item] else runs.trials.knobs
    found = (knob_flip(runs, item, knob, alone) for knob in knobs)
    levers = [*first_levers(runs, item, swept), *(lever for lever in found if lever is not None)]
    return tuple(sorted(levers, key=lambda lever: lever.cost))


def first_levers(runs: TrialRuns, item: int, swept: Swept | None) -> list[Lever]:
    """Finds what takes few trials: holding the item, the nearest budget and a cheaper one, other choices; where none of
    these lets the whole item go out, also what keeps a part, and a budget at which holding it does. The cheapest
    first."""
    nearest = budget_flip(runs, item, swept)
    levers = [held_lever(runs, item), nearest, _cheaper_budget(runs, item, swept, nearest)]
    levers += [_improving(runs, item, *choice) for choice in runs.trials.choices]
    if all(lever is None or lever.cost[:2] != _NEAR_AND_WHOLE for lever in levers) and not runs.trials.now.whole[item]:
        levers += [_part_at_budget(runs, item), _held_at_budget(runs, item)]
    return sorted((lever for lever in levers if lever is not None), key=lambda lever: lever.cost)


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
        budgets = [budget for budget in first_budgets(runs) if present < budget <= FAR * present]
    levers = [_lever(runs, item, BUDGET, budget) for budget in budgets if _turns_item(runs, item, BUDGET, budget)]
    best = min(levers, key=lambda lever: lever.cost, default=nearest)
    return best if best.others.dearer < nearest.others.dearer else None


def _part_at_budget(runs: TrialRuns, item: int) -> Lever | None:
    """Finds a near budget at which more of an item goes out, if not all of it."""
    present = runs.trials.budget
    still = present
    for budget in [budget for budget in first_budgets(runs) if present < budget <= FAR * present]:
        if _improves(runs, item, BUDGET, budget):
            found = _halve(still, budget, lambda middle: _improves(runs, item, BUDGET, middle), _FEW_HALVINGS)
            lever = _lever(runs, item, BUDGET, found)
            return lever if lever.state is not State.KEPT else None  # `budget_flip` finds what keeps the whole
        still = budget
    return None


def _held_at_budget(runs: TrialRuns, item: int) -> Lever | None:
    """Finds the budget at which holding an item keeps it whole, where it needs more than the present one."""
    present, most = runs.trials.budget, min(FAR * runs.trials.budget, runs.enough)

    def keeps(budget: int) -> bool:
        decided = runs.at(f"{HOLD} {budget}", item)
        return decided is not None and bool(decided.whole[item])

    if most <= present or runs.trials.fixed[item] or not keeps(most):
        return None
    return _lever(runs, item, f"{HOLD} {_halve(present, most, keeps, _HALVINGS)}", item)


def _halve(still: int, turn: int, turns: Callable[[int], bool], halvings: int) -> int:
    """Returns a budget that turns, between one that does not and one that does, found by halving the distance."""
    for _ in range(halvings):
        middle = (turn + still) // 2
        if middle in (turn, still):
            break
        turn, still = (middle, still) if turns(middle) else (turn, middle)
    return turn


def first_budgets(runs: TrialRuns) -> list[int]:
    """Returns the budgets that are tried first where budgets are tried one by one, ascending."""
    trials = runs.trials
    near = spread(trials.budget, min(FAR * trials.budget, trials.end), _NEAR_BUDGETS)
    return sorted({*trials.guesses(), *near, *spread(trials.low, trials.end, _FIRST_BUDGETS)})


def try_first_budgets(runs: TrialRuns) -> Swept | None:
    """Decides at many budgets at once. If that is impossible, tries some budgets and returns None."""
    swept = runs.trials.sweep()
    if swept is None:
        for budget in (*first_budgets(runs), runs.trials.enough):
            runs.at(BUDGET, budget)
        find_enough(runs, None)
        find_least(runs)
    return swept


def held_lever(runs: TrialRuns, item: int) -> Lever | None:
    """Tries to hold an item that does not go out whole; if it is too large, with other choices, which may cut it."""
    names = (HOLD, *(f"{HOLD} {choice}" for _, choice in runs.trials.choices))
    tried = (_improving(runs, item, name, item) for name in names)
    return next((lever for lever in tried if lever is not None), None)


def _improving(runs: TrialRuns, item: int, name: str, value: float | str) -> Lever | None:
    """Returns a lever if more of the item goes out with it."""
    return _lever(runs, item, name, value) if _improves(runs, item, name, value) else None


def _improves(runs: TrialRuns, item: int, name: str, value: float | str) -> bool:
    now = runs.trials.now
    decided = None if now.whole[item] else runs.at(name, value)
    return decided is not None and bool(decided.rank[item] > now.rank[item])


def budget_flip(runs: TrialRuns, item: int, swept: Swept | None) -> Lever | None:
    """Finds the nearest budget that turns an item: the smallest one above the present budget if the item does not go
    out whole, else the largest one below. No tried budget in between turns it."""
    trials = runs.trials
    if trials.fixed[item]:
        return None
    up = not trials.now.whole[item]
    still = trials.budget
    if swept is not None:
        turning = swept.whole(item) != trials.now.whole[item]
        budgets = swept.every[turning & ((swept.every > trials.budget) if up else (swept.every < trials.budget))]
        nearest = int(budgets[0 if up else -1]) if len(budgets) else -1
        if nearest >= 0 and _turns_item(runs, item, BUDGET, nearest):
            return _lever(runs, item, BUDGET, nearest)
        still = max(still, swept.high) if up else min(still, swept.low)
    end = runs.enough if up else trials.low
    if (end > still) is not up:
        return None
    least = find_least(runs)[0] if swept is None and not up else None
    budgets = sorted({*first_budgets(runs), end, end if least is None else least})  # the same whatever else was tried
    tried = [budget for budget in budgets if (budget > still if up else budget < still)]
    turn = None
    for budget in tried if up else reversed(tried):
        if _turns_item(runs, item, BUDGET, budget):
            turn = budget
            break
        still = budget if runs.at(BUDGET, budget) is not None else still
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
    return _lever(runs, item, BUDGET, turn)


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
        return None if index < 0 else _lever(runs, item, knob.name, knob.values[index])
    sides = [side for step in (-1, 1) if (side := _first_on_side(runs, item, knob, step)) is not None]
    if not sides:
        return None
    value = min((knob.values[index] for index in sides), key=lambda value: (abs(value - knob.present), value))
    return _lever(runs, item, knob.name, value)


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


def _lever(runs: TrialRuns, item: int, name: str, value: float | str) -> Lever:
    """Makes the lever of a value that was tried. `item`: -1 for none."""
    trials, decided = runs.trials, runs.at(name, value)
    assert decided is not None
    held_at = name.removeprefix(f"{HOLD} ")
    budget = int(value) if name == BUDGET else int(held_at) if held_at.isdecimal() else trials.budget
    tokens, present = runs.leaving(name, value), runs.leaving(BUDGET, trials.budget)
    return Lever(
        name,
        value,
        trials.typed(name, value),
        runs.differences(name, value).without(item),
        tokens - present,
        over=0 if "chunks" in decided.figures else max(0, tokens - max(budget, present)),
        state=State(int(decided.state[item])) if item >= 0 else State.KEPT,
        far=budget > FAR * trials.budget,
        room=budget - trials.budget,
    )
