"""The text of a candidate with its line numbers; what does not go out is faint."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from secateur.index.facts.lexical import find_terms
from secateur.model import State
from secateur.terminal import visible

from secateur_tui.highlight import highlight
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.styled_text import ELLIPSIS, Line, Span, line, mark_places, plain
from secateur_tui.widgets.text_page import ItemText

_TAB = 4
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
