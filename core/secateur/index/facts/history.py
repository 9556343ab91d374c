"""The commits of a repository as columns: who changed what when, and the words that say why. Read once, extended when
commits come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.facts.lexical import TermBag
from secateur.sources.files import path_bytes, path_text
from secateur.sources.git_log import HistoryCommit

_Stored = tuple[bytes, bytes, bytes, bytes, list[bytes], tuple[bytes, bytes, bytes]]
_ID_BYTES = 8


@dataclass(frozen=True, eq=False)
class CommitHistory:
    """Commits in the order git told them, newest first; none is a merge. Commit i changed
    `paths[changed[start[i]:start[i+1]]]`."""

    ids: npt.NDArray[np.uint64]  # the first bytes of each id: they order commits of one second
    times: npt.NDArray[np.int64]  # committer date, seconds since 1970
    start: npt.NDArray[np.int64]
    changed: npt.NDArray[np.int32]  # numbers in `paths`; none twice in a commit
    paths: tuple[str, ...]
    subjects: TermBag

    @classmethod
    def of(cls, commits: Sequence[HistoryCommit]) -> CommitHistory:
        """The columns of some commits."""
        number: dict[str, int] = {}
        start, changed = [0], []
        for commit in commits:
            changed += [number.setdefault(path, len(number)) for path in dict.fromkeys(commit.paths)]
            start.append(len(changed))
        ids = [int(commit.id[: 2 * _ID_BYTES] or "0", 16) for commit in commits]
        times = [commit.time for commit in commits]
        subjects = TermBag.of(commit.subject for commit in commits)
        return cls(
            np.array(ids, dtype=np.uint64),
            np.array(times, dtype=np.int64),
            np.array(start, dtype=np.int64),
            np.array(changed, dtype=np.int32),
            tuple(number),
            subjects,
        )

    def __len__(self) -> int:
        return len(self.times)

    def after(self, newer: CommitHistory, limit: int) -> CommitHistory:
        """This history behind the commits that came since, cut at `limit`."""
        number = {path: position for position, path in enumerate(self.paths)}
        for path in newer.paths:
            number.setdefault(path, len(number))
        known = np.array([number[path] for path in newer.paths], dtype=np.int32)
        rest = min(len(self), limit - len(newer))
        behind = self.first(rest)
        return CommitHistory(
            np.concatenate([newer.ids, behind.ids]),
            np.concatenate([newer.times, behind.times]),
            np.concatenate([newer.start, behind.start[1:] + newer.start[-1]]),
            np.concatenate([known[newer.changed], behind.changed]),
            tuple(number),
            TermBag.concatenate([newer.subjects, behind.subjects]),
        )

    def first(self, count: int) -> CommitHistory:
        """The newest `count` commits."""
        if count >= len(self):
            return self
        end, words = int(self.start[count]), int(self.subjects.start[count])
        subjects = TermBag(self.subjects.start[: count + 1], self.subjects.hashes[:words], self.subjects.counts[:words])
        return CommitHistory(
            self.ids[:count], self.times[:count], self.start[: count + 1], self.changed[:end], self.paths, subjects
        )

    def files(self, paths: Sequence[str]) -> npt.NDArray[np.int32]:
        """`changed` as numbers in `paths`; -1 where it is none of them."""
        number = {path: position for position, path in enumerate(paths)}
        known = np.array([number.get(path, -1) for path in self.paths], dtype=np.int32)
        return known[self.changed]

    def told(
        self, touched: npt.NDArray[np.int32], most: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The commits that touched at least one and at most `most` files of today, newest first, and those files as CSR
        arrays.

        Args:
            touched: file per row of `changed`, from `files`.
        """
        known = np.concatenate([[0], np.cumsum(touched >= 0)])[self.start]
        size = np.diff(known)
        told = self.order[(size[self.order] > 0) & (size[self.order] <= most)]
        first = np.concatenate([[0], np.cumsum(size[told])]).astype(np.int64)
        at = np.repeat(known[told] - first[:-1], size[told]) + np.arange(first[-1])
        return told, first, touched[touched >= 0][at]

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The commits by date, newest first, then by id: the same however they were read."""
        return np.lexsort((self.ids, -self.times))

    def encode(self) -> bytes:
        """Bytes for the store."""
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
        """The inverse of `encode`.

        Raises:
            msgspec.DecodeError: the bytes are no history.
        """
        ids, times, start, changed, paths, bag = msgspec.msgpack.decode(data, type=_Stored)
        return cls(
            np.frombuffer(ids, dtype="<u8"),
            np.frombuffer(times, dtype="<i8"),
            np.frombuffer(start, dtype="<i8"),
            np.frombuffer(changed, dtype="<i4"),
            tuple(map(path_text, paths)),
            TermBag(
                np.frombuffer(bag[0], dtype="<i8"),
                np.frombuffer(bag[1], dtype="<u8"),
                np.frombuffer(bag[2], dtype="u1"),
            ),
        )
