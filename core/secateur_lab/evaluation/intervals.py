"""Means with bootstrap intervals. Pure and deterministic: the random numbers have a fixed seed.

    mean_of(recalls)                          # resampled by case
    mean_of(recalls, groups=repositories)     # resampled by repository: allows for other repositories

Cases of one repository are alike, so an interval by case only applies to further cases of the same repositories.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from secateur import Count, Shape

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
