"""Finds items by name, path or text: a letter is enough, the best hits first, however many items there are.

Every word of what is sought has to occur, in any order, in the id or the name. Hits are ranked by how they were found,
then by the length of the name or of what holds the letters, then by their place in the list. Where few items hold the
words, names that have the letters in their order follow, then names with a slip of the pen (rapidfuzz).

    haystack = Haystack(answer.ids, answer.names)  # once for what was retrieved or read
    found = haystack.find("sescook", answer.place)
    found.hits, found.count
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from secateur.model import IntArray

from secateur_tui.state.answer import ShownAnswer

MOST_HITS = 200  # hits that are listed; the others are counted
LONGEST_SOUGHT = 200  # letters of the search text that count
ENOUGH = 20  # enough hits by words: from here on letters and near names are not tried
MOST_TRIED = 5_000  # names that are compared one by one
MOST_LACKING = 2  # letters that a near name may lack
LEAST_NEAR, NEAR_SCORE = 3, 65.0  # letters from which near names are sought, and the similarity (of 100) that they need
LONGEST_NAME = 255  # letters of a name that are compared; longer ones count as equally long
MOST_TEXTS = 2_000  # items, in the order of the list, whose texts are looked through
_NONE = 99  # the match of an item that was not found
_BEHIND = "\U0010ffff"  # sorts after every other character


class Match(IntEnum):
    """The ways in which an item is found, best first."""

    EXACT = 0  # the last part of its name is what is sought
    START = 1  # the last part of its name begins with it
    NAME = 2  # it is in the name
    ID = 3  # it is in the path, or the words are spread over path and name
    LETTERS = 4  # its letters are in the name, in this order
    NEAR = 5  # the name is nearly the same
    TEXT = 6  # it is in the text

    @property
    def label(self) -> str:
        """The name of the way, for people."""
        return ("name", "name", "name", "path", "letters", "near", "text")[self]


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that was found."""

    item: int
    match: Match


@dataclass(frozen=True, slots=True)
class FoundItems:
    """The best hits, and how many there are together."""

    hits: tuple[Hit, ...]
    count: int


class Haystack:
    """The ids and names that are looked through, made once for what was retrieved or read, asked at every key."""

    def __init__(self, ids: Sequence[str], names: Sequence[str]) -> None:
        self.ids = ids
        self._names = [(name or id_).casefold() for name, id_ in zip(names, ids, strict=True)]
        folded = (id_.casefold() for id_ in ids)
        # what any word may be in: the id, and the name where the id does not hold it
        self._texts = [
            text if name in text else f"{text} {name}" for text, name in zip(folded, self._names, strict=True)
        ]
        self._lengths = np.minimum(np.array([len(name) for name in self._names], dtype=np.int64), LONGEST_NAME)
        lasts = [last_part(name) for name in self._names]
        self._by_last = sorted(range(len(lasts)), key=lasts.__getitem__)
        self._lasts = [lasts[item] for item in self._by_last]
        self._letters = _mark_letters(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def find(self, sought: str, place: IntArray, most: int = MOST_HITS) -> FoundItems:
        """Returns the best items for what is sought; nothing for blanks. `place` is the line of each item: of equal
        hits that on the higher line is the better one."""
        if not (words := sought[:LONGEST_SOUGHT].casefold().split()) or not len(self):
            return FoundItems((), 0)
        match, length = np.full(len(self), _NONE, dtype=np.int64), self._lengths.copy()
        match[self._find_holding(self._texts, words)] = Match.ID
        held, last, word = match == Match.ID, self._lasts, words[0]  # the last parts of names, in order
        for items, how in (
            (self._find_holding(self._names, words[:1]), Match.NAME),
            (self._by_last[bisect_left(last, word) : bisect_left(last, word + _BEHIND)], Match.START),
            (self._by_last[bisect_left(last, word) : bisect_right(last, word)], Match.EXACT),
        ):
            is_found = np.zeros(len(self), dtype=np.bool_)
            is_found[items] = True
            match[is_found & held] = how
        if held.sum() < ENOUGH:
            self._add_letters("".join(words), match, length, place)
            self._add_near("".join(words), match, place)
        # The best come first: by how they were found, then the shortest, then by their lines.
        found = np.flatnonzero(match != _NONE)
        best = _take_first(found, (match[found] * (LONGEST_NAME + 1) + length[found]) * len(match) + place[found], most)
        return FoundItems(tuple(Hit(item, Match(int(match[item]))) for item in best.tolist()), len(found))

    def _find_holding(self, texts: Sequence[str], words: Sequence[str]) -> list[int]:
        first, *others = words
        items = [item for item, text in enumerate(texts) if first in text]
        for word in others:
            items = [item for item in items if word in texts[item]]
        return items

    def _add_letters(self, letters: str, match: IntArray, length: IntArray, place: IntArray) -> None:
        bits = _mark_letters([letters])[0]
        items = np.flatnonzero((match == _NONE) & ((self._letters & bits) == bits))
        for item in _take_first(items, place[items], MOST_TRIED).tolist():
            if (span := _measure_span(letters, self._names[item][:LONGEST_NAME])) is not None:
                match[item], length[item] = Match.LETTERS, span

    def _add_near(self, sought: str, match: IntArray, place: IntArray) -> None:
        if len(sought) < LEAST_NEAR:
            return
        lacking = np.bitwise_count(_mark_letters([sought])[0] & ~self._letters).astype(np.int64)
        items = np.flatnonzero((match == _NONE) & (lacking <= MOST_LACKING))
        items = _take_first(items, lacking[items] * len(self) + place[items], MOST_TRIED)
        names = [last_part(self._names[item])[:LONGEST_NAME] for item in items.tolist()]
        from rapidfuzz import fuzz, process  # takes a while, and most sessions look for no name

        near = process.extract(sought, names, scorer=fuzz.ratio, limit=ENOUGH, score_cutoff=NEAR_SCORE)
        match[items[[index for _, _, index in near]]] = Match.NEAR


def search_texts(answer: ShownAnswer[Any], sought: str, text_of: Callable[[int], str]) -> Iterator[Hit | None]:
    """Looks through the texts of items in the order of the list: a hit for each that holds what is sought, None for
    each that does not. The caller stops it when something else is sought."""
    wanted = " ".join(sought[:LONGEST_SOUGHT].casefold().split())
    for item in answer.order[:MOST_TEXTS].tolist() if wanted else ():
        yield Hit(item, Match.TEXT) if wanted in " ".join(text_of(item).casefold().split()) else None


def last_part(name: str) -> str:
    """Returns the part of a name that is typed first: "total" of "Cart.total", "cart.py" of "shop/cart.py"."""
    return name[name.rfind("/") + 1 :] if "/" in name else name[name.rfind(".") + 1 :]


def _measure_span(letters: str, name: str) -> int | None:
    """Counts the letters of a name from the first to the last of those that are sought in their order: the fewer, the
    better the hit; None where they are not in it."""
    at = 0
    for letter in letters:
        if not (at := name.find(letter, at) + 1):
            return None
    end = first = at
    for letter in reversed(letters):  # the same letters may stand closer together, before the last one
        first = name.rfind(letter, 0, first)
    return end - first


def _take_first(items: IntArray, key: IntArray, most: int) -> IntArray:
    if len(items) > most:
        least = np.argpartition(key, most)[:most]
        items, key = items[least], key[least]
    return items[np.argsort(key, kind="stable")]


def _mark_letters(texts: Sequence[str]) -> npt.NDArray[np.uint64]:
    if not texts:
        return np.zeros(0, dtype=np.uint64)
    ends = np.cumsum([len(text) + 1 for text in texts])
    codes = np.frombuffer("".join(f"{text}\n" for text in texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    bits = np.left_shift(np.uint64(1), (codes & 63).astype(np.uint64))
    bits[codes == ord("\n")] = 0
    return np.asarray(np.bitwise_or.reduceat(bits, np.concatenate([[0], ends[:-1]])), dtype=np.uint64)
