"""Proves facts about a decision: the values that turn each item, ranges of knobs, the curve, the best selection.

explanation = explain(trials, range(len(trials.ids)))
explanation.shape().ranges

Draws the curve of what goes out at each budget: its points, its knee, and the budgets that drop an item although
they are larger.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from secateur.ledger import LeverShape, State, TurningShape, WhatIf
from secateur.model import FloatArray, IntArray
from secateur.progress import Progress, unreported
from secateur.what_if import CurveShape, DropShape, NotExaminedShape, NotKnownShape, PointShape, ProofFields
from secateur.what_if.lever_search import find_enough, find_least, first_levers, held_lever, levers_of, unchanged_range
from secateur.what_if.levers import Lever
from secateur.what_if.trials import BUDGET, Swept, TimeLimit, TrialRuns, Trials, spread

POINTS = 40  # about how many points a curve has
DROPS_NAMED = 5  # budgets above the present one that drop something, for which the items are listed
LEAST_BEND = 0.05  # the share of the height that a curve must rise above the straight line to have a knee


class Point(Struct, frozen=True):
    """The figures of a budget, by deciding with it."""

    budget: int
    tokens: int
    whole: int  # items that go out as they came
    partly: int  # items that go out as a part or a summary
    worth: float
    figures: Mapping[str, int] = field(default_factory=dict)


class Drop(Struct, frozen=True):
    """A budget that drops an item which goes out at the tried budget before it."""

    budget: int
    loses: tuple[int, ...]  # items
    gains: tuple[int, ...]


class Curve(Struct, frozen=True):
    """The curve of what goes out at each budget.

    Attributes:
        points: by budget, with the present budget and the knee.
        knee: the budget above which a further token brings less than the average; None if the curve has no such bend.
        drops: the next budgets above the present one that drop an item.
        dropping: how many of the tried budgets drop an item.
        every: (from, to): every budget between these was tried; None: only some were.
        tried: how many budgets were tried.
        enough: a budget that everything fits in; None: not known.
        least: the least budget with an answer; None: every tried budget has one, or it is not known.
        unknown: which of both were not found within the limit: "enough", "least".
    """

    points: tuple[Point, ...]
    knee: int | None
    drops: tuple[Drop, ...]
    dropping: int
    every: tuple[int, int] | None
    tried: int
    enough: int | None
    least: int | None = None
    unknown: tuple[str, ...] = ()
    reached: str = ""  # the limit that kept a budget from being tried, in words


def curve_of(runs: TrialRuns, swept: Swept | None) -> Curve:
    """Draws the curve, by deciding at each of its points."""
    trials = runs.trials
    for budget in spread(trials.low, trials.end, POINTS if swept is not None else POINTS // 2):
        runs.at(BUDGET, budget)
    (least, least_known), (enough, enough_known), knee = find_least(runs), find_enough(runs, swept), None
    if swept is not None:
        columns = swept.columns
        inside = columns.budgets <= trials.end
        height = columns.worth if trials.scored else columns.whole.astype(np.float64)
        if (knee := knee_of(columns.budgets[inside], height[inside])) is not None:
            runs.at(BUDGET, knee)
    points: list[Point] = []
    for budget in map(int, runs.list_tried(BUDGET)):
        decided = runs.at(BUDGET, budget)
        if decided is not None and (budget <= trials.end or budget == trials.budget):
            whole, out = int(decided.whole.sum()), int((decided.out & ~trials.added).sum())
            points.append(Point(budget, decided.tokens, whole, out - whole, round(decided.worth, 6), decided.figures))
    if swept is None:
        budgets = np.array([point.budget for point in points if point.budget <= trials.end], dtype=np.int64)
        heights = np.array([point.worth if trials.scored else point.whole for point in points][: len(budgets)])
        knee = knee_of(budgets, heights.astype(np.float64))
    drops, dropping = _drops(runs, swept)
    every = (swept.low, swept.high) if swept is not None else None
    tried = len(swept.columns.budgets) if swept is not None else len(runs.list_tried(BUDGET))
    shown = tuple(
        replace(point, tokens=runs.leaving(BUDGET, point.budget))
        for point in _thin_out(points, {trials.budget, knee}, trials.end)
        if runs.at(BUDGET, point.budget) is not None
    )
    unknown = ("enough",) * (not enough_known) + ("least",) * (not least_known)
    return Curve(shown, knee, drops, dropping, every, tried, enough, least, unknown, runs.reached)


def knee_of(budgets: IntArray, height: FloatArray) -> int | None:
    """Returns the budget at which a rising curve is highest above the straight line between its ends; None if it hardly
    bends or does not rise."""
    if len(budgets) < 3 or height[-1] <= height[0]:
        return None
    across = (budgets - budgets[0]) / (budgets[-1] - budgets[0])
    above = (height - height[0]) / (height[-1] - height[0]) - across
    position = int(np.argmax(np.round(above, 9)))
    return int(budgets[position]) if above[position] >= LEAST_BEND else None


def _thin_out(points: list[Point], needed: set[int | None], end: int) -> list[Point]:
    """Keeps about POINTS points at equal distances: other questions tried points that are close together."""
    if len(points) <= POINTS + len(needed):
        return points
    apart = (end - points[0].budget) / POINTS
    kept = [points[0]]
    for point in points[1:]:
        if point.budget in needed or point.budget - kept[-1].budget >= 0.9 * apart or point is points[-1]:
            kept.append(point)
    return kept


def _drops(runs: TrialRuns, swept: Swept | None) -> tuple[tuple[Drop, ...], int]:
    present = runs.trials.budget
    if swept is None:
        tried = [int(budget) for budget in runs.list_tried(BUDGET)]
        drops = [drop for pair in pairwise(tried) if (drop := _drop(runs, *pair)) is not None]
        return tuple(drop for drop in drops if drop.budget > present)[:DROPS_NAMED], len(drops)
    columns = swept.columns
    consecutive = (columns.budgets > swept.low) & (columns.budgets <= swept.high)
    dropping = columns.budgets[consecutive & (columns.lost > 0)]
    listed = [_drop(runs, int(budget) - 1, int(budget)) for budget in dropping[dropping > present][:DROPS_NAMED]]
    return tuple(drop for drop in listed if drop is not None), len(dropping)


def _drop(runs: TrialRuns, below: int, budget: int) -> Drop | None:
    before, now = runs.at(BUDGET, below), runs.at(BUDGET, budget)
    if before is None or now is None:
        return None
    loses, gains = np.flatnonzero(before.out & ~now.out), np.flatnonzero(now.out & ~before.out)
    return Drop(budget, tuple(loses.tolist()), tuple(gains.tolist())) if len(loses) else None


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
    swept = trials.sweep()
    try_budgets(runs, swept)
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
        if not trials.now.whole[item] and held_lever(runs, item) is None:
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
    return levers_of(runs, item, None if trials.fixed[item] else trials.sweep(), alone=True), runs


def try_budgets(runs: TrialRuns, swept: Swept | None) -> None:
    """Tries some budgets, unless many were decided at once."""
    for budget in runs.first_budgets if swept is None else ():
        runs.at(BUDGET, budget)


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
