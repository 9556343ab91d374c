"""Words of code, and BM25 over them.

A word of code is an identifier: it counts whole and by its parts (`parseHTTPHeader` -> parsehttpheader, pars, http, header),
parts are stemmed. Chinese, Japanese and Korean text counts as character bigrams, so a Chinese query finds Chinese comments.
Words are kept as 64-bit hashes: what a file contributes is a pure function of its text, no vocabulary is shared, and files can be
read in any order by any number of processes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.model import FloatArray

LEXICON_VERSION = 2
"""Changes when the same text yields other words: part of the key of everything derived from them."""

K1 = 1.2
B = 0.6
"""BM25: saturation of repeated words, and how much length counts. Fragments are short and their lengths mean less than documents'."""

MAX_WORD = 64
"""Longer runs are hashes, keys or encoded data, not words."""

_WORD = re.compile(r"[^\W\d]\w*|\d+")
CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Chinese, Japanese and Korean letters, as the inside of a character class."""

_CJK = re.compile(f"[{CJK}]+")
_RUN = re.compile(f"[{CJK}]+|[^{CJK}]+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")

_STOP_TEXT = """
    a an and are as at be been but by can could did do does doing for from had has have having how i if in into is it its itself
    just me my no nor not of off on once only or other our out over own same should so some such than that the their them then there these they this
    those through to too under until up very was we were what when where which while who whom why will with would you your
    also am any because being both between during each few further get gets got here let more most much must need shall
    using used use uses please want like way e g ie eg etc vs via
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())
"""English words that say nothing about code; dropped from queries, kept in the index."""

Hashes = npt.NDArray[np.uint64]


@lru_cache(maxsize=200_000)
def hash_of(term: str) -> int:
    """64-bit hash of a term, the same on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=200_000)
def word_terms(word: str) -> tuple[str, ...]:
    """Terms of one word of code: the whole in lower case, and its stemmed parts where it has several; bigrams of CJK runs."""
    if len(word) > MAX_WORD:
        return ()
    if _CJK.search(word):
        return _mixed_terms(word)
    whole = word.strip("_").lower()
    if not whole:
        return ()
    parts = [part.lower() for part in _PARTS.findall(word)]
    stem = _stemmer().stemWord
    if len(parts) <= 1:
        return (stem(whole),)
    terms = dict.fromkeys((whole, *(stem(part) for part in parts if len(part) > 1)))
    return tuple(terms)


def _mixed_terms(word: str) -> tuple[str, ...]:
    terms: dict[str, None] = {}
    position = 0
    for run in _CJK.finditer(word):
        terms |= dict.fromkeys(word_terms(word[position : run.start()]) if run.start() > position else ())
        text = run.group()
        terms |= dict.fromkeys([text[i : i + 2] for i in range(len(text) - 1)] or [text])
        position = run.end()
    if position < len(word):
        terms |= dict.fromkeys(word_terms(word[position:]))
    return tuple(terms)


def words(text: str) -> list[str]:
    """Words of a text, in order, as written. Long ones with CJK letters are whole sentences: they are cut, and no pair of letters is lost."""
    found = []
    for word in _WORD.findall(text):
        if len(word) > MAX_WORD and _CJK.search(word):
            for run in _RUN.findall(word):
                step = MAX_WORD - 1 if _CJK.match(run) else len(run)
                found += [run[i : i + step + 1] for i in range(0, max(1, len(run) - 1), step)]
        else:
            found.append(word)
    return found


def term_counts(text: str) -> dict[str, int]:
    """How often each term occurs in a text."""
    counts: dict[str, int] = {}
    for word, times in Counter(words(text)).items():
        for term in word_terms(word):
            counts[term] = counts.get(term, 0) + times
    return counts


def has_cjk(text: str) -> bool:
    """True if the text holds Chinese, Japanese or Korean characters."""
    return _CJK.search(text) is not None


@dataclass(frozen=True, slots=True)
class TermBag:
    """Terms of consecutive documents: document i holds `hashes[start[i]:start[i+1]]`, each `counts` times (at most 255)."""

    start: npt.NDArray[np.int64]
    hashes: Hashes
    counts: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Iterable[str]) -> TermBag:
        """One document a text."""
        start, hashes, counts = [0], [], []
        for text in texts:
            for term, times in term_counts(text).items():
                hashes.append(hash_of(term))
                counts.append(min(times, 255))
            start.append(len(hashes))
        return cls(np.array(start, dtype=np.int64), np.array(hashes, dtype=np.uint64), np.array(counts, dtype=np.uint8))

    @classmethod
    def concatenate(cls, bags: Sequence[TermBag]) -> TermBag:
        """The documents of all bags, in order."""
        if not bags:
            return cls.of(())
        offsets = np.cumsum([0, *(len(bag.hashes) for bag in bags)])
        start = np.concatenate([np.zeros(1, dtype=np.int64), *(bag.start[1:] + offset for bag, offset in zip(bags, offsets[:-1], strict=True))])
        return cls(start, np.concatenate([bag.hashes for bag in bags]), np.concatenate([bag.counts for bag in bags]))

    def merged(self, owner: npt.NDArray[np.int32], documents: int) -> TermBag:
        """The same words in larger documents: document i goes into `owner[i]`; owners ascend."""
        into = np.repeat(owner.astype(np.int64), np.diff(self.start))
        order = np.lexsort((self.hashes, into))
        into, hashes, counts = into[order], self.hashes[order], self.counts[order].astype(np.int64)
        first = np.flatnonzero((np.diff(into, prepend=-1) != 0) | (np.diff(hashes, prepend=np.uint64(0)) != 0)) if len(into) else np.zeros(0, dtype=np.int64)
        sums = np.add.reduceat(counts, first) if len(first) else counts
        start = np.searchsorted(into[first], np.arange(documents + 1))
        return TermBag(start.astype(np.int64), hashes[first], np.minimum(sums, 255).astype(np.uint8))

    def __len__(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, slots=True)
class Postings:
    """BM25 of all documents as an inverted index in CSR arrays; `impact` already holds everything but idf and the query's weight."""

    documents: int
    terms: Hashes  # sorted
    start: npt.NDArray[np.int64]
    document: npt.NDArray[np.int32]
    impact: npt.NDArray[np.float32]  # in [0, 1): tf saturation of BM25, divided by its limit k1 + 1

    @classmethod
    def build(cls, bag: TermBag, *, k1: float = K1, b: float = B) -> Postings:
        """Invert a bag. Linear but for one sort of its entries."""
        n = len(bag)
        owner = np.repeat(np.arange(n, dtype=np.int32), np.diff(bag.start))
        length = np.bincount(owner, weights=bag.counts, minlength=n) if n else np.zeros(0)
        mean = max(float(length.mean()), 1.0) if n else 1.0
        norm = k1 * (1 - b + b * length / mean)
        order = np.argsort(bag.hashes, kind="stable")
        hashes = bag.hashes[order]
        document = owner[order]
        counts = bag.counts[order].astype(np.float64)
        impact = counts / (counts + norm[document]) if n else counts
        first = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]])) if len(hashes) else np.zeros(0, dtype=np.int64)
        return cls(n, hashes[first], np.append(first, len(hashes)).astype(np.int64), document, impact.astype(np.float32))

    def frequency(self, term: int) -> int:
        """Documents that hold the term."""
        begin, end = self._span(term)
        return end - begin

    def idf(self, term: int) -> float:
        """ln(1 + (N - df + 0.5) / (df + 0.5)), rounded so that it does not depend on a processor's logarithm."""
        df = self.frequency(term)
        return round(float(np.log(1 + (self.documents - df + 0.5) / (df + 0.5))), 6)

    def score(self, terms: Sequence[tuple[int, float]]) -> FloatArray:
        """Per document the weighted BM25 sum over `terms` (hash, weight), divided by the largest that these terms could reach.

        Terms that occur nowhere count in the divisor with their full idf: a query about nothing here scores low. In [0, 1).
        """
        total = np.zeros(self.documents)
        limit = 0.0
        for term, weight in terms:
            factor = weight * self.idf(term)
            limit += factor
            begin, end = self._span(term)
            if end > begin:
                total[self.document[begin:end]] += factor * self.impact[begin:end]
        return total / limit if limit > 0 else total

    def _span(self, term: int) -> tuple[int, int]:
        at = int(np.searchsorted(self.terms, np.uint64(term)))
        if at >= len(self.terms) or int(self.terms[at]) != term:
            return 0, 0
        return int(self.start[at]), int(self.start[at + 1])

    def to_arrays(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Named arrays for the snapshot."""
        arrays: dict[str, npt.NDArray[Any]] = {"terms": self.terms, "start": self.start, "document": self.document, "impact": self.impact}
        return {f"{prefix}.{name}": array for name, array in arrays.items()} | {f"{prefix}.documents": np.array([self.documents])}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]], prefix: str) -> Postings:
        """The inverse of `to_arrays`."""
        columns = (arrays[f"{prefix}.{name}"] for name in ("terms", "start", "document", "impact"))
        return cls(int(arrays[f"{prefix}.documents"][0]), *columns)
