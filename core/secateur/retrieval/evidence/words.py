"""Evidence from words: the query's words in short fields such as names and paths, and in the messages of commits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from secateur.index.facts.postings import Term, WordField
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray
from secateur.retrieval.query import Query

FULL_IDF = 20.0
"""Sum of idf at which words of the query in a name or a path count fully: two rare words, or four common ones."""


def match_words(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Scores each document by the idf of the query's words in it. The length of the query and its other words do not
    matter."""
    return np.asarray(np.minimum(1.0, sum_matched_idf(field, terms) / FULL_IDF), dtype=np.float64)


def sum_matched_idf(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Sums for each document the idf of the query's words in it. Of synonyms only the rarest one counts."""
    idf_sum = np.zeros(field.documents)
    for synonyms, _ in field.group_synonyms(terms):
        if len(synonyms) == 1:
            term = synonyms[0][0]
            idf_sum[field.holders(term)] += field.idf(term)
            continue
        best = np.zeros(field.documents)
        for term, _ in synonyms:
            holders = field.holders(term)
            best[holders] = np.maximum(best[holders], field.idf(term))
        idf_sum += best
    return idf_sum


def match_commits(query: Query, snapshot: Snapshot, words: WordField, most: int) -> FloatArray:
    """Scores each fragment by the best commit of its file, among the `most` commits whose messages match the query
    best. A commit of many files counts less."""
    first: npt.NDArray[np.int64] = snapshot.arrays["commits.first"]
    file: npt.NDArray[np.int32] = snapshot.arrays["commits.file"]
    score = words.score(query.terms)
    best = np.lexsort((np.arange(len(score)), -score))[:most]
    of_files = np.zeros(len(snapshot.paths))
    for commit in best[score[best] > 0].tolist():
        files = file[first[commit] : first[commit + 1]]
        of_files[files] = np.maximum(of_files[files], score[commit] / np.sqrt(len(files)))
    return of_files[snapshot.file]
