"""BM25 over terms as an inverted index that can be edited: what is stored are counts, not scores, so that one edited
file moves few numbers.

Scores depend on how many documents there are, how long they are on average, and how many hold a term. They are worked
out for the terms of a query alone, when it is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.lexical import Hashes, TermBag
from secateur.model import FloatArray, IntArray, distinct

K1 = 1.2
B = 0.6
"""BM25: saturation of repeated words, and how much length counts. Fragments are short and their lengths mean less than
documents'."""

_COLUMNS = ("terms", "start", "document", "count", "length")

Positions = npt.NDArray[np.int64]

Term = tuple[int, float]
"""The hash of a term, and its weight."""


@dataclass(frozen=True, eq=False)
class Postings:
    """Documents by term in CSR arrays: term i is in `document[start[i]:start[i+1]]`, ascending, `count` times each (at
    most 255)."""

    terms: Hashes  # sorted
    start: Positions
    document: npt.NDArray[np.int32]
    count: npt.NDArray[np.uint8]
    length: npt.NDArray[np.int64]  # per document: the sum of its counts

    @classmethod
    def build(cls, bag: TermBag) -> Postings:
        """Invert a bag. Linear but for one sort of its entries."""
        owner = np.repeat(np.arange(len(bag), dtype=np.int32), np.diff(bag.start))
        order = np.argsort(bag.hashes, kind="stable")
        hashes = bag.hashes[order]
        first = (
            np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
            if len(hashes)
            else np.zeros(0, dtype=np.int64)
        )
        return cls(
            hashes[first],
            np.append(first, len(hashes)).astype(np.int64),
            owner[order],
            bag.counts[order],
            _lengths(bag),
        )

    @classmethod
    def joined(cls, parts: Sequence[Postings], begins: Sequence[int]) -> Postings:
        """The postings of several lots of documents; `begins`: the number that the first of each gets."""
        terms, sizes = np.concatenate([part.terms for part in parts]), np.concatenate([np.diff(p.start) for p in parts])
        order = np.argsort(terms, kind="stable")
        ordered, ends = terms[order], np.cumsum(sizes[order])
        places = np.empty(len(order), dtype=np.int64)  # where the documents of each term of each part go
        places[order] = ends - sizes[order]
        begun = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        start = np.append(np.append(0, ends)[begun], int(sizes.sum()))
        document, count = np.empty(start[-1], dtype=np.int32), np.empty(start[-1], dtype=np.uint8)
        own = np.split(places, np.cumsum([len(part.terms) for part in parts[:-1]]))
        for part, begin, place in zip(parts, begins, own, strict=True):  # one after the other: less memory at a time
            at = np.repeat(place - part.start[:-1], np.diff(part.start)) + np.arange(len(part.document))
            document[at], count[at] = part.document + np.int32(begin), part.count
        return cls(ordered[begun], start, document, count, np.concatenate([part.length for part in parts]))

    def with_terms(self, bag: TermBag) -> Postings:
        """The postings of the same documents if each of them held the terms of the one document of `bag` besides."""
        rows, sizes, spans = np.arange(self.documents, dtype=np.int32), np.diff(self.start), []
        length = self.length + int(bag.counts.sum())
        if not len(rows) or not len(bag.hashes):
            return self
        for term, times in zip(bag.hashes.tolist(), bag.counts.tolist(), strict=True):
            count = np.full(self.documents, times, dtype=np.int64)
            count[self.holders(term)] += self.count[slice(*self.span(term))]
            length -= np.maximum(count - 255, 0)
            spans.append(np.minimum(count, 255).astype(np.uint8))
        stay = ~np.isin(self.terms, bag.hashes)
        start, kept = np.cumsum(np.append(0, sizes[stay])), np.repeat(stay, sizes)
        others = Postings(self.terms[stay], start, self.document[kept], self.count[kept], length)
        ends = np.arange(len(spans) + 1, dtype=np.int64) * self.documents
        every = Postings(bag.hashes, ends, np.tile(rows, len(spans)), np.concatenate(spans), length[:0])
        return Postings.joined([others, every], [0, 0])

    @property
    def documents(self) -> int:
        return len(self.length)

    def frequency(self, term: int) -> int:
        """Documents that hold the term."""
        begin, end = self.span(term)
        return end - begin

    def holders(self, term: int) -> npt.NDArray[np.int32]:
        """The documents that hold the term, ascending."""
        begin, end = self.span(term)
        return self.document[begin:end]

    def held(self, same: Sequence[Term]) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """The documents that hold one of several terms, ascending, and how often; a term of less weight than another
        counts less often."""
        spans = [self.span(term) for term, _ in same]
        if len(same) == 1:
            begin, end = spans[0]
            return self.document[begin:end], self.count[begin:end].astype(np.float64)
        most = max(weight for _, weight in same)
        documents, _, number = distinct(np.concatenate([self.document[begin:end] for begin, end in spans]))
        times = [self.count[begin:end] * (weight / most) for (begin, end), (_, weight) in zip(spans, same, strict=True)]
        counts = np.bincount(number, weights=np.concatenate(times), minlength=len(documents))
        return documents, counts.astype(np.float64)

    def frequency_of_any(self, terms: Collection[int]) -> int:
        """Documents that hold one of the terms."""
        return len(self.held([(term, 1.0) for term in sorted(terms)])[0])

    @cached_property
    def alone(self) -> WordField:
        """The same words where nothing else is searched."""
        return WordField(self)

    @cached_property
    def weights(self) -> FloatArray:
        """`WordField.weights` where nothing else is searched."""
        return _weights(self, np.diff(self.start), self.documents)

    @cached_property
    def total(self) -> int:
        """The lengths of all documents together."""
        return int(self.length.sum())

    def idf(self, term: int) -> float:
        """`WordField.idf` where nothing else is searched."""
        return self.alone.idf(term)

    def score(self, terms: Sequence[Term]) -> FloatArray:
        """`WordField.score` where nothing else is searched."""
        return self.alone.score(terms)

    def norm(self, mean: float, length_share: float = B) -> FloatArray:
        """Per document what a count is compared with, where documents have `mean` words; the last one is kept."""
        kept: tuple[tuple[float, float], FloatArray] | None = vars(self).get("_norm")
        if kept is None or kept[0] != (mean, length_share):
            norm = K1 * (1 - length_share + length_share * self.length / mean)
            kept = vars(self)["_norm"] = (mean, length_share), np.asarray(norm, dtype=np.float64)
        return kept[1]

    def span(self, term: int) -> tuple[int, int]:
        """The range of `document` and `count` that a term has; an empty one where it is nowhere."""
        at = int(np.searchsorted(self.terms, np.uint64(term)))
        if at >= len(self.terms) or int(self.terms[at]) != term:
            return 0, 0
        return int(self.start[at]), int(self.start[at + 1])

    # --- editing -----------------------------------------------------------------------------------------------------

    def edited(self, moved: npt.NDArray[np.int32], bag: TermBag, numbers: npt.NDArray[np.int32]) -> Postings:
        """The postings `build` would make after an edit, without sorting what stays.

        Args:
            moved: new number of each document, -1 for those that go; those that stay keep their order.
            bag: the documents that come.
            numbers: their numbers, ascending.
        """
        new = Postings.build(bag)
        stay = moved >= 0
        length = np.zeros(int(stay.sum()) + len(numbers), dtype=np.int64)
        length[moved[stay]] = self.length[stay]
        length[numbers] = new.length

        document = self.document if (moved == np.arange(len(moved))).all() else moved[self.document]
        gone = np.flatnonzero(document < 0)
        count = self.count
        if len(gone):
            document, count = np.delete(document, gone), np.delete(count, gone)
        start = self.start - np.searchsorted(gone, self.start)

        near = np.searchsorted(self.terms, new.terms)
        known = np.zeros(len(near), dtype=np.bool_)
        inside = near < len(self.terms)
        known[inside] = self.terms[near[inside]] == new.terms[inside]
        sizes = np.diff(new.start)
        frequency = np.diff(start)
        frequency[near[known]] += sizes[known]
        frequency = np.insert(frequency, near[~known], sizes[~known])
        terms = np.insert(self.terms, near[~known], new.terms[~known])[frequency > 0]

        arriving = numbers[new.document]
        at = _lower_bound(document, np.repeat(start[near], sizes), np.repeat(start[near + known], sizes), arriving)
        document, count = np.insert(document, at, arriving), np.insert(count, at, new.count)
        return Postings(
            terms, np.concatenate([[0], np.cumsum(frequency[frequency > 0])]).astype(np.int64), document, count, length
        )

    def to_arrays(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Named arrays for the snapshot."""
        return {f"{prefix}.{name}": getattr(self, name) for name in _COLUMNS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Postings:
        """The inverse of `to_arrays`."""
        return cls(*(arrays[f"{prefix}.{name}"] for name in _COLUMNS))


@dataclass(frozen=True, eq=False)
class TermCounts:
    """The number of documents that hold each term, of several repositories together.

    Attributes:
        terms: sorted.
        frequency: documents that hold each.
        documents: how many there are.
        length: the sum of their lengths.
    """

    terms: Hashes
    frequency: IntArray
    documents: int
    length: int

    @classmethod
    def of(cls, postings: Postings) -> TermCounts:
        """The counts of some postings."""
        return cls(postings.terms, np.diff(postings.start), postings.documents, postings.total)

    @classmethod
    def of_terms(cls, terms: Hashes, documents: int) -> TermCounts:
        """The counts of terms that are listed once for each document that holds them."""
        found, frequency = np.unique(terms, return_counts=True)
        return cls(found, frequency.astype(np.int64), documents, 0)

    @classmethod
    def united(cls, parts: Sequence[TermCounts]) -> TermCounts:
        """The counts of all parts together."""
        terms, inverse = np.unique(np.concatenate([part.terms for part in parts]), return_inverse=True)
        frequency = np.zeros(len(terms), dtype=np.int64)
        np.add.at(frequency, inverse, np.concatenate([part.frequency for part in parts]))
        return cls(terms, frequency, sum(part.documents for part in parts), sum(part.length for part in parts))

    def count(self, term: int) -> int:
        """Documents that hold a term."""
        at = int(np.searchsorted(self.terms, np.uint64(term)))
        return int(self.frequency[at]) if at < len(self.terms) and int(self.terms[at]) == term else 0

    def to_arrays(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Named arrays for a file."""
        sizes = np.array([self.documents, self.length], dtype=np.int64)
        return {f"{prefix}.terms": self.terms, f"{prefix}.frequency": self.frequency, f"{prefix}.sizes": sizes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> TermCounts:
        """The inverse of `to_arrays`."""
        documents, length = arrays[f"{prefix}.sizes"].tolist()
        return cls(arrays[f"{prefix}.terms"], arrays[f"{prefix}.frequency"], documents, length)


class WordField:
    """The words of some documents, with how rare they are: here, or in the whole workspace of which these are a part.

    Args:
        synonyms: sets of terms that each stand for one word. In scores they count as one term, which occurs wherever
            one of them does: three translations of a word make it no more important, and a vague one is a common one.
            A term of several sets is in the first. How often one of them occurs in a whole workspace is not known: it
            is taken to be the sum.
        whole: of the workspace; None where these are all documents.
    """

    def __init__(
        self, postings: Postings, synonyms: Sequence[frozenset[int]] = (), whole: TermCounts | None = None
    ) -> None:
        self.postings, self._whole = postings, whole
        self._documents = whole.documents if whole is not None else postings.documents
        self._length = whole.length if whole is not None else postings.total
        self._synonyms = [(same, self._frequency_of_any(same)) for same in synonyms]

    @property
    def documents(self) -> int:
        """Documents here."""
        return self.postings.documents

    def frequency(self, term: int) -> int:
        """Documents that hold the term, in all that is searched."""
        return self.postings.frequency(term) if self._whole is None else self._whole.count(term)

    def _frequency_of_any(self, terms: Collection[int]) -> int:
        if self._whole is None:
            return self.postings.frequency_of_any(terms)
        return min(self._documents, sum(map(self._whole.count, terms)))

    def holders(self, term: int) -> npt.NDArray[np.int32]:
        """The documents here that hold the term, ascending."""
        return self.postings.holders(term)

    def idf(self, term: int) -> float:
        """ln(1 + (N - df + 0.5) / (df + 0.5)), rounded so that it does not depend on a processor's logarithm."""
        return self._idf(self.frequency(term))

    def _idf(self, df: int) -> float:
        return round(float(np.log(1 + (self._documents - df + 0.5) / (df + 0.5))), 6)

    def by_meaning(self, terms: Sequence[Term]) -> list[tuple[list[Term], float]]:
        """The terms by what they stand for, synonyms together and each other one alone, with the idf of that."""
        sets = self._synonyms
        number = {term: place for place, (same, _) in reversed(list(enumerate(sets))) for term in same}
        groups: dict[tuple[bool, int], list[Term]] = {}
        for place, (term, weight) in enumerate(terms):
            key = (True, number[term]) if term in number else (False, place)
            groups.setdefault(key, []).append((term, weight))
        return [
            (same, self._idf(sets[place][1]) if told else self.idf(same[0][0]))
            for (told, place), same in groups.items()
        ]

    @cached_property
    def weights(self) -> FloatArray:
        """Per document the idf of its terms together."""
        if self._whole is None:
            return self.postings.weights
        at = np.minimum(np.searchsorted(self._whole.terms, self.postings.terms), len(self._whole.terms) - 1)
        return _weights(self.postings, self._whole.frequency[at], self._documents)

    def score(self, terms: Sequence[Term], length_share: float = B) -> FloatArray:
        """Per document the weighted BM25 sum over `terms` (hash, weight), divided by the largest that these terms could
        reach.

        Terms that occur nowhere count in the divisor with their full idf: a query about nothing here scores low. In [0,
        1). `length_share`: how much the length of a document counts, BM25's b.
        """
        own = self.postings
        mean = max(self._length / self._documents, 1.0) if self._documents else 1.0
        norm, total, limit = own.norm(mean, length_share), np.zeros(own.documents), 0.0
        for same, idf in self.by_meaning(terms):
            document, count = own.held(same)
            factor = max(weight for _, weight in same) * idf
            limit += factor
            if len(document):
                total[document] += factor * (count / (count + norm[document])).astype(np.float32)
        return total / limit if limit > 0 else total


def _weights(postings: Postings, frequency: IntArray, documents: int) -> FloatArray:
    """Per document the idf of its terms together; `frequency` of each term, among so many documents."""
    idf = np.round(np.log(1 + (documents - frequency + 0.5) / (frequency + 0.5)), 6)
    spread = np.repeat(idf, np.diff(postings.start))
    return np.bincount(postings.document, weights=spread, minlength=postings.documents).astype(np.float64)


def _lengths(bag: TermBag) -> npt.NDArray[np.int64]:
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(bag.counts, dtype=np.int64)])
    length: npt.NDArray[np.int64] = np.diff(sums[bag.start])
    return length


def _lower_bound(
    values: npt.NDArray[np.int32], low: Positions, high: Positions, wanted: npt.NDArray[np.int32]
) -> Positions:
    """Per row the first position in [low, high) whose value is not below `wanted`; `high` if there is none. Values
    ascend within each range."""
    low, high = low.copy(), high.copy()
    while (rows := np.flatnonzero(low < high)).size:
        middle = (low[rows] + high[rows]) // 2
        below = values[middle] < wanted[rows]
        low[rows[below]] = middle[below] + 1
        high[rows[~below]] = middle[~below]
    return low
