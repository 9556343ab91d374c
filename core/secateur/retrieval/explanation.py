"""Finds what would change each decision of a report, proven by deciding again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from secateur.errors import UsageError
from secateur.model import Pool, Selection
from secateur.render import with_proofs
from secateur.selection.select import select
from secateur.selection.whatif import SIGNALS, WeightRuns, flip, unchanged_range
from secateur.settings import Settings

LOSES_LISTED = 10
"""Ids of what a budget would cost that are listed; the others are counted."""


def explained(report: dict[str, Any], selection: Selection, settings: Settings) -> dict[str, Any]:
    """The JSON of a search with `what_if` on each item that it lists, and `ranges`, the weights between which no
    decision changes.

    Raises:
        UsageError: the selection was decided with other settings.
    """
    pool = selection.pool
    if not np.array_equal(select(pool, settings).state, selection.state):
        raise UsageError(
            "the selection was decided with other settings", hint="pass the settings that it was decided with"
        )
    runs = WeightRuns(pool, settings)
    listed = [item["symbol_id"] for name in ("candidates", "dropped") for item in report[name]]
    proven = {symbol: _what_if(pool, settings, pool.row_of[symbol], runs) for symbol in listed}
    return with_proofs(report, proven, {signal: unchanged_range(pool, settings, signal, runs) for signal in SIGNALS})


def _what_if(pool: Pool, settings: Settings, row: int, runs: WeightRuns) -> dict[str, Any] | None:
    turned = flip(pool, settings, row, runs)
    if turned is None:
        return None
    lost = _best_first(pool, (other for other in turned.budget.lost if other != row)) if turned.budget else []
    out = {
        "budget": turned.budget.budget if turned.budget else None,
        "weights": turned.weights,
        "loses": lost[:LOSES_LISTED],
    }
    return out | ({"loses_more": len(lost) - LOSES_LISTED} if len(lost) > LOSES_LISTED else {})


def _best_first(pool: Pool, rows: Iterable[int]) -> list[str]:
    """Symbol ids in the pool's own order, higher relevance first."""
    return [pool.symbol_id[row] for row in sorted(rows)]
