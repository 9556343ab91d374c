"""The chance that a candidate is needed: what `stop = "marginal"` decides by.

    odds = ODDS · share ** SHARE_POWER · size ** SIZE_POWER / place ** PLACE_POWER,    chance = odds / (1 + odds)

`share` is its score as a share of the best one's, `place` its place among the candidates that may leave at all, `size`
its tokens in hundreds: of two candidates that look alike, a fix edits the larger one more often. The four numbers were
fitted on changes of public repositories: queries, and the functions that were edited for them (docs/measured.md).
"""

from __future__ import annotations

import numpy as np

from secateur.model.columns import BoolArray, FloatArray, IntArray, falling

ODDS = 0.4
SHARE_POWER = 1.4
SIZE_POWER = 0.8
PLACE_POWER = 0.9

SIZE = 100.0
"""Tokens that are a size of 1."""

SMALLEST, LARGEST = 10, 2_000
"""Tokens beyond which a smaller or larger candidate counts as this one: few were seen."""

DIGITS = 6

_MARGIN = 0.99
"""For chances that are rounded up."""


def chance(share: FloatArray, place: IntArray, tokens: IntArray) -> FloatArray:
    """The chance of each candidate, in [0, 1], in steps of QUANTUM.

    Args:
        share: score over the best score, in [0, 1]; 0 where there is none.
        place: from 1.
        tokens: of its own text.
    """
    size = np.clip(tokens, SMALLEST, LARGEST) / SIZE
    odds = ODDS * np.clip(share, 0.0, 1.0) ** SHARE_POWER * size**SIZE_POWER / place**PLACE_POWER
    return np.asarray(np.round(odds / (1.0 + odds), DIGITS), dtype=np.float64)


def chances(score: FloatArray, tokens: IntArray, allowed: BoolArray) -> FloatArray:
    """The chance per row, by the scores of those that may leave at all; 0 of the others."""
    rows = falling(score)
    rows = rows[allowed[rows]]
    out = np.zeros(len(score))
    if len(rows) and score[rows[0]] > 0:
        out[rows] = chance(score[rows] / score[rows[0]], np.arange(1, len(rows) + 1), tokens[rows])
    return out


def least_share(least: float) -> float:
    """A share of the best score below which no candidate, whatever its place and its size, has this chance."""
    if least >= 1.0:
        return 1.0
    return min(
        1.0, _MARGIN * float((least / (1.0 - least) / (ODDS * (LARGEST / SIZE) ** SIZE_POWER)) ** (1.0 / SHARE_POWER))
    )
