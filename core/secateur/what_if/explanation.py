"""Proves facts about a decision: the values that turn each item, ranges of knobs, the curve, the best selection.

explanation = explain(trials, range(len(trials.ids)))
explanation.shape().ranges
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType

from secateur.ledger import LeverShape, State, TurningShape, WhatIf
from secateur.progress import Progress, unreported
from secateur.what_if.curve import Curve, curve_of, find_enough, find_least
from secateur.what_if.lever_search import first_levers, held_lever, levers_of, unchanged_range
from secateur.what_if.levers import Lever
from secateur.what_if.shapes import CurveShape, DropShape, NotExaminedShape, NotKnownShape, PointShape, ProofFields
from secateur.what_if.trials import BUDGET, Swept, TimeLimit, TrialRuns, Trials

LOSES_LISTED = 10  # the most ids that a budget would lose which are listed; the others are counted
CHANGES_LISTED = 3  # the most ids of other changes that are listed on each side; the others are counted
ITEMS_EXPLAINED = 40  # explains this many items that go out whole, and as many of the others, if the caller names none

# For this many further items that do not go out whole, it is proven that holding them keeps them, unless all are asked
# for.
ITEMS_HELD = 300


class Explanation(Struct, frozen=True, eq=False):
    """The proven facts about a decision. Items are positions in `trials.ids`.

    Attributes:
        ranges: the range of each knob; None if the limit was reached before.
        runs: how often the decision was made again.
        reached: the limit that was reached, in words: "60 s", "40 decisions"; "" for none.
        unknown: items that nothing turned before the limit was reached.
        listed: the items that do not go out whole and are listed for people, in their order.
        unlisted: how many others do not go out whole.
    """

    trials: Trials
    levers: Mapping[int, tuple[Lever, ...]]
    ranges: Mapping[str, tuple[float, float] | None]
    curve: Curve
    runs: int
    reached: str = ""
    unknown: frozenset[int] = frozenset()
    listed: Sequence[int] = ()
    unlisted: int = 0

    def what_if(self, item: int) -> WhatIf | None:
        """Returns the values that turn an item, for JSON; None if no tried value turns it."""
        return what_if_of(self.trials, item, self.levers.get(item, ()))

    def shape(self) -> ProofFields:
        """Returns everything except the values that turn items, for JSON."""
        weighs = _weighs(self.trials)
        ranges = {name: (_round(ends[0]), _round(ends[1])) if ends else None for name, ends in self.ranges.items()}
        unknown = sorted(name for name, ends in ranges.items() if ends is None)
        items = _ids(self.trials, sorted(self.unknown))
        not_known = NotKnownShape(self.reached, items, unknown, [*self.curve.unknown] or UNSET)
        return ProofFields(
            ranges={name: ends for name, ends in ranges.items() if name in weighs},
            knob_ranges={name: ends for name, ends in ranges.items() if name not in weighs},
            curve=self._curve(),
            not_known=not_known if self.reached else UNSET,
        )

    @property
    def not_examined(self) -> NotExaminedShape | UnsetType:
        """The numbers of items that were not asked about; UNSET if all were."""
        asked, whole = np.isin(np.arange(len(self.trials.ids)), [*self.levers]), self.trials.now.whole
        shape = NotExaminedShape(int((whole & ~asked).sum()), int((~whole & ~asked).sum()))
        return shape if shape.whole or shape.others else UNSET

    def _curve(self) -> CurveShape:
        curve, trials = self.curve, self.trials
        points = []
        for point in curve.points:
            worth = _round(point.worth) if trials.scored else UNSET
            points.append(PointShape(point.budget, point.tokens, point.whole, point.partly, worth, **point.figures))
        return CurveShape(
            points=points,
            present=trials.budget,
            knee=curve.knee,
            least=curve.least,
            enough=curve.enough,
            drops=[DropShape(drop.budget, _ids(trials, drop.loses), _ids(trials, drop.gains)) for drop in curve.drops],
            dropping=curve.dropping,
            every=curve.every,
            tried=curve.tried,
            runs=self.runs,
        )


def what_if_of(trials: Trials, item: int, levers: Sequence[Lever]) -> WhatIf | None:
    """Returns the levers of an item, for JSON; None without any."""
    if not levers:
        return None
    turning = [lever for lever in levers if (lever.state is State.KEPT) is not trials.now.whole[item]]
    by_name = {lever.name: lever for lever in sorted(turning, key=lambda lever: -abs(lever.room))}  # the nearest
    weighs = _weighs(trials)
    known = (BUDGET, *(knob.name for knob in trials.knobs))
    turns = {name: by_name[name] for name in known if name in by_name}
    numbers = {name: _round(turn.value) for name, turn in turns.items() if not isinstance(turn.value, str)}
    budget = turns.get(BUDGET)
    lost = budget.others.loses if budget is not None else ()
    return WhatIf(
        budget=int(budget.value) if budget is not None else None,
        weights={name: value for name, value in numbers.items() if name in weighs},
        loses=_ids(trials, lost[:LOSES_LISTED]),
        loses_more=len(lost) - LOSES_LISTED if len(lost) > LOSES_LISTED else UNSET,
        knobs={name: value for name, value in numbers.items() if name not in (BUDGET, *weighs)},
        changes={name: TurningShape(**_sides(trials, turn, "loses", "gains")) for name, turn in turns.items()},
        levers=[
            LeverShape(
                typed=lever.typed,
                state=lever.state.label,
                tokens=lever.tokens,
                over=lever.over or UNSET,
                again=lever.again or UNSET,
                **_sides(trials, lever, "loses", "gains", "shortens", "restores"),
            )
            for lever in levers
        ],
    )


def _weighs(trials: Trials) -> set[str]:
    return {knob.name for knob in trials.knobs if knob.weighs}


def _sides(trials: Trials, lever: Lever, *sides: str) -> dict[str, Any]:
    """Returns the first ids of each side, and under SIDE_more the number of others."""
    shown: dict[str, Any] = {}
    for side in sides:
        items = getattr(lever.others, side)
        shown |= {side: _ids(trials, items[:CHANGES_LISTED])}
        shown |= {f"{side}_more": len(items) - CHANGES_LISTED} if len(items) > CHANGES_LISTED else {}
    return shown


def _ids(trials: Trials, items: Sequence[int]) -> list[str]:
    return [trials.ids[item] for item in items]


def explain(
    trials: Trials,
    items: Sequence[int] | None = None,
    progress: Progress = unreported,
    limit: TimeLimit | None = None,
    dropped: int | UnsetType | None = UNSET,
) -> Explanation:
    """Proves facts about a decision, until `trials.most` runs or the time limit is reached: what holding each item
    costs, then ranges, then the other values that turn each item, then the curve.

    Args:
        items: the items to explain; None: those that the smallest changes of the budget turn.
        limit: the time limit; None: a minute of processor time.
        dropped: how many of the items that do not go out whole are asked about, with `items` None; None: all.
    """
    runs = TrialRuns(trials, progress, limit or TimeLimit())
    swept = sweep_budgets(runs)
    given, also = items is not None, list[int]()
    if items is None:
        whole, others = _nearest_to_turn(runs)
        listed = others[: ITEMS_EXPLAINED if dropped is UNSET else dropped]
        also = others[ITEMS_EXPLAINED : ITEMS_EXPLAINED + ITEMS_HELD] if dropped is UNSET else listed[ITEMS_EXPLAINED:]
        items = [*listed[:ITEMS_EXPLAINED], *whole]
        listed, unlisted = sorted(listed), len(others) - len(listed)
    else:
        listed = [item for item in items if not trials.now.whole[item]]
        unlisted = int((~trials.now.whole).sum()) - len(listed)
    for item in items:
        if held_lever(runs, item) is None and not trials.now.whole[item]:
            first_levers(runs, item, swept)  # before the limit is reached, so that each has a lever
    ranges = {knob.name: unchanged_range(runs, knob) for knob in trials.knobs}
    levers = {item: levers_of(runs, item, swept) for item in items}
    curve = curve_of(runs, swept)
    for item in also:
        lever = held_lever(runs, item)
        levers[item] = (lever,) if lever is not None else levers_of(runs, item, swept)
    levers = levers if given else dict(sorted(levers.items()))
    unknown = {item for item in levers if not levers[item] and runs.reached and not trials.fixed[item]}
    reached = runs.reached, frozenset(unknown)
    return Explanation(trials, levers, ranges, curve, runs.number, *reached, listed, unlisted)


def explain_one(
    trials: Trials, item: int, progress: Progress = unreported, limit: TimeLimit | None = None
) -> tuple[tuple[Lever, ...], TrialRuns]:
    """Proves the values that turn one item. Returns them with the runs that were made."""
    runs = TrialRuns(trials, progress, limit or TimeLimit())
    return levers_of(runs, item, None if trials.fixed[item] else sweep_budgets(runs), alone=True), runs


def sweep_budgets(runs: TrialRuns) -> Swept | None:
    """Decides at many budgets at once. If that is impossible, tries some budgets and returns None."""
    if (swept := runs.trials.sweep()) is None:
        for budget in runs.first_budgets:
            runs.at(BUDGET, budget)
        find_enough(runs, None)
        runs.least = find_least(runs)[0] or runs.least
    return swept


def _nearest_to_turn(runs: TrialRuns) -> tuple[list[int], list[int]]:
    """Returns the items that a budget near the present one turns, nearest first: ITEMS_EXPLAINED items that go out
    whole, with all fixed ones, whose answer takes no time; and all items that do not go out whole."""
    trials = runs.trials
    away = np.full(len(trials.ids), np.inf)
    for budget in runs.list_tried(BUDGET):
        if (decided := runs.at(BUDGET, budget)) is not None:
            turned = decided.whole != trials.now.whole
            away[turned] = np.minimum(away[turned], abs(budget - trials.budget))
    order = np.lexsort((np.arange(len(away)), away, trials.fixed))
    whole = order[(trials.now.whole | trials.added)[order]]
    loose = whole[~trials.fixed[whole]][:ITEMS_EXPLAINED]
    others = order[(~trials.now.whole & ~trials.added)[order]]
    fixed = np.flatnonzero(trials.fixed & (trials.now.whole | trials.added))
    return [*loose.tolist(), *fixed.tolist()], others.tolist()


def _round(value: float) -> float:
    return value if isinstance(value, int) else round(float(value), 6) + 0.0
