"""The default embedder: static word vectors, no network, no model run, thousands of fragments a second.

The vectors are those the package `wordllama` carries (Llama 2's vocabulary, 256 numbers a piece), read as data; none of
its code runs. Identifiers are split into words, each word is the direction of its pieces' sum, and a text is the
weighted sum of its words. Weights are a fixed prior, never statistics of the corpus, so a vector is a function of its
text alone: rare words count more (the vocabulary is ordered by frequency), words of grammar and keywords less,
repetition as its square root, the fragment's own name as `NAME_WEIGHT` uses. All sums are of integers: the same text
has the same vector on every machine.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from secateur.errors import EmbeddingError
from secateur.index.facts.embedding.vectors import SCALE, TextKind, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
DIMENSION = 256

NAME_WEIGHT = 12
"""Uses in the text that a fragment's own name is worth; without it a long body drowns the best description there is."""

COMMON_MASS = 0.005
"""Smooth inverse frequency a / (a + p): words more probable than this lose weight."""

COMPOUND_WEIGHT = 1.3
"""A word the vocabulary only knows in pieces is rarer than its pieces."""

STOP_WEIGHT = 0.1
KEYWORD_WEIGHT = 0.3

FIRST_WORD = 259
"""Pieces below are control pieces and single bytes: a byte of a character the vocabulary lacks carries no meaning."""

SPACE_PIECE = 29871

PIECE_SCALE = 4096
WORD_SCALE = 255
COUNT_SCALE = 16
"""Steps to 1 of the whole numbers that are summed: parts of a piece's vector, parts of a word's vector, roots of
counts."""

RANK_OFFSET = 10
"""Zipf's law with a flat head: the first piece of the vocabulary is not ten times as frequent as the tenth."""

FIRST_ROWS = 1024
"""Rows of the table at first; it doubles when it is full."""

CACHED_WORDS = 65_536
"""Words kept per process, about 33 MB; beyond that the cache starts anew."""

CACHED_LETTERS = 64
"""Longer runs are data, not names: they do not come again, and would fill the memory."""

LEARNED_AT_ONCE = 1024
"""Words whose vectors are worked out together: enough that numpy's calls cost nothing, little enough to take a few
megabytes."""

LARGEST_PART = 512
"""No part of a word's vector is larger: its length is WORD_SCALE at most, COMPOUND_WEIGHT times that for compounds."""

FLOAT32_WHOLE = 1 << 24
"""Whole numbers below this are exact in 32 bits, and so are their sums."""

_RUN = re.compile(r"[\w×÷\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Runs of what words are made of (the two signs lie inside the ranges of letters below): no word reaches across their
ends."""

_WORDS = re.compile(
    r"[A-ZÀ-Þ]+(?=[A-ZÀ-Þ][a-zß-ɏ])|[A-ZÀ-Þ]?[a-zß-ɏ]{2,}|[A-ZÀ-Þ]{2,}"  # camelCase, PascalCase, CONSTANT
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts without spaces: each character
    r"|[^\W\d_A-Za-zÀ-ɏ\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}"
)
_STOP = (
    "a an the of to and or in is are be it its this that for with by on as at from if not no will can which when into"
    " than then given how where what who"
)
_KEYWORDS = (
    "def return self cls if else elif while true false none null nil import class pass lambda yield async await break"
    " continue assert del global raise except try finally int str bool float list dict tuple set any optional union"
    " typing args kwargs const let var function new public private protected static final void func fn pub impl mut"
    " struct interface package throw throws catch switch case default export require string number boolean type err"
)


class StaticEmbedder:
    """wordllama's vectors with code-aware words and fixed weights. Reads them, in about 0.2 s, when it first embeds.
    Raises EmbeddingError without its data."""

    id = "wordllama-l2-supercat/secateur-1/256"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._folder = _package_folder()
        self._damped = dict.fromkeys(_KEYWORDS.split(), KEYWORD_WEIGHT) | dict.fromkeys(_STOP.split(), STOP_WEIGHT)
        self._place: dict[str, int] = {}
        self._split: dict[str, tuple[str, ...]] = {}
        self._table = np.zeros((FIRST_ROWS, DIMENSION), dtype=np.int16)

    @cached_property
    def _data(self) -> tuple[npt.NDArray[np.float16], Tokenizer]:
        """Vectors of the pieces and what cuts words into pieces."""
        folder = self._folder
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        try:
            pieces: npt.NDArray[np.float16] = load_file(folder / WEIGHTS)["embedding.weight"]
            tokenizer: Tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        except Exception as error:  # both libraries raise bare exceptions of their own
            raise EmbeddingError(
                f"The word vectors in {folder} cannot be read: {error}", hint="Reinstall wordllama."
            ) from None
        if pieces.ndim != 2 or pieces.shape[1] != DIMENSION:
            raise EmbeddingError(
                f"The word vectors in {folder} have the shape {pieces.shape}, not (pieces, {DIMENSION}).",
                hint="Install wordllama 0.4.",
            )
        return pieces, tokenizer

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """See `Embedder`. The first line of a document is its symbol id (`document_text`)."""
        counted = [self._counts(text, kind) for text in texts]
        self._learn(dict.fromkeys(word for counts in counted for word in counts))
        sums = np.zeros((len(texts), DIMENSION), dtype=np.int64)
        for row, counts in enumerate(counted):
            places = [self._place[word] for word in counts]
            uses = np.rint(COUNT_SCALE * np.sqrt(np.array(list(counts.values()), dtype=np.float64)))
            # Whole numbers, exact in any order; those of all but the longest texts also in the smaller type, which is
            # twice as fast.
            exact = np.float32 if uses.sum() * LARGEST_PART < FLOAT32_WHOLE else np.float64
            sums[row] = uses.astype(exact) @ self._table[places].astype(exact)
        length = np.sqrt((sums * sums).sum(axis=1, keepdims=True).astype(np.float64))
        return np.rint(sums * (SCALE / np.where(length > 0, length, 1.0))).astype(np.int8)

    def _counts(self, text: str, kind: TextKind) -> dict[str, int]:
        counts: dict[str, int] = {}
        for run, times in Counter(_RUN.findall(text)).items():
            for word in self._words(run):
                counts[word] = counts.get(word, 0) + times
        if kind == "document":
            name = text.partition("\n")[0].rpartition("::")[2].rpartition(".")[2]
            for word in self._words(name):
                counts[word] = counts.get(word, 0) + NAME_WEIGHT - 1
        return counts

    def _words(self, run: str) -> tuple[str, ...]:
        """Words of an identifier or another run of letters, remembered: most occur again and again."""
        words = self._split.get(run)
        if words is None:
            words = tuple(word.lower() for word in _WORDS.findall(run))
            if len(run) <= CACHED_LETTERS:
                if len(self._split) >= CACHED_WORDS:
                    self._split.clear()
                self._split[run] = words
        return words

    def _learn(self, words: Iterable[str]) -> None:
        """Have a row of the table for each of the words."""
        new = [word for word in words if word not in self._place]
        if len(self._place) + len(new) > CACHED_WORDS:
            self._place.clear()
            new = list(words)
        first, end = len(self._place), len(self._place) + len(new)
        while end > len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        for start in range(0, len(new), LEARNED_AT_ONCE):
            batch = new[start : start + LEARNED_AT_ONCE]
            self._table[first + start : first + start + len(batch)] = self._vectors(batch)
        self._place.update(zip(new, range(first, end), strict=True))

    def _vectors(self, words: Sequence[str]) -> npt.NDArray[np.int16]:
        """Weighted vectors of words, [words, DIMENSION]; zeros where the vocabulary knows no piece."""
        vectors, tokenizer = self._data
        encoded = (tokenizer.encode(word, add_special_tokens=False).ids for word in words)
        pieces = [[piece for piece in ids if piece >= FIRST_WORD and piece != SPACE_PIECE] for ids in encoded]
        known = [row for row, ids in enumerate(pieces) if ids]
        weighted = np.zeros((len(words), DIMENSION), dtype=np.int16)
        if not known:
            return weighted
        size = np.array([len(pieces[row]) for row in known])
        start = np.cumsum(size) - size
        flat = np.array([piece for ids in pieces for piece in ids])
        total = np.add.reduceat(np.rint(vectors[flat].astype(np.float64) * PIECE_SCALE), start, axis=0)
        length = np.sqrt((total * total).sum(axis=1))
        probability = 1 / (np.maximum.reduceat(flat, start) - FIRST_WORD + RANK_OFFSET)  # over the vocabulary's order
        damped = np.array([self._damped.get(words[row], 1.0) for row in known])
        weight = COMMON_MASS / (COMMON_MASS + probability) * damped * np.where(size > 1, COMPOUND_WEIGHT, 1.0)
        scale = weight * WORD_SCALE / np.where(length > 0, length, 1.0)
        weighted[known] = np.rint(total * scale[:, np.newaxis])
        return weighted


def _package_folder() -> Path:
    """Finds the folder of wordllama without importing it: importing costs 0.3 s and reconfigures logging."""
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.origin:
        raise EmbeddingError(
            "The package wordllama, which carries the static word vectors, is not installed.",
            hint="pip install wordllama",
        )
    return Path(found.origin).parent
