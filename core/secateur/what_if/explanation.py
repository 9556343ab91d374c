"""Proves facts about a decision: the values that turn each item, ranges of knobs, the curve, the best selection.

explanation = explain(trials, range(len(trials.ids)))
explanation.shape().ranges
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import UNSET, Struct

from secateur.ledger import TurningShape, WhatIf
from secateur.progress import Progress, unreported
from secateur.what_if.curve import Curve, curve_of, find_enough, find_least, spread
from secateur.what_if.flips import ItemFlip, TurningValue, flip_of, unchanged_range
from secateur.what_if.knapsack import Best, best_selection
from secateur.what_if.shapes import BestShape, CurveShape, DropShape, NotKnownShape, PointShape, ProofFields
from secateur.what_if.trials import BUDGET, Swept, TimeLimit, TrialRuns, Trials

LOSES_LISTED = 10
"""The most ids that a budget would lose which are listed; the others are counted."""

CHANGES_LISTED = 3
"""The most ids of other changes that are listed on each side; the others are counted."""

ITEMS_EXPLAINED = 40
"""Explained if no items are given: this many items that go out whole, and as many of the others."""

_FIRST_BUDGETS = 16
"""Budgets that are tried first if they are tried one by one."""


class Explanation(Struct, frozen=True, eq=False):
    """The proven facts about a decision. Items are positions in `trials.ids`.

    Attributes:
        ranges: the range of each knob; None if the limit was reached before.
        runs: how often the decision was made again.
        reached: the limit that was reached, in words: "60 s", "40 decisions"; "" for none.
        unknown: items that nothing turned before the limit was reached.
    """

    trials: Trials
    flips: Mapping[int, ItemFlip | None]
    ranges: Mapping[str, tuple[float, float] | None]
    curve: Curve
    best: Best | None
    runs: int
    reached: str = ""
    unknown: frozenset[int] = frozenset()

    def what_if(self, item: int) -> WhatIf | None:
        """Returns the values that turn an item, for JSON; None if no tried value turns it."""
        flip = self.flips.get(item)
        if flip is None:
            return None
        weighs, turns = self._weighs, dict(flip.knobs)
        lost = flip.budget.loses if flip.budget is not None else ()
        changes = ({BUDGET: flip.budget} if flip.budget is not None else {}) | turns
        return WhatIf(
            budget=int(flip.budget.value) if flip.budget is not None else None,
            weights={name: _round(turn.value) for name, turn in turns.items() if name in weighs},
            loses=self._ids(lost[:LOSES_LISTED]),
            loses_more=len(lost) - LOSES_LISTED if len(lost) > LOSES_LISTED else UNSET,
            knobs={name: _round(turn.value) for name, turn in turns.items() if name not in weighs},
            changes={name: self._change(turn) for name, turn in changes.items()},
        )

    def shape(self) -> ProofFields:
        """Returns everything except the values that turn items, for JSON."""
        weighs = self._weighs
        ranges = {name: (_round(ends[0]), _round(ends[1])) if ends else None for name, ends in self.ranges.items()}
        unknown = sorted(name for name, ends in ranges.items() if ends is None)
        return ProofFields(
            ranges={name: ends for name, ends in ranges.items() if name in weighs},
            knob_ranges={name: ends for name, ends in ranges.items() if name not in weighs},
            curve=self._curve(),
            best=self._best(),
            not_known=self._not_known(unknown) if self.reached else UNSET,
        )

    def _not_known(self, ranges: list[str]) -> NotKnownShape:
        return NotKnownShape(self.reached, self._ids(sorted(self.unknown)), ranges, [*self.curve.unknown] or UNSET)

    @property
    def _weighs(self) -> set[str]:
        return {knob.name for knob in self.trials.knobs if knob.weighs}

    def _change(self, turn: TurningValue) -> TurningShape:
        more = [
            len(items) - CHANGES_LISTED if len(items) > CHANGES_LISTED else UNSET for items in (turn.loses, turn.gains)
        ]
        return TurningShape(
            loses=self._ids(turn.loses[:CHANGES_LISTED]),
            loses_more=more[0],
            gains=self._ids(turn.gains[:CHANGES_LISTED]),
            gains_more=more[1],
        )

    def _curve(self) -> CurveShape:
        curve = self.curve
        return CurveShape(
            points=[
                PointShape(
                    point.budget,
                    point.tokens,
                    point.whole,
                    point.partly,
                    _round(point.worth) if self.trials.scored else UNSET,
                    **point.figures,
                )
                for point in curve.points
            ],
            present=self.trials.budget,
            knee=curve.knee,
            least=curve.least,
            enough=curve.enough,
            drops=[DropShape(drop.budget, self._ids(drop.loses), self._ids(drop.gains)) for drop in curve.drops],
            dropping=curve.dropping,
            every=curve.every,
            tried=curve.tried,
            runs=self.runs,
        )

    def _best(self) -> BestShape | None:
        best = self.best
        if best is None:
            return None
        return BestShape(
            best.present, best.worth, best.bound, best.exact, self._ids(best.enters), self._ids(best.leaves)
        )

    def _ids(self, items: Sequence[int]) -> list[str]:
        return [self.trials.ids[item] for item in items]


def explain(
    trials: Trials,
    items: Sequence[int] | None = None,
    progress: Progress = unreported,
    limit: TimeLimit | None = None,
) -> Explanation:
    """Proves facts about a decision, until `trials.most` runs or the time limit is reached: ranges first, then the
    values that turn each item, then the curve.

    Args:
        items: the items to explain; None: those that the smallest changes of the budget turn.
        limit: the time limit; None: a minute of processor time.
    """
    runs = TrialRuns(trials, progress, limit or TimeLimit())
    swept = _sweep(runs)
    ranges = {knob.name: unchanged_range(runs, knob) for knob in trials.knobs}
    items = _nearest_to_turn(runs) if items is None else items
    flips: dict[int, ItemFlip | None] = {}
    unknown = set[int]()
    for item in items:
        flip = flips[item] = flip_of(runs, item, swept)
        if (flip is None or flip.budget is None) and runs.reached and not trials.fixed[item]:
            unknown.add(item)
    curve = curve_of(runs, swept)
    question = trials.knapsack()
    best = best_selection(question, trials.now.whole) if question is not None else None
    return Explanation(trials, flips, ranges, curve, best, runs.number, runs.reached, frozenset(unknown))


def explain_one(
    trials: Trials, item: int, progress: Progress = unreported, limit: TimeLimit | None = None
) -> tuple[ItemFlip | None, TrialRuns]:
    """Proves the values that turn one item. Returns them with the runs that were made."""
    runs = TrialRuns(trials, progress, limit or TimeLimit())
    return flip_of(runs, item, None if trials.fixed[item] else _sweep(runs), alone=True), runs


def _sweep(runs: TrialRuns) -> Swept | None:
    """Decides at many budgets at once. If that is impossible, tries some budgets and returns None."""
    trials = runs.trials
    swept = trials.sweep()
    if swept is None:
        for budget in (*trials.guesses(), *spread(trials.low, trials.end, _FIRST_BUDGETS), trials.enough):
            runs.at(BUDGET, budget)
        find_enough(runs, None)
        find_least(runs)
    return swept


def _nearest_to_turn(runs: TrialRuns) -> list[int]:
    """Returns the items that a budget near the present one turns, nearest first: ITEMS_EXPLAINED that go out whole, as
    many others, and all fixed items, for which the answer takes no time."""
    trials = runs.trials
    away = np.full(len(trials.ids), np.inf)
    for budget in runs.list_tried(BUDGET):
        decided = runs.at(BUDGET, budget)
        if decided is not None:
            turned = decided.whole != trials.now.whole
            away[turned] = np.minimum(away[turned], abs(budget - trials.budget))
    order = np.lexsort((np.arange(len(away)), away))
    loose = order[~trials.fixed[order]]
    whole = trials.now.whole[loose]
    chosen = (loose[~whole][:ITEMS_EXPLAINED], loose[whole][:ITEMS_EXPLAINED], np.flatnonzero(trials.fixed))
    return sorted(int(item) for part in chosen for item in part)


def _round(value: float) -> float:
    return value if isinstance(value, int) else round(float(value), 6) + 0.0
