"""Everything that is proven of a decision: what turns each item, the ranges of knobs, the curve, the best selection.

explanation = explain(trials, range(len(trials.ids)))
explanation.to_dict()["ranges"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from secateur.progress import Progress, unreported
from secateur.what_if.curve import Curve, curve_of, spread
from secateur.what_if.flips import ItemFlip, TurningValue, flip_of, unchanged_range
from secateur.what_if.knapsack import Best, best_selection
from secateur.what_if.trials import BUDGET, Swept, TimeLimit, TrialRuns, Trials

LOSES_LISTED = 10
"""Ids of what a budget would cost that are listed; the others are counted."""

CHANGES_LISTED = 3
"""Ids of what else a value changes that are listed on each side; the others are counted."""

ITEMS_EXPLAINED = 40
"""Items that go out whole, and as many of the rest, of which is told what turns them where none are asked about."""

_FIRST_BUDGETS = 16
"""Budgets that are tried first where they are tried one by one."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """All that is proven of a decision. Items are numbers in `trials.ids`.

    Attributes:
        ranges: by the name of a knob; None: not known, as the limit came first.
        runs: how often was decided again.
        reached: the limit that was reached, in words: "60 s", "40 decisions"; "" for none.
        unknown: items that nothing turned until then; something may.
    """

    trials: Trials
    flips: Mapping[int, ItemFlip | None]
    ranges: Mapping[str, tuple[float, float] | None]
    curve: Curve
    best: Best | None
    runs: int
    reached: str = ""
    unknown: frozenset[int] = frozenset()

    def what_if(self, item: int) -> dict[str, Any] | None:
        """The values that turn an item, as JSON; None: nothing that was tried does."""
        flip = self.flips.get(item)
        return self._flip(flip) if flip is not None else None

    def to_dict(self) -> dict[str, Any]:
        """`ranges` of weights, `knob_ranges` of other settings, `curve` and `best` as JSON."""
        weighs = self._weighs
        ranges = {name: [_number(end) for end in ends] if ends else None for name, ends in self.ranges.items()}
        not_known = {
            "within": self.reached,
            "what_if": self._ids(sorted(self.unknown)),
            "ranges": sorted(name for name, ends in ranges.items() if ends is None),
        }
        return {
            "ranges": {name: ends for name, ends in ranges.items() if name in weighs},
            "knob_ranges": {name: ends for name, ends in ranges.items() if name not in weighs},
            "curve": self._curve(),
            "best": self._best(),
            **({"not_known": not_known} if self.reached else {}),
        }

    @property
    def _weighs(self) -> set[str]:
        return {knob.name for knob in self.trials.knobs if knob.weighs}

    def _flip(self, flip: ItemFlip) -> dict[str, Any]:
        weighs = self._weighs
        lost = flip.budget.loses if flip.budget is not None else ()
        out: dict[str, Any] = {
            "budget": int(flip.budget.value) if flip.budget is not None else None,
            "weights": {name: _number(turn.value) for name, turn in flip.knobs.items() if name in weighs},
            "loses": self._ids(lost[:LOSES_LISTED]),
        }
        if len(lost) > LOSES_LISTED:
            out["loses_more"] = len(lost) - LOSES_LISTED
        out["knobs"] = {name: _number(turn.value) for name, turn in flip.knobs.items() if name not in weighs}
        changes = {BUDGET: flip.budget} if flip.budget is not None else {}
        return out | {"changes": {name: self._change(turn) for name, turn in (changes | dict(flip.knobs)).items()}}

    def _change(self, turn: TurningValue) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for side, items in (("loses", turn.loses), ("gains", turn.gains)):
            out[side] = self._ids(items[:CHANGES_LISTED])
            if len(items) > CHANGES_LISTED:
                out[f"{side}_more"] = len(items) - CHANGES_LISTED
        return out

    def _curve(self) -> dict[str, Any]:
        curve = self.curve
        points = [
            {"budget": point.budget, "tokens": point.tokens, "kept": point.whole, "partly": point.partly}
            | ({"worth": _number(point.worth)} if self.trials.scored else {})
            | dict(point.figures)
            for point in curve.points
        ]
        drops = [
            {"budget": drop.budget, "loses": self._ids(drop.loses), "gains": self._ids(drop.gains)}
            for drop in curve.drops
        ]
        return {
            "points": points,
            "present": self.trials.budget,
            "knee": curve.knee,
            "least": curve.least,
            "enough": curve.enough,
            "drops": drops,
            "dropping": curve.dropping,
            "every": list(curve.every) if curve.every is not None else None,
            "tried": curve.tried,
            "runs": self.runs,
        }

    def _best(self) -> dict[str, Any] | None:
        best = self.best
        if best is None:
            return None
        return {
            "present": best.present,
            "worth": best.worth,
            "bound": best.bound,
            "exact": best.exact,
            "enters": self._ids(best.enters),
            "leaves": self._ids(best.leaves),
        }

    def _ids(self, items: Sequence[int]) -> list[str]:
        return [self.trials.ids[item] for item in items]


def explain(
    trials: Trials,
    items: Sequence[int] | None = None,
    progress: Progress = unreported,
    limit: TimeLimit | None = None,
) -> Explanation:
    """Proves what can be said of a decision, as far as `trials.most` runs and the time go: ranges first, then what
    turns each of these items, then the curve.

    Args:
        items: those asked about; None: those that the least change of the budget turns.
        limit: None: a minute of processor time.
    """
    runs = TrialRuns(trials, progress, limit or TimeLimit())
    swept = _swept(runs)
    ranges = {knob.name: unchanged_range(runs, knob) for knob in trials.knobs}
    items = _nearest_to_turn(runs) if items is None else items
    flips: dict[int, ItemFlip | None] = {}
    unknown = set[int]()
    for item in items:
        flips[item] = flip_of(runs, item, swept)
        if flips[item] is None and runs.reached and not trials.fixed[item]:
            unknown.add(item)
    curve = curve_of(runs, swept)
    question = trials.knapsack()
    best = best_selection(question, trials.now.whole) if question is not None else None
    return Explanation(trials, flips, ranges, curve, best, runs.number, runs.reached, frozenset(unknown))


def explain_one(
    trials: Trials, item: int, progress: Progress = unreported, limit: TimeLimit | None = None
) -> tuple[ItemFlip | None, TrialRuns]:
    """Proves what turns one item, and nothing else; with the runs that were made for it."""
    runs = TrialRuns(trials, progress, limit or TimeLimit())
    return flip_of(runs, item, None if trials.fixed[item] else _swept(runs), alone=True), runs


def _swept(runs: TrialRuns) -> Swept | None:
    """Many budgets decided at once; where that cannot be done, some are tried first, and None."""
    trials = runs.trials
    swept = trials.sweep()
    if swept is None:
        for budget in (*trials.guesses(), *spread(trials.low, trials.end, _FIRST_BUDGETS), trials.enough):
            runs.at(BUDGET, budget)
    return swept


def _nearest_to_turn(runs: TrialRuns) -> list[int]:
    """The items that a budget nearest to the present one turns, of the budgets that were tried, and then the others; so
    many of those that go out whole, and of the rest. Nothing turns one that is fixed, and to say so costs nothing."""
    trials = runs.trials
    away = np.full(len(trials.ids), np.inf)
    for budget in runs.tried(BUDGET):
        decided = runs.at(BUDGET, budget)
        if decided is not None:
            turned = decided.whole != trials.now.whole
            away[turned] = np.minimum(away[turned], abs(budget - trials.budget))
    order = np.lexsort((np.arange(len(away)), away))
    loose = order[~trials.fixed[order]]
    whole = trials.now.whole[loose]
    chosen = (loose[~whole][:ITEMS_EXPLAINED], loose[whole][:ITEMS_EXPLAINED], np.flatnonzero(trials.fixed))
    return sorted(int(item) for part in chosen for item in part)


def _number(value: float) -> float:
    return value if isinstance(value, int) else round(float(value), 6) + 0.0
