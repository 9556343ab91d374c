"""The page "Walk": a tree of callers and callees with a cursor of its own, and below it what the whole walk says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from secateur.render.walk_text import CallChain, Walk
from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.state.walking import LineKind, WalkTree
from secateur_tui.styled_text import Line, wrap_words
from secateur_tui.widgets.cursor_view import CursorView
from secateur_tui.widgets.walk_lines import draw_chains, draw_tree_line, draw_whole

KEYS = "→ opens · ← closes · Enter goes there · r roots here · p paths"


class WalkView(CursorView):
    """`go` is called with the node that the user wants to see in the list. Keys are those of the tree while it has the
    focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "open", show=False),
        Binding("left,h", "close", show=False),
        Binding("enter", "go", show=False),
        Binding("r", "root", show=False),
        Binding("p", "mark", show=False),
    ]

    def __init__(self, go: Callable[[int], None], **options: Any) -> None:
        super().__init__(**options)
        self._go = go
        self.calls: WalkTree | None = None
        self.whole: Walk | None = None
        self.reason = ""  # in place of the tree: why there is none
        self._below: Sequence[Line] = ()
        self._chains: tuple[tuple[int | None, int], list[CallChain]] | None = None

    def show(self, tree: WalkTree | None, walk: Walk | None, reason: str) -> None:
        """Shows a tree; in its place what is to be said where there is none."""
        if tree is not self.calls:
            self._chains = None
        self.calls, self.whole, self.reason = tree, walk, reason
        self.repaint()
        self._scroll()

    def repaint(self) -> None:
        self._below = self._draw_below(self.content_cells)
        super().repaint()

    def _draw_below(self, cells: int) -> list[Line]:
        if self.calls is None:
            return wrap_words(self.reason, cells, "faint")
        lines: list[Line] = []
        if chains := draw_chains(self.calls, self._find_chains(self.calls), cells):
            lines += [(), *chains]
        if whole := draw_whole(self.whole, self.calls.calls.symbol(self.calls.root), cells):
            lines += [(), *whole]
        return [*lines, (), *wrap_words(KEYS, cells, "faint")]

    def _find_chains(self, tree: WalkTree) -> list[CallChain]:
        """Returns the chains to the item at the cursor: sought once, not for every frame."""
        key = tree.marked, tree.line.node
        if self._chains is None or self._chains[0] != key:
            self._chains = key, tree.chains()
        return self._chains[1]

    @property
    def _count(self) -> int:
        return len(self.calls.lines) if self.calls is not None else 0

    def line_count(self) -> int:
        return self._count + len(self._below)

    def draw_line(self, index: int, cells: int) -> Line:
        if self.calls is None or index >= self._count:
            return self._below[index - self._count]
        drawn = draw_tree_line(self.calls, index, cells)
        if index != self.calls.cursor:
            return drawn
        return self.with_cursor(drawn)

    # --- keys ---

    def action_move(self, by: int) -> None:
        self._turn(lambda tree: tree.move(tree.cursor + by))

    def action_edge(self, last: int) -> None:
        self._turn(lambda tree: tree.move(len(tree.lines) if last else 0))

    def action_open(self) -> None:
        self._turn(WalkTree.open)

    def action_close(self) -> None:
        self._turn(WalkTree.close)

    def action_mark(self) -> None:
        self._turn(WalkTree.mark)

    def action_root(self) -> None:
        """Shows the calls of the item at the cursor."""
        if self.calls is not None and self.calls.line.kind is not LineKind.REST:
            self.show(WalkTree(self.calls.calls, self.calls.line.node, self.calls.marked), self.whole, self.reason)

    def action_go(self) -> None:
        """Goes to the item at the cursor in the list; a line of the rest shows more, a branch opens."""
        if self.calls is None:
            return
        if self.calls.line.kind in (LineKind.REST, LineKind.BRANCH):
            self._turn(WalkTree.toggle)
        else:
            self._go(self.calls.line.node)

    def on_click(self, event: events.Click) -> None:
        index = event.y + self.scroll_offset.y
        if self.calls is None or index >= self._count:
            return
        again = index == self.calls.cursor
        self._turn(lambda tree: tree.toggle() if again else tree.move(index))

    def _turn(self, change: Callable[[WalkTree], None]) -> None:
        if self.calls is not None:
            change(self.calls)
            self.repaint()
            self._scroll()

    def _scroll(self) -> None:
        """Scrolls so that the cursor is in sight."""
        if self.calls is not None:
            self.scroll_near(self.scroll_offset.y, self.calls.cursor)
