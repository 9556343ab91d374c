"""Draws what changed since the baseline: what went in, what went out, what was cut differently, and what it cost."""

from __future__ import annotations

import numpy as np
from secateur.model import Pool, State
from secateur.terminal import cell_width, visible

from secateur_tui.short_names import short_path
from secateur_tui.state.search_comparison import ABSENT, SearchComparison
from secateur_tui.styled_text import Line, Span, clipped, line, signed
from secateur_tui.widgets.candidate_list import label_of
from secateur_tui.widgets.listing import draw_label
from secateur_tui.widgets.texts import NOTHING_CHANGED, draw_rest

_LONGEST_LIST = 200
"""Candidates listed under one heading; the rest is counted."""

_MOVES = 8
"""Largest moves in rank that are listed."""


def draw_trim_diff(comparison: SearchComparison | None, tokens: tuple[int, int], cells: int) -> list[Line]:
    """The page. `tokens`: of the two packs, then and now."""
    if comparison is None:
        return [*NOTHING_CHANGED]
    then, now = comparison.then, comparison.now
    out_then, out_now = int((then.state != State.DROPPED).sum()), int((now.state != State.DROPPED).sum())
    lines = [
        line(
            Span("tokens ", "faint"),
            f"{tokens[0]:,} → {tokens[1]:,} ({signed(tokens[1] - tokens[0])})",
            Span("  of ", "faint"),
            _arrow(then.budget, now.budget),
        ),
        line(
            Span("out    ", "faint"),
            f"{out_then:,} → {out_now:,} ({signed(out_now - out_then)})",
            Span("  in order by ", "faint"),
            now.strategy,
        ),
    ]
    lines += _group("entered", "up", now.pool, comparison.flips(State.DROPPED, None), comparison, cells)
    lines += _group("left", "down", now.pool, comparison.flips(None, State.DROPPED), comparison, cells)
    lines += _group("cut differently", "accent", now.pool, comparison.flips(None, None), comparison, cells)
    if comparison.vanished:
        lines += [(), line(Span(f"no longer candidates ({len(comparison.vanished):,})", "down"))]
        lines += [_entry("  ", then.pool, row, cells) for row in comparison.vanished[:_LONGEST_LIST]]
        lines += draw_rest(len(comparison.vanished), _LONGEST_LIST)
    lines += _moves(comparison, cells)
    if len(lines) == 2:
        lines += [(), line(Span("the same candidates go out, in the same order", "faint"))]
    return [clipped(drawn, cells) for drawn in lines]


def _arrow(before: int, after: int) -> str:
    return f"{after:,}" if before == after else f"{before:,} → {after:,}"


def _group(title: str, role: str, pool: Pool, rows: list[int], comparison: SearchComparison, cells: int) -> list[Line]:
    if not rows:
        return []
    lines = [(), line(Span(f"{title} ({len(rows):,})", role))]
    for row in rows[:_LONGEST_LIST]:
        before = " " if comparison.row_then[row] == ABSENT else State(int(comparison.state_then[row])).glyph
        lines.append(_entry(f"{before}→{State(int(comparison.now.state[row])).glyph}", pool, row, cells))
    return [*lines, *draw_rest(len(rows), _LONGEST_LIST)]


def _entry(mark: str, pool: Pool, row: int, cells: int) -> Line:
    head = f"{mark} {int(pool.tokens[row]):>6,} "
    return (Span(head), *_named(pool, row, cells - len(head)))


def _named(pool: Pool, row: int, cells: int) -> Line:
    """A candidate by its name, and behind it its place; of a scenario's recorded decision there is the name alone."""
    if not int(pool.line_start[row]):
        return line(Span(short_path(visible(pool.symbol_id[row]), max(1, cells))))
    label = label_of(pool, row)
    name = min(cell_width(label.name), max(1, cells))
    return draw_label(label, name, max(0, cells - name - 1))


def _moves(comparison: SearchComparison, cells: int) -> list[Line]:
    """The largest moves in rank among what stayed as it was."""
    size = np.where(comparison.flipped, 0, np.abs(comparison.moved))
    count = int((size > 0).sum())
    if not count:
        return []
    lines = [(), line(Span(f"moved ({count:,})", "faint"))]
    for row in np.lexsort((comparison.now.rank, -size))[: min(count, _MOVES)].tolist():
        moved = int(comparison.moved[row])
        mark = f"{'▲' if moved > 0 else '▼'}{abs(moved):,}".rjust(6)
        lines.append(
            (Span(mark, "up" if moved > 0 else "down"), Span("  "), *_named(comparison.now.pool, row, cells - 8))
        )
    return [*lines, *draw_rest(count, _MOVES)]
