"""The query field. Pasted text becomes safe to print before it is shown or asked.

A text of several lines, such as a pasted issue, stands in the one line of the field with a `␊` for each end of a line;
the lower border says how many lines there are.
"""

from typing import Any

from rich.segment import Segment
from secateur.terminal import cell_width, clip, visible
from textual import events
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Input

from secateur_tui.guards import Guarded
from secateur_tui.short_names import shorten_path

NEWLINE = "␊"  # the sign that the field shows for the end of a line, as `visible` does
MOST_PASTED = 20_000  # the most characters of a paste: an issue with a long traceback has half as many


class QueryInput(Guarded, Input):
    """A one-line field; Enter submits. With `lines` it takes texts of several lines."""

    def __init__(self, value: str, placeholder: str, *, lines: bool = False, opener: str = "", **options: Any) -> None:
        """`opener`: the key that leads to this field; it is no text while nothing is typed yet."""
        self._lines, self._opener = lines, opener
        self._note = "", ""  # what was pasted last, and what of it was not taken
        super().__init__(visible(value), placeholder=placeholder, select_on_focus=False, **options)

    @property
    def text(self) -> str:
        """The text as it was typed and pasted, with its ends of lines."""
        return self.value.replace(NEWLINE, "\n") if self._lines else self.value

    def put(self, text: str) -> None:
        """Show a text from outside; what is typed or deleted next begins at its end."""
        self.value = visible(text)
        self.cursor_position = len(self.value)

    def take(self, text: str) -> None:
        """Replaces the present text by a pasted text."""
        self.put(self._take_paste(text))

    def render_line(self, y: int) -> Strip:
        """Draws a text that has no room with an ellipsis while the keys go elsewhere; of a path the end stays."""
        cells = self.content_size.width
        if y or self.has_focus or cell_width(self.value) <= cells:
            return super().render_line(y)
        shorten = shorten_path if "/" in self.value and " " not in self.value else clip
        return Strip([Segment(shorten(self.value, cells), self.rich_style)]).adjust_cell_length(cells, self.rich_style)

    @property
    def noted(self) -> bool:
        """Tells whether the lower border says that a part of the pasted text is missing."""
        taken, note = self._note
        return bool(note) and taken in self.value

    def watch_value(self, value: str) -> None:
        note = self._note[1]
        lines = value.count(NEWLINE) + 1 if self._lines else 1
        notes = [*([f"{lines:,} lines"] if lines > 1 else []), *([note] if self.noted else [])]
        if self._lines or note:
            self.border_subtitle = Content(", ".join(notes))

    async def _on_key(self, event: events.Key) -> None:
        if self._opener and event.character == self._opener and not self.value:
            event.stop()
            event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:
        # Textual calls the handler of `Input` after this one, on the same event.
        event.text = self._take_paste(event.text)

    def _take_paste(self, text: str) -> str:
        """Returns the part of a pasted text that is taken; the lower border says what is not."""
        if self._lines:
            clean = "\n".join(text.splitlines()).strip()
            note = f"{MOST_PASTED:,} of {len(clean):,} characters" if len(clean) > MOST_PASTED else ""
            self._note = visible(clean[:MOST_PASTED]), note
        else:
            lines = [line for line in text.splitlines() if line.strip()]
            note = f"the first of {len(lines):,} lines" if len(lines) > 1 else ""
            self._note = visible(lines[0]) if lines else "", note
        return self._note[0]
