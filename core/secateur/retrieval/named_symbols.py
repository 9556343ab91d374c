"""Finds a symbol that somebody names, and the calls around it.

symbol = find_symbol(snapshot, "Cart.total", lines)
symbol.id, symbol.at, symbol.text
symbol.callers(depth=2), symbol.callees(depth=1)
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from msgspec import Struct

from secateur.errors import UsageError, shown
from secateur.index.facts.extract import text_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, steps
from secateur.index.graph.resolve.edges import How
from secateur.progress import Progress, unreported
from secateur.suggestions import suggestion

# Most listed callers, and callees: of the symbol itself, of each of those, and in total.
MOST_FIRST, MOST_FURTHER, MOST_NEIGHBOURS = 20, 5, 60

NAMES_LISTED = 10  # most symbols in an error about an ambiguous name

_AT_LINE = re.compile(r"(.+):(\d{1,9})(?:-\d{1,9})?")


class CalledSymbol(Struct, frozen=True):
    """A symbol at the other end of a call, whichever calls the other."""

    id: str
    at: str
    how: str  # the rule that resolved the call
    certainty: float
    sites: int
    step: int
    via: str  # id of the symbol that leads to it; "" at the first step


class IndexedSymbol(Struct, frozen=True, eq=False):
    """A symbol of the index, as it was read."""

    snapshot: Snapshot
    node: int
    lines: Callable[[str], list[str]]  # of a file, by path

    @property
    def id(self) -> str:
        """The id, as of a candidate of a search."""
        return self.snapshot.symbol_id(self.node)

    @property
    def at(self) -> str:
        """Its place as `file:line-line`."""
        return _place_of(self.snapshot, self.node)

    @property
    def kind(self) -> str:
        """Its kind of fragment: "method"."""
        return self.snapshot.kind(self.node).value

    @property
    def text(self) -> str:
        """Its source. Raises RepositoryError if the file has changed."""
        snapshot = self.snapshot
        lines = self.lines(snapshot.paths[int(snapshot.file[self.node])])
        return text_of(lines, int(snapshot.line_start[self.node]), int(snapshot.line_end[self.node]))

    def callers(self, depth: int) -> tuple[list[CalledSymbol], int]:
        """Returns the symbols that call it within `depth` steps, and how many were not listed; see `_neighbours`."""
        return _neighbours(self.snapshot, self.node, Direction.CALLED_BY, depth)

    def callees(self, depth: int) -> tuple[list[CalledSymbol], int]:
        """Returns the symbols that it calls; see `callers`."""
        return _neighbours(self.snapshot, self.node, Direction.CALLS, depth)


def find_symbol(
    snapshot: Snapshot, symbol: str, lines: Callable[[str], list[str]], progress: Progress = unreported
) -> IndexedSymbol:
    """Returns the symbol for an id, `file:line`, or a name or its end that only one symbol has. Raises UsageError:
    no symbol fits, or several do; the error names them, or the nearest."""
    node = snapshot.row_of(symbol)
    if node >= 0:
        return IndexedSymbol(snapshot, node, lines)
    if (at := _AT_LINE.fullmatch(symbol)) and at[1] in snapshot.digests:
        file, line = snapshot.paths.index(at[1]), int(at[2])
        first, after = np.searchsorted(snapshot.file, (file, file + 1)).tolist()
        for row in range(first, after):
            if int(snapshot.line_start[row]) <= line <= int(snapshot.line_end[row]):
                return IndexedSymbol(snapshot, row, lines)
        raise UsageError(f"symbol: there is nothing at {shown(at[1])}:{line}", hint="name a line that is not blank")
    progress("looking", 0, 0)
    path, separator, name = symbol.rpartition("::")
    names = snapshot.qualnames
    last = name.rpartition(".")[2]
    for fits in (lambda text: text == name, lambda text: text.endswith("." + name), lambda text: _last(text) == last):
        rows = [row for row, text in enumerate(names) if text and fits(text)]
        if separator:
            rows = [row for row in rows if snapshot.paths[int(snapshot.file[row])].endswith(path)]
        if len(rows) == 1:
            return IndexedSymbol(snapshot, rows[0], lines)
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


def _place_of(snapshot: Snapshot, node: int) -> str:
    path = snapshot.paths[int(snapshot.file[node])]
    return f"{path}:{int(snapshot.line_start[node])}-{int(snapshot.line_end[node])}"


def _neighbours(snapshot: Snapshot, node: int, direction: Direction, depth: int) -> tuple[list[CalledSymbol], int]:
    """Returns the symbols within so many calls in one direction, step by step, the most certain first, and how many
    were not listed at these steps. They include guesses, with their certainty, but only calls that a search follows
    lead further."""
    listed: list[CalledSymbol] = []
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
                    CalledSymbol(
                        id=snapshot.symbol_id(end),
                        at=_place_of(snapshot, end),
                        how=How(int(calls.how[at])).label,
                        certainty=int(calls.confidence[at]) / 1000,
                        sites=int(calls.sites[at]),
                        step=step,
                        via=snapshot.symbol_id(start) if step > 1 else "",
                    )
                )
        level = following
    return listed, more
