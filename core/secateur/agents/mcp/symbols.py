"""A symbol that a client names, and the calls around it: where it stands, who calls it, what it calls."""

from __future__ import annotations

import re

import numpy as np

from secateur.agents.mcp.shapes import CallNeighbour
from secateur.errors import UsageError, shown
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.call_steps import steps
from secateur.index.graph.code_graph import Direction
from secateur.index.graph.resolve import How
from secateur.progress import Progress
from secateur.suggestions import suggestion

MOST_FIRST, MOST_FURTHER, MOST_NEIGHBOURS = 20, 5, 60
"""Callers, and callees, of the symbol itself, of each of those, and all together, that are listed."""

NAMES_LISTED = 10
"""Symbols that an error names where several are meant."""

_AT_LINE = re.compile(r"(.+):(\d{1,9})(?:-\d{1,9})?")


def node_of(snapshot: Snapshot, symbol: str, progress: Progress) -> int:
    """The fragment of an id, of `file:line`, or of a name or the end of one that one symbol alone has.

    Raises:
        UsageError: there is none, or several; the error names them, or the nearest.
    """
    node = snapshot.row_of(symbol)
    if node >= 0:
        return node
    at = _AT_LINE.fullmatch(symbol)
    if at and at[1] in snapshot.digests:
        return _at_line(snapshot, at[1], int(at[2]))
    progress("looking", 0, 0)
    path, separator, name = symbol.rpartition("::")
    names = snapshot.qualnames
    last = name.rpartition(".")[2]
    for fits in (lambda one: one == name, lambda one: one.endswith("." + name), lambda one: _last(one) == last):
        rows = [row for row, one in enumerate(names) if one and fits(one)]
        if separator:
            rows = [row for row in rows if snapshot.paths[int(snapshot.file[row])].endswith(path)]
        if len(rows) == 1:
            return rows[0]
        if rows:
            listed = ", ".join(shown(snapshot.symbol_id(row)) for row in rows[:NAMES_LISTED])
            more = f" and {len(rows) - NAMES_LISTED:,} more" if len(rows) > NAMES_LISTED else ""
            raise UsageError(f"symbol: {len(rows):,} are called {shown(name)}", hint=f"name one: {listed}{more}")
    progress("looking", 0, 0)
    near = suggestion(last, sorted({_last(one) for one in names if one and _last(one)[:1] == last[:1]}))
    hint = f"did you mean {near}?" if near else "give an id of a search, such as path/file.py::Class.method"
    raise UsageError(f"symbol: nothing is called {shown(symbol)}", hint=hint)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _at_line(snapshot: Snapshot, path: str, line: int) -> int:
    file = snapshot.paths.index(path)
    first, last = np.searchsorted(snapshot.file, (file, file + 1)).tolist()
    for row in range(first, last):
        if int(snapshot.line_start[row]) <= line <= int(snapshot.line_end[row]):
            return int(row)
    raise UsageError(f"symbol: there is nothing at {shown(path)}:{line}", hint="name a line that is not blank")


def place_of_node(snapshot: Snapshot, node: int) -> str:
    """`file:line-line` of a fragment."""
    path = snapshot.paths[int(snapshot.file[node])]
    return f"{path}:{int(snapshot.line_start[node])}-{int(snapshot.line_end[node])}"


def neighbours(snapshot: Snapshot, node: int, direction: Direction, depth: int) -> tuple[list[CallNeighbour], int]:
    """The symbols so many calls away in one direction, step by step, the most certain first; and how many there are
    besides at the steps that were taken. Guesses are among them, with their certainty; only what a search follows is
    gone on from."""
    found: list[CallNeighbour] = []
    seen, level, more = {node}, [node], 0
    for step in range(1, depth + 1):
        following: list[int] = []
        for start in level:
            calls = steps(snapshot.graph, start, direction)
            fresh = [at for at, end in enumerate(calls.nodes.tolist()) if end not in seen]
            room = min(MOST_FIRST if step == 1 else MOST_FURTHER, MOST_NEIGHBOURS - len(found))
            more += max(0, len(fresh) - room)
            for at in fresh[:room]:
                end = int(calls.nodes[at])
                seen.add(end)
                following += [end] if calls.followed[at] else []
                found.append(
                    CallNeighbour(
                        id=snapshot.symbol_id(end),
                        at=place_of_node(snapshot, end),
                        how=How(int(calls.how[at])).label,
                        certainty=int(calls.confidence[at]) / 1000,
                        sites=int(calls.sites[at]),
                        step=step,
                        via=snapshot.symbol_id(start) if step > 1 else "",
                    )
                )
        level = following
    return found, more
