"""Figures of one decision compared with judgements: recall, precision, nDCG. Pure.

    figures = figures_of(outcome, {"orders/money.py::Money.round": 3})
    figures.recall, figures.precision, figures.ndcg      # each in [0, 1]

A judgement is a grade: 0 does not answer, 3 answers fully. Only whole items count: the declaration of a function does
not show a model how it works.

Means with bootstrap intervals. Pure and deterministic: the random numbers have a fixed seed.

    mean_of(recalls)                          # resampled by case
    mean_of(recalls, groups=repositories)     # resampled by repository: allows for other repositories

Cases of one repository are alike, so an interval by case only applies to further cases of the same repositories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from secateur import Count, Outcome, Shape

METRICS = ("recall", "precision", "ndcg")  # names of the figures, in the order of reports
AT = 10  # ranks that nDCG uses: the first ones that a reader sees


Fraction = Annotated[float, Meta(ge=0, le=1)]


class Figures(Shape, frozen=True):
    """The figures of one decision."""

    recall: Annotated[
        Fraction, Meta(description="Share of the grades; an item of grade 3 counts three times one of grade 1.")
    ]
    precision: Annotated[Fraction, Meta(description="Share of the whole items in the output that are judged above 0.")]
    ndcg: Annotated[Fraction, Meta(description="nDCG@10 of the whole items in the output, with the grades as gains.")]
    judged: Annotated[Count, Meta(description="Items judged above 0.")]
    found: Annotated[Count, Meta(description="Those of them that are whole in the output.")]
    leaving: Annotated[Count, Meta(description="Items that are whole in the output.")]

    def rounded(self) -> Figures:
        """Returns the figures rounded to four decimals."""
        shares = round(self.recall, 4), round(self.precision, 4), round(self.ndcg, 4)
        return Figures(*shares, self.judged, self.found, self.leaving)


def figures_of(outcome: Outcome[Any], judged: Mapping[str, int]) -> Figures | None:
    """Measures an outcome of any kind; None if no grade is above 0. Fast enough to follow a knob. `judged`: grade by
    id, from the `[judged]` table of a scenario."""
    if not any(grade > 0 for grade in judged.values()):
        return None
    return figures([id_ for id_, whole in outcome.ledger.ranked if whole], judged)


def figures(ranked: Sequence[str], judged: Mapping[str, int]) -> Figures:
    """Measures ids that are whole in the output, best first; each id once. Raises ValueError: no grade is above 0."""
    total = sum(judged.values())
    if total <= 0:
        raise ValueError("no grade is above 0")
    grades = [judged.get(id_, 0) for id_ in ranked]
    judged_count = sum(grade > 0 for grade in grades)
    return Figures(
        recall=sum(grades) / total,
        precision=judged_count / len(grades) if grades else 0.0,
        ndcg=ndcg(grades, list(judged.values())),
        judged=sum(grade > 0 for grade in judged.values()),
        found=judged_count,
        leaving=len(grades),
    )


def ndcg(grades: Sequence[int], judged: Sequence[int], at: int = AT) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002): gain = grade, discount = log2(1 + rank).

    Args:
        grades: of a ranking, best rank first.
        judged: all grades in any order, one of them above 0. Their best order has nDCG 1.
    """
    return _gain(grades[:at]) / _gain(sorted(judged, reverse=True)[:at])


def _gain(grades: Sequence[int]) -> float:
    places = np.arange(2, len(grades) + 2, dtype=np.float64)
    return float((np.asarray(grades, dtype=np.float64) / np.log2(places)).sum())


LEVEL = 0.95  # share of the resampled means inside an interval
RESAMPLES = 2_000  # number of resamples: enough to keep the ends stable in the second decimal
SEED = 12  # Seed of the random numbers. Those of `RandomState` are the same in every version of numpy (NEP 19).
NOTHING = 1e-9  # a mean this near to 0 is 0: rounding errors of float sums
_DRAWN_AT_ONCE = 1 << 22


class Interval(Shape, frozen=True):
    """A mean with the interval that holds 95 % of the resampled means; null ends: too few things are drawn."""

    mean: float
    low: float | None
    high: float | None
    drawn: Annotated[Count, Meta(description="Cases, or repositories.")]

    @property
    def beyond_noise(self) -> bool:
        """For a difference: True if 0 is outside."""
        return self.low is not None and self.high is not None and (self.low > NOTHING or self.high < -NOTHING)

    def rounded(self) -> Interval:
        """Returns the interval rounded to four decimals."""
        low, high = (None if end is None else round(end, 4) for end in (self.low, self.high))
        return Interval(round(self.mean, 4), low, high, self.drawn)


def mean_of(values: Sequence[float], groups: Sequence[str] | None = None) -> Interval:
    """Returns the mean of some values with its percentile interval.

    Args:
        values: one per case, at least one.
        groups: the repository of each; whole repositories are then resampled, each with all of its cases.
    """
    column: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    sums: NDArray[np.float64] = column
    counts: NDArray[np.float64] = np.ones(len(column))
    if groups is not None:
        _, group_index = np.unique(np.asarray(groups), return_inverse=True)
        sums = np.bincount(group_index, weights=column).astype(np.float64)
        counts = np.bincount(group_index).astype(np.float64)
    mean, drawn = float(column.mean()), len(sums)
    if drawn < 2:
        return Interval(mean, None, None, drawn)
    random, means = np.random.RandomState(SEED), np.empty(RESAMPLES)
    step = max(1, _DRAWN_AT_ONCE // drawn)
    for first in range(0, RESAMPLES, step):
        rows = random.randint(0, drawn, (min(step, RESAMPLES - first), drawn))
        means[first : first + len(rows)] = sums[rows].sum(axis=1) / counts[rows].sum(axis=1)
    low, high = np.percentile(means, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Interval(mean, float(low), float(high), drawn)


def differences(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """Returns the gain of each case, for `mean_of`: paired differences have narrower intervals than two means."""
    return [new - old for old, new in zip(before, after, strict=True)]
