"""Works out priority, a weighted sum whose terms can be printed (REQ-SP-002).

    priority = w_r * relevance + w_h * hotspot + w_d / distance  (+ w_p * preference)

`priority` clamps its inputs; the signals of a pool are in range already. A NaN is an error. A candidate that no search
reached has a distance term of 0 (REQ-GRAG-002).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np

from secateur.errors import UsageError
from secateur.model import QUANTUM, FloatArray, Pool, add_columns
from secateur.settings import Settings

DEFAULT_WEIGHTS = (0.4, 0.3, 0.3)

# The bend of the curve that turns evidence into relevance. No fragment has all possible evidence, and a fifth of it is
# already a good match (0.6).
HALF = 0.2

# The number of QUANTUM in 1: an integer, so that dividing by it gives the float nearest to a decimal.
QUANTA = round(1 / QUANTUM)


def priority(
    relevance: float | None,
    hotspot: float | None = 0.0,
    distance: float | None = 1,
    weights: tuple[float, float, float] = DEFAULT_WEIGHTS,
) -> float:
    """Works out the priority of one fragment (REQ-SP-002, SC-SP-002), rounded to 1e-6.

    Args:
        relevance: clamped to [0, 1]; None counts as 0.
        hotspot: clamped to [0, 1]; None counts as 0.
        distance: steps from the query, 1 = anchor; None or below 1 counts as 1.
        weights: the weights of relevance, hotspot and 1 / distance.

    Raises:
        UsageError: an input is NaN, or a weight is not finite.

    >>> priority(0.7, 0.5, 2)
    0.58
    """
    relevance, hotspot = (0.0 if x is None else x for x in (relevance, hotspot))
    distance = 1.0 if distance is None else distance
    for name, value in (("relevance", relevance), ("hotspot", hotspot), ("distance", distance)):
        if math.isnan(value):
            raise UsageError(f"{name} is not a number", hint="pass a value in [0, 1], or leave it out")
    if not all(math.isfinite(weight) for weight in weights):
        raise UsageError(f"weights are {weights}", hint="pass three finite numbers")
    w_relevance, w_hotspot, w_distance = weights
    return round(w_relevance * _unit(relevance) + w_hotspot * _unit(hotspot) + w_distance / max(1.0, distance), 6)


def terms_of(pool: Pool, settings: Settings) -> dict[str, FloatArray]:
    """Returns the quantised terms of every row. Their sum is the priority, exactly as printed.

    A boost is a term too: the amount that its factor adds to the other terms or takes away.
    """
    weights = settings.smart_pruning.priority_weights
    limit = settings.graph_rag.max_depth + 1
    per_distance = np.zeros(limit + 2)  # UNREACHABLE and all beyond the limit stay 0
    per_distance[1 : limit + 1] = quantised(weights.distance / np.arange(1, limit + 1))
    terms = {
        "relevance": _weighted(pool, "relevance", weights.relevance),
        "hotspot": _weighted(pool, "hotspot", weights.hotspot),
        "distance": per_distance[np.minimum(pool.distance, limit + 1)],
    }
    if settings.preference.enabled:
        terms["preference"] = quantised(settings.preference.weight * pool.preference)
    if settings.boosts:
        base, boost = quantised(sum(terms.values(), start=np.zeros(len(pool)))), np.zeros(len(pool))
        for symbol, factor in settings.boosts.items():
            if (row := pool.row_of.get(symbol)) is not None:
                boost[row] = base[row] * (factor - 1.0)
        terms["boost"] = quantised(boost)
    return terms


_weighted_signals: WeakKeyDictionary[Pool, dict[str, tuple[float, FloatArray]]] = WeakKeyDictionary()


def _weighted(pool: Pool, signal: str, weight: float) -> FloatArray:
    """Returns the quantised term of a signal. The last one is kept, because a step of a knob changes one weight."""
    known = _weighted_signals.setdefault(pool, {})
    if (kept := known.get(signal)) is None or kept[0] != weight:
        kept = known[signal] = weight, quantised(weight * getattr(pool, signal))
    return kept[1]


def total_of(terms: Mapping[str, FloatArray]) -> FloatArray:
    """Returns the priority of every row: the quantised sum of its terms."""
    return quantised(add_columns([*terms.values()]))


def quantised(column: FloatArray) -> FloatArray:
    """Rounds to multiples of QUANTUM, each as the float that prints as such: 0.474337, never 0.47433699999999995."""
    steps = column / QUANTUM
    np.rint(steps, out=steps)
    steps /= QUANTA
    return steps


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
