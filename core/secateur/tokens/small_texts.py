"""Counts text exactly by its words, each of which is counted once. Words are cut by an expression over ASCII.

Little text needs no tiktoken, whose tables take 0.4 s to build: its words are joined by ranks that are looked up in a
file (`RankTable`). For much text tiktoken counts the words, and this is twice as fast as tiktoken alone.

While a text is cut into words, each letter beyond ASCII is replaced by an ASCII character of its kind, because the
published expressions only ask for kinds. A text with a letter whose kind may differ in tiktoken is not counted here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from heapq import heapify, heappop, heappush

from secateur.tokens.ranks import NEVER, RankFile, rank_lookup

_CONTRACTION = "'(?:[sStTmMdD]|[rRvV][eE]|[lL][lL])"
O200K_WORDS = "|".join(
    (
        rf"[^\r\nA-Za-z0-9ª]?[A-Zª\u0300]*[a-zª\u0300]+(?:{_CONTRACTION})?",
        rf"[^\r\nA-Za-z0-9ª]?[A-Zª\u0300]+[a-zª\u0300]*(?:{_CONTRACTION})?",
        r"[0-9]{1,3}",
        r" ?[^\sA-Za-z0-9ª]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
# The expressions of `exact.py` over ASCII and two more letters: ª for letters without case, U+0300 for marks.
CL100K_WORDS = "|".join(
    (
        _CONTRACTION,
        r"[^\r\nA-Za-z0-9ª]?+[A-Za-zª]++",
        r"[0-9]{1,3}+",
        r" ?[^\sA-Za-z0-9ª]++[\r\n]*+",
        r"\s++\Z",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    )
)

_STANDS_FOR = {"Lu": "Z", "Lt": "Z", "Ll": "z", "Lm": "ª", "Lo": "ª", "Nd": "0", "Nl": "0", "No": "0"}
_MARK, _BLANK, _OTHER = "\u0300", "\x0b", "!"
_BLANKS = frozenset("\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | frozenset(map(chr, range(0x2000, 0x200B)))
_UNSURE = frozenset({"Cn", "Cs"})
_LONG_S = "ſ"  # a lower-case letter that a case-insensitive expression takes for an s
LONGEST_WORD = 2000  # the most letters of a word; a text with a longer word, which is data, is left to tiktoken
SHORT_WORD = 64  # the most bytes for which the simple way of joining is the faster one

# The bytes of words that are joined here, a third more than in 3 million characters of code. Joining more would take
# longer than to load the vocabulary for the rest.
MOST_JOINED = 130_000

REMEMBERED = 65_536  # the most words whose counts are kept, about 8 MB; then the cache is emptied


class WordCounter:
    """Counts the tokens of texts by one vocabulary.

    Args:
        words: the expression that cuts a text into words.
        count_word: counts the tokens of one word.
    """

    def __init__(self, words: str, count_word: Callable[[str], int]) -> None:
        self._words = re.compile(words, re.ASCII)
        self._known = _WordCounts(count_word)
        self._kinds = _LetterKinds()

    def count(self, text: str) -> int | None:
        """Counts the tokens of a text; None if tiktoken must count it."""
        try:
            if text.isascii():
                words = self._words.findall(text)
            else:
                kinds = text.translate(self._kinds)
                words = [text[word.start() : word.end()] for word in self._words.finditer(kinds)]
            if len(self._known) > REMEMBERED:
                self._known.clear()
            return sum(map(self._known.__getitem__, words))
        except OverflowError:  # the kind of a letter is not certain, or a word is too long
            return None


class _LetterKinds(dict[int, str]):
    """Maps each letter to a character that stands for its kind. Raises OverflowError if the kind is not certain."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if code < 128:
            kind = letter
        elif letter in _BLANKS:
            kind = _BLANK
        else:
            category = unicodedata.category(letter)
            if category in _UNSURE or letter == _LONG_S:
                raise OverflowError
            kind = _MARK if category[0] == "M" else _STANDS_FOR.get(category, _OTHER)
        self[code] = kind
        return kind


class _WordCounts(dict[str, int]):
    """The tokens of each word, counted at the first lookup. Raises OverflowError for a word that is too long."""

    def __init__(self, count_word: Callable[[str], int]) -> None:
        super().__init__()
        self._count_word = count_word

    def __missing__(self, word: str) -> int:
        if len(word) > LONGEST_WORD:
            raise OverflowError
        count = self[word] = self._count_word(word)
        return count


class PieceJoiner:
    """Counts the tokens of a word without a loaded vocabulary."""

    def __init__(self, file: RankFile) -> None:
        """Raises TokenizerError: the vocabulary cannot be read."""
        self._rank = rank_lookup(file)
        self._joined = 0

    def count(self, word: str) -> int:
        """Joins the bytes of a word as far as the vocabulary allows, and counts the parts. Raises OverflowError after
        MOST_JOINED bytes."""
        data = word.encode()
        if self._rank(data) < NEVER:
            return 1
        self._joined += len(data) * (1 + len(data) // 16)  # random words are joined in more steps than those of code
        if self._joined > MOST_JOINED:
            raise OverflowError
        return self._join(data) if len(data) <= SHORT_WORD else self._join_long(data)

    def _join(self, data: bytes) -> int:
        """Joins the neighbours with the lowest rank again and again, and counts the parts that are left."""
        ends = list(range(len(data) + 1))
        ranks = [self._rank(data[first : first + 2]) for first in range(len(data) - 1)]
        while ranks and (lowest := min(ranks)) < NEVER:
            at = ranks.index(lowest)
            del ends[at + 1], ranks[at]
            if at < len(ranks):
                ranks[at] = self._rank(data[ends[at] : ends[at + 2]])
            if at:
                ranks[at - 1] = self._rank(data[ends[at - 1] : ends[at + 1]])
        return len(ends) - 1

    def _join_long(self, data: bytes) -> int:
        """Does the same in n log n time, with a heap of pairs and links between the remaining parts."""
        size = len(data)
        after, before = list(range(1, size + 1)), list(range(-1, size - 1))
        waiting = [
            (rank, first, first + 2)
            for first in range(size - 1)
            if (rank := self._rank(data[first : first + 2])) < NEVER
        ]
        heapify(waiting)
        left = size
        gone = bytearray(size)
        while waiting:
            _, first, end = heappop(waiting)
            middle = after[first]
            if gone[first] or middle >= size or after[middle] != end:
                continue  # the heap is not cleaned: one of the two has been joined with another part since
            gone[middle], left = 1, left - 1
            after[first] = end
            if end < size:
                before[end] = first
            for start in (before[first], first):
                if start >= 0 and after[start] < size:
                    reach = after[after[start]]
                    if (rank := self._rank(data[start:reach])) < NEVER:
                        heappush(waiting, (rank, start, reach))
        return left
