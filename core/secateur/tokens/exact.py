"""Counts exactly by the published vocabularies. A process loads each vocabulary once, at the first count.

tiktoken is the reference, and counts each new word. toktok counts instead if it is installed and
agrees with tiktoken on a text of many scripts. Strings that look like special tokens are ordinary text. Lone surrogates
count as U+FFFD. No text makes a count fail: tiktoken aborts on runs of white space near a million characters, so runs
are cut far below that.

Counts text exactly by its words, each of which is counted once. Words are cut by an expression over ASCII.

Little text needs no tiktoken, whose tables take 0.4 s to build: its words are joined by ranks that are looked up in a
file (`RankTable`). For much text tiktoken counts the words, and this is twice as fast as tiktoken alone.

While a text is cut into words, each letter beyond ASCII is replaced by an ASCII character of its kind, because the
published expressions only ask for kinds. A text with a letter whose kind may differ in tiktoken is not counted here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import Struct

from secateur.tokens.ranks import CL100K, O200K, RankFile, data_folder, read_ranks

if TYPE_CHECKING:
    import tiktoken
from heapq import heapify, heappop, heappush

from secateur.tokens.ranks import NEVER, rank_lookup

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
DATA_JOINED = 20_000  # from here on, random words are told by their share: code joins less than twice what it finds

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
        self._joined = self._found = 0

    def count(self, word: str) -> int:
        """Joins the bytes of a word as far as the vocabulary allows, and counts the parts. Raises OverflowError after
        MOST_JOINED bytes, of random words earlier."""
        data = word.encode()
        if self._rank(data) < NEVER:
            self._found += len(data)
            return 1
        self._joined += len(data) * (1 + len(data) // 16)  # random words are joined in more steps than those of code
        if self._joined > (DATA_JOINED if self._joined > 4 * self._found else MOST_JOINED):
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


# The most white space that is counted in one piece. tiktoken's regular expression overflows its stack between 900,000
# and 1,000,000 characters.
LONGEST_RUN = 100_000

# Matches a run only at its start. Without the look-behind, a run that is slightly too short would be tried from each of
# its characters.
_LONG_RUN = re.compile(rf"(?<!\s)\s{{{LONGEST_RUN + 1},}}")

_O200K_SPLIT = "|".join(
    (
        # a word: one leading character of any kind, capitals, lower-case letters, an English contraction
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
_CL100K_SPLIT = "|".join(
    (
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    )
)


class Vocabulary(Struct, frozen=True):
    """An encoding of ordinary text: the ranks of tokens, and the expression that cuts text into words."""

    name: str
    file: RankFile
    split: str
    words: str  # the expression over ASCII, for `count` below
    probe: int  # the tokens of PROBE by tiktoken


# A text with every kind of letter, number, mark and blank that the expressions distinguish.
PROBE = (
    "def addItem(self, *args: int) -> None:\r\n\tif x != 1234567890:  # don't, I'LL, Ünïcode naïve e\u0301\n\n\n"
    "    return {'订单处理逻辑': \"カタカナ ひらがな 한국어 Ελληνικά русский עברית العربية हिन्दी ไทย\"}  \t //\n"
    "😀👩\u200d👩\u200d👧 ½²Ⅷ٣ \u00a0\u3000\u2028x <|endoftext|> ABCdefGHIjkl __init__ /* ===== */\x00\x7f~`^\n   "
)

_O200K = Vocabulary("o200k_base", O200K, _O200K_SPLIT, O200K_WORDS, 113)
VOCABULARIES = {
    "o200k_base": _O200K,
    "cl100k_base": Vocabulary("cl100k_base", CL100K, _CL100K_SPLIT, CL100K_WORDS, 152),
    "o200k_harmony": _O200K,  # differs only in special tokens, which are ordinary text here
}

# The characters that a process counts before it loads a vocabulary. From about here on, loading saves time.
LITTLE = 3_000_000

# The characters of a text whose known words are counted faster one by one than by a call of the loaded vocabulary.
SHORT = 300

NEWEST_UNICODE = 16  # the newest version of Unicode whose letters both tokenizers know

Count = Callable[[list[str]], list[int]]

_loaded: dict[Vocabulary, Count] = {}
_little: dict[Vocabulary, WordCounter] = {}
_counted: dict[Vocabulary, int] = {}
_loading = Lock()


class ExactCounter:
    """Counts with one of `VOCABULARIES`; cheap to make, to pickle and to share between threads.

    >>> ExactCounter("o200k_base").count("hello world")
    2
    """

    exact = True

    def __init__(self, name: str) -> None:
        self.name = name
        self._vocabulary = VOCABULARIES[name]

    def __repr__(self) -> str:
        return f"ExactCounter({self.name!r})"

    def __reduce__(self) -> tuple[type[ExactCounter], tuple[str]]:
        return ExactCounter, (self.name,)

    def count(self, text: str) -> int:
        """Counts the tokens of `text`. Raises TokenizerError: the vocabulary cannot be read."""
        return self.count_many((text,))[0]

    def count_many(self, texts: Iterable[str]) -> list[int]:
        """Counts the tokens of each text. Raises TokenizerError like `count`."""
        texts = list(texts)
        different = list(dict.fromkeys(texts))
        little = self._find_small_counter(sum(map(len, different)))
        counts = (
            self._count_loaded(different) if little is None else _count_by_words(little, self._count_loaded, different)
        )
        known = dict(zip(different, counts, strict=True))
        return counts if len(counts) == len(texts) else list(map(known.__getitem__, texts))

    def load(self) -> None:
        """Loads the vocabulary at once, before much text is counted. Raises TokenizerError."""
        _load(self._vocabulary)

    def _count_loaded(self, texts: list[str]) -> list[int]:
        if not texts:
            return []
        count = _load(self._vocabulary)
        if max(map(len, texts)) <= LONGEST_RUN:
            return count(texts)
        return [sum(count(list(_pieces(text)))) if len(text) > LONGEST_RUN else count([text])[0] for text in texts]

    def _find_small_counter(self, letters: int) -> WordCounter | None:
        """Returns a counter that needs no loaded vocabulary; None if it would be slower for this many further
        letters."""
        vocabulary = self._vocabulary
        so_far = _counted.get(vocabulary, 0)
        if letters > (SHORT if vocabulary in _loaded else LITTLE - so_far):
            return None
        _counted[vocabulary] = so_far + letters
        with _loading:
            if (little := _little.get(vocabulary)) is None:
                little = _little[vocabulary] = WordCounter(vocabulary.words, PieceJoiner(vocabulary.file).count)
        return little


def _pieces(text: str) -> Iterator[str]:
    """Cuts `text` so that no piece has a run of white space longer than LONGEST_RUN."""
    start = 0
    for run in _LONG_RUN.finditer(text):
        for cut in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
            yield text[start:cut]
            start = cut
    yield text[start:]


def _load(vocabulary: Vocabulary) -> Count:
    if (count := _loaded.get(vocabulary)) is None:
        with _loading:
            if (count := _loaded.get(vocabulary)) is None:
                count = _loaded[vocabulary] = _build(vocabulary)
    return count


def _build(vocabulary: Vocabulary) -> Count:
    if (toktok := _build_toktok(vocabulary)) is not None:
        return toktok
    encode = tiktoken_encoding(vocabulary).encode_ordinary
    by_words = WordCounter(vocabulary.words, lambda word: len(encode(word)))
    return partial(_count_by_words, by_words, partial(_count_by_tiktoken, vocabulary))


def _count_by_words(counter: WordCounter, count_others: Count, texts: list[str]) -> list[int]:
    """Counts each text by its words. `count_others` counts the texts for which that is impossible."""
    counts = [counter.count(text) for text in texts]
    others = iter(count_others([text for text, count in zip(texts, counts, strict=True) if count is None]))
    return [next(others) if count is None else count for count in counts]


def _build_toktok(vocabulary: Vocabulary) -> Count | None:
    try:
        import toktok

        agrees = toktok.batch_count([PROBE], vocabulary.name, threads=1) == [vocabulary.probe]
    except (ImportError, AttributeError, LookupError, TypeError, ValueError):
        return None
    if not agrees:
        return None
    return partial(_count_by_toktok, partial(toktok.batch_count, encoding=vocabulary.name, threads=1), vocabulary)


def _count_by_toktok(batch_count: Count, vocabulary: Vocabulary, texts: list[str]) -> list[int]:
    unsure = [at for at, text in enumerate(texts) if not text.isascii() and not all(map(_sure.__getitem__, set(text)))]
    if not unsure:
        return batch_count(texts)
    rest = dict(zip(unsure, _count_by_tiktoken(vocabulary, [texts[at] for at in unsure]), strict=True))
    return [
        rest.get(at, count)
        for at, count in enumerate(batch_count(["" if at in rest else t for at, t in enumerate(texts)]))
    ]


class _SureLetters(dict[str, bool]):
    """Tells for each letter whether both tokenizers know its kind in all their versions. False for letters of the
    newest Unicode and for surrogates, which only tiktoken accepts."""

    def __missing__(self, letter: str) -> bool:
        known = letter.isascii() or _KNOWN_UNICODE
        sure = self[letter] = known and unicodedata.category(letter) not in ("Cn", "Cs")
        return sure


_KNOWN_UNICODE = int(unicodedata.unidata_version.partition(".")[0]) <= NEWEST_UNICODE
_sure = _SureLetters()


def _count_by_tiktoken(vocabulary: Vocabulary, texts: list[str]) -> list[int]:
    """Counts each text in a loop, because tiktoken's batch call is three times slower on short texts."""
    encode = tiktoken_encoding(vocabulary).encode_ordinary
    return [len(encode(text)) for text in texts]


@cache
def tiktoken_encoding(vocabulary: Vocabulary) -> tiktoken.Encoding:
    """Builds tiktoken's own encoding, the reference. Raises TokenizerError."""
    import tiktoken

    ranks = read_ranks(vocabulary.file, data_folder())
    encoding = tiktoken.Encoding(vocabulary.name, pat_str=vocabulary.split, mergeable_ranks=ranks, special_tokens={})
    ranks.clear()  # the encoding has its own copy, and this table (28 MB) would only be needed for decoding
    return encoding
