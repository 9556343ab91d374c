"""Evidence from places the query writes out: paths, and frames of stack traces, nearest to what was raised first."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from secateur.index.facts.snapshot import FOREIGN, Snapshot
from secateur.model import FloatArray
from secateur.retrieval.query import Query, StackFrame

FRAME_LINE = 0.8
"""A frame's line lies in the fragment; its function's name says more, because lines move between versions."""

FRAME_FURTHER = 0.75
"""The share of the one before it that each further frame of the repository's own code counts."""

FRAME_OF_TEST = 0.3
"""A frame in a test, or in code of others, says how the fault was met and not where it is."""


class Places:
    """The files of a snapshot by their names; nothing is made of them before one is looked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, path in enumerate(self._snapshot.paths):
            found.setdefault(path.rpartition("/")[2], []).append(number)
        return found

    def files(self, wanted: str) -> list[int]:
        """The files that a path, as it was written somewhere, may mean."""
        found = self._by_name.get(wanted.rpartition("/")[2], [])
        return [number for number in found if _same_place(self._snapshot.paths[number], wanted)]

    def count(self, wanted: str) -> int:
        """Counts the files of all that is searched that a path may mean."""
        here, whole = len(self.files(wanted)), self._snapshot.whole
        return here if whole is None else max(here, whole.count_files(wanted))

    def is_own(self, frame: StackFrame) -> bool:
        """Tells whether a frame may be in a file that is not FOREIGN."""
        here = any(not self._snapshot.flags[file] & FOREIGN for file in self.files(frame.path))
        return here or (self._snapshot.whole is not None and self._snapshot.whole.count_own_files(frame.path) > 0)

    def rows(self, file: int) -> slice:
        first, last = np.searchsorted(self._snapshot.file, (file, file + 1))
        return slice(int(first), int(last))

    def frame(self, frame: StackFrame, file: int) -> FloatArray:
        """Per fragment of a file how surely the frame is in it."""
        rows = self.rows(file)
        starts, ends = self._snapshot.line_start[rows], self._snapshot.line_end[rows]
        column = np.where((starts <= frame.line) & (ends >= frame.line), FRAME_LINE, 0.0)
        if frame.function:
            names = self._snapshot.qualnames[rows]
            named = np.array([name.rpartition(".")[2] == frame.function for name in names], dtype=np.bool_)
            column = np.maximum(column, named)
        return np.asarray(column, dtype=np.float64)


def named_files(query: Query, snapshot: Snapshot, places: Places) -> FloatArray:
    """Per file whether the query names it outside of stack traces."""
    column = np.zeros(len(snapshot.paths))
    for wanted in query.told_paths:
        if files := places.files(wanted):
            column[files] = np.maximum(column[files], round(1 / (1 + np.log2(places.count(wanted))), 6))
    return column


def trace_frames(query: Query, snapshot: Snapshot, places: Places) -> FloatArray:
    """Frames of stack traces, the repository's own from the one that raised on, each further one less; those of tests
    and of code that is only kept here hardly."""
    column = np.zeros(len(snapshot))
    further = 0
    for frame in query.raising:
        own = places.is_own(frame)
        for file in places.files(frame.path):
            rows = places.rows(file)
            weight = FRAME_FURTHER**further if own else FRAME_OF_TEST
            column[rows] = np.maximum(column[rows], weight * places.frame(frame, file))
        further += own
    return column


def _same_place(path: str, wanted: str) -> bool:
    """The same file, whichever of the two names was written from further up: installed paths end like those of the
    repository."""
    have, want = path.split("/"), wanted.split("/")
    common = min(len(have), len(want), 2)
    return have[-common:] == want[-common:]
