"""The text that leaves, with the item of every line, and the page that shows it, line by line, with the state of each
line's item on its left."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from secateur.index.facts.lexical import find_terms
from secateur.model import IntArray, State
from secateur.render.page import count_noun
from secateur.terminal import visible
from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.jobs import SegmentChosen
from secateur_tui.styled_text import Line, Span, line, mark_places
from secateur_tui.widgets.text_view import TextView

# Characters of a pack that are shown: a million tokens, more than most models take. The rest is counted.
LONGEST = 4_000_000

# Parts that may be missing from the text, such as reformatted JSON, before the search for further parts ends.
_MOST_MISSED = 50

NONE = -1  # the item of a line that belongs to no item


@dataclass(frozen=True, eq=False)
class PackText:
    """`PackText.of(text, parts)`; the lines are as they leave, not made visible."""

    lines: Sequence[str]
    items: IntArray  # per line its item, or NONE
    further: int = 0  # characters that are not shown

    @classmethod
    def of(cls, text: str, parts: Iterable[tuple[int, str]], around: int = NONE) -> PackText:
        """Returns a text in which the texts of items stand in this order; `around` is the item of what stands around
        them."""
        shown = text[:LONGEST]
        lines = shown.split("\n")
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        items = np.full(len(lines), around, dtype=np.int64)
        at, missed = 0, 0
        for item, part in parts:
            part = part.strip("\n")
            start = shown.find(part, at) if part.strip() else -1
            if start >= 0:
                at = start + len(part)
                items[bisect_right(starts, start) - 1 : bisect_right(starts, at - 1)] = item
            elif part.strip():
                missed += 1
            if at >= len(shown) or missed > _MOST_MISSED:
                break
        return cls(lines, items, len(text) - len(shown))

    @classmethod
    def join(cls, parts: Sequence[PackText]) -> PackText:
        """Texts one behind the other."""
        if not parts:
            return cls((), np.zeros(0, dtype=np.int64))
        lines = [line for part in parts for line in part.lines]
        return cls(lines, np.concatenate([part.items for part in parts]), sum(part.further for part in parts))

    def line_of(self, item: int) -> int | None:
        """Returns the first line of an item; None where it has none."""
        lines = np.flatnonzero(self.items == item)
        return int(lines[0]) if len(lines) else None

    def find_lines(self, words: str) -> list[int]:
        """Returns the lines that hold these words, upper and lower case alike."""
        wanted = words.casefold()
        return [index for index, line in enumerate(self.lines) if wanted in line.casefold()] if wanted else []


_TAB = 4
_LONGEST_LINE = 20_000  # characters of a line that are drawn; a line of JSON may hold all there is


class PackView(TextView):
    """`describe(item)` names an item, `state(item)` is its state. `@` or a click on a line goes to the line's item."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("at", "follow", show=False)]

    def __init__(self, describe: Callable[[int], str], state: Callable[[int], State], **options: Any) -> None:
        super().__init__(**options)
        self._describe, self._state = describe, state
        self._text: PackText | None = None
        self._terms: Collection[str] = ()
        self._waits = ""
        self._item = NONE

    def show_pack(self, pack: PackText | None, item: int, terms: Collection[str] = (), waits: str = "") -> None:
        """Paints a pack with the part of an item marked and in sight; None: `waits` says why there is none."""
        followed = item != self._item or pack is not self._text
        self._terms, self._waits, self._item = terms, waits, item
        self.show(pack)
        start = pack.line_of(item) if pack is not None else None
        if followed and start is not None and not self.has_focus:
            self.show_line(start)

    def text_lines(self) -> int:
        return len(self._text.lines) + (1 if self._text.further else 0) if self._text is not None else 0

    def draw_text(self, index: int) -> Line:
        if self._text is None:
            return ()
        if index >= len(self._text.lines):
            return line(Span(f"… {self._text.further:,} more characters", "faint"))
        text = visible(self._text.lines[index][:_LONGEST_LINE].expandtabs(_TAB))
        item = int(self._text.items[index])
        return mark_places(
            line(Span(text, "faint" if item == NONE else "")),
            [(start, end) for start, end, _ in find_terms(text, self._terms)] if self._terms else (),
        )

    def draw_gutter(self, index: int, *, first: bool) -> Line:
        item = int(self._text.items[index]) if self._text is not None and index < len(self._text.items) else NONE
        if self._text is None or item == NONE:
            return line("  ")
        state = self._state(item)
        begins = first and (index == 0 or int(self._text.items[index - 1]) != item)
        glyph = state.glyph if begins else "┃" if item == self._item else "│"
        return line(Span(f"{glyph} ", "accent bold" if item == self._item else state.label))

    def draw_head(self) -> Line:
        if self._text is None:
            return line(Span(self._waits, "faint"))
        item = self._top_item
        lines = count_noun(len(self._text.lines), "line")
        named = self._describe(item) if item is not None else "around the items"
        keys = f"@ goes to it, {self.key_hints}" if item is not None and self.has_focus else self.key_hints
        return line(Span(f"{lines} sent · ", "faint"), named, Span(f" · {keys}", "faint"))

    @property
    def _top_item(self) -> int | None:
        if self._text is None:
            return None
        ahead = self._text.items[self.top_line :]
        return next(iter(ahead[ahead != NONE].tolist()), None)

    def find_lines(self, words: str) -> Sequence[int]:
        return self._text.find_lines(words) if self._text is not None else ()

    def action_follow(self) -> None:
        if (item := self._top_item) is not None:
            self.post_message(SegmentChosen(item))

    def on_click(self, event: events.Click) -> None:
        if self._text is None or not event.y:
            return
        index, _ = self._place(event.y - 1 + int(self.scroll_offset.y))
        if 0 <= index < len(self._text.items) and (item := int(self._text.items[index])) != NONE:
            self.post_message(SegmentChosen(item))
