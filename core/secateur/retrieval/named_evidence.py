"""Evidence from names: how much of a fragment's name, or of its file's, the words of the query spell out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from secateur.index.facts.lexical import STOP_WORDS, hash_of, word_terms, words
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray
from secateur.retrieval.query import Query

NAMED_BY = 20.0
"""Sum of idf at which words of the query in a name or a path say all they can: two rare words, or four common ones."""

SHORTEST_STEM = 3
"""Letters of a file's name below which it is no word of a title."""

COMMON_STEMS = frozenset({"index", "main", "mod", "lib", "init", "__init__", "__main__", "utils", "util", "test"})
"""Names of files that say nothing of what is in them."""


def held_words(postings: Postings, terms: Sequence[tuple[int, float]]) -> FloatArray:
    """Per document how much its few words are words of the query, rare ones more; however long the query is, and
    whatever else it says."""
    held = np.zeros(postings.documents)
    for term, _ in terms:
        held[postings.holders(term)] += postings.idf(term)
    return np.minimum(1.0, held / NAMED_BY)


def spelled_names(postings: Postings, terms: Sequence[tuple[int, float]]) -> FloatArray:
    """Like `held_words`, times the share of the name that these words are: a long name of which a long text happens to
    hold some common words is not spelled out. Words of pasted code count as little as they do elsewhere."""
    held, told = np.zeros(postings.documents), np.zeros(postings.documents)
    for term, weight in terms:
        holders, idf = postings.holders(term), postings.idf(term)
        held[holders] += idf
        told[holders] += idf * min(1.0, weight)
    share = held / np.maximum(postings.weights, 1e-9)
    return np.asarray(np.minimum(1.0, told / NAMED_BY) * np.minimum(1.0, share), dtype=np.float64)


def file_stems(query: Query, snapshot: Snapshot) -> FloatArray:
    """Per file whether its name without ending is a word of the query's title, less for a name of many files."""
    column = np.zeros(len(snapshot.paths))
    told = [word for word in words(query.title) if word.lower() not in STOP_WORDS]
    wanted = {term for word in told for term in word_terms(word)} - COMMON_STEMS
    if not wanted:
        return column
    holders: dict[str, list[int]] = {}
    for term in wanted:
        for file in snapshot.path_words.holders(hash_of(term)).tolist():
            stem = snapshot.paths[file].rpartition("/")[2].partition(".")[0]
            if len(stem) >= SHORTEST_STEM and (terms := word_terms(stem)) and terms[0] in wanted:
                holders.setdefault(terms[0], []).append(file)
    for files in holders.values():
        column[files] = np.maximum(column[files], round(1 / (1 + np.log2(len(files))), 6))
    return column
