"""Pattern search on a grid: one coordinate after the other, a jump in the good direction, and restarts. Pure, seeded.

    best_point(sizes=(5, 3), start=(2, 0), score=value_at, random=np.random.RandomState(12))

(Hooke and Jeeves 1961.) The start is kept unless another point is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Point = tuple[int, ...]
"""The index in each dimension's values."""

RESTARTS = 2
"""Restarts beside the best point: enough to leave a ridge of two weights."""

SWEEPS = 6
"""Most rounds over all dimensions in a search."""

STEPS = (1, -1, 2, -2)

_MOVED_DIMENSIONS = 3
"""Dimensions that a restart changes."""


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
            tried = [_replace_value(point, dimension, other) for other in others if 0 <= other < size and other != here]
            point = max([point, *tried], key=score)
        if point == before:
            break
        jump = tuple(
            now if dimension in unordered else min(max(2 * now - was, 0), sizes[dimension] - 1)
            for dimension, (was, now) in enumerate(zip(before, point, strict=True))
        )
        point = max(point, jump, key=score)
    return point


def _replace_value(point: Point, dimension: int, value: int) -> Point:
    return (*point[:dimension], value, *point[dimension + 1 :])
