"""Lines with a cursor that keys move: the list of items, and the tree of calls."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from textual.binding import Binding, BindingType

from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.line_view import LineView


class CursorView(LineView, can_focus=True):
    """A view with a cursor, which is bright while the view has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "edge(0)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    @abstractmethod
    def action_move(self, by: int) -> None:
        """Moves the cursor by so many places, as far as there are any."""

    @abstractmethod
    def action_edge(self, last: int) -> None:
        """Moves the cursor to the first place (0) or the last (1)."""

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.size.height - 1))

    def with_cursor(self, drawn: Line) -> Line:
        """Returns a line, whose first cell is free for it, under the cursor."""
        cursor = "cursor" if self.has_focus else "cursor-blurred"
        mark = line(Span("▸" if self.has_focus else "›", f"accent {cursor}"), Span(drawn[0].text[1:], cursor))
        return mark + tuple(Span(span.text, f"{span.role} {cursor}") for span in drawn[1:])
