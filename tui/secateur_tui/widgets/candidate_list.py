"""The candidates by rank. Painted row by row, so a re-ranking costs the same for a hundred and for a hundred
thousand."""

from __future__ import annotations

from dataclasses import dataclass

from secateur.model import State
from secateur.terminal import clip_left, visible

from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.state.search_comparison import ABSENT, SearchComparison
from secateur_tui.state.signals import SIGNALS
from secateur_tui.styled_text import Line, Span, bar, fit

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


def draw_candidate(
    answer: SearchAnswer, comparison: SearchComparison | None, row: int, columns: Columns, top: float
) -> Line:
    """One candidate: rank, places moved, decision (`!` when it flipped), tokens, priority, its terms as a bar, where it
    is.

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
    """The bar is as long as the priority; a boost below 1 takes from the other terms what it takes from the
    priority."""
    positive = sum(max(0.0, amount) for amount, _, _ in terms)
    share = min(1.0, priority / positive) if positive > 0 else 0.0
    return bar([(amount * share, texture, role) for amount, texture, role in terms], top, cells)


def _delta(comparison: SearchComparison | None, row: int, cells: int) -> Span:
    if comparison is None:
        return Span(" " * cells)
    if comparison.row_then[row] == ABSENT:
        return Span(f"{'new':>{cells}}", "up")
    moved = int(comparison.moved[row])
    if moved == 0:
        return Span(" " * cells)
    return Span(f"{'▲' if moved > 0 else '▼'}{abs(moved):,}".rjust(cells), "up" if moved > 0 else "down")
