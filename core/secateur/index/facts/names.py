"""Names a query means: exact, by last part, or near (rapidfuzz) when it has a slip of the pen. "Go to symbol" as a leg
of its own."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from secateur.index.facts.lexical import Hashes, hash_of
from secateur.index.facts.postings import TermCounts
from secateur.index.store.splices import Splice
from secateur.model import FloatArray, IntArray

EXACT = 1.0
"""The qualified name, or its last part, is what the query wrote."""

HALF_NAMED = 0.5
"""The last part is there, under another owner: `Cart.total` finds `Order.total`."""

OWNER_NAMED = 0.25
"""The owner of a name: `Cart.total` also means something about `Cart`."""

PLAIN_NAMED = 0.2
"""A plain word of the query is also a name: it may well be meant as a word."""

NEAR_FACTOR = 0.8
"""A near name counts its similarity times this: a slip of the pen never beats a name that is there."""

NEAR_CUTOFF = 82.0
"""Similarity (0..100) below which a name is another name."""

NEAR_MIN_LENGTH = 5
"""Shorter words are near too many names."""

NEAR_LIMIT = 5
"""Near names taken per word."""

NEAR_WORDS = 20
"""Words looked up as near at most, the first of the query: a pasted log has thousands that are no name here."""

PREFILTER = 5_000
"""Names compared per word at most, those sharing most characters first: keeps a keystroke under 10 ms on 100k names."""

_SEPARATORS = re.compile(r"::|->|#|\.")


@dataclass(frozen=True, slots=True)
class NameMatch:
    """Scores how well the name of each fragment matches what the query wrote; both columns in [0, 1]."""

    exact: FloatArray
    near: FloatArray
    suggestions: dict[str, list[str]]  # identifier without an exact match -> near names taken


class NameTable:
    """Qualified names by their last part; built once per snapshot, or from the table of the one before."""

    def __init__(self, qualnames: Sequence[str]) -> None:
        """`qualnames`: per fragment, "" for nameless ones."""
        self._qualnames = qualnames
        self._numbers: dict[str, int] = {}  # last part -> its number
        tails = (qualname.rpartition(".")[2].lower() if qualname else None for qualname in qualnames)
        self._tail = np.array(
            [-1 if tail is None else self._numbers.setdefault(tail, len(self._numbers)) for tail in tails],
            dtype=np.int32,
        )
        self._tails = sorted(self._numbers)

    def edited(self, rows: Splice, coming: NameTable, qualnames: Sequence[str]) -> NameTable:
        """The table after an edit: `coming` is that of the rows that come, `qualnames` those of all rows after it."""
        after = NameTable(())
        after._qualnames = qualnames
        numbers = dict(self._numbers)
        new = np.array([numbers.setdefault(tail, len(numbers)) for tail in coming._numbers], dtype=np.int32)
        after._tail = rows.column(self._tail, np.append(new, np.int32(-1))[coming._tail])
        after._numbers = numbers  # those of names that are gone too: they may come back
        after._tails = self._tails.copy()
        was, there = (
            np.bincount(column[column >= 0], minlength=len(numbers)) > 0 for column in (self._tail, after._tail)
        )
        names = list(numbers)
        for number in np.flatnonzero(was != there).tolist():
            at = bisect_left(after._tails, names[number])
            after._tails[at : at + bool(was[number])] = [names[number]] if there[number] else []
        return after

    def rows(self, tail: str) -> IntArray:
        """The fragments whose name ends with that part, ascending."""
        number = self._numbers.get(tail)
        return np.zeros(0, dtype=np.int64) if number is None else np.flatnonzero(self._tail == number)

    def rows_asked(self, tail: str) -> IntArray:
        """The same without `!` and `?` at the end of names."""
        found, at = [], bisect_left(self._tails, tail)
        while at < len(self._tails) and self._tails[at].startswith(tail):
            if self._tails[at].rstrip("!?") == tail:
                found.append(self._numbers[self._tails[at]])
            at += 1
        return np.flatnonzero(np.isin(self._tail, found)) if found else np.zeros(0, dtype=np.int64)

    def close(self, word: str) -> tuple[list[str], bool]:
        """The names that are compared with a word, and whether there are too many, which leaves some out."""
        near = np.flatnonzero(np.abs(self._lengths - len(word)) <= _further(word))
        return close_names(word, [self._tails[place] for place in near.tolist()])

    @cached_property
    def _lengths(self) -> IntArray:
        """Of `_tails`."""
        return np.fromiter(map(len, self._tails), dtype=np.int64)

    def has(self, row: int, parts: Sequence[str]) -> bool:
        """Tells whether the qualified name of a fragment ends with these parts."""
        return self._qualnames[row].lower().split(".")[-len(parts) :] == parts

    def __len__(self) -> int:
        return len(self._qualnames)

    def match(self, identifiers: Sequence[str], words: Sequence[str] = ()) -> NameMatch:
        """`NameLookup.match` where these are all names."""
        return NameLookup(self, identifiers, words).match()


class NameLookup:
    """Looks up what a query wrote in one table. `whole`: the ends of names of the workspace of which it is a part, as
    `name_ends` lists them; scores depend on how often a name is there."""

    def __init__(
        self, table: NameTable, identifiers: Sequence[str], words: Sequence[str] = (), whole: TermCounts | None = None
    ) -> None:
        """`identifiers`: names as the query wrote them (`Cart.total`, `handleToolCall`); `words`: its plain words, in
        lower case."""
        self._table, self._words, self._counts = table, words, whole
        self._parts = {identifier: parts for identifier in identifiers if (parts := name_parts(identifier))}

    def match(self) -> NameMatch:
        """Scores of the table's fragments."""
        table = self._table
        exact, nearly = np.zeros(len(table)), np.zeros(len(table))
        suggestions: dict[str, list[str]] = {}
        rows = {tail: table.rows(tail) for parts in self._parts.values() for tail in parts[-2:]}
        unknown = self._unknown(rows)
        for identifier, parts in self._parts.items():
            ends = whole = rows[parts[-1]]
            if len(parts) > 1:
                whole = np.array([row for row in ends.tolist() if table.has(row, parts)], dtype=np.int64)
            times = self._times(whole, ".".join(parts[-2:])) if len(parts) > 1 else self._of_tail(rows, parts[-1])
            hits, worth = (whole, EXACT) if times else (ends, EXACT if len(parts) == 1 else HALF_NAMED)
            exact[hits] = np.maximum(exact[hits], worth * _rarity(times or self._of_tail(rows, parts[-1])))
            if len(parts) > 1:
                owners = rows[parts[-2]]
                exact[owners] = np.maximum(exact[owners], OWNER_NAMED * _rarity(self._of_tail(rows, parts[-2])))
            taken = likest(unknown[identifier], table.close(unknown[identifier])[0]) if identifier in unknown else []
            for name, score in taken:
                alike = table.rows(name)
                nearly[alike] = np.maximum(nearly[alike], NEAR_FACTOR * score / 100)
            if taken:
                suggestions[identifier] = [name for name, _ in taken]
        for word in self._words:
            own = table.rows(word)
            exact[own] = np.maximum(exact[own], PLAIN_NAMED * _rarity(self._times(own, f".{word}")))
        return NameMatch(exact, nearly, suggestions)

    def _unknown(self, rows: Mapping[str, IntArray]) -> dict[str, str]:
        """The identifiers that are looked up as near, and what is compared of each."""
        found = {
            identifier: parts[-1]
            for identifier, parts in self._parts.items()
            if len(parts[-1]) >= NEAR_MIN_LENGTH and not self._of_tail(rows, parts[-1])
        }
        return dict([*found.items()][:NEAR_WORDS])

    def _of_tail(self, rows: Mapping[str, IntArray], tail: str) -> int:
        return self._times(rows[tail], f".{tail}")

    def _times(self, rows: IntArray, end: str) -> int:
        """The number of fragments that have a name with that end, where these here have it."""
        return len(rows) if self._counts is None else max(len(rows), self._counts.count(hash_of(end)))


def name_ends(qualnames: Sequence[str]) -> Hashes:
    """The hashes by which the ends of names are counted: of the last part of each, and of its last two."""
    parts = [name.lower().split(".")[-2:] for name in qualnames if name]
    ends = [f".{part[-1]}" for part in parts] + [".".join(part) for part in parts if len(part) > 1]
    return np.fromiter(map(hash_of, ends), dtype=np.uint64, count=len(ends))


def name_parts(identifier: str) -> list[str]:
    """The parts of a name as a query wrote it, in small letters: its owners, then its own."""
    return [part.lower() for part in _SEPARATORS.split(identifier) if part]


def _rarity(times: int) -> float:
    """The worth of a name that `times` fragments have: 1 for one of its own, a third for four that share it."""
    return round(1 / (1 + math.log2(max(times, 1))), 6)


def near_names(word: str, names: Sequence[str]) -> list[tuple[str, float]]:
    """The names that a word may be a slip of, with how alike they are (0 to 100), the most alike first. All in small
    letters."""
    return likest(word, close_names(word, names)[0])


def close_names(word: str, names: Sequence[str]) -> tuple[list[str], bool]:
    """Names of similar length in their order; where they are too many, PREFILTER of them, those with most of the word's
    characters first. Tells whether they were too many."""
    close = [name for name in names if abs(len(name) - len(word)) <= _further(word)]
    if len(close) <= PREFILTER:
        return close, False
    return _most_shared(word, close), True


def _further(word: str) -> int:
    """Letters that a name may be longer or shorter by."""
    return max(2, len(word) // 4)


def united_close_names(word: str, tables: Sequence[tuple[Sequence[str], bool]]) -> list[str]:
    """Returns what `close_names` finds in the names of several tables together, each once, from what it found in each;
    names are in order."""
    names = sorted({name for close, _ in tables for name in close})
    return _most_shared(word, names) if len(names) > PREFILTER or any(cut for _, cut in tables) else names


def likest(word: str, close: Sequence[str]) -> list[tuple[str, float]]:
    """The likest of close names, with how alike they are (0 to 100), the most alike first."""
    from rapidfuzz import fuzz, process

    found = process.extract(word, close, scorer=fuzz.ratio, score_cutoff=NEAR_CUTOFF, limit=NEAR_LIMIT)
    return sorted(((name, round(score, 2)) for name, score, _ in found), key=lambda item: (-item[1], item[0]))


def _most_shared(word: str, close: Sequence[str]) -> list[str]:
    letters = set(word)
    return sorted(close, key=lambda name: (-len(letters & set(name)), name))[:PREFILTER]
