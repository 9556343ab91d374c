"""BM25 over terms, as an inverted index that can be edited.

The index stores counts, so that an edited file changes few numbers. Scores depend on the number of documents, their
mean length, and the number of documents that hold a term; they are worked out for the terms of a query when it is
asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.lexical import Hashes, TermBag
from secateur.model import FloatArray, distinct

# BM25's k1 (saturation of repeated words) and b (how much length counts). b is below the usual 0.75 because fragments
# are short, and their length says less than that of a document.
K1 = 1.2
B = 0.6

_COLUMNS = ("terms", "start", "document", "count", "length")

Positions = npt.NDArray[np.int64]

Term = tuple[int, float]  # (hash of a term, its weight)


@dataclass(frozen=True, eq=False)
class Postings:
    """Documents by term in CSR arrays. Term i is in the documents `document[start[i]:start[i+1]]`, ascending, `count`
    times each (at most 255)."""

    terms: Hashes  # sorted
    start: Positions
    document: npt.NDArray[np.int32]
    count: npt.NDArray[np.uint8]
    length: npt.NDArray[np.int64]  # per document: the sum of its counts

    @classmethod
    def build(cls, bag: TermBag) -> Postings:
        """Inverts a bag. Takes linear time, and one sort of the entries."""
        owner = np.repeat(np.arange(len(bag), dtype=np.int32), np.diff(bag.start))
        order = np.argsort(bag.hashes, kind="stable")
        hashes = bag.hashes[order]
        first = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]])[: len(hashes)])
        start = np.append(first, len(hashes)).astype(np.int64)
        sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(bag.counts, dtype=np.int64)])
        return cls(hashes[first], start, owner[order], bag.counts[order], np.diff(sums[bag.start]))

    @property
    def documents(self) -> int:
        return len(self.length)

    def frequency(self, term: int) -> int:
        """Counts the documents that hold the term."""
        begin, end = self.span(term)
        return end - begin

    def holders(self, term: int) -> npt.NDArray[np.int32]:
        """Returns the documents that hold the term, ascending."""
        begin, end = self.span(term)
        return self.document[begin:end]

    def count_synonyms(self, same: Sequence[Term]) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """Returns the documents that hold one of several synonyms, ascending, and how often each holds them. A synonym
        with less weight than the best one counts a fraction of a time."""
        spans = [self.span(term) for term, _ in same]
        if len(same) == 1:
            begin, end = spans[0]
            return self.document[begin:end], self.count[begin:end].astype(np.float64)
        most = max(weight for _, weight in same)
        documents, _, position = distinct(np.concatenate([self.document[begin:end] for begin, end in spans]))
        times = [self.count[begin:end] * (weight / most) for (begin, end), (_, weight) in zip(spans, same, strict=True)]
        counts = np.bincount(position, weights=np.concatenate(times), minlength=len(documents))
        return documents, counts.astype(np.float64)

    @cached_property
    def weights(self) -> FloatArray:
        """The sum of the idf of each document's terms."""
        frequency = np.diff(self.start)
        spread = np.repeat(np.round(np.log(1 + (self.documents - frequency + 0.5) / (frequency + 0.5)), 6), frequency)
        return np.bincount(self.document, weights=spread, minlength=self.documents).astype(np.float64)

    @cached_property
    def total(self) -> int:
        """The sum of the lengths of all documents."""
        return int(self.length.sum())

    def norm(self, mean: float, length_share: float = B) -> FloatArray:
        """Returns BM25's length norm of each document, for a mean length. The last result is kept."""
        kept: tuple[tuple[float, float], FloatArray] | None = vars(self).get("_norm")
        if kept is None or kept[0] != (mean, length_share):
            norm = K1 * (1 - length_share + length_share * self.length / mean)
            kept = vars(self)["_norm"] = (mean, length_share), np.asarray(norm, dtype=np.float64)
        return kept[1]

    def span(self, term: int) -> tuple[int, int]:
        """Returns the range of `document` and `count` that belongs to a term; empty if no document holds it."""
        at = int(np.searchsorted(self.terms, np.uint64(term)))
        if at >= len(self.terms) or int(self.terms[at]) != term:
            return 0, 0
        return int(self.start[at]), int(self.start[at + 1])

    # --- editing -----------------------------------------------------------------------------------------------------

    def edit(self, moved: npt.NDArray[np.int32], bag: TermBag, numbers: npt.NDArray[np.int32]) -> Postings:
        """Makes the postings that `build` would make after an edit, without sorting the unchanged documents.

        Args:
            moved: the new number of each document; -1 for a removed document. The others keep their order.
            bag: the new documents.
            numbers: the numbers of the new documents, ascending.
        """
        new = Postings.build(bag)
        stay = moved >= 0
        length = np.zeros(int(stay.sum()) + len(numbers), dtype=np.int64)
        length[moved[stay]] = self.length[stay]
        length[numbers] = new.length

        # drop the removed documents; `start` moves by the entries that are gone before it
        document = self.document if (moved == np.arange(len(moved))).all() else moved[self.document]
        gone = np.flatnonzero(document < 0)
        count = self.count
        if len(gone):
            document, count = np.delete(document, gone), np.delete(count, gone)
        start = self.start - np.searchsorted(gone, self.start)

        # add the counts of the new documents to known terms, and put new terms where they belong
        near = np.searchsorted(self.terms, new.terms)
        known = np.zeros(len(near), dtype=np.bool_)
        inside = near < len(self.terms)
        known[inside] = self.terms[near[inside]] == new.terms[inside]
        sizes = np.diff(new.start)
        frequency = np.diff(start)
        frequency[near[known]] += sizes[known]
        frequency = np.insert(frequency, near[~known], sizes[~known])
        terms = np.insert(self.terms, near[~known], new.terms[~known])[frequency > 0]

        # insert each new document at its place among the documents of its term, which ascend
        arriving = numbers[new.document]
        at = _lower_bound(document, np.repeat(start[near], sizes), np.repeat(start[near + known], sizes), arriving)
        document, count = np.insert(document, at, arriving), np.insert(count, at, new.count)
        return Postings(
            terms, np.concatenate([[0], np.cumsum(frequency[frequency > 0])]).astype(np.int64), document, count, length
        )

    def to_arrays(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Returns named arrays for the snapshot."""
        return {f"{prefix}.{name}": getattr(self, name) for name in _COLUMNS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Postings:
        """The inverse of `to_arrays`."""
        return cls(*(arrays[f"{prefix}.{name}"] for name in _COLUMNS))


class WordField:
    """The words of documents, and how rare they are.

    Args:
        synonyms: sets of terms that stand for the same word. Scores treat each set as one term, which occurs wherever
            one of its members does, so three translations of a word do not make it more important. A term of several
            sets belongs to the first.
    """

    def __init__(self, postings: Postings, synonyms: Sequence[frozenset[int]] = ()) -> None:
        self.postings = postings
        # each set with the number of documents that hold one of its terms
        self._synonyms = [
            (same, len(postings.count_synonyms([(term, 1.0) for term in sorted(same)])[0])) for same in synonyms
        ]

    def idf(self, term: int) -> float:
        """ln(1 + (N - df + 0.5) / (df + 0.5)), rounded so that it does not depend on a processor's logarithm."""
        return self._idf(self.postings.frequency(term))

    def _idf(self, df: int) -> float:
        return round(float(np.log(1 + (self.postings.documents - df + 0.5) / (df + 0.5))), 6)

    def group_synonyms(self, terms: Sequence[Term]) -> list[tuple[list[Term], float]]:
        """Groups synonyms, leaves every other term alone, and returns the groups with their idf."""
        sets = self._synonyms
        set_of = {term: set_index for set_index, (same, _) in reversed(list(enumerate(sets))) for term in same}
        groups: dict[tuple[bool, int], list[Term]] = {}
        for position, (term, weight) in enumerate(terms):
            groups.setdefault((True, set_of[term]) if term in set_of else (False, position), []).append((term, weight))
        return [
            (same, self._idf(sets[set_index][1]) if is_set else self.idf(same[0][0]))
            for (is_set, set_index), same in groups.items()
        ]

    def score(self, terms: Sequence[Term], length_share: float = B) -> FloatArray:
        """Returns each document's weighted BM25 sum over `terms` (hash, weight), divided by the largest possible sum: a
        number in [0, 1).

        Terms that occur nowhere count in the divisor with their full idf, so a query about something else scores low.
        `length_share` is BM25's b: how much the length of a document counts.
        """
        own = self.postings
        mean = max(own.total / own.documents, 1.0) if own.documents else 1.0
        norm, total, limit = own.norm(mean, length_share), np.zeros(own.documents), 0.0
        for same, idf in self.group_synonyms(terms):
            document, count = own.count_synonyms(same)
            factor = max(weight for _, weight in same) * idf
            limit += factor
            if len(document):
                total[document] += factor * (count / (count + norm[document])).astype(np.float32)
        return total / limit if limit > 0 else total


def _lower_bound(
    values: npt.NDArray[np.int32], low: Positions, high: Positions, wanted: npt.NDArray[np.int32]
) -> Positions:
    """Finds, for each row, the first position in [low, high) whose value is not below `wanted`; `high` if all are
    below. Values ascend within each range."""
    low, high = low.copy(), high.copy()
    while (rows := np.flatnonzero(low < high)).size:
        middle = (low[rows] + high[rows]) // 2
        below = values[middle] < wanted[rows]
        low[rows[below]] = middle[below] + 1
        high[rows[~below]] = middle[~below]
    return low
