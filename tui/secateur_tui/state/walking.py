"""The tree of callers and callees of an item, opened step by step; without a screen.

Below the root stand two branches, what calls it and what it calls. Opening an item below "called by" shows its own
callers, below "calls" its own callees. What stands above itself on its branch is a cycle: it is marked, and not opened
again. Of an item with many calls the best are shown; opening the line of the rest shows more.

    tree = WalkTree(engine.calls(selection), node)
    tree.lines, tree.open(2), tree.close(2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from secateur.index.graph.code_graph import Direction
from secateur.render.walk_text import CallChain, CallEnd
from secateur.retrieval.walk import CallMap

STEP = 12
"""Calls of an item that are shown at first, and added each time."""

MOST_LINES = 2_000
"""Lines of a tree that are drawn."""

DIRECTIONS = (Direction.CALLED_BY, Direction.CALLS)

Key = tuple[int, ...]
"""The path to a line: the number of the branch, then the nodes from the root's neighbour on. () is the root."""


class LineKind(Enum):
    """The kinds of lines of a tree."""

    ROOT = "root"
    BRANCH = "branch"
    ITEM = "item"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A line of the tree.

    Attributes:
        node: the fragment; of a branch or a rest the one whose calls they are.
        end: how the call was resolved; None but for items.
        count: calls on a branch, or of the rest.
        opened: whether its own lines follow; None where it cannot be opened.
        cycle: whether it stands above itself.
    """

    kind: LineKind
    key: Key
    depth: int
    node: int
    end: CallEnd | None = None
    count: int = 0
    opened: bool | None = None
    cycle: bool = False

    @property
    def direction(self) -> Direction:
        """The branch that it stands on."""
        return DIRECTIONS[self.key[0]]


class WalkTree:
    """See the module docstring.

    Attributes:
        root: the node whose calls are shown.
        cursor: the line looked at.
        marked: one end of a chain of calls that is wanted; None: none is.
    """

    def __init__(self, calls: CallMap, root: int, marked: int | None = None) -> None:
        self._calls = calls
        self.root = root
        self.cursor = 0
        self.marked = marked
        self._opened: set[Key] = {(branch,) for branch in range(len(DIRECTIONS))}
        self._shown: dict[Key, int] = {}
        self._lines: Sequence[TreeLine] | None = None
        self._steps: dict[tuple[int, Direction, int], tuple[list[tuple[int, CallEnd]], int]] = {}
        self._counts: dict[tuple[int, Direction], int] = {}

    @property
    def calls(self) -> CallMap:
        """The graph of calls."""
        return self._calls

    @property
    def lines(self) -> Sequence[TreeLine]:
        """The lines as they stand, at most MOST_LINES."""
        if self._lines is None:
            lines = [TreeLine(LineKind.ROOT, (), 0, self.root)]
            for branch in range(len(DIRECTIONS)):
                self._add_branch(branch, lines)
            self._lines = lines[:MOST_LINES]
        return self._lines

    @property
    def line(self) -> TreeLine:
        """The line at the cursor."""
        return self.lines[self.cursor]

    def take_decisions(self, calls: CallMap) -> None:
        """Takes other decisions on the same graph; the open branches stay open."""
        self._calls, self._lines, self._steps = calls, None, {}

    def move(self, line: int) -> None:
        """Puts the cursor on a line of the tree."""
        self.cursor = max(0, min(line, len(self.lines) - 1))

    def open(self) -> None:
        """Opens the line at the cursor; of an open one goes to its first line. A rest shows more."""
        line = self.line
        if line.kind is LineKind.REST:
            self._shown[line.key] = self._shown.get(line.key, STEP) + STEP
            self._lines = None
        elif line.opened:
            self.move(self.cursor + 1)
        elif line.opened is False:
            self._opened.add(line.key)
            self._lines = None

    def close(self) -> None:
        """Closes the line at the cursor; of a closed one goes to the line that it stands below."""
        line = self.line
        if line.opened and line.kind is not LineKind.ROOT:
            self._opened = {key for key in self._opened if key[: len(line.key)] != line.key}
            self._lines = None
        elif line.key:
            parent = line.key if line.kind is LineKind.REST else line.key[:-1]
            self.move(next(index for index, line_above in enumerate(self.lines) if line_above.key == parent))

    def toggle(self) -> None:
        """Opens a closed line and closes an open one."""
        if self.line.opened:
            self.close()
        else:
            self.open()

    def mark(self) -> None:
        """Marks the item at the cursor as one end of a chain of calls; the marked one is marked no longer."""
        node = self.line.node
        self.marked = None if self.marked == node else node

    def chains(self) -> list[CallChain]:
        """Returns the shortest chains of calls between the marked item and the one at the cursor, either way; none
        without a mark, or where both are one."""
        if self.marked is None or self.marked == self.line.node:
            return []
        marked, here = (self._calls.symbol(node) for node in (self.marked, self.line.node))
        return [
            chain for chain in (self._calls.chain(marked, here), self._calls.chain(here, marked)) if chain is not None
        ]

    # --- lines ---

    def _add_branch(self, branch: int, lines: list[TreeLine]) -> None:
        """The lines of a branch, in the order of the tree. Without recursion: a chain of calls has no longest."""
        count = self._count(self.root, DIRECTIONS[branch])
        opened = (branch,) in self._opened if count else None
        lines.append(TreeLine(LineKind.BRANCH, (branch,), 1, self.root, count=count, opened=opened))
        waiting = self._below((branch,), self.root)[::-1] if opened else []
        while waiting and len(lines) < MOST_LINES:
            line = waiting.pop()
            lines.append(line)
            if line.kind is LineKind.ITEM and line.opened:
                waiting += self._below(line.key, line.node)[::-1]

    def _below(self, key: Key, node: int) -> list[TreeLine]:
        """Returns the lines right below an open one."""
        direction, depth = DIRECTIONS[key[0]], len(key) + 1
        most = self._shown.get(key, STEP)
        if (node, direction, most) not in self._steps:
            self._steps[node, direction, most] = self._calls.steps(node, direction, most)
        ends, more = self._steps[node, direction, most]
        above = {self.root, *key[1:]}
        lines = []
        for end_node, end in ends:
            cycle, way = end_node in above, (*key, end_node)
            can_open = not cycle and self._count(end_node, direction) > 0
            opened = way in self._opened if can_open else None
            lines.append(TreeLine(LineKind.ITEM, way, depth, end_node, end, opened=opened, cycle=cycle))
        if more:
            lines.append(TreeLine(LineKind.REST, key, depth, node, count=more))
        return lines

    def _count(self, node: int, direction: Direction) -> int:
        """Returns the number of callers or callees: a tree that is drawn again looks nothing up again."""
        if (node, direction) not in self._counts:
            self._counts[node, direction] = self._calls.count(node, direction)
        return self._counts[node, direction]
