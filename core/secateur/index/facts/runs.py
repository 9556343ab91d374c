"""Counts what texts are made of in one pass: runs of letters, and what each run stands for, learned once a process.

A run is a longest row of letters, digits, `_` and a few signs: no word reaches across its ends. Most runs of a
repository occur again and again, so what is made of one (its terms, its words) is worked out at its first occurrence
and kept by number; the counts of a file are then a few operations on arrays.

    table = RunTable(split)                       # split: run -> {key: times}
    owner, key, times = table.counted(RunCounts.of(texts))
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Entries = tuple[Numbers, Keys, Numbers]
T = TypeVar("T", bound=np.generic)

RUN = re.compile(r"[\w×÷\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Everything that words of any kind are made of; the two signs lie inside the ranges of letters that vectors know."""

MOST_RUNS = 65_536
MOST_LETTERS = 2_000_000
"""Runs that a table remembers, and their letters in all; beyond that it begins anew with the next texts."""

FIRST_SIZE = 4096
"""Entries that an array of a table has room for at first."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Distinct runs of consecutive texts: text i has `runs[start[i]:start[i+1]]`, each so many `times`."""

    start: Numbers
    runs: list[str]
    times: Numbers

    @classmethod
    def of(cls, texts: Iterable[str]) -> RunCounts:
        """The runs of each text."""
        counted = [Counter(runs_of(text)) for text in texts]
        start = np.zeros(len(counted) + 1, dtype=np.int64)
        np.cumsum([len(counts) for counts in counted], out=start[1:])
        times = np.fromiter(chain.from_iterable(counts.values() for counts in counted), np.int64, int(start[-1]))
        return cls(start, list(chain.from_iterable(counted)), times)

    def part(self, first: int, end: int) -> RunCounts:
        """The texts `first` to `end`, the last one excluded."""
        low, high = int(self.start[first]), int(self.start[end])
        return RunCounts(self.start[first : end + 1] - low, self.runs[low:high], self.times[low:high])


_APART = bytes(byte if (chr(byte).isalnum() and byte < 128) or byte == ord("_") else ord(" ") for byte in range(256))


def runs_of(text: str) -> list[str]:
    """The runs of a text, in order."""
    if text.isascii():  # most texts are: cut at blanks, six times as fast
        return text.encode().translate(_APART).decode().split()
    return RUN.findall(text)


class RunTable:
    """Numbers runs, and remembers what each stands for. Threads may share it."""

    def __init__(self, split: Callable[[str], Mapping[int, int]]) -> None:
        """`split`: a run -> its keys (whole numbers below 2^64) and how often each is in it; a pure function."""
        self._split = split
        self._lock = threading.Lock()
        self._forget()

    def counted(self, counts: RunCounts) -> Entries:
        """(text, key, times) of every key of every text, by text and key; both ascend."""
        return summed(*self.entries(counts))

    def entries(self, counts: RunCounts) -> Entries:
        """The same as it comes: by text, and a key as often as runs of the text hold it."""
        with self._lock:
            if self._runs > MOST_RUNS or self._letters > MOST_LETTERS:
                self._forget()
            run = np.fromiter(map(self._number.__getitem__, counts.runs), np.int64, len(counts.runs))
            self._settle()
            first, size = self._start[run], self._start[run + 1] - self._start[run]
            ends = np.cumsum(size)
            total = int(ends[-1]) if len(ends) else 0
            at = np.arange(total) + np.repeat(first - (ends - size), size)
            key, times = self._keys[at], self._times[at]
        owner = np.repeat(np.repeat(np.arange(len(counts.start) - 1), np.diff(counts.start)), size)
        return owner, key, times * np.repeat(counts.times, size)

    def _forget(self) -> None:
        self._number = _Numbers(self._learn)
        self._runs = self._settled = self._held = self._letters = 0
        self._new: list[Mapping[int, int]] = []
        self._start: Numbers = np.zeros(FIRST_SIZE, dtype=np.int64)
        self._keys: Keys = np.zeros(FIRST_SIZE, dtype=np.uint64)
        self._times: Numbers = np.zeros(FIRST_SIZE, dtype=np.int64)

    def _learn(self, run: str) -> int:
        self._new.append(self._split(run))
        self._letters += len(run)
        self._runs += 1
        return self._runs - 1

    def _settle(self) -> None:
        """Move what was learned into the arrays."""
        if not self._new:
            return
        sizes = np.cumsum([len(keys) for keys in self._new])
        end = self._held + int(sizes[-1])
        self._start = _room(self._start, self._runs + 1)
        self._keys, self._times = _room(self._keys, end), _room(self._times, end)
        self._keys[self._held : end] = list(chain.from_iterable(self._new))
        self._times[self._held : end] = list(chain.from_iterable(keys.values() for keys in self._new))
        self._start[self._settled + 1 : self._runs + 1] = self._held + sizes
        self._settled, self._held, self._new = self._runs, end, []


def _room(array: npt.NDArray[T], size: int) -> npt.NDArray[T]:
    """The array with room for so many entries: twice as long as often as it takes."""
    while len(array) < size:
        array = np.concatenate([array, np.zeros_like(array)])
    return array


class _Numbers(dict[str, int]):
    """Numbers of runs; a run that is not among them is learned."""

    def __init__(self, learn: Callable[[str], int]) -> None:
        super().__init__()
        self._learn = learn

    def __missing__(self, run: str) -> int:
        number = self[run] = self._learn(run)
        return number


def summed(owner: Numbers, key: Keys, times: Numbers) -> Entries:
    """The sums of `times` by owner and key, in that order."""
    order = np.lexsort((key, owner))
    owner, key, times = owner[order], key[order], times[order]
    if not len(order):
        return owner, key, times
    changes = (owner[1:] != owner[:-1]) | (key[1:] != key[:-1])
    first = np.flatnonzero(np.concatenate([[True], changes]))
    return owner[first], key[first], np.add.reduceat(times, first)
