"""The commits of a repository as columns: the files and the time of each change, and the words of its subject. The
history is read once, and extended when commits come.

Hotspots: code that is both complicated and often changed, from the history of its file and its own complexity.

A file's churn is Σ over its commits of 2^(−age / 180 days) · min(1, 30 / files of the commit): recent changes count
more, mass commits (formatters, licence headers) count less. A fragment's score is the geometric mean of two ranks,

    score = √(churn rank of its file · complexity rank of the fragment)

printed as "churn rank 0.81 × complexity rank 0.64 → 0.72". Ages are measured from a time the caller passes (the source
commit's), never from the clock, and weights are summed as integers: the same history gives the same scores on every
machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.facts.lexical import TermBag
from secateur.model import FloatArray
from secateur.sources.files import path_bytes, path_text
from secateur.sources.git import HistoryCommit

_Stored = tuple[bytes, bytes, bytes, bytes, list[bytes], tuple[bytes, bytes, bytes]]
_ID_BYTES = 8


@dataclass(frozen=True, eq=False)
class CommitHistory:
    """Commits without merges, in git's order, newest first. Commit i changed `paths[changed[start[i]:start[i+1]]]`."""

    ids: npt.NDArray[np.uint64]  # the first bytes of each id, which order commits of the same second
    times: npt.NDArray[np.int64]  # committer date, seconds since 1970
    start: npt.NDArray[np.int64]
    changed: npt.NDArray[np.int32]  # numbers in `paths`; each at most once in a commit
    paths: tuple[str, ...]
    subjects: TermBag
    member: npt.NDArray[np.int32] | None = None  # the number of each commit's repository, if there are several

    @classmethod
    def join(cls, histories: Mapping[str, CommitHistory]) -> CommitHistory:
        """Joins the histories of repositories by name: paths begin with the names."""
        parts = [*histories.values()]
        paths = [0, *accumulate(len(part.paths) for part in parts)][:-1]
        changed = [0, *accumulate(len(part.changed) for part in parts)][:-1]
        return cls(
            np.concatenate([np.zeros(0, dtype=np.uint64), *(part.ids for part in parts)]),
            np.concatenate([np.zeros(0, dtype=np.int64), *(part.times for part in parts)]),
            np.concatenate([[0], *(part.start[1:] + first for part, first in zip(parts, changed, strict=True))]),
            np.concatenate(
                [np.zeros(0, dtype=np.int32)]
                + [part.changed + np.int32(first) for part, first in zip(parts, paths, strict=True)]
            ),
            tuple(f"{name}/{path}" for name, part in histories.items() for path in part.paths),
            TermBag.concatenate([part.subjects for part in parts]),
            np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts]),
        )

    @classmethod
    def of(cls, commits: Sequence[HistoryCommit]) -> CommitHistory:
        """Makes the columns of commits."""
        numbers: dict[str, int] = {}
        start, changed = [0], []
        for commit in commits:
            changed += [numbers.setdefault(path, len(numbers)) for path in dict.fromkeys(commit.paths)]
            start.append(len(changed))
        return cls(
            np.array([int(commit.id[: 2 * _ID_BYTES] or "0", 16) for commit in commits], dtype=np.uint64),
            np.array([commit.time for commit in commits], dtype=np.int64),
            np.array(start, dtype=np.int64),
            np.array(changed, dtype=np.int32),
            tuple(numbers),
            TermBag.of(commit.subject for commit in commits),
        )

    def __len__(self) -> int:
        return len(self.times)

    def after(self, newer: CommitHistory, limit: int) -> CommitHistory:
        """Puts the newer commits before this history, and cuts the result at `limit`."""
        numbers = {path: position for position, path in enumerate(self.paths)}
        for path in newer.paths:
            numbers.setdefault(path, len(numbers))
        known = np.array([numbers[path] for path in newer.paths], dtype=np.int32)
        behind = self.first(min(len(self), limit - len(newer)))
        return CommitHistory(
            np.concatenate([newer.ids, behind.ids]),
            np.concatenate([newer.times, behind.times]),
            np.concatenate([newer.start, behind.start[1:] + newer.start[-1]]),
            np.concatenate([known[newer.changed], behind.changed]),
            tuple(numbers),
            TermBag.concatenate([newer.subjects, behind.subjects]),
        )

    def first(self, count: int) -> CommitHistory:
        """Returns the newest `count` commits."""
        if count >= len(self):
            return self
        end, words = int(self.start[count]), int(self.subjects.start[count])
        subjects = TermBag(self.subjects.start[: count + 1], self.subjects.hashes[:words], self.subjects.counts[:words])
        return CommitHistory(
            self.ids[:count], self.times[:count], self.start[: count + 1], self.changed[:end], self.paths, subjects
        )

    def files(self, paths: Sequence[str]) -> npt.NDArray[np.int32]:
        """Returns `changed` as numbers in `paths`; -1 for a file that is not among them."""
        numbers = {path: position for position, path in enumerate(paths)}
        return np.array([numbers.get(path, -1) for path in self.paths], dtype=np.int32)[self.changed]

    def select_touching(
        self, touched: npt.NDArray[np.int32], most: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Selects the commits that touched 1 to `most` files that exist today, newest first, and returns the commits
        and their files as CSR arrays. `touched`: file per row of `changed`, from `files`."""
        begins = np.concatenate([[0], np.cumsum(touched >= 0)])[self.start]  # of each commit, among files of today
        size = np.diff(begins)
        chosen = self.order[(size[self.order] > 0) & (size[self.order] <= most)]
        first = np.concatenate([[0], np.cumsum(size[chosen])]).astype(np.int64)
        at = np.repeat(begins[chosen] - first[:-1], size[chosen]) + np.arange(first[-1])
        return chosen, first, touched[touched >= 0][at]

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The commits by repository, then by date, newest first, then by id, so that the order does not depend on how
        they were read."""
        member = np.zeros(len(self), dtype=np.int32) if self.member is None else self.member
        return np.lexsort((self.ids, -self.times, member))

    def encode(self) -> bytes:
        """Returns bytes for the store."""
        columns = self.ids.astype("<u8"), self.times.astype("<i8"), self.start.astype("<i8"), self.changed.astype("<i4")
        bag = self.subjects.start.astype("<i8"), self.subjects.hashes.astype("<u8"), self.subjects.counts
        return msgspec.msgpack.encode(
            (
                *(c.tobytes() for c in columns),
                [path_bytes(path) for path in self.paths],
                tuple(part.tobytes() for part in bag),
            )
        )

    @classmethod
    def decode(cls, data: bytes) -> CommitHistory:
        """The inverse of `encode`. Raises msgspec.DecodeError: the bytes are not a history."""
        ids, times, start, changed, paths, bag = msgspec.msgpack.decode(data, type=_Stored)
        return cls(
            np.frombuffer(ids, dtype="<u8"),
            np.frombuffer(times, dtype="<i8"),
            np.frombuffer(start, dtype="<i8"),
            np.frombuffer(changed, dtype="<i4"),
            tuple(map(path_text, paths)),
            TermBag(*(np.frombuffer(part, dtype=dtype) for part, dtype in zip(bag, ("<i8", "<u8", "u1"), strict=True))),
        )


HALF_LIFE_DAYS = 180  # a change this old counts half
MASS_COMMIT_FILES = 30  # a commit of more files than this counts only MASS_COMMIT_FILES / files

DAY = 86_400
UNITS = 10**9  # weights are integers in these units: sums are exact, in whatever order commits come


@dataclass(frozen=True, eq=False)
class FileChanges:
    """The changes of each file in the history, in the order of `paths`."""

    revisions: npt.NDArray[np.int64]  # commits that changed it
    units: npt.NDArray[np.int64]  # churn in units of 1e-9, at least 1 where there was a change
    latest: npt.NDArray[np.int64]  # decay of its last change in the same units, 0 without history


@dataclass(frozen=True, eq=False)
class HotspotTable(FileChanges):
    """Adds the ranks and the score of each fragment, as multiples of 1e-6 in [0, 1]."""

    churn_rank: FloatArray  # the rank of its file's churn
    complexity_rank: FloatArray
    score: FloatArray  # √(churn_rank · complexity_rank)


def average_rank(values: npt.NDArray[np.int64]) -> FloatArray:
    """Ranks values, scaled to (0, 1]; a value that is not positive has rank 0.

    Equal values share the mean of their ranks. The largest of n distinct values has rank 1, the smallest 1/n; if all
    are equal each has (n + 1) / 2n, about one half: no evidence that any stands out.
    """
    ranks = np.zeros(len(values), dtype=np.float64)
    positive = np.flatnonzero(values > 0)
    if len(positive):
        _, position, counts = np.unique(values[positive], return_inverse=True, return_counts=True)
        last = np.cumsum(counts)  # the rank of the last of equal values; the first has last - counts + 1
        ranks[positive] = ((2 * last - counts + 1) / (2 * last[-1]))[position]
    return np.round(ranks, 6)


def file_changes(
    times: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    file: npt.NDArray[np.int32],
    now: int | npt.NDArray[np.int64],
    files: int,
) -> FileChanges:
    """Sums the churn and finds the recency of `files` files. Commit i, made at `times[i]`, changed the files
    `file[start[i]:start[i+1]]`; -1 is a file that does not exist any more. `now`: the time that ages are measured
    from, of all commits or of each."""
    size = np.diff(start)
    ages = np.maximum(now - times, 0).tolist()  # a commit from the future has the age 0
    decay = np.array([round(UNITS * math.exp2(-age / (HALF_LIFE_DAYS * DAY))) for age in ages], dtype=np.int64)
    weight = np.where(size > MASS_COMMIT_FILES, decay * MASS_COMMIT_FILES // np.maximum(size, 1), decay)
    known = file >= 0
    into = file[known]
    revisions = np.bincount(into, minlength=files).astype(np.int64)
    units, latest = np.zeros(files, dtype=np.int64), np.zeros(files, dtype=np.int64)
    np.add.at(units, into, np.repeat(weight, size)[known])
    np.maximum.at(latest, into, np.repeat(decay, size)[known])
    # a change so old that its weight rounds to 0 is still a change, so a changed file has at least one unit
    return FileChanges(revisions, np.where(revisions > 0, np.maximum(units, 1), 0), latest)


def rank_hotspots(
    changes: FileChanges, complexity: npt.NDArray[np.integer], file_of_fragment: npt.NDArray[np.integer]
) -> HotspotTable:
    """Makes the hotspot table. `complexity` and `file_of_fragment` have one entry per fragment.

    A fragment with complexity ≤ 0 is not code and has rank and score 0, like the fragments of a file that no commit
    changed.
    """
    files, own = np.asarray(file_of_fragment, dtype=np.int64), np.asarray(complexity, dtype=np.int64)
    churn_rank = average_rank(changes.units)[files] if len(files) else np.zeros(0)
    complexity_rank = average_rank(own)
    score = np.asarray(np.round(np.sqrt(churn_rank * complexity_rank), 6), dtype=np.float64)
    return HotspotTable(changes.revisions, changes.units, changes.latest, churn_rank, complexity_rank, score)
