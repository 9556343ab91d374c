"""Fits the weights of a profile on judged cases, and guards against fitting what is not there.

    fitter = Fitter(kind, settings, rehearsed, budgets)
    fit = fitter.fit()
    fit.values              # setting -> value, of those that were turned
    fit.cross_validated     # what it brought to training cases that it had not seen

A weight is turned only where it brings at least some recall; how much that has to be is chosen by cross-validation
inside the training cases. Where no choice brings anything there, nothing is turned. What is reported of the held-out
cases is measured by the engine itself (`evaluation.evaluation`), and never enters a fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from secateur.evaluation.intervals import Interval, mean_of
from secateur.evaluation.metrics import figures
from secateur.evaluation.pattern_search import RESTARTS, Point, best_point
from secateur.kinds.base import Kind, Rehearsal
from secateur.model import BoolArray, FloatArray
from secateur.progress import Progress, unreported
from secateur.settings import Settings, lookup, with_values

SEED = 12
"""Of the restarts, where none is named. Numbers of `RandomState` are the same in every version of numpy (NEP 19)."""

FOLDS = 4
"""Parts of the training cases, each left out once: neighbours in time stay together, for they are alike."""

PRICES = (0.01, 0.005, 0.002)
"""Recall that each turned weight has to bring, the dearest first: it wins where others are no better."""

TIE_BREAK = 0.05
"""Weight of nDCG beside recall, which stands still while an order improves below the budget's edge."""


@dataclass(frozen=True)
class RehearsedCase:
    """A training case that can be decided again and again."""

    name: str
    repository: str
    judged: Mapping[str, int]
    rehearsal: Rehearsal


@dataclass(frozen=True)
class Fit:
    """The result of a fit."""

    values: Mapping[str, Any]  # by key, of the settings that were turned
    cross_validated: Interval  # gain of score on training cases that a fit had not seen, with the price that was chosen
    price: float
    tried: int  # sets of weights
    seed: int

    @property
    def found(self) -> bool:
        """Tells whether anything is to be turned."""
        return bool(self.values)


@dataclass
class Fitter:
    """The search for better weights; `best` is kept for who interrupts it."""

    kind: Kind[Any, Any]
    settings: Settings  # that it starts from
    cases: Sequence[RehearsedCase]  # by repository and time
    budgets: Sequence[int]
    seed: int = SEED
    progress: Progress = unreported
    _scores: dict[Point, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        grids = self.kind.tunable(self.settings)
        self.keys = tuple(grids)
        self.grids = tuple(tuple(grids[key]) for key in self.keys)
        self.start: Point = tuple(
            grid.index(lookup(self.settings, key)) for key, grid in zip(self.keys, self.grids, strict=True)
        )
        self._unordered = [place for place, grid in enumerate(self.grids) if isinstance(grid[0], str)]

    def fit(self) -> Fit:
        """The fit on all cases, with the price that cross-validation chooses."""
        everything = np.ones(len(self.cases), dtype=np.bool_)
        validated = {price: self._cross_validated(price) for price in PRICES}
        price = max(PRICES, key=lambda one: round(float(validated[one].mean()), 6))
        gain = self._interval(validated[price])
        point = self.start if gain.mean <= 0 else self._searched(everything, price, RESTARTS)
        return Fit(self.values(point), gain, price, len(self._scores), self.seed)

    def best_so_far(self) -> tuple[float, dict[str, Any]]:
        """Of the points at which all cases were scored the best: its gain on them, and what it turns."""
        whole = {point: float(found.mean()) for point, found in self._scores.items() if not np.isnan(found).any()}
        if self.start not in whole:
            return 0.0, {}
        best = max(whole, key=lambda point: whole[point])
        return whole[best] - whole[self.start], self.values(best)

    def values(self, point: Point) -> dict[str, Any]:
        """The settings that a point turns."""
        return {
            key: grid[now]
            for key, grid, now, was in zip(self.keys, self.grids, point, self.start, strict=True)
            if now != was
        }

    def scores(self, point: Point, wanted: BoolArray) -> FloatArray:
        """The score of each case, of those that are wanted; each is worked out once."""
        known = self._scores.setdefault(point, np.full(len(self.cases), np.nan))
        missing = np.flatnonzero(wanted & np.isnan(known))
        if len(missing):
            self.progress("fitting", len(self._scores), 0)
            settings = with_values(self.settings, self.values(point))
            at = [self.kind.budget.put(settings, budget) for budget in self.budgets]
            for number in missing.tolist():
                known[number] = _score(self.cases[number], at)
        return known

    def _searched(self, training: BoolArray, price: float, restarts: int = 0) -> Point:
        def score(point: Point) -> float:
            turned = sum(now != was for now, was in zip(point, self.start, strict=True))
            return float(self.scores(point, training)[training].mean()) - price * turned

        sizes = [len(grid) for grid in self.grids]
        random = np.random.RandomState(self.seed)
        return best_point(sizes, self.start, score, random, unordered=self._unordered, restarts=restarts)

    def _cross_validated(self, price: float) -> FloatArray:
        """The gain of each case under weights that were fitted on the other folds."""
        gains, fold = np.zeros(len(self.cases)), folds(len(self.cases))
        for number in range(fold.max(initial=-1) + 1):
            left_out = fold == number
            point = self._searched(~left_out, price)
            gains[left_out] = (self.scores(point, left_out) - self.scores(self.start, left_out))[left_out]
        return gains

    def _interval(self, gains: FloatArray) -> Interval:
        repositories = [case.repository for case in self.cases]
        return mean_of(gains.tolist(), repositories if len(set(repositories)) > 1 else None)


def folds(cases: int) -> Any:
    """The fold of each of so many cases: neighbours together, none empty."""
    return np.arange(cases) * min(FOLDS, cases) // max(cases, 1)


def _score(case: RehearsedCase, at: Sequence[Settings]) -> float:
    found = [figures([id_ for id_, whole in case.rehearsal(one) if whole], case.judged) for one in at]
    return float(np.mean([one.recall + TIE_BREAK * one.ndcg for one in found]))
