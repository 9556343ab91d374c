"""A text in a pane: its lines are drawn when they come into sight, wrapped at blanks or panned, and searched. A
fragment of code has the numbers of its lines, and what is not sent of it is faint."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from secateur.index.facts.lexical import find_terms
from secateur.languages import traits_of
from secateur.languages.traits import LanguageTraits
from secateur.model import State
from secateur.terminal import cell_width, visible
from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.state.answer import SearchAnswer
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

# Keywords of languages whose traits name none.
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "abstract and as async await break case catch class const continue def default defer delete do elif else enum"
        " except export extends final finally fn for foreach from func function go goto if impl implements import in"
        " interface is lambda let match mod module mut namespace new not or package pass private protected pub public"
        " raise readonly require return select static struct super switch throw throws trait try type typedef union"
        " unless unsafe use using var virtual void when where while with yield None True False null nil true false self"
        " this ",
    )
)

LONGEST_TEXT = 200_000  # characters above which a text is shown without colours


def highlight(lines: Sequence[str], language: str) -> list[Line]:
    """Returns lines, which are safe to print, as spans with roles."""
    traits = traits_of(language)
    if not language or not traits.is_code or sum(map(len, lines)) > LONGEST_TEXT:
        return [(Span(text),) for text in lines]
    scanner = _Scanner(traits)
    return [scanner.colour_line(text) for text in lines]


class _Scanner:
    """Colours one line after another, and remembers which string or comment is open."""

    def __init__(self, traits: LanguageTraits) -> None:
        self._tokens = _compile_tokens(traits.line_comment, traits.block_comments)
        self._keywords = _KEYWORDS if traits.keywords is None else traits.keywords
        self._triples = traits.triple_quotes
        self._closing = ""  # the token that closes the open string or comment; "" if none is open
        self._role = ""  # of the open string or comment

    def colour_line(self, text: str) -> Line:
        """Returns the line as spans with roles."""
        spans: list[Span] = []
        start = 0
        while start < len(text):
            if self._closing:
                end = text.find(self._closing, start) + len(self._closing)
                if end < len(self._closing):
                    end = len(text)
                else:
                    self._closing = ""
                spans.append(Span(text[start:end], self._role))
                start = end
                continue
            if (token := self._tokens.search(text, start)) is None:
                spans.append(Span(text[start:]))
                break
            if token.start() > start:
                spans.append(Span(text[start : token.start()]))
            spans.append(self._colour_token(token, text))
            start = token.start() + len(spans[-1].text)
        return tuple(spans)

    def _colour_token(self, token: re.Match[str], text: str) -> Span:
        kind, word = token.lastgroup, token.group()
        if kind == "word":
            return Span(word, "keyword" if word in self._keywords else "")
        if kind == "number":
            return Span(word, "number")
        if kind == "comment":
            return Span(text[token.start() :], "comment")
        if kind == "block" or (kind == "triple" and self._triples):
            self._closing, self._role = ("*/", "comment") if kind == "block" else (word, "string")
            return Span(word, self._role)
        literal = text[token.start() : _find_string_end(text, token.start())]
        return Span(literal, "string" if len(literal) > 1 else "")


@cache
def _compile_tokens(line_comment: str, block_comments: bool) -> re.Pattern[str]:
    """Compiles a pattern of the tokens of a line: words, numbers, quotes, and the beginnings of comments."""
    tokens = [r"(?P<word>[^\W\d]\w*)", r"(?P<number>\d[\w.]*)", r"(?P<triple>\"\"\"|''')", r"(?P<quote>[\"'`])"]
    tokens += [r"(?P<block>/\*)"] if block_comments else []
    tokens += [f"(?P<comment>{re.escape(line_comment)})"] if line_comment else []
    return re.compile("|".join(tokens))


def _find_string_end(text: str, start: int) -> int:
    end = start + 1
    while end < len(text):
        if text[end] == text[start]:
            return end + 1
        end += 2 if text[end] == "\\" else 1
    return start + 1


PAN = 8  # cells that one key pans


@dataclass(frozen=True, eq=False, slots=True)
class ItemText:
    """Safe lines with roles, of any width, and the line above them."""

    head: Line
    lines: Sequence[Line]

    def draw(self, index: int) -> Line:
        """Draws a line."""
        return self.lines[index]

    def gutter(self, index: int, *, first: bool) -> Line:  # noqa: ARG002 - most texts have none
        """Draws what stands left of a line; `first`: of its first row. It has the same width everywhere."""
        return ()


class TextView(LineView, can_focus=True):
    """Shows the text of one item below its head, which stays in sight. `wraps`: lines are wrapped at first, as for
    prose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "pan(-1)", show=False),
        Binding("right", "pan(1)", show=False),
        Binding("L", "wrap", show=False),
        Binding("slash", "find", show=False),
        Binding("n", "next(1)", show=False),
        Binding("N", "next(-1)", show=False),
    ]

    def __init__(self, *, wraps: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.wraps = wraps
        self._text: Any = None
        self._panned = 0
        self._rows: Sequence[int] = ()  # where lines wrap: rows before each line, and behind the last
        self._starts: Mapping[int, Sequence[int]] = {}  # per line of several rows the cell at which each begins
        self._wrapped_for: int | None = None  # cells that both were measured for
        self._typed: str | None = None  # what is looked for, while it is typed
        self._words = ""  # what is looked for
        self._hits: Sequence[int] = ()

    def show(self, text: Any) -> None:
        """Paints a text, such as an `ItemText`; None: there is none."""
        before, self._text = self._text, text
        if (before and before.lines) is not (text and text.lines):  # another text is shown from its beginning
            self._panned, self._typed, self._words, self._hits, self._wrapped_for = 0, None, "", (), None
            self.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.repaint()

    # --- what a text is ---

    def text_lines(self) -> int:
        """Returns the number of lines."""
        return len(self._text.lines) if self._text is not None else 0

    def draw_text(self, index: int) -> Line:
        """Draws a line of the text, of any width."""
        drawn: Line = self._text.draw(index) if self._text is not None else ()
        return drawn

    def draw_gutter(self, index: int, *, first: bool) -> Line:
        """Draws what stands left of a line, and of its further rows if it is wrapped."""
        drawn: Line = self._text.gutter(index, first=first) if self._text is not None else ()
        return drawn

    def draw_head(self) -> Line:
        """Draws the line above the text."""
        return (*self._text.head, Span(f"  {self.key_hints}", "faint")) if self._text is not None else ()

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
        return super().draw_in_sight(y, cells) if y else clip_line(self._head(), cells)

    def _head(self) -> Line:
        if self._typed is not None:
            return line(Span("/", "accent"), f"{self._typed}▏", Span("  Enter finds, Esc leaves it", "faint"))
        if not self._words:
            return self.draw_head()
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
            whole = width(drawn) <= self._panned + room  # else an ellipsis ends it, where it goes on
            rest = () if whole else (Span(ELLIPSIS, "faint"),)
            return (*gutter, *cut_cells(drawn, self._panned, room if whole else room - 1), *rest)
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
    edges, at = [0], 0
    while at + (room := count_fitting(text[at : at + cells + 1], cells)) < len(text):
        blank = text.rfind(" ", at + 1, at + room + 1)
        behind = blank + 1 if blank - at > room // 2 else at + room
        edges.append(edges[-1] + cell_width(text[at:behind]))
        at = behind
    return edges


def _find_places(text: str, words: str) -> list[tuple[int, int]]:
    low, wanted, places, at = text.casefold(), visible(words).casefold(), [], 0
    if len(low) != len(text) or not wanted:  # some letters fold into two: nothing is marked then
        return []
    while (at := low.find(wanted, at)) >= 0:
        places.append((at, at + len(wanted)))
        at += len(wanted)
    return places


# Characters of a text that a page shows: some 150,000 tokens, more than most models take; what is behind them is
# counted.
LONGEST_SHOWN = 600_000

# Characters of a drawn line; longer lines are split, because drawing a part of a line costs as much as the whole.
_STRETCH = 4_000

_TAB = 4


def text_lines(text: str, role: str = "") -> Iterator[Line]:
    """Yields the lines of a text from outside; what is left out at the end is counted."""
    shown = text[:LONGEST_SHOWN].replace("\r\n", "\n").removesuffix("\n")
    for raw in shown.split("\n"):
        drawn = visible(raw.expandtabs(_TAB))
        for start in range(0, len(drawn) or 1, _STRETCH):
            yield line(Span(drawn[start : start + _STRETCH], role))
    if (more := len(text) - LONGEST_SHOWN) > 0:
        yield line(Span(f"… {more:,} more characters", "faint"))


_LONGEST_LINE = 2_000  # characters of a line that are drawn; no terminal is wider


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


def draw_preview(text: PreviewText | None, answer: SearchAnswer, row: int, terms: Collection[str]) -> ItemText:
    """Returns the text of a candidate as an answer sends it; None while it is being read."""
    state = answer.state_of(row)
    out = answer.selection.lines_out(row)
    words = f"lines {out[0]}-{out[1]} are sent" if out is not None else "nothing of it is sent"
    words = "is sent whole" if state is State.KEPT else words
    head = line(Span(f"{state.glyph} {words}", state.label))
    if text is None:
        return ItemText(head, [line(Span("reading …", "faint"))])
    return replace(text, head=head, sent=out, terms=terms)
