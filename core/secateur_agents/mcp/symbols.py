"""Finds a symbol that a client names, and the calls around it."""

from __future__ import annotations

import re

import numpy as np
from secateur import Direction, How, Progress, Snapshot, UsageError, shown, steps, suggestion

from secateur_agents.mcp.shapes import CallNeighbour

MOST_FIRST, MOST_FURTHER, MOST_NEIGHBOURS = 20, 5, 60
"""Most listed callers, and callees: of the symbol itself, of each of those, and in total."""

NAMES_LISTED = 10
"""Most symbols in an error about an ambiguous name."""

_AT_LINE = re.compile(r"(.+):(\d{1,9})(?:-\d{1,9})?")


def node_of(snapshot: Snapshot, symbol: str, progress: Progress) -> int:
    """Returns the fragment for an id, `file:line`, or a name or its end that only one symbol has.

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
    for fits in (lambda text: text == name, lambda text: text.endswith("." + name), lambda text: _last(text) == last):
        rows = [row for row, text in enumerate(names) if text and fits(text)]
        if separator:
            rows = [row for row in rows if snapshot.paths[int(snapshot.file[row])].endswith(path)]
        if len(rows) == 1:
            return rows[0]
        if rows:
            listed = ", ".join(shown(snapshot.symbol_id(row)) for row in rows[:NAMES_LISTED])
            more = f" and {len(rows) - NAMES_LISTED:,} more" if len(rows) > NAMES_LISTED else ""
            raise UsageError(f"symbol: {len(rows):,} are called {shown(name)}", hint=f"name one: {listed}{more}")
    progress("looking", 0, 0)
    near = suggestion(last, sorted({_last(known) for known in names if known and _last(known)[:1] == last[:1]}))
    hint = f"did you mean {near}?" if near else "give an id of a search, such as path/file.py::Class.method"
    raise UsageError(f"symbol: no symbol is called {shown(symbol)}", hint=hint)


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
    """Formats the position of a fragment as `file:line-line`."""
    path = snapshot.paths[int(snapshot.file[node])]
    return f"{path}:{int(snapshot.line_start[node])}-{int(snapshot.line_end[node])}"


def neighbours(snapshot: Snapshot, node: int, direction: Direction, depth: int) -> tuple[list[CallNeighbour], int]:
    """Returns the symbols within so many calls in one direction, step by step, the most certain first, and how many
    were not listed at these steps. They include guesses, with their certainty, but only calls that a search follows
    lead further."""
    listed: list[CallNeighbour] = []
    seen, level, more = {node}, [node], 0
    for step in range(1, depth + 1):
        following: list[int] = []
        for start in level:
            calls = steps(snapshot.graph, start, direction)
            fresh = [at for at, end in enumerate(calls.nodes.tolist()) if end not in seen]
            room = min(MOST_FIRST if step == 1 else MOST_FURTHER, MOST_NEIGHBOURS - len(listed))
            more += max(0, len(fresh) - room)
            for at in fresh[:room]:
                end = int(calls.nodes[at])
                seen.add(end)
                following += [end] if calls.followed[at] else []
                listed.append(
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
    return listed, more
