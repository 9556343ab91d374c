"""Words of code.

A word of code is an identifier. It counts as a whole and by its stemmed parts (`parseHTTPHeader` -> parsehttpheader,
pars, http, header). Chinese, Japanese and Korean text counts as character bigrams, so a Chinese query finds Chinese
comments. Words are kept as 64-bit hashes, so files share no vocabulary: any number of processes can read them in any
order.

Counts terms and words per text. A text is divided into runs, and the terms and words of each run are cached.

A run is a maximal sequence of letters, digits, `_` and a few signs; a word never spans two runs. Most runs in a
repository repeat, so terms and words are cached by the number of their run. Counting a file is then a few array
operations.

    table = RunTable(split)                       # split: run -> {key: times}
    text_index, key, times = table.count(RunCounts.of(texts))
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from secateur.model import distinct

Numbers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Entries = tuple[Numbers, Keys, Numbers]
T = TypeVar("T", bound=np.generic)

# All characters of words. × and ÷ lie inside the ranges of letters that `embedding.static` uses.
RUN = re.compile(r"[\w×÷\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")

# Limits on numbered runs and on their total letters; above either, the next texts start with an empty numbering.
MOST_RUNS = 65_536
MOST_LETTERS = 2_000_000

FIRST_SIZE = 4096  # the first size of a table's arrays

_LOW_BITS = 32
_LOW = (1 << _LOW_BITS) - 1  # a pair (text, run or key) is sorted as one number: the text stands above these bits

_UNLEARNED = -1


class RunNumbers(dict[str, int]):
    """The numbers of runs, in the order of their first occurrence; looking up a new run gives it the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[str] = []  # by number
        self.letters = 0

    def __missing__(self, run: str) -> int:
        run_number = self[run] = len(self.runs)
        self.runs.append(run)
        self.letters += len(run)
        return run_number

    @property
    def full(self) -> bool:
        """True if the numbers should start again."""
        return len(self.runs) > MOST_RUNS or self.letters > MOST_LETTERS


_numbers = RunNumbers()
_numbering = threading.Lock()


class RunCounts(Struct, frozen=True):
    """Distinct runs of consecutive texts. Text i has the runs `number[start[i]:start[i+1]]`, each `times` times."""

    numbers: RunNumbers
    start: Numbers
    number: Numbers  # ascending in a text
    times: Numbers

    @classmethod
    def of(cls, texts: Iterable[str]) -> RunCounts:
        """Counts the runs of each text."""
        global _numbers
        by_text = [runs_of(text) for text in texts]
        runs = list(chain.from_iterable(by_text))
        with _numbering:  # all tables of the process share the numbers, until there are too many
            numbers = _numbers = RunNumbers() if _numbers.full else _numbers
            run_numbers = np.fromiter(map(numbers.__getitem__, runs), np.int64, len(runs))
        text_index = np.repeat(np.arange(len(by_text)), np.fromiter(map(len, by_text), np.int64, len(by_text)))
        pairs = (text_index << _LOW_BITS) | run_numbers
        pairs.sort()
        first = _find_changes(pairs)
        unique_pairs = pairs[first]
        start = np.searchsorted(unique_pairs >> _LOW_BITS, np.arange(len(by_text) + 1))
        return cls(numbers, start, unique_pairs & _LOW, np.diff(first, append=len(pairs)))

    def part(self, first: int, end: int) -> RunCounts:
        """Returns the counts of the texts `first` to `end`, `end` excluded."""
        low, high = int(self.start[first]), int(self.start[end])
        return RunCounts(self.numbers, self.start[first : end + 1] - low, self.number[low:high], self.times[low:high])

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def runs(self) -> list[str]:
        """The runs themselves, in the order of `number`."""
        return [self.numbers.runs[run_number] for run_number in self.number.tolist()]


_ASCII_SEPARATORS = bytes(
    byte if (chr(byte).isalnum() and byte < 128) or byte == ord("_") else ord(" ") for byte in range(256)
)


def runs_of(text: str) -> list[str]:
    """Lists the runs of a text, in order."""
    # Most texts are ASCII; splitting at blanks is six times as fast as the pattern.
    return text.encode().translate(_ASCII_SEPARATORS).decode().split() if text.isascii() else RUN.findall(text)


class RunTable:
    """Remembers the keys of runs. Threads may share it."""

    def __init__(self, split: Callable[[str], Mapping[int, int]]) -> None:
        """`split`: a pure function from a run to its keys (whole numbers below 2^64) and the count of each key."""
        self._split = split
        self._lock = threading.Lock()
        self._begin(RunNumbers())

    def count(self, counts: RunCounts) -> Entries:
        """Returns (text, key, times) for every key of every text, ordered by text and key."""
        return sum_entries(*self.entries(counts))

    def entries(self, counts: RunCounts) -> Entries:
        """Returns the same without summing: ordered by text, with one entry for each run that holds the key."""
        run = counts.number
        with self._lock:
            if counts.numbers is not self._numbers:
                self._begin(counts.numbers)
            self._learn(run)
            first, size = self._first[run], self._size[run]
            ends = np.cumsum(size)
            at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - (ends - size), size)
            key, times = self._keys[at], self._times[at]
        text_index = np.repeat(np.repeat(np.arange(len(counts)), np.diff(counts.start)), size)
        return text_index, key, times * np.repeat(counts.times, size)

    def _begin(self, numbers: RunNumbers) -> None:
        self._numbers = numbers
        self._entry_count = 0
        self._first: Numbers = np.zeros(FIRST_SIZE, dtype=np.int64)  # by run, where its keys begin
        self._size: Numbers = np.full(FIRST_SIZE, _UNLEARNED)
        self._keys: Keys = np.zeros(FIRST_SIZE, dtype=np.uint64)
        self._times: Numbers = np.zeros(FIRST_SIZE, dtype=np.int64)

    def _learn(self, runs: Numbers) -> None:
        highest = int(runs.max(initial=-1)) + 1
        self._first, self._size = _grow(self._first, highest, 0), _grow(self._size, highest, _UNLEARNED)
        new = runs[self._size[runs] == _UNLEARNED]
        if not len(new):
            return
        new = distinct(new)[0]
        keys_of_each = [self._split(self._numbers.runs[run_number]) for run_number in new.tolist()]
        ends = self._entry_count + np.cumsum([len(keys) for keys in keys_of_each])
        end = int(ends[-1])
        self._size[new] = np.diff(ends, prepend=self._entry_count)
        self._first[new] = ends - self._size[new]
        self._keys, self._times = _grow(self._keys, end, 0), _grow(self._times, end, 0)
        self._keys[self._entry_count : end] = list(chain.from_iterable(keys_of_each))
        self._times[self._entry_count : end] = list(chain.from_iterable(keys.values() for keys in keys_of_each))
        self._entry_count = end


def _grow(array: npt.NDArray[T], size: int, empty: int) -> npt.NDArray[T]:
    while len(array) < size:
        array = np.concatenate([array, np.full_like(array, empty)])
    return array


def sum_entries(text_index: Numbers, key: Keys, times: Numbers) -> Entries:
    """Sums `times` by text and key, and orders the sums by both."""
    known, _, rank = distinct(key)
    pairs = (text_index << _LOW_BITS) | rank  # keys have 64 bits, so their ranks stand for them
    order = np.argsort(pairs)
    pairs = pairs[order]
    first = _find_changes(pairs)
    sums = np.add.reduceat(times[order], first) if len(first) else times
    pairs = pairs[first]
    return pairs >> _LOW_BITS, known[pairs & _LOW], sums


def _find_changes(ascending: Numbers) -> Numbers:
    starts = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=starts[1:])
    return np.flatnonzero(starts)


# Raise it when the same text yields other words. It is part of the key of everything made from words.
LEXICON_VERSION = 3

MAX_WORD = 64  # longer runs are hashes, keys or encoded data, not words

_WORD = re.compile(r"[^\W\d]\w*|\d+")
# Chinese, Japanese and Korean letters, as the inside of a character class.
CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"

_CJK = f"[{CJK}]+"
_RUN = f"[{CJK}]+|[^{CJK}]+"
_compile = cache(re.compile)  # at the first text that is not ASCII: such a class takes a millisecond
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")

_STOP_TEXT = """
    a an and are as at be been but by can could did do does doing for from had has have having how i if in into is it
    its itself just me my no nor not of off on once only or other our out over own same should so some such than that
    the their them then there these they this those through to too under until up very was we were what when where which
    while who whom why will with would you your also am any because being both between during each few further get gets
    got here let more most much must need shall using used use uses please want like way e g ie eg etc vs via
"""
# English words that say nothing about code. They are dropped from queries and kept in the index.
STOP_WORDS = frozenset(_STOP_TEXT.split())

Hashes = npt.NDArray[np.uint64]

REMEMBERED = 65_536  # entries of the caches from a term to its hash and from a word to its terms


@lru_cache(maxsize=REMEMBERED)
def hash_of(term: str) -> int:
    """64-bit hash of a term, the same on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=REMEMBERED)
def word_terms(word: str) -> tuple[str, ...]:
    """Returns the terms of one word of code: the whole in lower case and, if it has several parts, their stems; the
    bigrams of CJK runs."""
    return _terms_of(word)


def _terms_of(word: str) -> tuple[str, ...]:
    if len(word) > MAX_WORD:
        return ()
    stem = _stemmer().stemWord
    if word.isascii():
        if word.isalpha() and word.islower():
            return (stem(word),)
    elif has_cjk(word):
        return _mixed_terms(word)
    if not (whole := word.strip("_").lower()):
        return ()
    parts = [part.lower() for part in _PARTS.findall(word)]
    if len(parts) <= 1:
        return (stem(whole),)
    return tuple(dict.fromkeys((whole, *(stem(part) for part in parts if len(part) > 1))))


def _mixed_terms(word: str) -> tuple[str, ...]:
    terms: dict[str, None] = {}
    position = 0
    for run in _compile(_CJK).finditer(word):
        terms |= dict.fromkeys(word_terms(word[position : run.start()]) if run.start() > position else ())
        text = run.group()
        terms |= dict.fromkeys([text[i : i + 2] for i in range(len(text) - 1)] or [text])
        position = run.end()
    if position < len(word):
        terms |= dict.fromkeys(word_terms(word[position:]))
    return tuple(terms)


def words(text: str) -> list[str]:
    """Lists the words of a text, as written. A long word with CJK letters is a whole sentence: it is cut into pieces
    that overlap by one letter, so that no bigram is lost."""
    pieces = []
    for word in _WORD.findall(text):
        if len(word) > MAX_WORD and has_cjk(word):
            for run in _compile(_RUN).findall(word):
                step = MAX_WORD - 1 if has_cjk(run) else len(run)
                pieces += [run[i : i + step + 1] for i in range(0, max(1, len(run) - 1), step)]
        else:
            pieces.append(word)
    return pieces


def find_terms(text: str, terms: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yields (start, end, term) for every word of a text that is one of the terms, and for every such part of a
    word."""
    for match in _WORD.finditer(text):
        word, start = match.group(), match.start()
        if has_cjk(word):
            for run in _compile(_RUN).finditer(word):
                yield from _find_in_word(run.group(), start + run.start(), terms)
        elif any(term in terms for term in word_terms(word)):
            yield from _find_in_word(word, start, terms)


def _find_in_word(word: str, start: int, terms: Collection[str]) -> Iterator[tuple[int, int, str]]:
    if has_cjk(word[:1]):
        end = 0
        for at in range(max(1, len(word) - 1)):
            if word[at : at + 2] in terms:
                yield start + max(at, end), start + min(at + 2, len(word)), word[at : at + 2]
                end = at + 2
        return
    known = [term for term in word_terms(word) if term in terms]
    if word.strip("_").lower() in known:
        yield start, start + len(word), word.strip("_").lower()
        return
    for part in _PARTS.finditer(word):
        stem = _stemmer().stemWord(part.group().lower())
        if stem in known:
            yield start + part.start(), start + part.end(), stem


def term_counts(text: str) -> dict[str, int]:
    """Counts how often each term occurs in a text."""
    counts: dict[str, int] = {}
    for word, times in Counter(words(text)).items():
        for term in word_terms(word):
            counts[term] = counts.get(term, 0) + times
    return counts


def _count_hashes(run: str) -> dict[int, int]:
    if run.isascii() and (run.isdigit() or not run[0].isdigit()):  # one word, like most runs: no need to cut it
        return dict.fromkeys(map(hash_of, _terms_of(run)), 1)
    return {hash_of(term): times for term, times in term_counts(run).items()}


_TERMS = RunTable(_count_hashes)  # the terms of every run that this process has met


def has_cjk(text: str) -> bool:
    """True if the text holds Chinese, Japanese or Korean characters."""
    return not text.isascii() and _compile(_CJK).search(text) is not None


class TermBag(Struct, frozen=True):
    """Terms of consecutive documents. Document i holds `hashes[start[i]:start[i+1]]`, each `counts` times (at most
    255)."""

    start: npt.NDArray[np.int64]
    hashes: Hashes
    counts: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Iterable[str]) -> TermBag:
        """Makes one document of each text; the terms of a document are ordered by hash."""
        return cls.of_runs(RunCounts.of(texts))

    @classmethod
    def of_runs(cls, counts: RunCounts) -> TermBag:
        """Does the same with texts whose runs are counted already."""
        owner, hashes, times = _TERMS.count(counts)
        start = np.searchsorted(owner, np.arange(len(counts.start)))
        return cls(start.astype(np.int64), hashes, np.minimum(times, 255).astype(np.uint8))

    @classmethod
    def concatenate(cls, bags: Sequence[TermBag]) -> TermBag:
        """Concatenates the documents of all bags."""
        if not bags:
            return cls.of(())
        offsets = np.cumsum([0, *(len(bag.hashes) for bag in bags)])
        starts = [bag.start[1:] + offset for bag, offset in zip(bags, offsets[:-1], strict=True)]
        start = np.concatenate([np.zeros(1, dtype=np.int64), *starts])
        return cls(start, np.concatenate([bag.hashes for bag in bags]), np.concatenate([bag.counts for bag in bags]))

    def part(self, first: int, end: int) -> TermBag:
        """Returns the documents `first` to `end`, `end` excluded."""
        low, high = self.start[first], self.start[end]
        return TermBag(self.start[first : end + 1] - low, self.hashes[low:high], self.counts[low:high])

    def select(self, documents: npt.NDArray[np.int64]) -> TermBag:
        """Returns some of the documents, in this order."""
        size = np.diff(self.start)[documents]
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        at = np.repeat(self.start[documents] - start[:-1], size) + np.arange(start[-1])
        return TermBag(start, self.hashes[at], self.counts[at])

    def merge(self, owner: npt.NDArray[np.int32], documents: int) -> TermBag:
        """Merges documents into larger documents: document i goes into `owner[i]`; owners ascend."""
        into = np.repeat(owner.astype(np.int64), np.diff(self.start))
        order = np.lexsort((self.hashes, into))
        into, hashes, counts = into[order], self.hashes[order], self.counts[order].astype(np.int64)
        first = np.flatnonzero((np.diff(into, prepend=-1) != 0) | (np.diff(hashes, prepend=np.uint64(0)) != 0))
        sums = np.add.reduceat(counts, first) if len(first) else counts
        start = np.searchsorted(into[first], np.arange(documents + 1))
        return TermBag(start.astype(np.int64), hashes[first], np.minimum(sums, 255).astype(np.uint8))

    def __len__(self) -> int:
        return len(self.start) - 1
