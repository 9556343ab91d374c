"""Priority: a weighted sum whose terms can be printed (REQ-SP-002).

    priority = w_r * relevance + w_h * hotspot + w_d / distance  (+ w_p * preference)

Inputs are clamped, a NaN is an error, an unreached candidate has a distance term of 0 (specs README, point 6).
"""

from __future__ import annotations

import math

import numpy as np

from secateur.errors import UsageError
from secateur.model import QUANTUM, UNREACHABLE, FloatArray, Pool
from secateur.settings import Settings

DEFAULT_WEIGHTS = (0.4, 0.3, 0.3)


def priority(
    relevance: float | None,
    hotspot: float | None = 0.0,
    distance: float | None = 1,
    weights: tuple[float, float, float] = DEFAULT_WEIGHTS,
) -> float:
    """Priority of one fragment (REQ-SP-002, SC-SP-002).

    Args:
        relevance: clamped to [0, 1]; None counts as 0.
        hotspot: clamped to [0, 1]; None counts as 0.
        distance: steps from the query, 1 = anchor; None or below 1 counts as 1.
        weights: of relevance, hotspot and 1 / distance.

    Raises:
        UsageError: an input or a weight is NaN.

    >>> round(priority(0.7, 0.5, 2), 6)
    0.58
    """
    relevance, hotspot = (0.0 if x is None else x for x in (relevance, hotspot))
    distance = 1.0 if distance is None else distance
    for name, value in (("relevance", relevance), ("hotspot", hotspot), ("distance", distance), ("weight", sum(weights))):
        if math.isnan(value):
            raise UsageError(f"{name} is not a number", hint="pass a value in [0, 1], or leave it out")
    w_relevance, w_hotspot, w_distance = weights
    return w_relevance * _unit(relevance) + w_hotspot * _unit(hotspot) + w_distance / max(1.0, distance)


def terms_of(pool: Pool, settings: Settings) -> dict[str, FloatArray]:
    """The terms of every row, each quantised, so that their sum is the priority to the digit that is printed."""
    weights = settings.smart_pruning.priority_weights
    limit = settings.graph_rag.max_depth + 1
    distance = np.where(pool.distance > limit, UNREACHABLE, pool.distance)
    inverse = np.divide(1.0, distance, out=np.zeros(len(pool)), where=distance > 0)
    terms = {
        "relevance": _quantised(weights.relevance * pool.relevance),
        "hotspot": _quantised(weights.hotspot * pool.hotspot),
        "distance": _quantised(weights.distance * inverse),
    }
    if settings.preference.enabled:
        terms["preference"] = _quantised(settings.preference.weight * pool.preference)
    if settings.boosts:
        base = _quantised(np.sum(list(terms.values()), axis=0))
        factor = np.array([settings.boosts.get(symbol, 1.0) for symbol in pool.symbol_id], dtype=np.float64)
        terms["boost"] = _quantised(base * (factor - 1.0))
    return terms


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def _quantised(column: FloatArray) -> FloatArray:
    return np.round(column / QUANTUM) * QUANTUM
