"""The default embedder: static word vectors, no network, no model run, thousands of fragments a second.

The vectors are those of the package `wordllama` (Llama 2's vocabulary, 256 numbers a piece), as data that the build put
into ours; none of its code runs. Identifiers are split into words, each word is the direction of its pieces' sum, and a
text is the weighted sum of its words. Weights are a fixed prior, never statistics of the corpus, so a vector is a
function of its text alone: rare words count more (the vocabulary is ordered by frequency), words of grammar and
keywords less, repetition as its square root, the fragment's own name as `NAME_WEIGHT` uses. All sums are of integers:
the same text has the same vector on every machine.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.directories import data_dir
from secateur.errors import EmbeddingError
from secateur.index.facts.embedding.pieces import WordPieces, read_matrix
from secateur.index.facts.embedding.vectors import SCALE, TextKind, Vectors
from secateur.index.facts.runs import RunCounts, RunTable, summed
from secateur.model import distinct

WEIGHTS = "weights/l2_supercat_256.safetensors"
MATRIX = "embedding.weight"
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

BLOCK = 32
"""Documents that are summed in one product of matrices: enough for their words to be many documents' words."""

GROUP = 256
"""Documents whose words are counted together: mostly those of a file; more would only take more memory."""

LEARNED_AT_ONCE = 1024
"""Words whose vectors are worked out together: enough that numpy's calls cost nothing, little enough to take a few
megabytes."""

LARGEST_PART = 512
"""No part of a word's vector is larger: its length is WORD_SCALE at most, COMPOUND_WEIGHT times that for compounds."""

FLOAT32_WHOLE = 1 << 24
"""Whole numbers below this are exact in 32 bits, and so are their sums."""

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
    """wordllama's vectors with code-aware words and fixed weights. Reads them, in about 20 ms, when it first embeds.
    Raises EmbeddingError without its data."""

    id = "wordllama-l2-supercat/secateur-1/256"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._folder = vectors_folder()
        self._damped = dict.fromkeys(_KEYWORDS.split(), KEYWORD_WEIGHT) | dict.fromkeys(_STOP.split(), STOP_WEIGHT)
        self._table = np.zeros((FIRST_ROWS, DIMENSION), dtype=np.int16)
        self._begin()

    @cached_property
    def _data(self) -> tuple[npt.NDArray[np.float16], WordPieces]:
        """Vectors of the pieces and what cuts words into pieces."""
        folder = self._folder
        try:
            pieces, cutter = read_matrix(folder / WEIGHTS, MATRIX), WordPieces.read(folder / TOKENIZER)
        except (OSError, ValueError) as error:
            raise EmbeddingError(
                f"The word vectors in {folder} cannot be read: {error}", hint="Reinstall secateur."
            ) from None
        if pieces.ndim != 2 or pieces.shape[1] != DIMENSION:
            raise EmbeddingError(
                f"The word vectors in {folder} have the shape {pieces.shape}, not (pieces, {DIMENSION}).",
                hint="Reinstall secateur.",
            )
        return pieces, cutter

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """See `Embedder`. The first line of a document is its symbol id (`document_text`)."""
        named = [_name(text.partition("\n")[0]) for text in texts] if kind == "document" else []
        return self._embedded([(RunCounts.of(texts), 1), (RunCounts.of(named), NAME_WEIGHT - 1)], len(texts))

    def embed_counted(self, headings: Sequence[str], texts: RunCounts) -> Vectors:
        """The vectors of documents whose texts' runs were counted; `headings` are their symbol ids."""
        named = [_name(heading.partition("\n")[0]) for heading in headings]
        counted = [(texts, 1), (RunCounts.of(headings), 1), (RunCounts.of(named), NAME_WEIGHT - 1)]
        return self._embedded(counted, len(headings))

    def _embedded(self, counted: Sequence[tuple[RunCounts, int]], documents: int) -> Vectors:
        """The vectors of documents that are made of several texts each, each with a weight."""
        groups = [
            self._sums([(runs.part(at, min(at + GROUP, documents)), weight) for runs, weight in counted if len(runs)])
            for at in range(0, documents, GROUP)
        ]
        sums = np.concatenate([np.zeros((0, DIMENSION), dtype=np.int64), *groups])
        length = np.sqrt((sums * sums).sum(axis=1, keepdims=True).astype(np.float64))
        return np.rint(sums * (SCALE / np.where(length > 0, length, 1.0))).astype(np.int8)

    def _sums(self, counted: Sequence[tuple[RunCounts, int]]) -> npt.NDArray[np.int64]:
        """The sums of some documents' words, [documents, DIMENSION]."""
        if len(self._place) > CACHED_WORDS:
            self._begin()
        entries = [self._runs.entries(runs) for runs, _ in counted]
        self._learn()
        owner, place, times = summed(
            np.concatenate([owner for owner, _, _ in entries]),
            np.concatenate([place for _, place, _ in entries]),
            np.concatenate([times * weight for (_, _, times), (_, weight) in zip(entries, counted, strict=True)]),
        )
        uses = np.rint(COUNT_SCALE * np.sqrt(times.astype(np.float64)))
        sums = np.zeros((len(counted[0][0]), DIMENSION), dtype=np.int64)
        for first in range(0, len(sums), BLOCK):
            low, high = np.searchsorted(owner, [first, first + BLOCK])
            if low < high:
                block = owner[low:high] - first, place[low:high], uses[low:high]
                sums[first : first + BLOCK] = self._products(*block)[: len(sums) - first]
        return sums

    def _products(
        self, owner: npt.NDArray[np.int64], place: npt.NDArray[np.uint64], uses: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.floating[Any]]:
        """The sums of the words of a few documents by their uses, [BLOCK, DIMENSION]."""
        used, _, column = distinct(place)
        # Whole numbers, exact in any order; those of all but the longest texts also in the smaller type, which is
        # twice as fast.
        largest = np.bincount(owner, uses, minlength=1).max() * LARGEST_PART
        exact = np.float32 if largest < FLOAT32_WHOLE else np.float64
        matrix = np.zeros((BLOCK, len(used)), dtype=exact)
        matrix[owner, column] = uses
        with np.errstate(invalid="ignore"):  # as in `vectors._products`
            products: npt.NDArray[np.floating[Any]] = matrix @ self._table[used.astype(np.int64)].astype(exact)
        return products

    def _begin(self) -> None:
        """Start with no word learned."""
        self._place: dict[str, int] = {}
        self._unlearned: list[str] = []
        self._runs = RunTable(self._places)

    def _places(self, run: str) -> dict[int, int]:
        """The rows of the words of a run, and how often each is in it."""
        places: dict[int, int] = {}
        for word in _WORDS.findall(run):
            lower = word.lower()
            place = self._place.get(lower)
            if place is None:
                place = self._place[lower] = len(self._place)
                self._unlearned.append(lower)
            places[place] = places.get(place, 0) + 1
        return places

    def _learn(self) -> None:
        """Fill the rows of the table that words were given since."""
        new, self._unlearned = self._unlearned, []
        first = len(self._place) - len(new)
        while len(self._place) > len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        for start in range(0, len(new), LEARNED_AT_ONCE):
            batch = new[start : start + LEARNED_AT_ONCE]
            self._table[first + start : first + start + len(batch)] = self._vectors(batch)

    def _vectors(self, words: Sequence[str]) -> npt.NDArray[np.int16]:
        """Weighted vectors of words, [words, DIMENSION]; zeros where the vocabulary knows no piece."""
        vectors, cutter = self._data
        pieces = [
            [piece for piece in cutter.pieces(word) if piece >= FIRST_WORD and piece != SPACE_PIECE] for word in words
        ]
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


def _name(symbol_id: str) -> str:
    """The last part of a symbol id: the fragment's own name."""
    return symbol_id.rpartition("::")[2].rpartition(".")[2]


def vectors_folder() -> Path:
    """Finds the folder that holds the vectors: ours, or in a checkout that nobody installed that of wordllama, without
    importing it. Raises EmbeddingError."""
    folder = data_dir("vectors")
    if (folder / WEIGHTS).is_file():
        return folder
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.origin:
        raise EmbeddingError(
            f"The static word vectors are not in {folder}.",
            hint="Reinstall secateur; in a checkout, pip install -e . puts them there.",
        )
    return Path(found.origin).parent
