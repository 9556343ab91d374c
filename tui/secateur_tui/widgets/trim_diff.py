"""Draws what changed since the baseline: what went in, what went out, what was cut differently, and what it cost."""

from __future__ import annotations

import numpy as np
from secateur.model import Pool, State
from secateur.terminal import cell_width, visible

from secateur_tui.short_names import shorten_path
from secateur_tui.state.search_comparison import ABSENT, SearchComparison
from secateur_tui.styled_text import Line, Span, clip_line, format_change, line
from secateur_tui.widgets.candidate_list import label_of
from secateur_tui.widgets.listing import draw_label
from secateur_tui.widgets.texts import NOTHING_CHANGED, draw_group

_LONGEST_LIST = 200
"""Candidates listed under one heading; the rest is counted."""

_MOVES = 8
"""Largest moves in rank that are listed."""


def draw_trim_diff(comparison: SearchComparison | None, tokens: tuple[int, int], cells: int) -> list[Line]:
    """Draws the page. `tokens`: of the two packs, then and now."""
    if comparison is None:
        return [*NOTHING_CHANGED]
    then, now = comparison.then, comparison.now
    budgets = f"{now.budget:,}" if then.budget == now.budget else f"{then.budget:,} → {now.budget:,}"
    out_then, out_now = int((then.state != State.DROPPED).sum()), int((now.state != State.DROPPED).sum())
    lines = [
        line(Span("tokens ", "faint"), format_change(*tokens), Span("  of ", "faint"), budgets),
        line(Span("out    ", "faint"), format_change(out_then, out_now), Span("  in order by ", "faint"), now.strategy),
    ]

    def draw_flip(row: int) -> Line:
        before = " " if comparison.row_then[row] == ABSENT else State(int(comparison.state_then[row])).glyph
        return _draw_entry(f"{before}→{State(int(now.state[row])).glyph}", now.pool, row, cells)

    def draw_vanished(row: int) -> Line:
        return _draw_entry("  ", then.pool, row, cells)

    for title, role, states in (
        ("entered", "up", (State.DROPPED, None)),
        ("left", "down", (None, State.DROPPED)),
        ("cut differently", "accent", (None, None)),
    ):
        lines += draw_group(title, role, comparison.flips(*states), draw_flip, _LONGEST_LIST)
    lines += draw_group("no longer candidates", "down", comparison.vanished, draw_vanished, _LONGEST_LIST)
    lines += _draw_moves(comparison, cells)
    if len(lines) == 2:
        lines += [(), line(Span("the same candidates are sent, in the same order", "faint"))]
    return [clip_line(drawn, cells) for drawn in lines]


def _draw_entry(mark: str, pool: Pool, row: int, cells: int) -> Line:
    head = f"{mark} {int(pool.tokens[row]):>6,} "
    return (Span(head), *_draw_candidate(pool, row, cells - len(head)))


def _draw_candidate(pool: Pool, row: int, cells: int) -> Line:
    """Draws a candidate by its name, and behind it its place; of a scenario's recorded decision there is the name
    alone."""
    if not int(pool.line_start[row]):
        return line(Span(shorten_path(visible(pool.symbol_id[row]), max(1, cells))))
    label = label_of(pool, row)
    name = min(cell_width(label.name), max(1, cells))
    return draw_label(label, name, max(0, cells - name - 1))


def _draw_moves(comparison: SearchComparison, cells: int) -> list[Line]:
    size = np.where(comparison.flipped, 0, np.abs(comparison.moved))
    rows = np.lexsort((comparison.now.rank, -size))[: int((size > 0).sum())].tolist()

    def draw_move(row: int) -> Line:
        moved = int(comparison.moved[row])
        mark = f"{'▲' if moved > 0 else '▼'}{abs(moved):,}".rjust(6)
        name = _draw_candidate(comparison.now.pool, row, cells - 8)
        return (Span(mark, "up" if moved > 0 else "down"), Span("  "), *name)

    return draw_group("moved", "faint", rows, draw_move, _MOVES)
