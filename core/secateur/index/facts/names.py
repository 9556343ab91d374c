"""Names a query means: exact, by last part, or near (rapidfuzz) when it has a slip of the pen. "Go to symbol" as a leg
of its own."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from secateur.index.store.splices import Splice
from secateur.model import FloatArray

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

    def _rows(self, tail: str) -> list[int]:
        """The fragments whose name ends with that part, ascending."""
        number = self._numbers.get(tail)
        return [] if number is None else np.flatnonzero(self._tail == number).tolist()

    def match(self, identifiers: Sequence[str], words: Sequence[str] = ()) -> NameMatch:
        """Scores for names as the query wrote them (`Cart.total`, `handleToolCall`) and for its plain words, in lower
        case, that are names."""
        exact, near = np.zeros(len(self._qualnames)), np.zeros(len(self._qualnames))
        suggestions: dict[str, list[str]] = {}
        tried = 0
        for identifier in identifiers:
            parts = [part.lower() for part in _SEPARATORS.split(identifier) if part]
            if not parts:
                continue
            rows = self._rows(parts[-1])
            full = [row for row in rows if self._ends_with(row, parts)]
            hits = full or rows
            exact[hits] = np.maximum(
                exact[hits], (EXACT if full or len(parts) == 1 else HALF_NAMED) * _rarity(len(hits))
            )
            if len(parts) > 1:
                owners = self._rows(parts[-2])
                exact[owners] = np.maximum(exact[owners], OWNER_NAMED * _rarity(len(owners)))
            if not hits and len(parts[-1]) >= NEAR_MIN_LENGTH and tried < NEAR_WORDS:
                tried += 1
                taken = near_names(parts[-1], self._tails)
                for name, score in taken:
                    alike = self._rows(name)
                    near[alike] = np.maximum(near[alike], NEAR_FACTOR * score / 100)
                if taken:
                    suggestions[identifier] = [name for name, _ in taken]
        for word in words:
            rows = self._rows(word)
            exact[rows] = np.maximum(exact[rows], PLAIN_NAMED * _rarity(len(rows)))
        return NameMatch(exact, near, suggestions)

    def _ends_with(self, row: int, parts: list[str]) -> bool:
        return self._qualnames[row].lower().split(".")[-len(parts) :] == parts


def _rarity(times: int) -> float:
    """The worth of a name that `times` fragments have: 1 for one of its own, a third for four that share it."""
    return round(1 / (1 + math.log2(max(times, 1))), 6)


def near_names(word: str, names: list[str]) -> list[tuple[str, float]]:
    """The names that a word may be a slip of, with how alike they are (0 to 100), the most alike first. All in small
    letters."""
    from rapidfuzz import fuzz, process

    found = process.extract(
        word, _prefilter(word, names), scorer=fuzz.ratio, score_cutoff=NEAR_CUTOFF, limit=NEAR_LIMIT
    )
    return sorted(((name, round(score, 2)) for name, score, _ in found), key=lambda item: (-item[1], item[0]))


def _prefilter(word: str, names: list[str]) -> list[str]:
    """Names of similar length, those with most of the word's characters first."""
    close = [name for name in names if abs(len(name) - len(word)) <= max(2, len(word) // 4)]
    if len(close) <= PREFILTER:
        return close
    letters = set(word)
    close.sort(key=lambda name: (-len(letters & set(name)), name))
    return close[:PREFILTER]
