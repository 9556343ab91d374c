"""Draws what is proven: the hints of the item at the cursor, which are values that turn its decision, and the curve of
what goes out at each budget with the present one and its knee. All figures are the engine's."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter

from secateur.kinds.knobs import Knob, decimal
from secateur.ledger import State
from secateur.render.page import count_noun
from secateur.render.proofs import curve_rows, curve_words, token_words
from secateur.terminal import cell_width, clip_left, visible
from secateur.what_if.explanation import Curve
from secateur.what_if.levers import Lever
from secateur.what_if.trials import BUDGET, HOLD, Trials

from secateur_tui.state.proving import ProvenCurve, ProvenHint
from secateur_tui.styled_text import Line, Span, clip_line, line, wrap_words

ROWS = 8  # lines of the curve

# Bits of a braille character, by row from the top and by column.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))

_NAMED = 3  # items named on each side of a change; the rest is counted

_EMPTY = 0x2800
_FIGURES = 8  # width of a column of figures
_AXIS_CELLS = 8  # the width of the figures beside the curve


def draw_curve(proven: ProvenCurve, cells: int) -> list[Line]:
    """Draws the page."""
    trials, curve = proven.trials, proven.curve
    height, present, knee = "worth" if trials.scored else "items that are sent whole", trials.budget, curve.knee
    lines = [line(Span(f"{height} against {trials.budget_label}", "faint"))]
    lines += [*_draw_plot(curve, present, cells, scored=trials.scored), (), *_draw_table(proven), ()]
    lines += [part for sentence in curve_words(trials, curve) for part in wrap_words(sentence, cells)]
    if knee is not None and present < knee:
        lines += wrap_words(f"{present:,} is below the knee: up to there a larger budget is well spent", cells)
    elif knee is not None and present > knee:
        lines += wrap_words(f"{present:,} is above the knee: a larger budget brings little", cells)
    return [clip_line(drawn, cells) for drawn in lines]


def _draw_plot(curve: Curve, present: int, cells: int, *, scored: bool) -> list[Line]:
    """Draws the curve in dots, four to a line and two to a cell; the columns of the present budget and the knee
    marked."""
    heights = [point.worth if scored else float(point.whole) for point in curve.points]
    wide, top = max(4, cells - _AXIS_CELLS), max(heights, default=0.0)
    first, last = curve.points[0].budget, max(curve.points[-1].budget, curve.points[0].budget + 1)

    def column(budget: float) -> int:
        return min(wide - 1, max(0, round((budget - first) / (last - first) * (wide - 1))))

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
    marks = {column(curve.knee): ("┊", "accent")} if curve.knee is not None else {}
    marks[column(present)] = ("│", "bold")
    height = f"{top:,.0f}" if top >= 10 or top == int(top) else f"{top:.2f}"
    lines = []
    for row, codes in enumerate(grid):
        label = height if row == 0 else "0" if row == ROWS - 1 else ""
        edge = f"{label:>{_AXIS_CELLS - 2}} ┤" if label else " " * (_AXIS_CELLS - 1) + "│"
        dots = (Span(chr(code) if code != _EMPTY else " ", "kept") for code in codes)
        drawn = (
            Span(*marks[cell]) if codes[cell] == _EMPTY and cell in marks else dot for cell, dot in enumerate(dots)
        )
        lines.append((Span(edge, "faint"), *drawn))
    axis = ["─"] * wide
    for cell, (glyph, _) in marks.items():
        axis[cell] = "┴" if glyph == "│" else "┊"
    lines.append(line(Span(" " * (_AXIS_CELLS - 1) + "└" + "".join(axis), "faint")))
    drops = [" "] * wide
    for drop in curve.drops:
        drops[column(drop.budget)] = "▾"
    if curve.drops:
        lines.append(line(Span(" " * _AXIS_CELLS + "".join(drops).rstrip(), "warning")))
    wanted = [(column(present), f"{present:,} now")]  # figures that would overlap are left out
    wanted += [(column(curve.knee), f"{curve.knee:,} knee")] if curve.knee is not None and curve.knee != present else []
    labels = [" "] * wide
    for cell, text in (*wanted, (0, f"{first:,}"), (wide - 1, f"{last:,}")):
        start = min(max(0, cell - len(text) // 2), wide - len(text))
        end = start + len(text)
        if start >= 0 and all(cell == " " for cell in labels[max(0, start - 1) : end + 1]):
            labels[start:end] = text
    return [*lines, line(Span(" " * _AXIS_CELLS + "".join(labels).rstrip(), "faint"))]


def _draw_table(proven: ProvenCurve) -> list[Line]:
    titles, *rows = curve_rows(proven.curve, proven.trials, ROWS)
    lines = [line(Span("".join(f"{title:>{_FIGURES}}" for title in titles), "faint"))]
    for row in rows:
        figures, mark = row[: len(titles)], "".join(row[len(titles) :])
        drawn = Span("".join(f"{figure:>{_FIGURES}}" for figure in figures), "bold" if "now" in mark else "")
        lines.append(line(drawn, Span(f"  {mark}" if mark else "", "accent")))
    return lines


def draw_hints(
    hints: Sequence[ProvenHint],
    trials: Trials | None,
    chosen: int,
    nothing: str,
    keys: tuple[str, str],
    knobs: Sequence[Knob],
    *,
    proving: bool,
    cells: int,
) -> list[Line]:
    """Draws the hints that are proven so far.

    Args:
        chosen: the hint that is marked; -1 for none.
        nothing: why there is none.
        keys: that apply it and that mark the next, as printed; "" for none.
        proving: whether further ones may come.
    """
    if not hints or trials is None:
        return wrap_words(nothing or ("re-running for what would change this …" if proving else ""), cells, "faint")
    lines: list[Line] = []
    for index, hint in enumerate(hints):
        lines += _draw_hint(hint, trials, knobs, "› " if index == chosen else "  ", cells)
        if index == chosen:
            lines += _draw_changes(hint, trials, cells)
    if keys[0]:
        more = f", {keys[1]} marks the next" if keys[1] and len(hints) > 1 else ""
        words = f"{keys[0]} applies ›{more}" if chosen >= 0 else f"{keys[1]} marks one that {keys[0]} then applies"
        lines.append(line(Span(f"  {words}", "faint")))
    return lines


def _draw_hint(hint: ProvenHint, trials: Trials, knobs: Sequence[Knob], mark: str, cells: int) -> list[Line]:
    """Draws a hint: "at budget 4,110: kept whole", "with strategy extract: in part (40 of 190 tokens)". Words that are
    too long are wrapped, so that no number is cut."""
    lever, (out, of) = hint.lever, hint.lever.portion
    turns = {State.KEPT: "kept whole", State.DROPPED: "dropped", State.SUMMARISED: "in a summary"}
    turn = "more of it, not all" if lever.grows else turns.get(lever.state, "in part")
    words = f"{_describe_lever(lever, trials, knobs)}: {turn}"
    words += f" ({out:,} of {count_noun(of, 'token')})" if 0 < out < of else ""
    sides = ("loses", lever.others.loses), ("shortens", lever.others.shortens)
    if not mark.strip():  # below a marked hint its changes are listed
        words += "".join(f", {verb} {len(items):,}" for verb, items in sides if items)
    proven = f"{words} (re-run ✓)"
    fitting = proven if cell_width(mark + proven) <= cells else f"{words} ✓"
    first, *others = wrap_words(fitting, cells, "success", indent=" " * len(mark))
    return [(Span(mark, "accent"), first[0]._replace(text=first[0].text[len(mark) :])), *others]


def _describe_lever(lever: Lever, trials: Trials, knobs: Sequence[Knob]) -> str:
    hold, _, choice = lever.name.partition(" ")
    if hold == HOLD:
        changed = trials.changes(lever.name, lever.value)
        if trials.now.whole[int(lever.value)]:
            held = "no longer pinned" if "pins" in changed else "excluded"
        else:
            held = "pinned" if "pins" in changed else "taken in"
        if choice.isdecimal():
            return f"{held}, at {trials.budget_label} {int(choice):,}"
        return f"{held}, with strategy {choice}" if choice else held
    label = trials.budget_label if lever.name == BUDGET else lever.name.rpartition(".")[2].replace("_", " ")
    shown = next((knob.label for knob in knobs if knob.key == lever.name), label)
    label = label if shown in label else shown
    if isinstance(lever.value, str):
        return f"with {label} {lever.value}"
    return f"at {label} {lever.value:,}" if isinstance(lever.value, int) else f"at {label} {decimal(lever.value)}"


def _draw_changes(hint: ProvenHint, trials: Trials, cells: int) -> list[Line]:
    lines, others = list[Line](), hint.lever.others
    for verb, role, items in (
        ("loses", "warning", others.loses),
        ("shortens", "warning", others.shortens),
        ("gains", "faint", others.gains),
        ("restores", "faint", others.restores),
    ):
        if not items:
            continue
        lines.append(line(Span(f"    {verb} {len(items):,}", role)))
        for item in items[:_NAMED]:
            state = State(int(hint.decided.state[item]))
            name = clip_left(visible(trials.ids[item]), max(1, cells - 6))
            lines.append(line(Span(f"    {state.glyph} ", state.label), Span(name)))
        if len(items) > _NAMED:
            lines.append(line(Span(f"      and {len(items) - _NAMED:,} more", "faint")))
    role = "warning" if hint.lever.over else "faint"
    return lines + wrap_words(token_words(trials, hint.lever), cells, role, indent="    ")


def insert_hints(lines: Sequence[Line], hints: Sequence[Line]) -> list[Line]:
    """Puts hints below the reason: above the first empty line of a page, else at its end."""
    index = next((index for index, hinted in enumerate(lines) if not hinted), len(lines))
    return [*lines[:index], *hints, *lines[index:]]
