"""The commits of a repository as columns: the files and the time of each change, and the words of its subject. The
history is read once, and extended when commits come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.facts.lexical import TermBag
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
