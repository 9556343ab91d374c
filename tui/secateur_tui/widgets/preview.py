"""The text of a candidate with its line numbers; what does not go out is faint."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from secateur.index.facts.lexical import find_terms
from secateur.model import State
from secateur.terminal import visible

from secateur_tui.highlight import highlight
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.styled_text import ELLIPSIS, Line, Span, line, mark_places, plain
from secateur_tui.widgets.text_view import TextView

_TAB = 4
_LONGEST_LINE = 2_000
"""Characters of a line that are drawn; no terminal is wider."""


@dataclass(frozen=True, eq=False, slots=True)
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

    def places(self, index: int, terms: Collection[str]) -> Sequence[tuple[int, int]]:
        """(start, end) of the words in a line that count as one of these terms of a search."""
        return [(start, end) for start, end, _ in find_terms(plain(self.lines[index]), terms)] if terms else []

    def lines_with(self, terms: Collection[str]) -> Mapping[str, Sequence[int]]:
        """Returns per term the numbers of the lines that hold it; terms in the order given."""
        numbers: dict[str, list[int]] = {term: [] for term in terms}
        for index, drawn in enumerate(self.lines):
            for term in dict.fromkeys(term for _, _, term in find_terms(plain(drawn), terms)):
                numbers[term].append(self.first + index)
        return numbers


def draw_head(answer: SearchAnswer, row: int) -> Line:
    """Draws what goes out of this text."""
    state = State(int(answer.selection.state[row]))
    out = answer.selection.lines_out(row)
    words = f"lines {out[0]}-{out[1]} are sent" if out is not None else "nothing of it is sent"
    words = "is sent whole" if state is State.KEPT else words
    return line(Span(f"{state.glyph} {words}", state.label))


class Preview(TextView):
    """Shows one fragment; lines that hold words of the query are marked, and the words in them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._text: PreviewText | None = None
        self._answer: SearchAnswer | None = None
        self._row = 0
        self._terms: Collection[str] = ()

    def show(
        self, text: PreviewText | None, answer: SearchAnswer | None, row: int, terms: Collection[str] = ()
    ) -> None:
        """Paint a text; None while it is being read."""
        other = text is not self._text
        self._text, self._answer, self._row, self._terms = text, answer, row, terms
        if other:
            self.reset_text()
        self.repaint()

    def text_lines(self) -> int:
        if self._answer is None:
            return 0
        return len(self._text.lines) if self._text is not None else 1

    def draw_text(self, index: int) -> Line:
        if self._text is None or self._answer is None:
            return line(Span("reading …", "faint"))
        text, here = self._text.lines[index], self._text.first + index
        out = self._answer.selection.lines_out(self._row)
        if out is None or not out[0] <= here <= out[1]:
            text = tuple(Span(span.text, "faint") for span in text)
        return mark_places(text, self._text.places(index, self._terms))

    def draw_gutter(self, index: int, *, first: bool) -> Line:
        if self._text is None:
            return ()
        digits = len(str(self._text.first + len(self._text.lines)))
        holds_words = bool(self._text.places(index, self._terms))
        shown = f"{self._text.first + index:>{digits}}" if first else " " * digits
        return line(Span(shown, "faint"), Span("▎" if holds_words else " ", "accent"))

    def draw_head(self, cells: int) -> Line:  # noqa: ARG002 - clipped where it is painted
        if self._answer is None:
            return ()
        return (*draw_head(self._answer, self._row), Span(f"  {self.key_hints}", "faint"))
