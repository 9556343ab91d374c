"""Decides a retrieved pool under other weights of the priority, without retrieving again; `tune` searches with it.

ranked = rehearsal_of(pool)
ranked(other_settings)       # (id, whether it is kept whole) of what goes out, the best first
"""

from __future__ import annotations

from collections.abc import Sequence

from secateur.kinds.environment import Rehearsal
from secateur.model import Pool, State
from secateur.selection import select
from secateur.settings import Settings, keys

# Weights of hotspot and distance to try, if relevance has 1.
_BONUSES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
_MOST = 10.0


def tunable(settings: Settings) -> dict[str, Sequence[float | str]]:
    """Returns the settings that a retrieved pool can be decided under, each with the values to try, among them its
    present value.

    The share for declarations is missing: judged candidates count only if kept whole, which does not measure it.
    """
    weights = settings.smart_pruning.priority_weights
    scale = weights.relevance or 1.0
    values: dict[str, Sequence[float | str]] = {}
    for name in ("hotspot", "distance"):
        tried = {round(min(_MOST, scale * factor), 3) for factor in _BONUSES} | {getattr(weights, name)}
        values[f"smart_pruning.priority_weights.{name}"] = tuple(sorted(tried))
    values["smart_pruning.strategy"] = keys()["smart_pruning.strategy"].choices
    return values


def rehearsal_of(pool: Pool) -> Rehearsal:
    """Returns the decision on a pool as a function of the settings."""

    def ranked(settings: Settings) -> Sequence[tuple[str, bool]]:
        selection = select(pool, settings)
        state = selection.state.tolist()
        rows = (row for row in selection.order.tolist() if state[row] != State.DROPPED)
        return [(pool.symbol_id[row], state[row] == State.KEPT) for row in rows]

    return ranked
