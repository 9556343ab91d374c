"""A list with a cursor, painted row by row: what it costs does not depend on how many items there are."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.messages import CursorMoved
from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.line_view import LineView


class ItemList(LineView, can_focus=True):
    """A list whose cursor is an item, not a line: code that shows other lines puts the cursor where its item is now.
    Posts `CursorMoved`.

    Subclasses say how many lines there are, draw each with a blank as its first character, and know the item of a line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "edge(0)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._index = 0  # line of the cursor as last painted

    @abstractmethod
    def draw_item(self, index: int, cells: int) -> Line:
        """One line without the cursor."""

    def item_at(self, index: int) -> int:
        """The item of a line."""
        return index

    def put_cursor(self, index: int) -> None:
        """Paints again with the cursor on line `index`, which keeps its place on the screen while lines move around
        it."""
        offset = self._index - self.scroll_offset.y
        self._index = index
        self.repaint()
        self._scroll(self._index - offset)

    def draw_line(self, index: int, cells: int) -> Line:
        drawn = self.draw_item(index, cells)
        if index != self._index:
            return drawn
        cursor = "cursor" if self.has_focus else "cursor-blurred"
        mark = line(Span("▸" if self.has_focus else "›", f"accent {cursor}"), Span(drawn[0].text[1:], cursor))
        return mark + tuple(Span(span.text, f"{span.role} {cursor}") for span in drawn[1:])

    def action_move(self, by: int) -> None:
        self._go(self._index + by)

    def action_page(self, by: int) -> None:
        self._go(self._index + by * max(1, self.size.height - 1))

    def action_edge(self, last: int) -> None:
        self._go(self.line_count() - 1 if last else 0)

    def on_click(self, event: events.Click) -> None:
        self._go(event.y + self.scroll_offset.y)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _go(self, index: int) -> None:
        if not self.line_count():
            return
        index = max(0, min(self.line_count() - 1, index))
        if index == self._index:
            return
        self._index = index
        top = self.scroll_offset.y
        height = max(1, self.scrollable_content_region.height)
        self._scroll(index if index < top else index - height + 1 if index >= top + height else top)
        self.refresh()
        self.post_message(CursorMoved(self.item_at(index)))

    def on_resize(self) -> None:
        """Keeps the cursor's line in sight."""
        self.repaint()
        self._scroll(self.scroll_offset.y)

    def _scroll(self, top: int) -> None:
        """Scroll so that `top` is the first line, as far as the list reaches and the cursor stays in sight."""
        height = max(1, self.scrollable_content_region.height)
        top = max(self._index - height + 1, min(self._index, top))
        self.scroll_to(y=max(0, min(top, self.line_count() - height)), animate=False, immediate=True, force=True)
