"""Draws what goes out against the budget: the curve with the present budget and its knee, then both in words and
figures, all of which are the engine's."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from secateur.render.proofs import curve_words
from secateur.terminal import clip_left, visible
from secateur.what_if.curve import Curve
from secateur.what_if.trials import Trials

from secateur_tui.state.proving import ProvenCurve
from secateur_tui.styled_text import Line, Span, clip_line, line, width, wrap_words

ROWS = 8
"""Lines of the curve."""

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille character, by row from the top and by column."""

_NAMED = 3
"""Items named on each side of a change; the rest is counted."""

_EMPTY = 0x2800
_FIGURES = 8
"""Width of a column of figures."""

_AXIS_CELLS = 8
"""The width of the figures beside the curve."""


def draw_curve(proven: ProvenCurve, cells: int) -> list[Line]:
    """Draws the page."""
    trials, curve = proven.trials, proven.curve
    height = "worth" if trials.scored else "items that are sent whole"
    lines = [line(Span(f"{height} against {trials.budget_label}", "faint"))]
    lines += _draw_plot(curve, trials.budget, cells, scored=trials.scored)
    lines += [(), *_draw_table(proven, cells), ()]
    lines += [part for sentence in curve_words(trials, curve) for part in wrap_words(sentence, cells)]
    lines += wrap_words(_place_knee(curve.knee, trials.budget), cells)
    for drop in curve.drops:
        lines.append(line(Span("▾ ", "warning"), f"{drop.budget:,}"))
        lines += _draw_items(trials, "loses", drop.loses, cells) + _draw_items(trials, "gains", drop.gains, cells)
    return [clip_line(drawn, cells) for drawn in lines]


def _place_knee(knee: int | None, present: int) -> str:
    """Says what the knee means for the present budget; "" where it is the knee, or there is none."""
    if knee is None or knee == present:
        return ""
    if present < knee:
        return f"{present:,} is below the knee: up to there a larger budget is well spent"
    return f"{present:,} is above the knee: a larger budget brings little"


def _draw_items(trials: Trials, verb: str, items: Sequence[int], cells: int) -> list[Line]:
    lines = []
    for index, item in enumerate(items[:_NAMED]):
        head = f"  {verb if index == 0 else '':<6}"
        lines.append(line(Span(head, "faint"), clip_left(visible(trials.ids[item]), max(1, cells - len(head)))))
    if len(items) > _NAMED:
        lines.append(line(Span(f"{'':8}and {len(items) - _NAMED:,} more", "faint")))
    return lines


def _draw_plot(curve: Curve, present: int, cells: int, *, scored: bool) -> list[Line]:
    """Draws the curve in dots, four to a line and two to a cell; the columns of the present budget and the knee
    marked."""
    heights = [point.worth if scored else float(point.whole) for point in curve.points]
    wide, top = max(4, cells - _AXIS_CELLS), max(heights, default=0.0)
    first, last = curve.points[0].budget, max(curve.points[-1].budget, curve.points[0].budget + 1)

    def column(budget: float, of: int) -> int:
        return min(of - 1, max(0, round((budget - first) / (last - first) * (of - 1))))

    grid = [[_EMPTY] * wide for _ in range(ROWS)]
    dots_wide, dots_high = 2 * wide, 4 * ROWS
    before = dots_high - 1
    for dot in range(dots_wide):
        budget = first + (last - first) * dot / (dots_wide - 1)
        reached = heights[max(0, bisect_right(curve.points, budget, key=attrgetter("budget")) - 1)]
        level = dots_high - 1 - (round(reached / top * (dots_high - 1)) if top > 0 else 0)
        for y in range(min(level, before), max(level, before) + 1) if dot else [level]:
            grid[y // 4][dot // 2] |= _DOTS[y % 4][dot % 2]
        before = level
    marks = {column(curve.knee, wide): ("┊", "accent")} if curve.knee is not None else {}
    marks[column(present, wide)] = ("│", "bold")
    height = f"{top:,.0f}" if top >= 10 or top == int(top) else f"{top:.2f}"
    lines = []
    for row, codes in enumerate(grid):
        label = height if row == 0 else "0" if row == ROWS - 1 else ""
        edge = f"{label:>{_AXIS_CELLS - 2}} ┤" if label else " " * (_AXIS_CELLS - 1) + "│"
        lines.append((Span(edge, "faint"), *_draw_row(codes, marks)))
    axis = ["─"] * wide
    for cell, (glyph, _) in marks.items():
        axis[cell] = "┴" if glyph == "│" else "┊"
    lines.append(line(Span(" " * (_AXIS_CELLS - 1) + "└" + "".join(axis), "faint")))
    drops = [" "] * wide
    for drop in curve.drops:
        drops[column(drop.budget, wide)] = "▾"
    if curve.drops:
        lines.append(line(Span(" " * _AXIS_CELLS + "".join(drops).rstrip(), "warning")))
    lines.append(_draw_labels(first, last, present, curve.knee, column, wide))
    return lines


def _draw_row(codes: Sequence[int], marks: Mapping[int, tuple[str, str]]) -> list[Span]:
    spans = []
    for cell, code in enumerate(codes):
        if code == _EMPTY and cell in marks:
            spans.append(Span(*marks[cell]))
        else:
            spans.append(Span(chr(code) if code != _EMPTY else " ", "kept"))
    return spans


def _draw_labels(
    first: int, last: int, present: int, knee: int | None, column: Callable[[float, int], int], wide: int
) -> Line:
    """Draws the figures below the axis: its ends, the present budget, the knee; those that would overlap are left
    out."""
    wanted = [(column(present, wide), f"{present:,} now")]
    wanted += [(column(knee, wide), f"{knee:,} knee")] if knee is not None and knee != present else []
    wanted += [(0, f"{first:,}"), (wide - 1, f"{last:,}")]
    row = [" "] * wide
    for cell, text in wanted:
        start = min(max(0, cell - len(text) // 2), wide - len(text))
        end = start + len(text)
        if start >= 0 and all(cell == " " for cell in row[max(0, start - 1) : end + 1]):
            row[start:end] = text
    return line(Span(" " * _AXIS_CELLS + "".join(row).rstrip(), "faint"))


def _draw_table(proven: ProvenCurve, cells: int) -> list[Line]:
    curve, present = proven.curve, proven.trials.budget
    figures = list(dict.fromkeys(name for point in curve.points for name in point.figures))
    titles = (proven.trials.budget_label, "tokens", "whole", "partly", *figures)
    lines = [line(Span("".join(f"{title:>{_FIGURES}}" for title in titles), "faint"))]
    step = max(1, -(-len(curve.points) // ROWS))
    for index, point in enumerate(curve.points):
        marked = {present: "now", curve.knee: "knee"}.get(point.budget, "")
        if index % step and not marked and index != len(curve.points) - 1:
            continue
        numbers = [point.budget, point.tokens, point.whole, point.partly]
        numbers += [point.figures.get(name, 0) for name in figures]
        drawn = line(
            Span("".join(f"{figure:>{_FIGURES},}" for figure in numbers), "bold" if marked == "now" else ""),
            Span(f"  {marked}" if marked else "", "accent"),
        )
        lines.append(drawn if width(drawn) <= cells else clip_line(drawn, cells))
    return lines
