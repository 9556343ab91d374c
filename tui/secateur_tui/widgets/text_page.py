"""The text of an item of any kind, ready to be shown, and the page that shows it: wrapped, panned and searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from secateur.terminal import visible

from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.text_view import TextView

LONGEST_SHOWN = 600_000
"""Characters of a text that a page shows: some 150,000 tokens, more than most models take; what is behind them is
counted."""

_STRETCH = 4_000
"""Characters of a drawn line; longer lines are split, because drawing a part of a line costs as much as the whole."""

_TAB = 4


@dataclass(frozen=True, eq=False, slots=True)
class ItemText:
    """Safe lines with roles, of any width, and the line above them."""

    head: Line
    lines: Sequence[Line]

    def draw(self, index: int) -> Line:
        """Draws a line."""
        return self.lines[index]

    def gutter(self, index: int, *, first: bool) -> Line:  # noqa: ARG002 - most texts have none
        """Draws what stands left of a line; `first`: of its first row."""
        return ()


def text_lines(text: str, role: str = "") -> Iterator[Line]:
    """Yields the lines of a text from outside; what is left out at the end is counted."""
    shown = text[:LONGEST_SHOWN].replace("\r\n", "\n").removesuffix("\n")
    for raw in shown.split("\n"):
        drawn = visible(raw.expandtabs(_TAB))
        for start in range(0, len(drawn) or 1, _STRETCH):
            yield line(Span(drawn[start : start + _STRETCH], role))
    if (more := len(text) - LONGEST_SHOWN) > 0:
        yield line(Span(f"… {more:,} more characters", "faint"))


class TextPage(TextView):
    """Shows the text of one item. `wraps`: lines are wrapped at first, as for prose."""

    def __init__(self, *, wraps: bool, **options: Any) -> None:
        super().__init__(**options)
        self.wraps = wraps
        self._text: ItemText | None = None

    def show(self, text: ItemText | None) -> None:
        """Paints a text; None: there is none."""
        before, self._text = self._text, text
        if (before and before.lines) is not (text and text.lines):
            self.reset_text()
        self.repaint()

    def text_lines(self) -> int:
        return len(self._text.lines) if self._text is not None else 0

    def draw_text(self, index: int) -> Line:
        return self._text.draw(index) if self._text is not None else ()

    def draw_gutter(self, index: int, *, first: bool) -> Line:
        return self._text.gutter(index, first=first) if self._text is not None else ()

    def draw_head(self, cells: int) -> Line:  # noqa: ARG002 - clipped where it is painted
        return (*self._text.head, Span(f"  {self.key_hints}", "faint")) if self._text is not None else ()
