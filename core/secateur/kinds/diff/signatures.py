"""Collects the declarations of callers and callees of changed functions, from the code graph of the changed state.

They go out if a chunk has room, after the findings of linters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction
from secateur.kinds.diff.chunk_text import one_line
from secateur.model import FragmentKind

NEIGHBOURS = 12
"""Most callers, and most callees, of one changed function; more explain nothing."""

LONGEST_SIGNATURE = 160
"""Cells of a declaration."""

_AFTER_LINTERS = 2
_NAMED = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


@dataclass(frozen=True, slots=True)
class Hint:
    """A line about one changed file."""

    path: str
    line: int  # of the changed function
    rank: tuple[int, ...]  # lower goes first
    text: str  # with its end


def signatures(
    snapshot: Snapshot, lines_of: Callable[[str], Sequence[str]], changed: Mapping[str, frozenset[int]]
) -> list[Hint]:
    """Callers and callees of the functions with changed lines, without functions that changed too; in a total order.

    Those of many changed functions come first, callers before callees, tests last.

    Args:
        lines_of: lines of a file of the snapshot, by path.
        changed: numbers of changed lines, by path.
    """
    rows = _find_changed_rows(snapshot, changed)
    users_by_relation: dict[tuple[str, int, str], list[int]] = {}  # (path, neighbour, relation) -> changed rows
    for row in rows:
        path = snapshot.paths[int(snapshot.file[row])]
        for direction, relation in ((Direction.CALLED_BY, "calls"), (Direction.CALLS, "called by")):
            neighbours = [int(other) for other in snapshot.graph.neighbours(row, direction)[:NEIGHBOURS]]
            for other in neighbours:
                if other not in rows and snapshot.kind(other) in _NAMED:
                    users_by_relation.setdefault((path, other, relation), []).append(row)
    hints = []
    for (path, other, relation), users in users_by_relation.items():
        home = snapshot.paths[int(snapshot.file[other])]
        tests = "test" in snapshot.flags[int(snapshot.file[other])]
        names = ", ".join(snapshot.qualnames[row] for row in users[:2]) + (
            f" and {len(users) - 2} more" if len(users) > 2 else ""
        )
        first, last = int(snapshot.column("sig_start")[other]), int(snapshot.column("sig_end")[other])
        declared = one_line(" ".join(line.strip() for line in lines_of(home)[first - 1 : last]), LONGEST_SIGNATURE)
        text = (
            f"{one_line(home, LONGEST_SIGNATURE)}:{first} {declared} ({relation}"
            f" {one_line(names, LONGEST_SIGNATURE)})\n"
        )
        rank = (_AFTER_LINTERS, int(tests), -len(users), int(relation != "calls"), other)
        hints.append(Hint(path, int(snapshot.line_start[users[0]]), rank, text))
    return sorted(hints, key=lambda hint: (hint.path, hint.rank))


def _find_changed_rows(snapshot: Snapshot, changed: Mapping[str, frozenset[int]]) -> dict[int, None]:
    """Named fragments that hold a changed line, in order."""
    rows: dict[int, None] = {}
    for file, path in enumerate(snapshot.paths):
        lines = changed.get(path)
        if not lines:
            continue
        first, last = np.searchsorted(snapshot.file, (file, file + 1)).tolist()
        for row in range(first, last):
            start, end = int(snapshot.line_start[row]), int(snapshot.line_end[row])
            if snapshot.kind(row) in _NAMED and any(start <= line <= end for line in lines):
                rows[row] = None
    return rows
