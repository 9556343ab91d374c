"""Works out the chance that a candidate is needed, which `stop = "marginal"` decides by.

    odds = ODDS · share ** SHARE_POWER · size ** SIZE_POWER / place ** PLACE_POWER,    chance = odds / (1 + odds)

`share` is the score over the best score, `place` the rank among the candidates that may go out at all, and `size` the
tokens in hundreds: of two similar candidates, a fix edits the larger one more often. The four constants were fitted on
changes of public repositories: queries, and the functions that were edited for them (docs/measured.md).
"""

from __future__ import annotations

import numpy as np

from secateur.model.columns import BoolArray, FloatArray, IntArray, falling

ODDS = 0.4
SHARE_POWER = 1.4
SIZE_POWER = 0.8
PLACE_POWER = 0.9

SIZE = 100.0
"""The tokens of a size of 1."""

SMALLEST, LARGEST = 10, 2_000
"""A smaller or larger candidate counts as one of this many tokens, because few of these were seen."""

DIGITS = 6

_MARGIN = 0.99
"""A margin for chances that are rounded up."""


def chance(share: FloatArray, place: IntArray, tokens: IntArray) -> FloatArray:
    """Returns the chance of each candidate, in [0, 1], in steps of QUANTUM.

    Args:
        share: the score over the best score, in [0, 1]; 0 without a score.
        place: the rank, from 1.
        tokens: the tokens of its own text.
    """
    size = np.clip(tokens, SMALLEST, LARGEST) / SIZE
    odds = ODDS * np.clip(share, 0.0, 1.0) ** SHARE_POWER * size**SIZE_POWER / place**PLACE_POWER
    return np.asarray(np.round(odds / (1.0 + odds), DIGITS), dtype=np.float64)


def chances(score: FloatArray, tokens: IntArray, allowed: BoolArray) -> FloatArray:
    """Returns the chance of each allowed row, by its score and its rank among the allowed rows; 0 for all others."""
    rows = falling(score)
    rows = rows[allowed[rows]]
    by_row = np.zeros(len(score))
    if len(rows) and score[rows[0]] > 0:
        by_row[rows] = chance(score[rows] / score[rows[0]], np.arange(1, len(rows) + 1), tokens[rows])
    return by_row


def least_share(least: float) -> float:
    """Returns a share of the best score. A candidate below it cannot have this chance, at any rank and size."""
    if least >= 1.0:
        return 1.0
    return min(
        1.0, _MARGIN * float((least / (1.0 - least) / (ODDS * (LARGEST / SIZE) ** SIZE_POWER)) ** (1.0 / SHARE_POWER))
    )
