"""The text of a candidate with its line numbers; what does not go out is faint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from secateur.model import State
from secateur.terminal import visible

from secateur_tui.highlight import highlight
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.styled_text import ELLIPSIS, Line, Span, line
from secateur_tui.widgets.line_view import LineView

_TAB = 4
_LONGEST_LINE = 2_000
"""Characters of a line that are looked at; no terminal is wider."""


@dataclass(frozen=True, slots=True)
class PreviewText:
    """A fragment ready to be painted: safe lines with roles, the number of the first."""

    lines: tuple[Line, ...]
    first: int

    @classmethod
    def of(cls, content: str, language: str, first: int) -> PreviewText:
        """Prepare text from outside: tabs expanded, the common indent taken away, control characters visible,
        colours."""
        raw = content.replace("\r\n", "\n").removesuffix("\n").split("\n")
        cut = [text[:_LONGEST_LINE] + ELLIPSIS if len(text) > _LONGEST_LINE else text for text in raw]
        expanded = [text.expandtabs(_TAB) for text in cut]
        indent = min((len(text) - len(text.lstrip(" ")) for text in expanded if text.strip()), default=0)
        return cls(tuple(highlight([visible(text[indent:]) for text in expanded], language)), first)


def out_lines(answer: SearchAnswer, row: int) -> tuple[int, int]:
    """First and last line that go out; (0, -1) for a dropped candidate."""
    pool = answer.selection.pool
    state = answer.selection.state[row]
    if state == State.DROPPED:
        return 0, -1
    if state == State.SHORTENED:
        return int(pool.sig_start[row]), int(pool.sig_end[row])
    return int(pool.line_start[row]), int(pool.line_end[row])


def draw_head(answer: SearchAnswer, row: int) -> Line:
    """Draws what goes out of this text."""
    state = State(int(answer.selection.state[row]))
    first, last = out_lines(answer, row)
    words = {State.KEPT: "goes out whole", State.DROPPED: "nothing of it goes out"}.get(
        state, f"lines {first}-{last} go out"
    )
    return line(Span(f"{state.glyph} {words}", state.label))


class Preview(LineView, can_focus=True):
    """Shows one fragment."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._text: PreviewText | None = None
        self._answer: SearchAnswer | None = None
        self._row = 0

    def show(self, text: PreviewText | None, answer: SearchAnswer | None, row: int) -> None:
        """Paint a text; None while it is being read."""
        if text is not self._text:
            self.scroll_to(y=0, animate=False, immediate=True)
        self._text, self._answer, self._row = text, answer, row
        self.repaint()

    def line_count(self) -> int:
        if self._answer is None:
            return 0
        return 1 + (len(self._text.lines) if self._text else 1)

    def draw_line(self, index: int, cells: int) -> Line:  # noqa: ARG002 - lines are clipped where they are painted
        assert self._answer is not None
        if index == 0:
            return draw_head(self._answer, self._row)
        if self._text is None:
            return line(Span("reading …", "faint"))
        number = self._text.first + index - 1
        first, last = out_lines(self._answer, self._row)
        text = self._text.lines[index - 1]
        if not first <= number <= last:
            text = tuple(Span(span.text, "faint") for span in text)
        return (Span(f"{number:>{len(str(self._text.first + len(self._text.lines)))}} ", "faint"), *text)
