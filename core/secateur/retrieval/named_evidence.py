"""Evidence from names: how much of a fragment's name, or of its file's, the words of the query spell out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from secateur.index.facts.postings import WordField
from secateur.model import FloatArray

NAMED_BY = 20.0
"""Sum of idf at which words of the query in a name or a path say all they can: two rare words, or four common ones."""


def held_words(field: WordField, terms: Sequence[tuple[int, float]]) -> FloatArray:
    """Per document how much its few words are words of the query, rare ones more; however long the query is, and
    whatever else it says."""
    held = np.zeros(field.documents)
    for term, _ in terms:
        held[field.holders(term)] += field.idf(term)
    return np.minimum(1.0, held / NAMED_BY)


def spelled_names(field: WordField, terms: Sequence[tuple[int, float]]) -> FloatArray:
    """Like `held_words`, times the share of the name that these words are: a long name of which a long text happens to
    hold some common words is not spelled out."""
    held = np.zeros(field.documents)
    for term, _ in terms:
        held[field.holders(term)] += field.idf(term)
    share = held / np.maximum(field.weights, 1e-9)
    return np.asarray(np.minimum(1.0, held / NAMED_BY) * np.minimum(1.0, share), dtype=np.float64)
