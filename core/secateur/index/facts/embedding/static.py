"""The default embedder: static word vectors, no network, no model run, thousands of fragments a second.

The vectors are those of the package `wordllama` (Llama 2's vocabulary, 256 numbers for each piece). The build copies
them into our package; no code of wordllama runs, and the libraries for its files take several times as long to read
them. Identifiers are split into words, the vector of a word is the direction of the sum of its pieces, and the vector
of a text is the weighted sum of its words. Weights are fixed and never depend on the corpus, so a vector is a function
of its text alone: rare words count more (the vocabulary is ordered by frequency), stop words and keywords count less, a
repeated word counts its square root, and the fragment's own name counts `NAME_WEIGHT` times. All sums are of integers,
so the same text has the same vector on every machine. A file with far more different words than prose has (passwords,
hashes, lists) keeps its short words, and loses the others: see `FREE_COST`.
"""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.directories import data_dir
from secateur.errors import EmbeddingError
from secateur.index.facts.embedding.vectors import SCALE, TextKind, Vectors
from secateur.index.facts.lexical import Numbers, RunCounts, RunTable, sum_entries
from secateur.model import distinct

WEIGHTS = "weights/l2_supercat_256.safetensors"
MATRIX = "embedding.weight"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
DIMENSION = 256

# A fragment's own name counts like this many uses in its text; else a long body would drown its best description.
NAME_WEIGHT = 12

COMMON_MASS = 0.005  # the a of smooth inverse frequency, a / (a + p): words with a higher probability p lose weight
COMPOUND_WEIGHT = 1.3  # weight of a word that the vocabulary only has in pieces: such a word is rarer than its pieces

STOP_WEIGHT = 0.1
KEYWORD_WEIGHT = 0.3

# Pieces below are control pieces and single bytes: a byte of a character the vocabulary lacks carries no meaning.
FIRST_WORD = 259

SPACE_PIECE = 29871

# Factors that turn parts of a piece's vector, parts of a word's vector, and roots of counts into the integers that are
# summed.
PIECE_SCALE = 4096
WORD_SCALE = 255
COUNT_SCALE = 16

# Zipf's law with a flat head: the first piece of the vocabulary is not ten times as frequent as the tenth.
RANK_OFFSET = 10

UNLEARNED = -1
FIRST_ROWS = 1024  # the first size of the table, which doubles when it is full
CACHED_WORDS = 65_536  # words that a process keeps, about 33 MB; then the cache starts again
BLOCK = 32  # documents that are summed in one matrix product: enough that most words occur in several of them
GROUP = 256  # documents whose words are counted together, or all those of one file; more would only take more memory

# Words whose vectors are worked out together: enough to make numpy's calls cheap, and few enough for a few megabytes.
LEARNED_AT_ONCE = 1024

# An upper bound of the parts of a word's vector, whose length is at most WORD_SCALE times COMPOUND_WEIGHT.
LARGEST_PART = 512

FLOAT32_WHOLE = 1 << 24  # integers below this, and sums below this, are exact as float32

# The most letters of a word; longer ones, which are data, count as several. Cutting one into pieces takes quadratic
# time, and their pieces much memory.
LONGEST_WORD = 40

# A different word costs its letters and WORD_COST, about a microsecond each. The words of a file may cost FREE_COST and
# half of the letters of all its words: a novel of a megabyte needs about half of that, code a tenth.
WORD_COST = 10
FREE_COST = 50_000

_WORDS = re.compile(
    # camelCase, PascalCase, CONSTANT
    rf"[A-ZÀ-Þ]{{1,{LONGEST_WORD}}}(?=[A-ZÀ-Þ][a-zß-ɏ])|[A-ZÀ-Þ]?[a-zß-ɏ]{{2,{LONGEST_WORD}}}"
    rf"|[A-ZÀ-Þ]{{2,{LONGEST_WORD}}}"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts without spaces: each character
    rf"|[^\W\d_A-Za-zÀ-ɏ\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{{2,{LONGEST_WORD}}}"
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
    """Embeds texts with wordllama's vectors, words of code, and fixed weights. The first text of a process reads
    the vectors, in about 20 ms. Raises EmbeddingError if they are missing."""

    id = "wordllama-l2-supercat/secateur-2/256"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._folder = vectors_folder()
        self._damped = dict.fromkeys(_KEYWORDS.split(), KEYWORD_WEIGHT) | dict.fromkeys(_STOP.split(), STOP_WEIGHT)
        self._table = np.zeros((FIRST_ROWS, DIMENSION), dtype=np.int16)
        self._lock = threading.Lock()
        self._begin()

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """See `Embedder`. The first line of a document is its symbol id (`document_text`)."""
        names = [_name(text.partition("\n")[0]) for text in texts] if kind == "document" else []
        return self._embed([(RunCounts.of(texts), 1), (RunCounts.of(names), NAME_WEIGHT - 1)], [1] * len(texts))[0]

    def embed_counted(
        self, headings: Sequence[str], texts: RunCounts, sizes: Sequence[int]
    ) -> tuple[Vectors, list[int]]:
        """Embeds documents whose runs are counted already.

        Args:
            headings: their symbol ids.
            sizes: the number of documents of each file.

        Returns the vectors, and the files of which words were left out.
        """
        names = [_name(heading.partition("\n")[0]) for heading in headings]
        return self._embed([(texts, 1), (RunCounts.of(headings), 1), (RunCounts.of(names), NAME_WEIGHT - 1)], sizes)

    def _embed(self, weighted: Sequence[tuple[RunCounts, int]], sizes: Sequence[int]) -> tuple[Vectors, list[int]]:
        sums, cut = [np.zeros((0, DIMENSION), dtype=np.int64)], list[int]()
        first = file = 0
        for group in _groups(sizes):
            end = first + sum(group)
            parts = [(runs.part(first, end), weight) for runs, weight in weighted if len(runs)]
            with self._lock:
                sums.append(self._sum_words(parts, np.repeat(np.arange(file, file + len(group)), group), cut))
            first, file = end, file + len(group)
        total = np.concatenate(sums)
        length = np.sqrt((total * total).sum(axis=1, keepdims=True).astype(np.float64))
        return np.rint(total * (SCALE / np.where(length > 0, length, 1.0))).astype(np.int8), cut

    def _sum_words(
        self, weighted: Sequence[tuple[RunCounts, int]], file: Numbers, cut: list[int]
    ) -> npt.NDArray[np.int64]:
        """Sums the vectors of the words of each document, [documents, DIMENSION]. `file`: of each document. Files of
        which words are left out are added to `cut`."""
        if len(self._number_of) > CACHED_WORDS:
            self._begin()
        entries = [self._runs.entries(runs) for runs, _ in weighted]
        self._note_new_words()
        owner, key, times = sum_entries(
            np.concatenate([owner for owner, _, _ in entries]),
            np.concatenate([word for _, word, _ in entries]),
            np.concatenate([times * weight for (_, _, times), (_, weight) in zip(entries, weighted, strict=True)]),
        )
        word = key.astype(np.int64)
        kept = self._find_affordable(file[owner], word, times)
        cut += distinct(file[owner[~kept]])[0].tolist()
        owner, word, times = owner[kept], word[kept], times[kept]
        self._learn(word)
        uses = np.rint(COUNT_SCALE * np.sqrt(times.astype(np.float64)))
        sums = np.zeros((len(file), DIMENSION), dtype=np.int64)
        for first in range(0, len(sums), BLOCK):
            low, high = np.searchsorted(owner, [first, first + BLOCK])
            if low < high:
                block = owner[low:high] - first, self._row[word[low:high]], uses[low:high]
                sums[first : first + BLOCK] = self._sum_block(*block)[: len(sums) - first]
        return sums

    def _find_affordable(self, file: Numbers, word: Numbers, times: Numbers) -> npt.NDArray[np.bool_]:
        """Tells which entries are summed: of a file with too many different words, those of the shortest words. The
        entries are ordered by file."""
        letters = self._letters[word]
        file = file - file[:1]
        most = FREE_COST + np.bincount(file, letters * times) // 2
        longest = np.full(len(most), self._letters.max(initial=0))
        for each in np.flatnonzero(np.bincount(file, letters + WORD_COST) > most).tolist():
            low, high = np.searchsorted(file, [each, each + 1])
            counts = np.bincount(self._letters[distinct(word[low:high])[0]])
            affordable = np.cumsum(counts * (np.arange(len(counts)) + WORD_COST)) <= most[each]
            longest[each] = affordable.sum() - 1
        return letters <= longest[file]

    def _sum_block(self, owner: Numbers, row: Numbers, uses: npt.NDArray[np.float64]) -> npt.NDArray[np.floating[Any]]:
        """Sums the words of a few documents by one matrix product, [BLOCK, DIMENSION]."""
        used, _, column = distinct(row)
        # The sums of integers are exact in any order. float32 is twice as fast, and large enough for all but the
        # longest texts.
        largest = np.bincount(owner, uses, minlength=1).max() * LARGEST_PART
        exact = np.float32 if largest < FLOAT32_WHOLE else np.float64
        matrix = np.zeros((BLOCK, len(used)), dtype=exact)
        matrix[owner, column] = uses
        with np.errstate(invalid="ignore"):  # for the reason given in `vectors._products`
            products: npt.NDArray[np.floating[Any]] = matrix @ self._table[used].astype(exact)
        return products

    def _begin(self) -> None:
        self._number_of: dict[str, int] = {}
        self._words: list[str] = []  # by number
        self._letters: Numbers = np.zeros(0, dtype=np.int64)  # of each word
        self._row: Numbers = np.zeros(0, dtype=np.int64)  # of each word in the table, or UNLEARNED
        self._learned = 0  # rows of the table in use
        self._runs = RunTable(self._count_words)

    def _count_words(self, run: str) -> dict[int, int]:
        """Counts the words of a run by their numbers; a new word gets the next number."""
        counts: dict[int, int] = {}
        for word in _WORDS.findall(run):
            lower = word.lower()
            if (number := self._number_of.get(lower)) is None:
                number = self._number_of[lower] = len(self._words)
                self._words.append(lower)
            counts[number] = counts.get(number, 0) + 1
        return counts

    def _note_new_words(self) -> None:
        new = self._words[len(self._row) :]
        self._letters = np.concatenate([self._letters, np.fromiter(map(len, new), np.int64, len(new))])
        self._row = np.concatenate([self._row, np.full(len(new), UNLEARNED)])

    def _learn(self, words: Numbers) -> None:
        """Gives the words rows of the table, if they have none."""
        new = distinct(words[self._row[words] == UNLEARNED])[0]
        while self._learned + len(new) > len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        for start in range(0, len(new), LEARNED_AT_ONCE):
            batch = new[start : start + LEARNED_AT_ONCE]
            rows = np.arange(self._learned, self._learned + len(batch))
            self._table[rows] = self._vectors([self._words[number] for number in batch.tolist()])
            self._row[batch] = rows
            self._learned += len(batch)

    def _vectors(self, words: Sequence[str]) -> npt.NDArray[np.int16]:
        """Makes the weighted vectors of words, [words, DIMENSION]; zeros for a word without a known piece."""
        vectors, cutter = read_vectors(self._folder)
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
        used, _, column = distinct(flat)
        scaled = np.rint(vectors[used].astype(np.float64) * PIECE_SCALE).astype(np.int32)
        total = np.add.reduceat(scaled[column], start, axis=0, dtype=np.int32).astype(np.float64)
        length = np.sqrt((total * total).sum(axis=1))
        # the vocabulary is ordered by frequency, so Zipf's law gives the probability from the rank
        probability = 1 / (np.maximum.reduceat(flat, start) - FIRST_WORD + RANK_OFFSET)
        damped = np.array([self._damped.get(words[row], 1.0) for row in known])
        weight = COMMON_MASS / (COMMON_MASS + probability) * damped * np.where(size > 1, COMPOUND_WEIGHT, 1.0)
        scale = weight * WORD_SCALE / np.where(length > 0, length, 1.0)
        weighted[known] = np.rint(total * scale[:, np.newaxis])
        return weighted


def _groups(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Joins neighbouring files to groups of at least GROUP documents."""
    group: list[int] = []
    documents = 0
    for size in sizes:
        group.append(size)
        documents += size
        if documents >= GROUP:
            yield group
            group, documents = [], 0
    if documents:
        yield group


def _name(symbol_id: str) -> str:
    return symbol_id.rpartition("::")[2].rpartition(".")[2]


@lru_cache(1)
def read_vectors(folder: Path) -> tuple[npt.NDArray[np.float16], WordPieces]:
    """Reads the vectors of the pieces, and the cutter of words into pieces, once for all engines of a process. Raises
    EmbeddingError."""
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


def vectors_folder() -> Path:
    """Finds the folder with the vectors: our own, or, in a checkout that is not installed, that of wordllama, which is
    not imported. Raises EmbeddingError."""
    folder = data_dir("vectors")
    if (folder / WEIGHTS).is_file():
        return folder
    if (spec := importlib.util.find_spec("wordllama")) is None or not spec.origin:
        raise EmbeddingError(
            f"The static word vectors are not in {folder}.",
            hint="Reinstall secateur; in a checkout, pip install -e . puts them there.",
        )
    return Path(spec.origin).parent


_LENGTH_BYTES = 8
_DTYPES = {"F16": "<f2", "F32": "<f4"}
_NEVER = 1 << 30  # the rank of a pair that is not a piece
_BEGINNING = "\u2581"  # the mark that the vocabulary has before every word

_UNKNOWN = 0


def read_matrix(path: Path, name: str) -> npt.NDArray[Any]:
    """Maps one array of a safetensors file, which is the length of its head, the head in JSON, and the arrays.

    Raises:
        OSError, ValueError: the file cannot be read, is not a safetensors file, or has no such array.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        head = file.read(size) if size <= path.stat().st_size else b""
    entry = msgspec.json.decode(head, type=dict[str, dict[str, Any]]).get(name, {})
    try:
        dtype, shape, (begin, end) = _DTYPES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{path.name} has no array {name}") from None
    matrix = np.memmap(path, dtype, "r", offset=_LENGTH_BYTES + size + begin, shape=shape)
    if matrix.nbytes != end - begin:
        raise ValueError(f"the array {name} of {path.name} has another size than it says")
    return matrix


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _Tokenizer(msgspec.Struct):
    model: _Model


class WordPieces:
    """Cuts words into pieces by byte-pair encoding: it joins the two neighbours whose piece comes first in the
    vocabulary, again and again. Letters that are in no piece stay alone.

    The file also holds a list of joins, which is not needed: every pair that makes a piece may be joined, and the
    number of the piece is the rank of the join.
    """

    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers

    @classmethod
    def read(cls, path: Path) -> WordPieces:
        """Reads a file of the library `tokenizers`. Raises OSError, ValueError."""
        return cls(msgspec.json.decode(path.read_bytes(), type=_Tokenizer).model.vocab)

    def pieces(self, word: str) -> list[int]:
        """Returns the numbers of the pieces of one word without blanks; 0 for letters that are in no piece."""
        parts = [_BEGINNING, *word]
        rank_of = self._numbers.get
        ranks = [rank_of(left + right, _NEVER) for left, right in pairwise(parts)]
        while ranks and (lowest := min(ranks)) < _NEVER:
            at = ranks.index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            if at < len(ranks):
                ranks[at] = rank_of(parts[at] + parts[at + 1], _NEVER)
            if at:
                ranks[at - 1] = rank_of(parts[at - 1] + parts[at], _NEVER)
        return [rank_of(part, _UNKNOWN) for part in parts]
