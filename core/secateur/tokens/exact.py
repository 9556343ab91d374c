"""Exact counts by the published vocabularies, loaded at the first count, once per process and vocabulary.

tiktoken is the reference. toktok counts the same five times as fast, and does where it is installed and counts a text
of many scripts as tiktoken does; where not, tiktoken counts. Strings that look like special tokens are ordinary text.
Lone surrogates count as U+FFFD. Nothing in a text can make a count fail: tiktoken aborts on whitespace runs near a
million characters, so runs are cut well below that.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING

from secateur.tokens.ranks import CL100K, O200K, RankFile, data_folder, read_ranks
from secateur.tokens.small_texts import CL100K_WORDS, O200K_WORDS, SmallTexts

if TYPE_CHECKING:
    import tiktoken

LONGEST_RUN = 100_000
"""Whitespace characters counted in one piece. tiktoken's regular expression overflows its stack between 900,000 and
1,000,000."""

_LONG_RUN = re.compile(rf"(?<!\s)\s{{{LONGEST_RUN + 1},}}")
"""Looks at each run once: without the look behind, one that is a little too short would be counted from every start."""

_O200K_SPLIT = "|".join(
    (
        # a word: any one leading character, capitals, small letters, an English contraction
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


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The two things that tell one encoding of ordinary text from another: the ranks and the expression that cuts text
    into words."""

    name: str
    file: RankFile
    split: str
    words: str  # the same over ASCII: `small_texts.py`
    probe: int  # tokens of PROBE by tiktoken


PROBE = (
    "def addItem(self, *args: int) -> None:\r\n\tif x != 1234567890:  # don't, I'LL, Ünïcode naïve e\u0301\n\n\n"
    "    return {'订单处理逻辑': \"カタカナ ひらがな 한국어 Ελληνικά русский עברית العربية हिन्दी ไทย\"}  \t //\n"
    "😀👩\u200d👩\u200d👧 ½²Ⅷ٣ \u00a0\u3000\u2028x <|endoftext|> ABCdefGHIjkl __init__ /* ===== */\x00\x7f~`^\n   "
)
"""Holds every kind of letter, number, mark and blank that the expressions tell apart."""

_O200K = Vocabulary("o200k_base", O200K, _O200K_SPLIT, O200K_WORDS, 113)
VOCABULARIES = {
    "o200k_base": _O200K,
    "cl100k_base": Vocabulary("cl100k_base", CL100K, _CL100K_SPLIT, CL100K_WORDS, 152),
    "o200k_harmony": _O200K,  # differs in special tokens only, and those are ordinary text here
}

LITTLE = 3_000_000
"""Characters that a process counts before it loads a vocabulary: about where the time that this takes is won again."""

NEWEST_UNICODE = 16
"""The last version of Unicode of which both tokenizers know all letters."""

Count = Callable[[list[str]], list[int]]

_loaded: dict[Vocabulary, Count] = {}
_little: dict[Vocabulary, SmallTexts] = {}
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
        """Tokens of `text`.

        Raises:
            TokenizerError: the vocabulary cannot be read.
        """
        return self.count_many((text,))[0]

    def count_many(self, texts: Iterable[str]) -> list[int]:
        """Tokens of each text. Raises TokenizerError like `count`."""
        texts = list(texts)
        little = self._little(sum(map(len, texts)))
        if little is None:
            return self._counted(texts)
        counts = [little.count(text) for text in texts]
        rest = iter(self._counted([text for text, count in zip(texts, counts, strict=True) if count is None]))
        return [next(rest) if count is None else count for count in counts]

    def load(self) -> None:
        """Load the vocabulary at once, for whoever is going to count much. Raises TokenizerError."""
        _load(self._vocabulary)

    def _counted(self, texts: list[str]) -> list[int]:
        """Tokens of each text by a vocabulary that is loaded."""
        if not texts:
            return []
        count = _load(self._vocabulary)
        if max(map(len, texts)) <= LONGEST_RUN:
            return count(texts)
        return [sum(count(list(_pieces(text)))) if len(text) > LONGEST_RUN else count([text])[0] for text in texts]

    def _little(self, letters: int) -> SmallTexts | None:
        """The counter of so many letters more that needs no vocabulary loaded; None where that would not be faster."""
        vocabulary = self._vocabulary
        so_far = _counted.get(vocabulary, 0) + letters
        if so_far > LITTLE or vocabulary in _loaded:
            return None
        _counted[vocabulary] = so_far
        with _loading:
            little = _little.get(vocabulary)
            if little is None:
                little = _little[vocabulary] = SmallTexts(vocabulary.file, vocabulary.words)
        return little


def _pieces(text: str) -> Iterator[str]:
    """`text` cut so that no piece holds a whitespace run longer than LONGEST_RUN."""
    start = 0
    for run in _LONG_RUN.finditer(text):
        for cut in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
            yield text[start:cut]
            start = cut
    yield text[start:]


def _load(vocabulary: Vocabulary) -> Count:
    count = _loaded.get(vocabulary)
    if count is None:
        with _loading:
            count = _loaded.get(vocabulary)
            if count is None:
                count = _loaded[vocabulary] = _build(vocabulary)
                _little.pop(vocabulary, None)
    return count


def _build(vocabulary: Vocabulary) -> Count:
    """The fastest counter there is of texts without long runs of white space."""
    return _fast(vocabulary) or partial(_by_tiktoken, vocabulary)


def _fast(vocabulary: Vocabulary) -> Count | None:
    """toktok; None where it is not installed, or does not count as tiktoken does."""
    try:
        import toktok

        agrees = toktok.batch_count([PROBE], vocabulary.name, threads=1) == [vocabulary.probe]
    except (ImportError, AttributeError, LookupError, TypeError, ValueError):
        return None
    if not agrees:
        return None
    return partial(_by_toktok, partial(toktok.batch_count, encoding=vocabulary.name, threads=1), vocabulary)


def _by_toktok(batch_count: Count, vocabulary: Vocabulary, texts: list[str]) -> list[int]:
    unsure = [at for at, text in enumerate(texts) if not text.isascii() and not all(map(_sure.__getitem__, set(text)))]
    if not unsure:
        return batch_count(texts)
    rest = dict(zip(unsure, _by_tiktoken(vocabulary, [texts[at] for at in unsure]), strict=True))
    return [
        rest.get(at, count)
        for at, count in enumerate(batch_count(["" if at in rest else t for at, t in enumerate(texts)]))
    ]


class _Sure(dict[str, bool]):
    """Tells of a letter whether all versions of the two tokenizers know its kind: not of those that came with the
    newest Unicode, and not of surrogates, which only tiktoken takes."""

    def __missing__(self, letter: str) -> bool:
        known = letter.isascii() or _KNOWN_UNICODE
        sure = self[letter] = known and unicodedata.category(letter) not in ("Cn", "Cs")
        return sure


_KNOWN_UNICODE = int(unicodedata.unidata_version.partition(".")[0]) <= NEWEST_UNICODE
_sure = _Sure()


def _by_tiktoken(vocabulary: Vocabulary, texts: list[str]) -> list[int]:
    """A plain loop, because tiktoken's batch call is three times slower on short texts."""
    encode = tiktoken_encoding(vocabulary).encode_ordinary
    return [len(encode(text)) for text in texts]


@cache
def tiktoken_encoding(vocabulary: Vocabulary) -> tiktoken.Encoding:
    """The reference. Raises TokenizerError."""
    import tiktoken

    ranks = read_ranks(vocabulary.file, data_folder())
    encoding = tiktoken.Encoding(vocabulary.name, pat_str=vocabulary.split, mergeable_ranks=ranks, special_tokens={})
    ranks.clear()  # the encoding has its own copy; the table would hold 28 MB for decoding, which nobody does
    return encoding
