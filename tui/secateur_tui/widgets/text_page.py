"""The text of an item of any kind, ready to be shown, and the page that shows it: wrapped, panned and searched. A
fragment of code has the numbers of its lines, and what is not sent of it is faint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from secateur.index.facts.lexical import find_terms
from secateur.model import State
from secateur.terminal import visible

from secateur_tui.highlight import highlight
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.styled_text import ELLIPSIS, Line, Span, line, mark_places, plain
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


_LONGEST_LINE = 2_000
"""Characters of a line that are drawn; no terminal is wider."""


@dataclass(frozen=True, eq=False, slots=True)
class PreviewText(ItemText):
    """A fragment: the number of its first line, the first and last that are sent, and the terms whose words are
    marked."""

    first: int = 1
    sent: tuple[int, int] | None = None  # None: nothing is
    terms: Collection[str] = ()

    @classmethod
    def of(cls, content: str, language: str, first: int) -> PreviewText:
        """Prepare text from outside: tabs expanded, the common indent taken away, control characters visible,
        colours."""
        raw = content.replace("\r\n", "\n").removesuffix("\n").split("\n")
        cut = [text[:_LONGEST_LINE] + ELLIPSIS if len(text) > _LONGEST_LINE else text for text in raw]
        expanded = [text.expandtabs(_TAB) for text in cut]
        indent = min((len(text) - len(text.lstrip(" ")) for text in expanded if text.strip()), default=0)
        return cls((), highlight([visible(text[indent:]) for text in expanded], language), first)

    def draw(self, index: int) -> Line:
        text = self.lines[index]
        if self.sent is None or not self.sent[0] <= self.first + index <= self.sent[1]:
            text = tuple(Span(span.text, "faint") for span in text)
        return mark_places(text, self._places(index))

    def gutter(self, index: int, *, first: bool) -> Line:
        digits = len(str(self.first + len(self.lines)))
        shown = f"{self.first + index:>{digits}}" if first else " " * digits
        return line(Span(shown, "faint"), Span("▎" if self._places(index) else " ", "accent"))

    def _places(self, index: int) -> Sequence[tuple[int, int]]:
        words = find_terms(plain(self.lines[index]), self.terms) if self.terms else ()
        return [(start, end) for start, end, _ in words]

    def lines_with(self, terms: Collection[str]) -> Mapping[str, Sequence[int]]:
        """Returns per term the numbers of the lines that hold it; terms in the order given."""
        numbers: dict[str, list[int]] = {term: [] for term in terms}
        for index, drawn in enumerate(self.lines):
            for term in dict.fromkeys(term for _, _, term in find_terms(plain(drawn), terms)):
                numbers[term].append(self.first + index)
        return numbers


_READING: Sequence[Line] = (line(Span("reading …", "faint")),)


def draw_preview(text: PreviewText | None, answer: SearchAnswer, row: int, terms: Collection[str]) -> ItemText:
    """Returns the text of a candidate as an answer sends it; None while it is being read."""
    state = State(int(answer.selection.state[row]))
    out = answer.selection.lines_out(row)
    words = f"lines {out[0]}-{out[1]} are sent" if out is not None else "nothing of it is sent"
    words = "is sent whole" if state is State.KEPT else words
    head = line(Span(f"{state.glyph} {words}", state.label))
    return replace(text, head=head, sent=out, terms=terms) if text is not None else ItemText(head, _READING)
