"""Counts exactly by the published vocabularies. A process loads each vocabulary once, at the first count.

tiktoken is the reference, and counts each new word (`small_texts.py`). toktok counts instead if it is installed and
agrees with tiktoken on a text of many scripts. Strings that look like special tokens are ordinary text. Lone surrogates
count as U+FFFD. No text makes a count fail: tiktoken aborts on runs of white space near a million characters, so runs
are cut far below that.
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
from secateur.tokens.small_texts import CL100K_WORDS, O200K_WORDS, PieceJoiner, WordCounter

if TYPE_CHECKING:
    import tiktoken

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
    words: str  # the expression over ASCII, for `small_texts.py`
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
    """Returns the fastest counter of texts without long runs of white space."""
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
    """Returns a counter by toktok; None if it is not installed or does not agree with tiktoken."""
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
