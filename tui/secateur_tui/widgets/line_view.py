"""The base of every view: a scrolling widget that paints lines of styled text by the line API, so its cost is that of
the rows in sight."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from secateur_tui.guards import Guarded
from secateur_tui.host import Host
from secateur_tui.messages import ActionClicked
from secateur_tui.styled_text import Line, action_at, clipped


class LineView(Guarded, ScrollView):
    """A view of lines. Subclasses say how many lines there are and draw one at a time."""

    app: Host

    @abstractmethod
    def line_count(self) -> int:
        """Lines at the present width."""

    @abstractmethod
    def draw_line(self, index: int, cells: int) -> Line:
        """One line, at most `cells` wide."""

    def repaint(self) -> None:
        """Takes the present state of what is drawn: measures again and paints the lines in sight."""
        # Two passes settle the vertical scroll bar, which takes cells from the width.
        count = self.line_count()
        if self.virtual_size.height != count or self.virtual_size.width != self.content_cells:
            self.virtual_size = Size(self.content_cells, count)
        self.refresh()

    @property
    def content_cells(self) -> int:
        """Width a line may take."""
        return max(1, self.scrollable_content_region.width)

    def on_resize(self) -> None:
        self.repaint()

    def render_line(self, y: int) -> Strip:
        cells = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        base = self.rich_style
        if not 0 <= index < self.line_count():
            return Strip.blank(cells, base)
        return self.paint(clipped(self.draw_line(index, cells), cells), cells, base)

    def on_click(self, event: events.Click) -> None:
        """Does what the words under the pointer name, where they name an action."""
        at = event.get_content_offset(self)
        index = at.y + self.scroll_offset.y if at is not None else -1
        if at is not None and 0 <= index < self.line_count():
            cells = self.scrollable_content_region.width
            if action := action_at(clipped(self.draw_line(index, cells), cells), at.x):
                self.post_message(ActionClicked(action))

    def paint(self, spans: Line, cells: int, base: Style) -> Strip:
        """Returns a line as a strip of exactly `cells`; a role may name several classes, later ones on top."""
        segments = [Segment(span.text, base + self.role_style(span.role)) for span in spans]
        # The strip measures with the compositor's own table: whatever a character's true width, the line never leaves
        # its place.
        return Strip(segments).adjust_cell_length(cells, base + self.role_style(_row_role(spans)))

    def role_style(self, role: str) -> Style:
        """The style of a role under the present theme."""
        return self.app.palette.style(role)


def _row_role(spans: Line) -> str:
    """The background of a cursor row runs to the end of the line."""
    return next((name for span in spans for name in span.role.split() if name.startswith("cursor")), "")


class DrawnView(LineView):
    """A view that a function of the width draws as a whole: `DrawnView(lambda cells: [line("hello")])`."""

    def __init__(self, draw: Callable[[int], Sequence[Line]], **options: Any) -> None:
        super().__init__(**options)
        self._draw = draw
        self._lines: Sequence[Line] = ()

    def line_count(self) -> int:
        return len(self._lines)

    def draw_line(self, index: int, cells: int) -> Line:  # noqa: ARG002 - drawn for this width already
        return self._lines[index]

    def repaint(self) -> None:
        self._lines = self._draw(self.content_cells)
        super().repaint()


class Fixed(DrawnView, can_focus=False):
    """A view that never scrolls: title, budget, footer."""
