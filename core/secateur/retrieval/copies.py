"""Tells which of the best rows copy another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.model import BoolArray, FloatArray

COMPARED = 500
"""Best fragments among which copies are looked for: more than a budget keeps."""

SAME_SIZE = 0.05


def copies_among(
    score: FloatArray, depth: npt.NDArray[Any], tokens: FloatArray, vectors: npt.NDArray[np.int8], *, least: float
) -> BoolArray:
    """Tells which rows are nearly the same text as one with a better score, or with the same that is nearer to the
    root, or comes before it: the cosine of the vectors is `least` or more, and sizes are within a twentieth.

    `depth`: folders above a row's file.
    """
    order = np.lexsort((np.arange(len(score)), depth, -score))
    rows = vectors[order].astype(np.float32)  # sums of products stay below 2 ** 24: exact in any order
    length = np.sqrt((rows * rows).sum(axis=1).astype(np.float64))
    tokens = tokens[order]
    alike = (rows @ rows.T).astype(np.float64) >= least * np.outer(length, length)
    alike &= np.abs(np.subtract.outer(tokens, tokens)) <= SAME_SIZE * np.maximum.outer(tokens, tokens)
    alike &= (length > 0)[:, None]
    found = np.zeros(len(score), dtype=np.bool_)
    found[order[np.tril(alike, -1).any(axis=1)]] = True
    return found
