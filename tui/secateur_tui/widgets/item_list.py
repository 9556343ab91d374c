"""A list with a cursor, painted row by row: what it costs does not depend on how many items there are."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.columns import ListLayout, laid_out
from secateur_tui.messages import CursorMoved
from secateur_tui.state.answer import ListedItems
from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.line_view import LineView
from secateur_tui.widgets.listing import ItemListing, draw_cut, draw_row, draw_titles


class ItemList(LineView, can_focus=True):
    """Shows a listing of any kind. The cursor is an item, not a line: it stays on its item when others move around it,
    and passes over the line where the budget ends. Posts `CursorMoved`."""

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
        self._listing: ItemListing | None = None
        self._items: ListedItems | None = None  # the items by line: all of the listing, or those of a view
        self._layout: ListLayout | None = None
        self._index = 0  # the cursor's place among the items, as last painted

    def show(self, listing: ItemListing | None, item: int, view: ListedItems | None = None) -> None:
        """Paints a listing with the cursor on `item`, which keeps its place on the screen while lines move around it.

        Args:
            view: a part of its items, or another order; there is no line where the budget ends then.
        """
        offset = self._row(self._index) - self.scroll_offset.y
        self._listing, self._items = listing, view or listing
        self._index = max(0, self._items.line_of(item)) if self._items is not None and len(self._items) else 0
        self.measure()
        self._scroll(self._row(self._index) - offset)
        self.repaint_lines()

    def draw_titles(self, cells: int) -> Line:
        """Draws the titles of the columns in a line above the list, which is as wide as the list with its scroll
        bar."""
        cells -= self.styles.scrollbar_size_vertical
        return draw_titles(laid_out(self._listing.columns, cells)) if self._listing is not None else ()

    @property
    def _count(self) -> int:
        return len(self._items) if self._items is not None else 0

    @property
    def _cut_row(self) -> int:
        """The row of the line where the budget ends; -1 for none."""
        cut = self._listing.cut if self._listing is not None and self._items is self._listing else None
        return cut.above if cut is not None else -1

    def _row(self, index: int) -> int:
        """The row of an item."""
        return index + (0 <= self._cut_row <= index)

    def _index_at(self, row: int) -> int:
        """The item of a row; of the cut the one above it."""
        return row - (0 <= self._cut_row <= row)

    def line_count(self) -> int:
        return self._count + (self._cut_row >= 0)

    def measure(self) -> None:
        self._layout = laid_out(self._listing.columns, self.content_cells) if self._listing is not None else None
        super().measure()

    def draw_line(self, index: int, cells: int) -> Line:
        if self._listing is None or self._items is None or self._layout is None:
            return ()
        if index == self._cut_row and self._listing.cut is not None:
            return draw_cut(self._listing.cut, cells)
        place = self._index_at(index)
        item = self._items.item_at(place)
        drawn = self._listing.heading(item, cells) or draw_row(self._listing, item, self._layout)
        if place != self._index:
            return drawn
        cursor = "cursor" if self.has_focus else "cursor-blurred"
        mark = line(Span("▸" if self.has_focus else "›", f"accent {cursor}"), Span(drawn[0].text[1:], cursor))
        return mark + tuple(Span(span.text, f"{span.role} {cursor}") for span in drawn[1:])

    def action_move(self, by: int) -> None:
        self._go(self._index + by)

    def action_page(self, by: int) -> None:
        self._go(self._index + by * max(1, self.size.height - 1))

    def action_edge(self, last: int) -> None:
        self._go(self._count - 1 if last else 0)

    def on_click(self, event: events.Click) -> None:
        self._go(self._index_at(event.y + self.scroll_offset.y))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _go(self, index: int) -> None:
        if self._items is None or not self._count:
            return
        index = max(0, min(self._count - 1, index))
        if index == self._index:
            return
        self._index = index
        row, top = self._row(index), self.scroll_offset.y
        height = max(1, self.scrollable_content_region.height)
        self._scroll(row if row < top else row - height + 1 if row >= top + height else top)
        self.repaint_lines()
        self.post_message(CursorMoved(self._items.item_at(index)))

    def on_resize(self) -> None:
        """Keeps the cursor's line in sight."""
        self.repaint()
        self._scroll(self.scroll_offset.y)

    def _scroll(self, top: int) -> None:
        """Scroll so that `top` is the first line, as far as the list reaches and the cursor stays in sight."""
        height = max(1, self.scrollable_content_region.height)
        row = self._row(self._index)
        top = max(row - height + 1, min(row, top))
        self.scroll_to(y=max(0, min(top, self.line_count() - height)), animate=False, immediate=True, force=True)
