"""A list with a cursor, painted row by row: what it costs does not depend on how many items there are."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.jobs import CursorMoved
from secateur_tui.short_names import ListLayout, lay_out_columns
from secateur_tui.state.list_view import ListedItems
from secateur_tui.styled_text import Line, clip_line, mark_cursor
from secateur_tui.widgets.line_view import LineView
from secateur_tui.widgets.listing import Between, ItemListing, draw_row, draw_titles

_above = attrgetter("above")

_LINES_BEFORE = 3  # lines in sight above an item that a jump leads to


class ItemList(LineView, can_focus=True):
    """Shows a listing of any kind. The cursor is an item, not a line: it stays on its item when others move around it,
    and passes over the lines between items. Tells `moved` the new item at once, for an answer may be painted
    before a message arrives; posts `CursorMoved` for all that may come later. The cursor is bright while the list has
    the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "edge(0)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    def __init__(self, moved: Callable[[int], None], **options: Any) -> None:
        super().__init__(**options)
        self._moved = moved
        self._listing: ItemListing | None = None
        self._items: ListedItems | None = None  # the items by line: all of the answer, or those of a view
        self._layout: ListLayout | None = None
        self._index = 0  # the cursor's place among the items, as last painted
        self._wanted = self._left = 0, 0  # cursor's row and first row in sight: as the user last had them, as painted

    def show(self, listing: ItemListing | None, item: int, view: ListedItems | None = None) -> None:
        """Paints a listing with the cursor on `item`. A list whose first line is in sight keeps it there; else the
        cursor keeps its place on the screen while lines move around it. Both as far as the cursor stays in sight, so
        that whatever leads back to the list before leads back to the screen before.

        Args:
            view: a part of its items, or another order; there is no line where the budget ends then.
        """
        if self._left != (self._row(self._index), self.scroll_offset.y):
            self._wanted = self._row(self._index), self.scroll_offset.y
        self._listing, self._items = listing, view or (listing.answer if listing is not None else None)
        self._index = max(0, self._items.line_of(item)) if self._items is not None and len(self._items) else 0
        self.measure()
        self._settle()
        self.repaint_lines()

    def _settle(self) -> None:
        row, top = self._wanted
        self._scroll(self._row(self._index) - row + top if top else 0)
        self._left = self._row(self._index), self.scroll_offset.y

    def jump(self, item: int) -> None:
        """Puts the cursor on an item if it is listed. One out of sight comes with the lines before it, so that the line
        where the budget ends stays in sight with the first item below it."""
        index = self._items.line_of(item) if self._items is not None and self._count else -1
        if index < 0:
            return
        row, top, height = self._row(index), self.scroll_offset.y, max(1, self.size.height)
        self._index = index
        self._scroll(top if top <= row < top + height else row - min(_LINES_BEFORE, height // 3))

    def draw_titles(self, cells: int) -> Line:
        """Draws the titles of the columns in a line above the list, which is as wide as the list with its scroll
        bar."""
        cells -= self.styles.scrollbar_size_vertical
        return draw_titles(lay_out_columns(self._listing.columns, cells)) if self._listing is not None else ()

    @property
    def _count(self) -> int:
        return len(self._items) if self._items is not None else 0

    @property
    def _between(self) -> Sequence[Between]:
        """The lines between the items; none in a part of the list, or in another order."""
        return self._listing.between if self._listing is not None and self._items is self._listing.answer else ()

    def _row(self, index: int) -> int:
        return index + bisect_right(self._between, index, key=_above)

    def _lines_to(self, row: int) -> int:
        between = self._between
        return bisect_right(range(len(between)), row, key=lambda index: between[index].above + index)

    @property
    def cursor_y(self) -> int:
        """The row of the screen that the cursor is on."""
        return self.region.y + self._row(self._index) - self.scroll_offset.y

    def line_count(self) -> int:
        return self._count + len(self._between)

    def measure(self) -> None:
        self._layout = lay_out_columns(self._listing.columns, self.content_cells) if self._listing is not None else None
        super().measure()

    def draw_line(self, index: int, cells: int) -> Line:
        if self._listing is None or self._items is None or self._layout is None:
            return ()
        lines = self._lines_to(index)
        if lines and (between := self._between[lines - 1]).above + lines - 1 == index:
            return clip_line(between.draw(cells), cells)
        place_in_list = index - lines
        drawn = draw_row(self._listing, self._items.item_at(place_in_list), self._layout)
        if place_in_list != self._index:
            return drawn
        return mark_cursor(drawn) if self.has_focus else mark_cursor(drawn, "›", "cursor-blurred")

    def action_move(self, by: int) -> None:
        self._go(self._index + by)

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.size.height - 1))

    def action_edge(self, last: int) -> None:
        self._go(self._count - 1 if last else 0)

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        self._go(row - self._lines_to(row))  # of a line between items it is the item above it

    def _go(self, index: int) -> None:
        if self._items is None or not self._count:
            return
        index = max(0, min(self._count - 1, index))
        if index == self._index:
            return
        self._index = index
        self._scroll(self.scroll_offset.y)
        self.repaint_lines()
        self._moved(self._items.item_at(index))
        self.post_message(CursorMoved())

    def on_resize(self) -> None:
        """Keeps the cursor's line in sight; after a lower screen, shows the lines again that were in sight before."""
        self.repaint()
        if self._left == (self._row(self._index), self.scroll_offset.y):
            self._settle()
        else:
            self._scroll(self.scroll_offset.y)

    def _scroll(self, top: int) -> None:
        """Scrolls so that `top` is the first line, as far as the cursor stays in sight; a heading with the first."""
        self.scroll_near(top, self._row(self._index) if self._index else 0)
