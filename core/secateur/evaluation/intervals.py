"""Means with bootstrap intervals. Pure and deterministic: the random numbers have a fixed seed.

    mean_of(recalls)                          # resampled by case
    mean_of(recalls, groups=repositories)     # resampled by repository: what another repository may bring

Cases of one repository are alike, so an interval by case speaks of further cases of the same repositories only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta

from secateur.model import FloatArray
from secateur.shape import Count, Shape

LEVEL = 0.95
"""Share of the resampled means that an interval holds."""

RESAMPLES = 2_000
"""Times that the cases are drawn anew: enough that the ends stand still in the second decimal."""

SEED = 12
"""Of the random numbers. Those of `RandomState` are the same in every version of numpy (NEP 19)."""

NOTHING = 1e-9
"""A mean as near to 0 as this is 0: what is left of sums of floats."""

_DRAWN_AT_ONCE = 1 << 22


class Interval(Shape, frozen=True):
    """A mean with the interval that holds 95 % of the resampled means; null ends: too few things are drawn."""

    mean: float
    low: float | None
    high: float | None
    drawn: Annotated[Count, Meta(description="Cases, or repositories.")]

    @property
    def beyond_noise(self) -> bool:
        """Of a difference: whether 0 lies outside."""
        return self.low is not None and self.high is not None and (self.low > NOTHING or self.high < -NOTHING)

    def rounded(self) -> Interval:
        """The same to four decimals."""
        low, high = (None if end is None else round(end, 4) for end in (self.low, self.high))
        return Interval(round(self.mean, 4), low, high, self.drawn)


def mean_of(values: Sequence[float], groups: Sequence[str] | None = None) -> Interval:
    """The mean of some values with its percentile interval.

    Args:
        values: one a case, at least one.
        groups: the repository of each; whole repositories are drawn then, each with all of its cases.
    """
    column: FloatArray = np.asarray(values, dtype=np.float64)
    sums: FloatArray = column
    counts: FloatArray = np.ones(len(column))
    if groups is not None:
        _, number = np.unique(np.asarray(groups), return_inverse=True)
        sums = np.bincount(number, weights=column).astype(np.float64)
        counts = np.bincount(number).astype(np.float64)
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
    """The gain of each case, for `mean_of`: paired differences have narrower intervals than two means."""
    return [new - old for old, new in zip(before, after, strict=True)]
