"""The chance that a candidate is needed: what `stop = "marginal"` decides by.

    odds = ODDS · share ** SHARE_POWER / place ** PLACE_POWER,    chance = odds / (1 + odds)

`share` is its score as a share of the best one's, `place` its place among the candidates that may leave at all. Both
fall from candidate to candidate, and the chance with them: where it falls below a threshold, a list ends. The three
numbers were fitted on changes of public repositories: queries, and the functions that were edited for them
(docs/measured.md).
"""

from __future__ import annotations

import numpy as np

from secateur.model.columns import FloatArray, IntArray

ODDS = 0.6
SHARE_POWER = 2.6
PLACE_POWER = 1.0

DIGITS = 6

_MARGIN = 0.99
"""For chances that are rounded up."""


def chance(share: FloatArray, place: IntArray) -> FloatArray:
    """The chance of each candidate, in [0, 1], in steps of QUANTUM.

    Args:
        share: score over the best score, in [0, 1]; 0 where there is none.
        place: from 1.
    """
    odds = ODDS * np.clip(share, 0.0, 1.0) ** SHARE_POWER / place**PLACE_POWER
    return np.asarray(np.round(odds / (1.0 + odds), DIGITS), dtype=np.float64)


def least_share(least: float) -> float:
    """A share of the best score below which no candidate, whatever its place, has this chance."""
    if least >= 1.0:
        return 1.0
    return min(1.0, _MARGIN * float((least / (1.0 - least) / ODDS) ** (1.0 / SHARE_POWER)))
