"""Finds the names that a query means: an exact name, the last part of a name, or a similar name if the query has a
typing error (rapidfuzz)."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from secateur.index.store.arrayfile import Splice
from secateur.model import FloatArray, IntArray

EXACT = 1.0  # score if the query wrote the qualified name or its last part
HALF_NAMED = 0.5  # score if only the last part matches, under another owner: `Cart.total` finds `Order.total`
OWNER_NAMED = 0.25  # score of the owner of a name: `Cart.total` also says something about `Cart`
PLAIN_NAMED = 0.2  # score if a plain word of the query is also a name: it was perhaps meant as a word

# The similarity of a near name is multiplied by this, so that a typing error never beats a name that exists.
NEAR_FACTOR = 0.8

NEAR_CUTOFF = 82.0  # the least similarity (0..100) of a near name
NEAR_MIN_LENGTH = 5  # shorter words are similar to too many names
NEAR_LIMIT = 5  # the most near names for one word

# The most words that near names are looked up for, the first of the query: a pasted log has thousands of words.
NEAR_WORDS = 20

# The most names that one word is compared with, those with most shared characters first: a keystroke then takes less
# than 10 ms over 100,000 names.
PREFILTER = 5_000

_SEPARATORS = re.compile(r"::|->|#|\.")


class NameMatch(Struct, frozen=True):
    """Scores how well the name of each fragment matches what the query wrote; both columns in [0, 1]."""

    exact: FloatArray
    near: FloatArray
    suggestions: dict[str, list[str]]  # identifier without an exact match -> its near names


class NameTable:
    """Qualified names by their last part. Built once per snapshot, or edited from the table of the snapshot before."""

    def __init__(self, qualnames: Sequence[str]) -> None:
        """`qualnames`: one for each fragment; "" for a fragment without a name."""
        self._qualnames = qualnames
        self._numbers: dict[str, int] = {}  # last part -> its number
        tails = (qualname.rpartition(".")[2].lower() if qualname else None for qualname in qualnames)
        self._tail = np.array(
            [-1 if tail is None else self._numbers.setdefault(tail, len(self._numbers)) for tail in tails],
            dtype=np.int32,
        )
        self._tails = sorted(self._numbers)

    def edit(self, rows: Splice, coming: NameTable, qualnames: Sequence[str]) -> NameTable:
        """Makes the table after an edit. `coming`: the table of the new rows; `qualnames`: of all rows after the
        edit."""
        after = NameTable(())
        after._qualnames = qualnames
        numbers = dict(self._numbers)
        new = np.array([numbers.setdefault(tail, len(numbers)) for tail in coming._numbers], dtype=np.int32)
        after._tail = rows.column(self._tail, np.append(new, np.int32(-1))[coming._tail])
        after._numbers = numbers  # keeps the numbers of names that are gone: the names may come back
        after._tails = self._tails.copy()
        existed, exists = (
            np.bincount(column[column >= 0], minlength=len(numbers)) > 0 for column in (self._tail, after._tail)
        )
        names = list(numbers)
        for index in np.flatnonzero(existed != exists).tolist():
            at = bisect_left(after._tails, names[index])
            after._tails[at : at + bool(existed[index])] = [names[index]] if exists[index] else []
        return after

    def rows(self, tail: str) -> IntArray:
        """Returns the fragments whose name ends with that part, ascending."""
        tail_number = self._numbers.get(tail)
        return np.zeros(0, dtype=np.int64) if tail_number is None else np.flatnonzero(self._tail == tail_number)

    def rows_ignoring_marks(self, tail: str) -> IntArray:
        """Does the same, and ignores `!` and `?` at the end of names."""
        numbers, at = [], bisect_left(self._tails, tail)
        while at < len(self._tails) and self._tails[at].startswith(tail):
            if self._tails[at].rstrip("!?") == tail:
                numbers.append(self._numbers[self._tails[at]])
            at += 1
        return np.flatnonzero(np.isin(self._tail, numbers)) if numbers else np.zeros(0, dtype=np.int64)

    def close(self, word: str) -> list[str]:
        """Returns the names of similar length; see `close_names`."""
        near = np.flatnonzero(np.abs(self._lengths - len(word)) <= _length_tolerance(word))
        return close_names(word, [self._tails[position] for position in near.tolist()])

    @cached_property
    def _lengths(self) -> IntArray:
        return np.fromiter(map(len, self._tails), dtype=np.int64)

    def has(self, row: int, parts: Sequence[str]) -> bool:
        """Tells whether the qualified name of a fragment ends with these parts."""
        return self._qualnames[row].lower().split(".")[-len(parts) :] == parts

    def __len__(self) -> int:
        return len(self._qualnames)

    def match(self, identifiers: Sequence[str], words: Sequence[str] = ()) -> NameMatch:
        """Scores the fragments by their names. The score of a name depends on how many fragments have it.

        Args:
            identifiers: names as the query wrote them (`Cart.total`, `handleToolCall`).
            words: the plain words of the query, in lower case.
        """
        exact, near = np.zeros(len(self)), np.zeros(len(self))
        suggestions: dict[str, list[str]] = {}
        split = {name: [*filter(None, _SEPARATORS.split(name.lower()))] for name in identifiers}
        parts_of = {identifier: parts for identifier, parts in split.items() if parts}
        rows = {tail: self.rows(tail) for parts in parts_of.values() for tail in parts[-2:]}
        unknown = [
            identifier
            for identifier, parts in parts_of.items()
            if len(parts[-1]) >= NEAR_MIN_LENGTH and not len(rows[parts[-1]])
        ][:NEAR_WORDS]
        for identifier, parts in parts_of.items():
            hits, worth = rows[parts[-1]], EXACT
            if len(parts) > 1:
                whole = np.array([row for row in hits.tolist() if self.has(row, parts)], dtype=np.int64)
                hits, worth = (whole, EXACT) if len(whole) else (hits, HALF_NAMED)
                owners = rows[parts[-2]]
                exact[owners] = np.maximum(exact[owners], OWNER_NAMED * _rarity(len(owners)))
            exact[hits] = np.maximum(exact[hits], worth * _rarity(len(hits)))
            if identifier in unknown:
                near_names = most_similar(parts[-1], self.close(parts[-1]))
                for name, score in near_names:
                    similar = self.rows(name)
                    near[similar] = np.maximum(near[similar], NEAR_FACTOR * score / 100)
                if near_names:
                    suggestions[identifier] = [name for name, _ in near_names]
        for word in words:
            own = self.rows(word)
            exact[own] = np.maximum(exact[own], PLAIN_NAMED * _rarity(len(own)))
        return NameMatch(exact, near, suggestions)


def _rarity(times: int) -> float:
    """Returns the weight of a name that `times` fragments have: 1 for one fragment, a third for four."""
    return round(1 / (1 + math.log2(max(times, 1))), 6)


def near_names(word: str, names: Sequence[str]) -> list[tuple[str, float]]:
    """Returns the names that a word may be a typing error of, the most similar first, with their similarity (0 to 100).
    The word and the names are in lower case."""
    return most_similar(word, close_names(word, names))


def close_names(word: str, names: Sequence[str]) -> list[str]:
    """Returns the names of similar length in their order; if there are more than PREFILTER, those that share most
    characters with the word."""
    close = [name for name in names if abs(len(name) - len(word)) <= _length_tolerance(word)]
    if len(close) <= PREFILTER:
        return close
    letters = set(word)
    return sorted(close, key=lambda name: (-len(letters & set(name)), name))[:PREFILTER]


def _length_tolerance(word: str) -> int:
    return max(2, len(word) // 4)


def most_similar(word: str, close: Sequence[str]) -> list[tuple[str, float]]:
    """Returns the most similar of close names with their similarity (0 to 100), the most similar first."""
    from rapidfuzz import fuzz, process

    matches = process.extract(word, close, scorer=fuzz.ratio, score_cutoff=NEAR_CUTOFF, limit=NEAR_LIMIT)
    return sorted(((name, round(score, 2)) for name, score, _ in matches), key=lambda item: (-item[1], item[0]))
