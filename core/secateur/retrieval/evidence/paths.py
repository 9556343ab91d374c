"""Evidence from paths: files that the query names, and frames of its stack traces, starting at the raised error."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from secateur.index.facts.snapshot import FOREIGN, Snapshot
from secateur.model import FloatArray
from secateur.retrieval.query import Query, StackFrame

FRAME_LINE = 0.8
"""Score of a fragment that contains a frame's line. The function's name counts more, because lines move between
versions."""

FRAME_FURTHER = 0.75
"""Factor on each further frame of the repository's own code."""

FRAME_OF_TEST = 0.3
"""Score of a frame in a test or in vendored code: it says how the fault was met, not where it is."""


class FilesByName:
    """Finds the files of a snapshot by their names. Nothing is computed before the first search."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        by_name: dict[str, list[int]] = {}
        for file, path in enumerate(self._snapshot.paths):
            by_name.setdefault(path.rpartition("/")[2], []).append(file)
        return by_name

    def find(self, wanted: str) -> list[int]:
        """Finds the files that a written path may mean."""
        candidates = self._by_name.get(wanted.rpartition("/")[2], [])
        return [file for file in candidates if _may_be_same_file(self._snapshot.paths[file], wanted)]

    def is_own(self, frame: StackFrame) -> bool:
        """Tells whether a frame may be in a file that is not FOREIGN."""
        return any(not self._snapshot.flags[file] & FOREIGN for file in self.find(frame.path))

    def rows(self, file: int) -> slice:
        """Returns the rows of a file's fragments."""
        first, last = np.searchsorted(self._snapshot.file, (file, file + 1))
        return slice(int(first), int(last))

    def match_frame(self, frame: StackFrame, file: int) -> FloatArray:
        """Scores each fragment of a file by how surely the frame is in it."""
        rows = self.rows(file)
        starts, ends = self._snapshot.line_start[rows], self._snapshot.line_end[rows]
        column = np.where((starts <= frame.line) & (ends >= frame.line), FRAME_LINE, 0.0)
        if frame.function:
            names = self._snapshot.qualnames[rows]
            has_name = np.array([name.rpartition(".")[2] == frame.function for name in names], dtype=np.bool_)
            column = np.maximum(column, has_name)
        return np.asarray(column, dtype=np.float64)


def match_named_files(query: Query, snapshot: Snapshot, files_by_name: FilesByName) -> FloatArray:
    """Scores each file that the query names or links to outside of stack traces; less if the name fits several
    files."""
    column = np.zeros(len(snapshot.paths))
    for wanted in (*query.named_paths, *(link.path for link in query.linked)):
        if files := files_by_name.find(wanted):
            column[files] = np.maximum(column[files], round(1 / (1 + np.log2(len(files))), 6))
    return column


def match_trace_frames(query: Query, snapshot: Snapshot, files_by_name: FilesByName) -> FloatArray:
    """Scores each fragment by the frames of stack traces in it. The repository's own frames count less with each step
    from the raised error; frames in tests and in vendored code count FRAME_OF_TEST. A line that the query links to
    counts like a frame that raised."""
    column = np.zeros(len(snapshot))
    further = 0
    for frame in query.raising:
        own = files_by_name.is_own(frame)
        for file in files_by_name.find(frame.path):
            rows = files_by_name.rows(file)
            weight = FRAME_FURTHER**further if own else FRAME_OF_TEST
            column[rows] = np.maximum(column[rows], weight * files_by_name.match_frame(frame, file))
        further += own
    for link in query.linked:
        for file in files_by_name.find(link.path):
            rows = files_by_name.rows(file)
            column[rows] = np.maximum(column[rows], files_by_name.match_frame(link, file))
    return column


def _may_be_same_file(path: str, wanted: str) -> bool:
    """Compares the last two parts of both paths, or fewer if one is shorter: an installed path ends like the path
    in the repository."""
    have, want = path.split("/"), wanted.split("/")
    common = min(len(have), len(want), 2)
    return have[-common:] == want[-common:]
