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

    def draw_line(self, index: int, cells: int) -> Line:  # noqa: ARG002 - one line of fixed words
        return tuple(
            Span(f"▐{title}▌" if page == self._open else f" {title} ", "accent bold" if page == self._open else "faint")
            for page, title in self._pages
        )

    def on_click(self, event: events.Click) -> None:
        edge = 0
        for (page, _), span in zip(self._pages, self.draw_line(0, self.size.width), strict=True):
            edge += width((span,))
            if event.x < edge:
                self.post_message(self.Chosen(page))
                return
