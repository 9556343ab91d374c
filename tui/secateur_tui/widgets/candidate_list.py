"""The candidates by rank. Painted row by row, so a re-ranking costs the same for a hundred and for a hundred thousand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from secateur.model import State
from secateur.terminal import clip_left, visible
from textual import events
from textual.binding import Binding, BindingType

from secateur_tui.benches.state import Answer
from secateur_tui.compare import ABSENT, Comparison
from secateur_tui.ink import Line, Span, bar, fit, line
from secateur_tui.messages import CursorMoved
from secateur_tui.signals import SIGNALS
from secateur_tui.widgets.painted import Painted

_WIDE = 64
"""From this many cells on, the breakdown bar has its full width."""

_NAMES = 100
"""From this many cells on, there is room for the qualified name too."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells. `candidate` takes what is left; `name` is 0 where there is no room for it."""

    rank: int
    delta: int
    bar: int
    candidate: int
    name: int

    @classmethod
    def of(cls, count: int, cells: int) -> Columns:
        digits = max(4, len(f"{count:,}"))
        delta = max(5, len(f"{count:,}") + 1)
        breakdown = 14 if cells >= _WIDE else 8
        rest = max(1, cells - (1 + digits + 1 + delta + 1 + 2 + 1 + 6 + 1 + 6 + 1 + breakdown + 1))
        name = rest * 2 // 5 if cells >= _NAMES else 0
        return cls(digits, delta, breakdown, rest - name - (1 if name else 0), name)


def draw_header(columns: Columns) -> Line:
    """Column titles."""
    parts = [
        f"{'#':>{columns.rank + 1}} {'Δ':>{columns.delta}}    {'tok':>6} {'prio':>6} ",
        fit("why it ranks" if columns.bar > 8 else "why", columns.bar),
        " ",
        fit("candidate", columns.candidate),
        " " + fit("name", columns.name) if columns.name else "",
    ]
    return tuple(Span(part, "faint") for part in parts)


def draw_candidate(answer: Answer, comparison: Comparison | None, row: int, columns: Columns, top: float) -> Line:
    """One candidate: rank, places moved, decision (`!` when it flipped), tokens, priority, its terms as a bar, where it is.

    `top` is the priority of a full bar.
    """
    selection, pool = answer.selection, answer.selection.pool
    state = State(int(selection.state[row]))
    flipped = comparison is not None and bool(comparison.flipped[row])
    tone = "faint" if state is State.DROPPED else ""
    terms = [(float(column[row]), SIGNALS[name].texture, name) for name, column in selection.terms.items()]
    location = f"{visible(pool.path[row])}:{int(pool.line_start[row])}-{int(pool.line_end[row])}"
    spans = [
        Span(f" {int(selection.rank[row]):>{columns.rank},} "),
        _delta(comparison, row, columns.delta),
        Span(" "),
        Span("!" if flipped else " ", "warning"),
        Span(state.glyph, state.label),
        Span(f" {int(pool.tokens[row]):>6,} ", tone),
        Span(f"{float(selection.priority[row]):>6.3f} ", tone),
        *_breakdown(terms, float(selection.priority[row]), top, columns.bar),
        Span(" "),
        Span(fit(clip_left(location, columns.candidate), columns.candidate), tone),
    ]
    if columns.name:
        spans += [Span(" "), Span(fit(visible(pool.qualname[row] or pool.kind[row]), columns.name), "faint")]
    return tuple(spans)


def _breakdown(terms: list[tuple[float, str, str]], priority: float, top: float, cells: int) -> Line:
    """The bar is as long as the priority; a boost below 1 takes from the other terms what it takes from the priority."""
    positive = sum(max(0.0, amount) for amount, _, _ in terms)
    share = min(1.0, priority / positive) if positive > 0 else 0.0
    return bar([(amount * share, texture, role) for amount, texture, role in terms], top, cells)


def _delta(comparison: Comparison | None, row: int, cells: int) -> Span:
    if comparison is None:
        return Span(" " * cells)
    if comparison.row_then[row] == ABSENT:
        return Span(f"{'new':>{cells}}", "up")
    moved = int(comparison.moved[row])
    if moved == 0:
        return Span(" " * cells)
    return Span(f"{'▲' if moved > 0 else '▼'}{abs(moved):,}".rjust(cells), "up" if moved > 0 else "down")


class CandidateList(Painted, can_focus=True):
    """Shows an answer; the cursor is a candidate, not a line. Posts `CursorMoved`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "edge(0)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._answer: Answer | None = None
        self._comparison: Comparison | None = None
        self._row = 0
        self._index = 0  # line of the cursor as last painted
        self._columns = Columns.of(0, _WIDE)
        self._top = 0.0  # highest priority: the length of a full bar

    def show(self, answer: Answer | None, comparison: Comparison | None, row: int) -> None:
        """Paint an answer with the cursor on `row`, which stays where it is on the screen while lines move around it."""
        offset = self._index - self.scroll_offset.y
        self._answer, self._comparison, self._row = answer, comparison, row
        known = answer is not None and len(answer.selection) > 0
        self._index = int(answer.selection.rank[row]) - 1 if answer and known else 0
        self._top = float(answer.selection.priority.max()) if answer and known else 0.0
        self.repaint()
        self._scroll(self._index - offset)

    def line_count(self) -> int:
        return len(self._answer.selection) if self._answer else 0

    def repaint(self) -> None:
        self._columns = Columns.of(self.line_count(), self.content_cells)
        super().repaint()

    def draw_line(self, index: int, cells: int) -> Line:  # noqa: ARG002 - the columns know the width
        assert self._answer is not None
        drawn = draw_candidate(self._answer, self._comparison, int(self._answer.selection.order[index]), self._columns, self._top)
        if index != self._index:
            return drawn
        cursor = "cursor" if self.has_focus else "cursor-blurred"
        mark = line(Span("▸" if self.has_focus else "›", f"accent {cursor}"), Span(drawn[0].text[1:], cursor))
        return mark + tuple(Span(span.text, f"{span.role} {cursor}") for span in drawn[1:])

    def action_move(self, by: int) -> None:
        self._go(self._index + by)

    def action_page(self, by: int) -> None:
        self._go(self._index + by * max(1, self.size.height - 1))

    def action_edge(self, last: int) -> None:
        self._go(self.line_count() - 1 if last else 0)

    def on_click(self, event: events.Click) -> None:
        self._go(event.y + self.scroll_offset.y)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _go(self, index: int) -> None:
        if self._answer is None or not self.line_count():
            return
        index = max(0, min(self.line_count() - 1, index))
        if index == self._index:
            return
        self._index = index
        self._row = int(self._answer.selection.order[index])
        top = self.scroll_offset.y
        height = max(1, self.scrollable_content_region.height)
        self._scroll(index if index < top else index - height + 1 if index >= top + height else top)
        self.refresh()
        self.post_message(CursorMoved(self._row))

    def _scroll(self, top: int) -> None:
        """Scroll so that `top` is the first line, as far as the list reaches and the cursor stays in sight."""
        height = max(1, self.scrollable_content_region.height)
        top = max(self._index - height + 1, min(self._index, top))
        self.scroll_to(y=max(0, min(top, self.line_count() - height)), animate=False, immediate=True, force=True)
