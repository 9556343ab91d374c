"""Fits the weights of a profile on judged cases, and guards against overfitting.

    fitter = Fitter(kind, settings, rehearsed, budgets)
    fit = fitter.fit()
    fit.values              # setting -> value, of those that changed
    fit.cross_validated     # its gain on training cases that it had not seen

A weight is changed only if it gains some recall; how much is chosen by cross-validation inside the training cases. If
no choice gains anything there, nothing is changed. Figures of the held-out cases are measured by the engine itself
(`evaluation.evaluation`), and never enter a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from secateur import Kind, Progress, Settings, lookup, unreported, with_values

from secateur_lab.evaluation.measuring import Interval, figures, mean_of

SEED = 12  # Default seed of the restarts. Numbers of `RandomState` are the same in every version of numpy (NEP 19).
FOLDS = 4  # Parts of the training cases, each left out once. Neighbours in time stay together because they are alike.
PRICES = (0.01, 0.005, 0.002)  # recall that each changed weight must gain, the highest first: it wins ties
TIE_BREAK = 0.05  # weight of nDCG beside recall, which does not change while an order improves below the budget's edge


@dataclass(frozen=True)
class RehearsedCase:
    """A training case that can be decided repeatedly."""

    name: str
    repository: str
    judged: Mapping[str, int]
    rehearsal: Callable[[Settings], Sequence[tuple[str, bool]]]  # see `Kind.rehearsal`


@dataclass(frozen=True)
class Fit:
    """The result of a fit."""

    values: Mapping[str, Any]  # by key, of the settings that changed
    cross_validated: Interval  # gain of score on training cases that a fit had not seen, with the chosen price
    price: float
    tried: int  # sets of weights
    seed: int

    @property
    def found(self) -> bool:
        """Tells whether any setting changes."""
        return bool(self.values)


@dataclass
class Fitter:
    """Searches for better weights; `best` survives an interruption."""

    kind: Kind[Any, Any]
    settings: Settings  # the start
    cases: Sequence[RehearsedCase]  # by repository and time
    budgets: Sequence[int]
    seed: int = SEED
    progress: Progress = unreported
    _scores: dict[Point, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        grids = self.kind.tunable(self.settings)
        self.keys = tuple(grids)
        self.grids = tuple(tuple(grids[key]) for key in self.keys)
        self.start: Point = tuple(
            grid.index(lookup(self.settings, key)) for key, grid in zip(self.keys, self.grids, strict=True)
        )
        self._unordered = [index for index, grid in enumerate(self.grids) if isinstance(grid[0], str)]

    def fit(self) -> Fit:
        """Fits on all cases, with the price that cross-validation chooses."""
        everything = np.ones(len(self.cases), dtype=np.bool_)
        validated = {price: self._cross_validate(price) for price in PRICES}
        price = max(PRICES, key=lambda price: round(float(validated[price].mean()), 6))
        repositories = [case.repository for case in self.cases]
        gain = mean_of(validated[price].tolist(), repositories if len(set(repositories)) > 1 else None)
        point = self.start if gain.mean <= 0 else self._search(everything, price, RESTARTS)
        return Fit(self.values(point), gain, price, len(self._scores), self.seed)

    def best_so_far(self) -> tuple[float, dict[str, Any]]:
        """Returns the best point among those at which all cases were scored: its gain on them, and its changes."""
        whole = {point: float(scores.mean()) for point, scores in self._scores.items() if not np.isnan(scores).any()}
        if self.start not in whole:
            return 0.0, {}
        best = max(whole, key=lambda point: whole[point])
        return whole[best] - whole[self.start], self.values(best)

    def values(self, point: Point) -> dict[str, Any]:
        """Returns the settings that a point changes."""
        rows = zip(self.keys, self.grids, point, self.start, strict=True)
        return {key: grid[now] for key, grid, now, was in rows if now != was}

    def scores(self, point: Point, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Returns the score of each wanted case; each is computed once."""
        known = self._scores.setdefault(point, np.full(len(self.cases), np.nan))
        missing = np.flatnonzero(wanted & np.isnan(known))
        if len(missing):
            self.progress("fitting", len(self._scores), 0)
            settings = with_values(self.settings, self.values(point))
            at = [self.kind.budget.put(settings, budget) for budget in self.budgets]
            for index in missing.tolist():
                case = self.cases[index]
                ranked = ([id_ for id_, whole in case.rehearsal(under) if whole] for under in at)
                results = [figures(ids, case.judged) for ids in ranked]
                known[index] = float(np.mean([result.recall + TIE_BREAK * result.ndcg for result in results]))
        return known

    def _search(self, training: NDArray[np.bool_], price: float, restarts: int = 0) -> Point:
        def score(point: Point) -> float:
            turned = sum(now != was for now, was in zip(point, self.start, strict=True))
            return float(self.scores(point, training)[training].mean()) - price * turned

        sizes = [len(grid) for grid in self.grids]
        return best_point(
            sizes, self.start, score, np.random.RandomState(self.seed), unordered=self._unordered, restarts=restarts
        )

    def _cross_validate(self, price: float) -> NDArray[np.float64]:
        gains, fold = np.zeros(len(self.cases)), folds(len(self.cases))
        for index in range(fold.max(initial=-1) + 1):
            left_out = fold == index
            point = self._search(~left_out, price)
            gains[left_out] = (self.scores(point, left_out) - self.scores(self.start, left_out))[left_out]
        return gains


def folds(cases: int) -> Any:
    """Returns the fold of each case: neighbours together, no fold empty."""
    return np.arange(cases) * min(FOLDS, cases) // max(cases, 1)


Point = tuple[int, ...]  # the index in each dimension's values
RESTARTS = 2  # restarts beside the best point: enough to leave a ridge of two weights
SWEEPS = 6  # most rounds over all dimensions in a search
STEPS = (1, -1, 2, -2)

_MOVED_DIMENSIONS = 3  # dimensions that a restart changes


def best_point(
    sizes: Sequence[int],
    start: Point,
    score: Callable[[Point], float],
    random: np.random.RandomState,
    *,
    unordered: Sequence[int] = (),
    restarts: int = RESTARTS,
) -> Point:
    """Searches for the point with the largest score.

    Args:
        sizes: number of values of each dimension.
        score: the function to maximise.
        unordered: dimensions without an order, in which every value is tried.
        restarts: number of restarts.
    """
    best = _climb(sizes, start, score, unordered)
    for _ in range(restarts if sizes else 0):
        shaken = list(best)
        for dimension in random.choice(len(sizes), min(_MOVED_DIMENSIONS, len(sizes)), replace=False).tolist():
            shaken[dimension] = int(np.clip(shaken[dimension] + random.choice((-2, -1, 1, 2)), 0, sizes[dimension] - 1))
        candidate = _climb(sizes, tuple(shaken), score, unordered)
        best = max(best, candidate, key=score)  # the first of equals
    return best


def _climb(sizes: Sequence[int], point: Point, score: Callable[[Point], float], unordered: Sequence[int]) -> Point:
    for _ in range(SWEEPS):
        before = point
        for dimension, size in enumerate(sizes):
            here = point[dimension]
            whole = dimension in unordered or here in (0, size - 1)  # one neighbour alone says little
            others = range(size) if whole else (here + step for step in STEPS)
            allowed = [other for other in others if 0 <= other < size and other != here]
            tried = [(*point[:dimension], other, *point[dimension + 1 :]) for other in allowed]
            point = max([point, *tried], key=score)
        if point == before:
            break
        jump = tuple(
            now if dimension in unordered else min(max(2 * now - was, 0), sizes[dimension] - 1)
            for dimension, (was, now) in enumerate(zip(before, point, strict=True))
        )
        point = max(point, jump, key=score)
    return point
