"""Counts what texts are made of in one pass: runs of letters, and what each run stands for, learned once a process.

A run is a longest row of letters, digits, `_` and a few signs: no word reaches across its ends. Most runs of a
repository occur again and again, so each has a number, and what is made of one (its terms, its words) is worked out at
its first occurrence and kept by that; the counts of a file are then a few operations on arrays.

    table = RunTable(split)                       # split: run -> {key: times}
    owner, key, times = table.counted(RunCounts.of(texts))
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from secateur.model import distinct

Numbers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Entries = tuple[Numbers, Keys, Numbers]
T = TypeVar("T", bound=np.generic)

RUN = re.compile(r"[\w×÷\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Everything that words of any kind are made of; the two signs lie inside the ranges of letters that vectors know."""

MOST_RUNS = 65_536
MOST_LETTERS = 2_000_000
"""Runs that are numbered, and their letters in all; beyond that numbers and tables begin anew with the next texts."""

FIRST_SIZE = 4096
"""Entries that an array of a table has room for at first."""

_LOW_BITS = 32
_LOW = (1 << _LOW_BITS) - 1
"""A text and something in it are sorted as one number: the text above these bits."""

_UNLEARNED = -1


class RunNumbers(dict[str, int]):
    """Numbers of runs, in the order in which they were met; a run that is not among them gets the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[str] = []  # by number
        self.letters = 0

    def __missing__(self, run: str) -> int:
        number = self[run] = len(self.runs)
        self.runs.append(run)
        self.letters += len(run)
        return number

    @property
    def full(self) -> bool:
        """Tells whether others should begin."""
        return len(self.runs) > MOST_RUNS or self.letters > MOST_LETTERS


_numbers = RunNumbers()
_numbering = threading.Lock()


def _numbered(runs: Sequence[str]) -> tuple[RunNumbers, Numbers]:
    """The numbers of runs, the same for all tables of the process until there are too many."""
    global _numbers
    with _numbering:
        if _numbers.full:
            _numbers = RunNumbers()
        return _numbers, np.fromiter(map(_numbers.__getitem__, runs), np.int64, len(runs))


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Distinct runs of consecutive texts: text i has the runs `number[start[i]:start[i+1]]`, each so many `times`."""

    numbers: RunNumbers
    start: Numbers
    number: Numbers  # ascending in a text
    times: Numbers

    @classmethod
    def of(cls, texts: Iterable[str]) -> RunCounts:
        """The runs of each text."""
        found = [runs_of(text) for text in texts]
        numbers, every = _numbered(list(chain.from_iterable(found)))
        owner = np.repeat(np.arange(len(found)), np.fromiter(map(len, found), np.int64, len(found)))
        placed = (owner << _LOW_BITS) | every
        placed.sort()
        first = _changes(placed)
        distinct = placed[first]
        start = np.searchsorted(distinct >> _LOW_BITS, np.arange(len(found) + 1))
        return cls(numbers, start, distinct & _LOW, np.diff(first, append=len(placed)))

    def part(self, first: int, end: int) -> RunCounts:
        """The texts `first` to `end`, the last one excluded."""
        low, high = int(self.start[first]), int(self.start[end])
        start = self.start[first : end + 1] - low
        return RunCounts(self.numbers, start, self.number[low:high], self.times[low:high])

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.start) - 1

    @property
    def runs(self) -> list[str]:
        """The runs themselves, in the order of their numbers."""
        return [self.numbers.runs[number] for number in self.number.tolist()]


_APART = bytes(byte if (chr(byte).isalnum() and byte < 128) or byte == ord("_") else ord(" ") for byte in range(256))


def runs_of(text: str) -> list[str]:
    """The runs of a text, in order."""
    if text.isascii():  # most texts are: cut at blanks, six times as fast
        return text.encode().translate(_APART).decode().split()
    return RUN.findall(text)


class RunTable:
    """Remembers what runs stand for. Threads may share it."""

    def __init__(self, split: Callable[[str], Mapping[int, int]]) -> None:
        """`split`: a run -> its keys (whole numbers below 2^64) and how often each is in it; a pure function."""
        self._split = split
        self._lock = threading.Lock()
        self._begin(RunNumbers())

    def counted(self, counts: RunCounts) -> Entries:
        """(text, key, times) of every key of every text, by text and key; both ascend."""
        return summed(*self.entries(counts))

    def entries(self, counts: RunCounts) -> Entries:
        """The same as it comes: by text, and a key as often as runs of the text hold it."""
        run = counts.number
        with self._lock:
            if counts.numbers is not self._numbers:
                self._begin(counts.numbers)
            self._learn(run)
            first, size = self._first[run], self._size[run]
            ends = np.cumsum(size)
            total = int(ends[-1]) if len(ends) else 0
            at = np.arange(total) + np.repeat(first - (ends - size), size)
            key, times = self._keys[at], self._times[at]
        owner = np.repeat(np.repeat(np.arange(len(counts)), np.diff(counts.start)), size)
        return owner, key, times * np.repeat(counts.times, size)

    def _begin(self, numbers: RunNumbers) -> None:
        """Start with no run learned."""
        self._numbers = numbers
        self._held = 0
        self._first: Numbers = np.zeros(FIRST_SIZE, dtype=np.int64)  # by run, where its keys begin
        self._size: Numbers = np.full(FIRST_SIZE, _UNLEARNED)
        self._keys: Keys = np.zeros(FIRST_SIZE, dtype=np.uint64)
        self._times: Numbers = np.zeros(FIRST_SIZE, dtype=np.int64)

    def _learn(self, runs: Numbers) -> None:
        """Note what those of the runs stand for that are new here."""
        highest = int(runs.max(initial=-1)) + 1
        self._first, self._size = _room(self._first, highest, 0), _room(self._size, highest, _UNLEARNED)
        new = runs[self._size[runs] == _UNLEARNED]
        if not len(new):
            return
        new = distinct(new)[0]
        found = [self._split(self._numbers.runs[number]) for number in new.tolist()]
        ends = self._held + np.cumsum([len(keys) for keys in found])
        end = int(ends[-1])
        self._size[new] = np.diff(ends, prepend=self._held)
        self._first[new] = ends - self._size[new]
        self._keys, self._times = _room(self._keys, end, 0), _room(self._times, end, 0)
        self._keys[self._held : end] = list(chain.from_iterable(found))
        self._times[self._held : end] = list(chain.from_iterable(keys.values() for keys in found))
        self._held = end


def _room(array: npt.NDArray[T], size: int, empty: int) -> npt.NDArray[T]:
    """The array with room for so many entries: twice as long as often as it takes."""
    while len(array) < size:
        array = np.concatenate([array, np.full_like(array, empty)])
    return array


def summed(owner: Numbers, key: Keys, times: Numbers) -> Entries:
    """The sums of `times` by owner and key, in that order."""
    known, _, rank = distinct(key)
    placed = (owner << _LOW_BITS) | rank
    order = np.argsort(placed)
    placed = placed[order]
    first = _changes(placed)
    sums = np.add.reduceat(times[order], first) if len(first) else times
    placed = placed[first]
    return placed >> _LOW_BITS, known[placed & _LOW], sums


def _changes(ascending: Numbers) -> Numbers:
    """The places at which another number begins than the one before."""
    starts = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=starts[1:])
    return np.flatnonzero(starts)
