"""Exact counts: tiktoken over the published vocabularies, loaded at the first count, once per process and vocabulary.

Strings that look like special tokens are ordinary text. Lone surrogates count as U+FFFD. Nothing in a text can make a
count fail: tiktoken aborts on whitespace runs near a million characters, so runs are cut well below that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from secateur.tokens.ranks import CL100K, O200K, RankFile, data_folder, read_ranks
from secateur.tokens.small_texts import CL100K_WORDS, O200K_WORDS, SmallTexts

if TYPE_CHECKING:
    import tiktoken

LONGEST_RUN = 100_000
"""Whitespace characters counted in one piece. tiktoken's regular expression overflows its stack between 900,000 and
1,000,000."""

_WHITESPACE = re.compile(r"\s+")

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


_O200K = Vocabulary("o200k_base", O200K, _O200K_SPLIT, O200K_WORDS)
VOCABULARIES = {
    "o200k_base": _O200K,
    "cl100k_base": Vocabulary("cl100k_base", CL100K, _CL100K_SPLIT, CL100K_WORDS),
    "o200k_harmony": _O200K,  # differs in special tokens only, and those are ordinary text here
}

LITTLE = 3_000_000
"""Characters that a process counts before it loads tiktoken: about where the time that this takes is won again."""

_loaded: dict[Vocabulary, tiktoken.Encoding] = {}
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
        """Tokens of each text; a plain loop, because tiktoken's batch call is three times slower on short texts."""
        texts = list(texts)
        little = self._little(sum(map(len, texts)))
        if little is None:
            return [self._counted(text) for text in texts]
        counts = [little.count(text) for text in texts]
        return [self._counted(text) if count is None else count for text, count in zip(texts, counts, strict=True)]

    def load(self) -> None:
        """Load tiktoken at once, for whoever is going to count much. Raises TokenizerError."""
        _encoding(self._vocabulary)

    def _counted(self, text: str) -> int:
        """Tokens by tiktoken."""
        encode = _encoding(self._vocabulary).encode_ordinary
        return len(encode(text)) if len(text) <= LONGEST_RUN else sum(len(encode(piece)) for piece in _pieces(text))

    def _little(self, letters: int) -> SmallTexts | None:
        """The counter of so many letters more without tiktoken; None where that would not be faster."""
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
    for run in _WHITESPACE.finditer(text):
        for cut in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
            yield text[start:cut]
            start = cut
    yield text[start:]


def _encoding(vocabulary: Vocabulary) -> tiktoken.Encoding:
    encoding = _loaded.get(vocabulary)
    if encoding is None:
        with _loading:
            encoding = _loaded.get(vocabulary)
            if encoding is None:
                encoding = _loaded[vocabulary] = _build(vocabulary)
                _little.pop(vocabulary, None)
    return encoding


def _build(vocabulary: Vocabulary) -> tiktoken.Encoding:
    import tiktoken

    ranks = read_ranks(vocabulary.file, data_folder())
    encoding = tiktoken.Encoding(vocabulary.name, pat_str=vocabulary.split, mergeable_ranks=ranks, special_tokens={})
    ranks.clear()  # the encoding has its own copy; the table would hold 28 MB for decoding, which nobody does
    return encoding
