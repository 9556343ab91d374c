"""A text in a pane. Its lines are drawn when they come into sight, wrapped at blanks or panned, and searched."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from secateur.terminal import cell_width, visible
from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.styled_text import (
    ELLIPSIS,
    Line,
    Span,
    clip_line,
    count_fitting,
    cut_cells,
    line,
    mark_places,
    plain,
    width,
)
from secateur_tui.widgets.line_view import LineView

PAN = 8
"""Cells that one key pans."""


class TextView(LineView, can_focus=True):
    """Subclasses draw the head, which stays in sight, the lines, and what stands on their left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "pan(-1)", show=False),
        Binding("right", "pan(1)", show=False),
        Binding("L", "wrap", show=False),
        Binding("slash", "find", show=False),
        Binding("n", "next(1)", show=False),
        Binding("N", "next(-1)", show=False),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.wraps = False
        self._panned = 0
        self._rows: Sequence[int] = ()  # where lines wrap: rows before each line, and behind the last
        self._starts: Mapping[int, Sequence[int]] = {}  # per line of several rows the cell at which each begins
        self._wrapped_for: int | None = None  # cells that both were measured for
        self._typed: str | None = None  # what is looked for, while it is typed
        self._words = ""  # what is looked for
        self._hits: Sequence[int] = ()

    # --- what a text is ---

    @abstractmethod
    def text_lines(self) -> int:
        """Returns the number of lines."""

    @abstractmethod
    def draw_text(self, index: int) -> Line:
        """Draws a line of the text, of any width."""

    @abstractmethod
    def draw_head(self, cells: int) -> Line:
        """Draws the line above the text."""

    def draw_gutter(self, index: int, *, first: bool) -> Line:  # noqa: ARG002 - many have none
        """Draws what stands left of a line, and of its further rows if it is wrapped. It has the same width
        everywhere."""
        return ()

    def find_lines(self, words: str) -> Sequence[int]:
        """Returns the lines that hold these words, upper and lower case alike."""
        wanted = visible(words).casefold()
        lines = range(self.text_lines()) if wanted else ()
        return [index for index in lines if wanted in plain(self.draw_text(index)).casefold()]

    @property
    def key_hints(self) -> str:
        """The keys of the text while it has the focus; else how to get there."""
        if not self.has_focus:
            return "Tab leads here"
        return "L unwraps, / finds" if self.wraps else "L wraps, ←/→ pans, / finds"

    # --- showing ---

    def reset_text(self) -> None:
        """Shows a new text from its beginning."""
        self._panned, self._typed, self._words, self._hits, self._wrapped_for = 0, None, "", (), None
        self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def repaint(self) -> None:
        self._wrap()
        super().repaint()

    def line_count(self) -> int:
        return 1 + (self._rows[-1] if self._rows else self.text_lines())

    def _wrap(self) -> None:
        if not self.wraps:
            self._rows, self._starts, self._wrapped_for = (), {}, None
            return
        cells = self.content_cells
        room = max(1, cells - width(self.draw_gutter(0, first=True))) if self.text_lines() else cells
        if room == self._wrapped_for:
            return
        rows, starts = [0], {}
        for index in range(self.text_lines()):
            begins = find_row_starts(plain(self.draw_text(index)), room)
            rows.append(rows[-1] + len(begins))
            if len(begins) > 1:
                starts[index] = begins
        self._rows, self._starts, self._wrapped_for = rows, starts, room

    def _place(self, row: int) -> tuple[int, int]:
        """(line, which part of it) of a row below the head."""
        if not self._rows:
            return row, 0
        index = bisect_right(self._rows, row) - 1
        return index, row - self._rows[index]

    @property
    def top_line(self) -> int:
        """The first line in sight."""
        return min(max(0, self.text_lines() - 1), self._place(int(self.scroll_offset.y))[0])

    def show_line(self, index: int) -> None:
        """Scrolls so that a line is in sight, near the top."""
        row = self._rows[index] if self._rows else index
        self.scroll_to(y=max(0, row - 1), animate=False, immediate=True, force=True)
        self.refresh()

    def draw_in_sight(self, y: int, cells: int) -> Line:
        return super().draw_in_sight(y, cells) if y else clip_line(self._head(cells), cells)

    def _head(self, cells: int) -> Line:
        if self._typed is not None:
            return line(Span("/", "accent"), f"{self._typed}▏", Span("  Enter finds, Esc leaves it", "faint"))
        if not self._words:
            return self.draw_head(cells)
        at = bisect_right(self._hits, self.top_line + 1)
        hits = f"{at:,} of {len(self._hits):,} lines" if self._hits else "in no line"
        return line(Span(f"/{visible(self._words)}", "accent"), f"  {hits}", Span("  n N next, before", "faint"))

    def draw_line(self, index: int, cells: int) -> Line:
        text_index, part = self._place(index - 1)
        gutter = self.draw_gutter(text_index, first=part == 0)
        room = max(1, cells - width(gutter))
        drawn = self.draw_text(text_index)
        if self._words:
            drawn = mark_places(drawn, _find_places("".join(span.text for span in drawn), self._words))
        if not self.wraps:
            return (*gutter, *_pan_line(drawn, self._panned, room))
        begins = self._starts.get(text_index, (0,))
        start, end = begins[part], begins[part + 1] if part + 1 < len(begins) else begins[part] + room
        return (*gutter, *cut_cells(drawn, start, min(room, end - start)))

    # --- keys ---

    def action_pan(self, by: int) -> None:
        if not self.wraps:
            self._panned = max(0, self._panned + by * PAN)
            self.refresh()

    def action_wrap(self) -> None:
        top = self.top_line
        self.wraps, self._panned = not self.wraps, 0
        self.repaint()
        self.show_line(top)

    def action_find(self) -> None:
        self._typed = ""
        self.refresh()

    def action_next(self, by: int) -> None:
        if not self._hits:
            return
        here = self.top_line + 1 if self.scroll_offset.y else 0
        if by > 0:
            hit = next((hit for hit in self._hits if hit > here), self._hits[0])
        else:
            hit = next((hit for hit in reversed(self._hits) if hit < here), self._hits[-1])
        self.show_line(hit)

    def check_consume_key(self, key: str, character: str | None) -> bool:  # noqa: ARG002
        """Tells whether a key is typed and does nothing else."""
        return self._typed is not None

    def on_key(self, event: events.Key) -> None:
        """Takes typed keys as the search text."""
        if self._typed is None:
            return
        event.stop()
        event.prevent_default()
        if event.key == "enter":
            self._words, self._typed = self._typed, None
            self._hits = self.find_lines(self._words)
            if self._hits:
                self.show_line(next((hit for hit in self._hits if hit >= self.top_line), self._hits[0]))
        elif event.key == "escape":
            self._typed, self._words, self._hits = None, "", ()
        elif event.key == "backspace":
            self._typed = self._typed[:-1]
        elif event.is_printable and event.character:
            self._typed += event.character
        self.refresh()


def find_row_starts(text: str, cells: int) -> Sequence[int]:
    """Returns the cells at which the rows of a wrapped line begin: behind a blank, where one is in the row's second
    half."""
    starts, edges, at, edge = [0], [0], 0, 0
    while at + (room := count_fitting(text[at : at + cells + 1], cells)) < len(text):
        blank = text.rfind(" ", at + 1, at + room + 1)
        behind = blank + 1 if blank - at > room // 2 else at + room
        edge += cell_width(text[at:behind])
        at = behind
        starts.append(at)
        edges.append(edge)
    return edges


def _pan_line(drawn: Line, start: int, cells: int) -> Line:
    """Returns the cells of a line from `start` on; an ellipsis ends it where it goes on."""
    if width(drawn) <= start + cells:
        return cut_cells(drawn, start, cells)
    return (*cut_cells(drawn, start, cells - 1), Span(ELLIPSIS, "faint"))


def _find_places(text: str, words: str) -> list[tuple[int, int]]:
    """Finds (start, end) of every match of the search text."""
    low, wanted, places, at = text.casefold(), visible(words).casefold(), [], 0
    if len(low) != len(text) or not wanted:  # some letters fold into two: nothing is marked then
        return []
    while (at := low.find(wanted, at)) >= 0:
        places.append((at, at + len(wanted)))
        at += len(wanted)
    return places
