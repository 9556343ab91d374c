"""The budget as a picture: a segment for each item that leaves, in the order it leaves, then what stands around them,
then what is free.

Every figure is the ledger's: the segments and the wrapper sum to what leaves, with what is free to the budget. A list
of chunks has a frame for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any

import numpy as np
from secateur.ledger import Sums
from secateur.model import IntArray, State
from secateur.render.page import fewer_together
from textual import events
from textual.content import Content

from secateur_tui.jobs import SegmentChosen
from secateur_tui.state.answer import ShownAnswer
from secateur_tui.styled_text import Line, Span, choose_fitting, clip_line, format_signed, line, plain, width
from secateur_tui.widgets.line_view import Fixed

# The character that the segment of an item in a state is drawn with.
TEXTURES: Mapping[State, str] = {State.KEPT: "█", State.SHORTENED: "▓", State.SUMMARISED: "▒"}

# Owners of cells that belong to no item. `_OUTSIDE` is beyond the budget, where another bar is longer.
_WRAPPER, _FREE, _OVER, _OUTSIDE = -1, -2, -3, -4

_DRAWN = {_WRAPPER: ("░", "faint"), _FREE: ("·", "faint"), _OVER: ("▚", "error"), _OUTSIDE: (" ", "")}
_EDGE, _THIN, _MARK = "▌", "▁", "▼"
_LEAST_FRAME = 3  # the least cells of a frame; with less room all frames are drawn as one
_TITLE = "Budget ─ "


@dataclass(frozen=True, eq=False)
class BudgetFrame:
    """One budget and what fills it. `items`, `tokens` and `states` are columns over its segments."""

    budget: int
    items: IntArray
    tokens: IntArray
    states: IntArray
    around: int  # tokens that belong to no item; negative where an estimate of the whole is below its parts

    @classmethod
    def of(cls, budget: int, segments: Sequence[tuple[int, int, State]], around: int) -> BudgetFrame:
        """Returns a frame of (item, tokens, state) in the order they leave."""
        columns = np.array([(item, tokens, int(state)) for item, tokens, state in segments], dtype=np.int64)
        columns = columns.reshape(-1, 3)
        return cls(budget, columns[:, 0], columns[:, 1], columns[:, 2], around)

    @cached_property
    def ends(self) -> IntArray:
        """Tokens up to the end of each segment."""
        return np.cumsum(self.tokens)

    @property
    def after(self) -> int:
        """Tokens that leave."""
        return (int(self.ends[-1]) if len(self.items) else 0) + self.around

    @property
    def reach(self) -> int:
        """The tokens that the whole frame stands for: its budget, or more if that is exceeded."""
        return max(self.budget, self.after, 1)


@dataclass(frozen=True, eq=False)
class BudgetPicture:
    """Everything that is drawn of a budget."""

    frames: tuple[BudgetFrame, ...]
    sums: Mapping[State, Sums]  # of the items, without the wrapper
    counted: bool = True  # whether the tokens are counted; else at most these leave
    further: tuple[str, ...] = ()  # figures of a kind

    @property
    def budget(self) -> int:
        return sum(frame.budget for frame in self.frames)

    @property
    def after(self) -> int:
        """Tokens that leave."""
        return sum(frame.after for frame in self.frames)

    @cached_property
    def joined(self) -> BudgetFrame:
        """All frames joined to one."""
        if len(self.frames) == 1:
            return self.frames[0]
        nothing = BudgetFrame.of(0, (), 0)
        columns = zip(*((frame.items, frame.tokens, frame.states) for frame in (nothing, *self.frames)), strict=True)
        items, tokens, states = (np.concatenate(column) for column in columns)
        return BudgetFrame(self.budget, items, tokens, states, sum(frame.around for frame in self.frames))

    def slots(self, cells: int) -> list[tuple[BudgetFrame, int]]:
        """Returns the frames side by side, a gap between them, each with its cells; one frame where there is no
        room."""
        count = len(self.frames)
        slot = (cells - count + 1) // count if count else 0
        return (
            [(frame, slot) for frame in self.frames] if count > 1 and slot >= _LEAST_FRAME else [(self.joined, cells)]
        )


def picture_of(answer: ShownAnswer[Any], further: tuple[str, ...] = ()) -> BudgetPicture:
    """Returns the picture of an answer. `further`: figures of its kind."""
    return _make_picture(answer, answer.counted, further)


@lru_cache(maxsize=4)
def _make_picture(answer: ShownAnswer[Any], counted: bool, further: tuple[str, ...]) -> BudgetPicture:
    items, ledger = answer.leaving, answer.ledger
    tokens = answer.after[items]
    around = answer.tokens - int(tokens.sum())
    frame = BudgetFrame(ledger.budget, items, tokens, answer.state[items].astype(np.int64), around)
    return BudgetPicture((frame,), ledger.sums, counted, further)


def find_owners(frame: BudgetFrame, cells: int, reach: int = 0) -> IntArray:
    """Returns per cell the number of the segment in whose middle it lies, or one of the negative owners.

    Args:
        reach: tokens that all cells stand for, no less than leave; 0: those of the frame.
    """
    reach = reach or frame.reach
    middle = (np.arange(cells) + 0.5) * (reach / max(1, cells))
    owner_of = np.searchsorted(frame.ends, middle, side="right").astype(np.int64)
    rest = owner_of == len(frame.items)
    owner_of[rest] = np.where(middle[rest] < frame.after, _WRAPPER, _FREE)
    owner_of[middle >= frame.after] = _FREE
    owner_of[middle >= frame.budget] = np.where(middle[middle >= frame.budget] < frame.after, _OVER, _OUTSIDE)
    return owner_of


def item_at(picture: BudgetPicture, cell: int, cells: int, reach: int = 0) -> int | None:
    """Returns the item whose segment is drawn in a cell; None where none is."""
    start = 0
    for frame, slot in picture.slots(cells):
        if start <= cell < start + slot:
            owner = int(find_owners(frame, slot, reach if len(picture.frames) == 1 else 0)[cell - start])
            return int(frame.items[owner]) if owner >= 0 else None
        start += slot + 1
    return None


def draw_bar(
    picture: BudgetPicture, then: BudgetPicture | None, item: int | None, caption: str, cells: int
) -> tuple[Line, Line]:
    """Draws two lines: the thin bar of the baseline, in it or in its place a mark above the item at the cursor and what
    is said of it (`caption`), and the bar."""
    mark = -1
    bars: list[Span] = []
    reach = reach_of(picture, then)
    for index, (frame, slot) in enumerate(picture.slots(cells)):
        if index:
            bars.append(Span(" "))
        start = width(bars)
        for owner, run in _group_cells(find_owners(frame, slot, reach)):
            is_lit = owner >= 0 and item is not None and int(frame.items[owner]) == item
            if is_lit:
                mark = start + run // 2
            bars += _draw_segment(frame, owner, run, is_lit)
            start += run
        segments = np.flatnonzero((frame.items == (-1 if item is None else item)) & (frame.tokens > 0))
        if mark < 0 and len(segments):  # it is too small to own a cell
            mark = start - slot + min(slot - 1, int(frame.ends[segments[0]] - 1) * slot // (reach or frame.reach))
    return _draw_above(then, reach, mark, caption, cells), tuple(bars)


def reach_of(picture: BudgetPicture, then: BudgetPicture | None) -> int:
    """Returns tokens that a bar stands for when it is drawn on the scale of another; 0: those of its own. What was free
    in the other takes no cells: else a budget cut to a tenth would be drawn in a tenth of the bar."""
    return 0 if len(picture.frames) != 1 or then is None else max(picture.joined.reach, then.joined.after)


def _group_cells(cells: IntArray) -> Iterator[tuple[int, int]]:
    return ((owner, len(list(run))) for owner, run in groupby(cells.tolist()))


def _draw_segment(frame: BudgetFrame, owner: int, run: int, lit: bool) -> Line:
    if owner < 0:
        texture, role = _DRAWN[owner]
        return line(Span(texture * run, role))
    state = State(int(frame.states[owner]))
    role = "bold accent" if lit else state.label
    texture = TEXTURES.get(state, "█")
    edge = _EDGE if run > 1 or state is State.KEPT else texture
    return line(Span(texture * (run - 1) + edge, role))


def _draw_above(then: BudgetPicture | None, reach: int, mark: int, caption: str, cells: int) -> Line:
    if then is None:
        words = line(Span(caption, "faint"))
        if mark < 0:
            return clip_line(words, cells)
        if mark + 2 + width(words) <= cells:
            return (Span(" " * mark), Span(f"{_MARK} ", "bold accent"), *words)
        before = Span(" " * max(0, mark - 1 - width(words)))
        return (before, *clip_line(words, max(0, mark - 1)), Span(f" {_MARK}", "bold accent"))
    thin = " ".join([_draw_thin(frame, slot, reach) for frame, slot in then.slots(cells)]).ljust(cells)
    if mark < 0:
        return line(Span(thin, "faint"))
    return line(Span(thin[:mark], "faint"), Span(_MARK, "bold accent"), Span(thin[mark + 1 :], "faint"))


def _draw_thin(frame: BudgetFrame, cells: int, reach: int) -> str:
    text = ""
    for owner, run in _group_cells(find_owners(frame, cells, reach)):
        drawn = owner >= 0 or owner in (_WRAPPER, _OVER)
        text += _THIN * (run - 1) + (" " if owner >= 0 and run > 1 else _THIN) if drawn else " " * run
    return text


def draw_budget(
    picture: BudgetPicture, then: BudgetPicture | None, item: int | None, caption: str, cells: int
) -> list[Line]:
    """Draws the headline, and the two lines of `draw_bar`."""
    return [draw_headline(picture, then, cells - 2 - len(_TITLE)), *draw_bar(picture, then, item, caption, cells)]


def draw_headline(picture: BudgetPicture, then: BudgetPicture | None, cells: int) -> Line:
    """Draws the figures in a line: items first, in brackets the tokens that leave of them, with those that came where
    these are more; fewer words where there is less room."""
    free = picture.budget - picture.after
    several = len(picture.frames) > 1
    frames = f"{len(picture.frames)} × {picture.frames[0].budget:,}" if several else f"{picture.budget:,}"
    head = f"{'' if picture.counted else '≤ '}{picture.after:,} of {frames}"
    left = f"free {'' if picture.counted else '≥ '}{free:,}" if free >= 0 else f"{-free:,} over"
    was = [f"was {then.after:,} ({format_signed(picture.after - then.after)})"] if then is not None else []
    around = picture.after - sum(total.after for total in picture.sums.values())
    wrapper = [f"wrapper {around:,}" if around > 0 else fewer_together(around)] if around else []
    sums = [(state, picture.sums.get(state, Sums())) for state in (*TEXTURES, State.DROPPED)]
    shown = [(state, total) for state, total in sums if total.number or state is State.KEPT]
    came = (f" of {total.before:,}" if total.before > total.after else "" for _, total in shown)
    whole = [
        f"{state.glyph} {state.label} {total.number:,} ({total.after:,}{more})"
        for (state, total), more in zip(shown, came, strict=True)
    ]
    named = [f"{state.glyph} {state.label} {total.number:,}" for state, total in shown]
    brief = [f"{state.glyph} {total.number:,}" for state, total in shown]
    variants = (
        [head, *whole, *wrapper, left, *picture.further, *was],
        [head, *whole, *wrapper, left, *was],
        [head, *named, *wrapper, left, *was],
        [head, *named, left, *was],
        [head, *brief, left, *was],
        [head, *brief, *was],
        [head, *was],
        [head],
    )
    return choose_fitting([line(" · ".join(variant)) for variant in variants], cells)


class BudgetBar(Fixed):
    """The picture under a headline in its border; a click on a segment posts `SegmentChosen`."""

    def __init__(
        self, draw: Callable[[int], Sequence[Line]], hit: Callable[[int, int], int | None], **options: Any
    ) -> None:
        """`draw(cells)` returns the headline and the lines below it, `hit(cell, cells)` the item of a cell."""
        super().__init__(draw, **options)
        self._hit = hit
        self._headline = ""

    def take_lines(self) -> None:
        super().take_lines()
        if self._lines:
            first, *self._lines = self._lines
            if self._headline != (headline := plain(first)):
                self._headline = headline
                self.border_title = Content(_TITLE + headline)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        item = self._hit(at.x, self.content_cells) if at is not None else None
        if item is not None:
            self.post_message(SegmentChosen(item))
