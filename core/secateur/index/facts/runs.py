"""Counts terms and words per text. A text is divided into runs, and the terms and words of each run are cached.

A run is a maximal sequence of letters, digits, `_` and a few signs; a word never spans two runs. Most runs in a
repository repeat, so terms and words are cached by the number of their run. Counting a file is then a few array
operations.

    table = RunTable(split)                       # split: run -> {key: times}
    text_index, key, times = table.count(RunCounts.of(texts))
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

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


def _number_runs(runs: Sequence[str]) -> tuple[RunNumbers, Numbers]:
    """Numbers runs. All tables of the process share the numbers, until there are too many."""
    global _numbers
    with _numbering:
        if _numbers.full:
            _numbers = RunNumbers()
        return _numbers, np.fromiter(map(_numbers.__getitem__, runs), np.int64, len(runs))


class RunCounts(Struct, frozen=True):
    """Distinct runs of consecutive texts. Text i has the runs `number[start[i]:start[i+1]]`, each `times` times."""

    numbers: RunNumbers
    start: Numbers
    number: Numbers  # ascending in a text
    times: Numbers

    @classmethod
    def of(cls, texts: Iterable[str]) -> RunCounts:
        """Counts the runs of each text."""
        by_text = [runs_of(text) for text in texts]
        numbers, run_numbers = _number_runs(list(chain.from_iterable(by_text)))
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
    if text.isascii():  # like most texts; splitting at blanks is six times as fast as the pattern
        return text.encode().translate(_ASCII_SEPARATORS).decode().split()
    return RUN.findall(text)


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
