"""Evidence from names: how much of a fragment's name, or of its file's, the words of the query spell out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from secateur.index.facts.postings import Term, WordField
from secateur.model import FloatArray

NAMED_BY = 20.0
"""Sum of idf at which words of the query in a name or a path say all they can: two rare words, or four common ones."""


def held_words(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Per document how much its few words are words of the query, rare ones more; however long the query is, and
    whatever else it says. Of synonyms the rarest that it holds counts."""
    return np.asarray(np.minimum(1.0, _held(field, terms) / NAMED_BY), dtype=np.float64)


def spelled_names(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Like `held_words`, times the share of the name that these words are: a long name of which a long text happens to
    hold some common words is not spelled out."""
    held = _held(field, terms)
    share = held / np.maximum(field.weights, 1e-9)
    return np.asarray(np.minimum(1.0, held / NAMED_BY) * np.minimum(1.0, share), dtype=np.float64)


def _held(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Per document the idf of the words that it holds."""
    held = np.zeros(field.documents)
    for same, _ in field.by_meaning(terms):
        if len(same) == 1:
            held[field.holders(same[0][0])] += field.idf(same[0][0])
            continue
        best = np.zeros(field.documents)
        for term, _ in same:
            holders = field.holders(term)
            best[holders] = np.maximum(best[holders], field.idf(term))
        held += best
    return held
