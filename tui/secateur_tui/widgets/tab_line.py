"""The names of the pages, the open one marked; a click opens another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import events
from textual.message import Message

from secateur_tui.styled_text import Line, Span, width
from secateur_tui.widgets.line_view import LineView


class TabLine(LineView, can_focus=False):
    """`pages` are (id, title)."""

    class Chosen(Message):
        """A page was clicked."""

        def __init__(self, page: str) -> None:
            super().__init__()
            self.page = page

    def __init__(self, pages: Sequence[tuple[str, str]], **options: Any) -> None:
        super().__init__(**options)
        self._pages = pages
        self._open = pages[0][0]

    def show(self, page: str) -> None:
        """Mark the open page."""
        self._open = page
        self.repaint()

    def line_count(self) -> int:
        return 1

    def draw_line(self, index: int, cells: int) -> Line:  # noqa: ARG002 - one line
        return tuple(span for tab in draw_tabs(self._pages, self._open, cells) for span in tab)

    def on_click(self, event: events.Click) -> None:
        edge = 0
        for (page, _), tab in zip(self._pages, draw_tabs(self._pages, self._open, self.size.width), strict=True):
            edge += width(tab)
            if event.x < edge:
                self.post_message(self.Chosen(page))
                return


def draw_tabs(pages: Sequence[tuple[str, str]], opened: str, cells: int) -> Sequence[Line]:
    """Draws each tab with its edges; if that is too wide, neighbours share an edge."""
    mark = "accent bold"
    tabs: list[Line] = [
        (Span(f"▐{title}▌", mark) if page == opened else Span(f" {title} ", "faint"),) for page, title in pages
    ]
    if sum(width(tab) for tab in tabs) <= cells:
        return tabs
    ids = [page for page, _ in pages]
    shared: list[Line] = []
    for (page, title), after in zip(pages, [*ids[1:], ""], strict=True):
        edge = Span("▌", mark) if page == opened else Span("▐", mark) if after == opened else Span(" ")
        shared.append((Span(title, mark if page == opened else "faint"), edge))
    first = Span("▐", mark) if ids[0] == opened else Span(" ")
    return [(first, *shared[0]), *shared[1:]]
