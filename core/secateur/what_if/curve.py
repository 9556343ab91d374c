"""Draws the curve of what goes out against the budget: its points, its knee, and the budgets that drop an item although
they are larger."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from secateur.model import FloatArray, IntArray
from secateur.what_if.trials import BUDGET, Swept, TrialRuns, spread

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
    """The curve of what goes out against the budget.

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


def find_least(runs: TrialRuns) -> tuple[int | None, bool]:
    """Returns the least budget with an answer, and whether that is proven; None if the least budget that is tried has
    an answer."""
    trials = runs.trials
    if runs.at(BUDGET, trials.low) is not None or not runs.knows(BUDGET, trials.low):
        return None, runs.knows(BUDGET, trials.low)
    above = int(runs.list_tried(BUDGET)[0])
    below = max(
        (int(budget) for budget in runs.list_tried(BUDGET, answered=False) if budget < above), default=trials.low
    )
    while above - below > 1:
        middle = (above + below) // 2
        answered = runs.at(BUDGET, middle) is not None
        if not runs.knows(BUDGET, middle):
            return None, False
        above, below = (middle, below) if answered else (above, middle)
    return above, True


_PLENTY = 4  # everything fits this many times the budget that should be enough


def find_enough(runs: TrialRuns, swept: Swept | None) -> tuple[int | None, bool]:
    """Returns a budget that lets out as much as plenty of tokens do, and whether that is proven; None if no such budget
    was found. Sets `runs.enough` to it."""
    if swept is not None:
        return runs.enough, True
    plenty, most = runs.at(BUDGET, runs.enough * _PLENTY), runs.enough * _PLENTY
    if plenty is None:  # no such budget is allowed
        return (runs.enough, True) if runs.knows(BUDGET, most) else (None, False)
    below, above, step = runs.enough - 1, runs.enough, 1

    def fits(budget: int) -> bool | None:
        decided = runs.at(BUDGET, budget)
        if not runs.knows(BUDGET, budget):
            return None
        return decided is not None and np.array_equal(decided.state, plenty.state)

    while above < most and not (enough := fits(above)):
        if enough is None:
            return None, False
        below, above, step = above, above + step, 2 * step
    while above - below > 1 and above > runs.enough:
        middle = (above + below) // 2
        if (enough := fits(middle)) is None:
            return None, False
        above, below = (middle, below) if enough else (above, middle)
    runs.enough = above
    return above, True


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
