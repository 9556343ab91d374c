"""Pattern search on a grid: one coordinate after the other, a jump along what helped, and restarts. Pure and seeded.

    best_point(sizes=(5, 3), start=(2, 0), score=value_at, random=np.random.RandomState(12))

(Hooke and Jeeves 1961.) The start is never left for a point that is only as good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Point = tuple[int, ...]
"""The place in each dimension's values."""

RESTARTS = 2
"""Times that the search begins again beside the best point: enough to leave a ridge of two weights."""

SWEEPS = 6
"""Rounds over all dimensions in which a search has to end."""

STEPS = (1, -1, 2, -2)

_SHAKEN = 3
"""Dimensions that a restart moves."""


def best_point(
    sizes: Sequence[int],
    start: Point,
    score: Callable[[Point], float],
    random: np.random.RandomState,
    *,
    unordered: Sequence[int] = (),
    restarts: int = RESTARTS,
) -> Point:
    """The best point found.

    Args:
        sizes: number of values of each dimension.
        score: what is to be large.
        unordered: dimensions of which every value is tried, because none lies between two others.
        restarts: how often it begins again.
    """
    best = _climbed(sizes, start, score, unordered)
    for _ in range(restarts if sizes else 0):
        shaken = list(best)
        for place in random.choice(len(sizes), min(_SHAKEN, len(sizes)), replace=False).tolist():
            shaken[place] = int(np.clip(shaken[place] + random.choice((-2, -1, 1, 2)), 0, sizes[place] - 1))
        found = _climbed(sizes, tuple(shaken), score, unordered)
        best = max(best, found, key=score)  # the first of equals
    return best


def _climbed(sizes: Sequence[int], point: Point, score: Callable[[Point], float], unordered: Sequence[int]) -> Point:
    for _ in range(SWEEPS):
        before = point
        for place, size in enumerate(sizes):
            here = point[place]
            whole = place in unordered or here in (0, size - 1)  # at an end one neighbour says little of the line
            others = range(size) if whole else (here + step for step in STEPS)
            tried = [_with(point, place, other) for other in others if 0 <= other < size and other != here]
            point = max([point, *tried], key=score)
        if point == before:
            break
        jump = tuple(
            now if place in unordered else min(max(2 * now - was, 0), sizes[place] - 1)
            for place, (was, now) in enumerate(zip(before, point, strict=True))
        )
        point = max(point, jump, key=score)
    return point


def _with(point: Point, place: int, value: int) -> Point:
    return (*point[:place], value, *point[place + 1 :])
