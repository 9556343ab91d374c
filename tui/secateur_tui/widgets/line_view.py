"""The base of every view: a scrolling widget that paints lines of styled text by the line API. It costs as much as
the rows in sight that differ from what is painted."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from secateur_tui.host import Guarded, Host, Palette
from secateur_tui.jobs import ActionClicked
from secateur_tui.styled_text import Line, action_at, clip_line


class LineView(Guarded, ScrollView):
    """A view of lines. Subclasses say how many lines there are and draw one at a time."""

    app: Host

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._painted: dict[int, Line] = {}  # by row in sight: as it is on screen
        self._drawn: dict[int, Line] = {}  # by row in sight: as it is drawn next
        self._drawn_at = 0, 0  # the width and the first line in sight of what is drawn
        self._ground_style: Style | None = None
        self._palette: Palette | None = None

    @abstractmethod
    def line_count(self) -> int:
        """Returns the number of lines at the present width."""

    @abstractmethod
    def draw_line(self, index: int, cells: int) -> Line:
        """Draws one line, at most `cells` wide."""

    def repaint(self) -> None:
        """Takes the present state of what is drawn: measures again and paints the lines in sight that differ."""
        self.measure()
        self.repaint_lines()

    def measure(self) -> None:
        """Takes the present number of lines."""
        # Two passes settle the vertical scroll bar, which takes cells from the width.
        size = Size(self.content_cells, self.line_count())
        if self.virtual_size == size:
            return
        if self.styles.is_auto_height:
            self.virtual_size = size
        else:  # only the scroll bar depends on it: to lay out the whole screen anew costs more than all else
            self.set_reactive(LineView.virtual_size, size)
            self._scroll_update(size)

    def repaint_lines(self) -> None:
        """Paints the lines in sight that differ from what is on screen."""
        if (palette := self.app.palette) is not self._palette:
            self._palette = palette
            self.refresh()
            return
        region, top = self.scrollable_content_region, self.scroll_offset.y
        drawn = {y: self.draw_in_sight(y, region.width) for y in range(region.height)}
        if changed := [y for y, spans in drawn.items() if self._painted.get(y) != spans]:
            self.refresh(*(Region(0, y, region.width, 1) for y in changed))
        self._drawn, self._drawn_at = drawn, (region.width, top)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        self._drawn = {}  # whoever asks for this has changed something that was drawn
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    @property
    def content_cells(self) -> int:
        """Width a line may take; of a view that is not laid out yet the width that it has room for, so that its first
        frame is whole."""
        if width := self.scrollable_content_region.width:
            return width
        room = next((above.content_size.width for above in self.ancestors if isinstance(above, Widget)), 0)
        return max(1, room - self.gutter.width)

    def on_resize(self) -> None:
        self.repaint()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        self._ground_style = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        cells, top = self.scrollable_content_region.width, self.scroll_offset.y
        spans = self._drawn.get(y) if self._drawn_at == (cells, top) else None
        if spans is None:
            spans = self.draw_in_sight(y, cells)
        self._painted[y] = spans
        base = self._ground_style if self._ground_style is not None else self.rich_style
        return self.paint(spans, cells, base) if spans else Strip.blank(cells, base)

    def draw_in_sight(self, y: int, cells: int) -> Line:
        """Draws a row in sight, of which 0 is the uppermost; nothing below the last line."""
        index = y + self.scroll_offset.y
        return clip_line(self.draw_line(index, cells), cells) if 0 <= index < self.line_count() else ()

    def on_click(self, event: events.Click) -> None:
        """Does what the words under the pointer name, where they name an action."""
        at = event.get_content_offset(self)
        index = at.y + self.scroll_offset.y if at is not None else -1
        if at is not None and 0 <= index < self.line_count():
            cells = self.scrollable_content_region.width
            if action := action_at(clip_line(self.draw_line(index, cells), cells), at.x):
                self.post_message(ActionClicked(action))

    def paint(self, spans: Line, cells: int, base: Style) -> Strip:
        """Returns a line as a strip of exactly `cells`; a role may name several classes, later ones on top."""
        style = self.app.palette.style
        segments = [Segment(span.text, base + style(span.role)) for span in spans]
        # Measured with the compositor's own table: whatever a character's true width, the line never leaves its place.
        length = sum(cell_len(span.text) for span in spans)
        # The background of a row with the cursor runs to its end.
        ground = base + style(next((role for span in spans for role in span.role.split() if role in _GROUNDS), ""))
        if length < cells:
            segments.append(Segment(" " * (cells - length), ground))
        return Strip(segments, max(length, cells)).adjust_cell_length(cells, ground)

    def scroll_near(self, top: int, row: int) -> None:
        """Scrolls so that `top` is the first line, as far as there are lines and the row stays in sight."""
        height = max(1, self.scrollable_content_region.height)
        top = max(row - height + 1, min(row, top))
        self.scroll_to(y=max(0, min(top, self.line_count() - height)), animate=False, immediate=True, force=True)


_GROUNDS = ("cursor", "cursor-blurred")


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

    def take_lines(self) -> None:
        """Draws the lines, where there is room for any."""
        cells = self.content_cells
        self._lines = self._draw(cells) if cells > 1 else ()

    def repaint(self) -> None:
        self.take_lines()
        super().repaint()


class Fixed(DrawnView, can_focus=False):
    """A view that never scrolls: title, budget, footer."""
