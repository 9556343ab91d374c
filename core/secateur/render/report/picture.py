"""The report as one picture (SVG) in the colours of the screen: figures, the budget bar, the best of the list.

The engine draws it itself, so it is the same on every machine and needs no screen. Nothing in it is loaded from
elsewhere, and its colours are written out: not every program that shows pictures knows variables of styles.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape

from secateur.ledger import State
from secateur.render.report import looks
from secateur.render.report.content import STATE_ORDER, DecisionReport, ReportItem
from secateur.terminal import cell_width, clip

WIDTH, MARGIN = 1200, 40
INSIDE = WIDTH - 2 * MARGIN
CELL = 8.43  # width of a character of the fixed font at 14 px
ROW = 25
MOST_GOING, MOST_DROPPED = 14, 5  # most items that are drawn: those in the output, and the next ones
MOST_CHANGED = 18  # most items that are drawn if they have no scores: those that lost most

_BAR_TOP, _BAR_HEIGHT, _LIST_TOP = 150, 54, 262
_SCORE = 130
_VARIABLE = re.compile(r"var\(--(?:state-|signal-)?([a-z]+)\)")
_MONO = "ui-monospace, 'SF Mono', 'Cascadia Code', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_RULES = """
text { font: 14px %(mono)s; fill: var(--foreground); white-space: pre; }
.faint { fill: var(--faint); } .bold { font-weight: 700; } .brand { fill: var(--primary); font-weight: 700; }
.question { font: 700 24px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; }
.label { font-size: 13px; fill: var(--background); } .ringed { fill: var(--foreground); stroke: var(--background);
stroke-width: 4px; paint-order: stroke; } .cut { stroke: var(--accent); stroke-dasharray: 3 4; }
.text-cut { fill: var(--accent); } .ground { fill: var(--background); } .rim { fill: none; stroke: var(--panel); }
.track { fill: var(--panel); } .segment { stroke: var(--background); }
rect.kept { fill: var(--state-kept); } rect.shortened { fill: url(#shortened); } rect.dropped { fill: none; }
rect.summarised { fill: url(#summarised); } rect.wrapper { fill: url(#wrapper); } rect.free { fill: var(--surface); }
.text-kept { fill: var(--state-kept); } .text-shortened { fill: var(--state-shortened); }
.text-summarised { fill: var(--state-summarised); } .text-dropped { fill: var(--state-dropped); }
"""


def svg_picture(report: DecisionReport) -> str:
    """Returns the whole picture; the same report gives the same bytes."""
    rows = list(_rows(report))
    height = _LIST_TOP + ROW * len(rows) + 24
    colours = looks.palette(looks.DARK).colours
    style = _VARIABLE.sub(lambda match: colours[match[1]], _RULES % {"mono": _MONO} + looks.pattern_styles())
    title = f"{report.kind}: {' '.join(report.question.split())}"
    description = f"{report.after:,} of {report.budget:,} tokens go out; {report.before:,} came in"
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<style>{style}</style>",
        looks.pattern_defs(),
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="10"/>',
        *_head(report),
        *_bar(report),
        *(f'<g transform="translate(0 {_LIST_TOP + ROW * index})">{row}</g>' for index, row in enumerate(rows)),
        "</svg>",
    )
    return "\n".join(drawn) + "\n"


def _text(x: float, y: float, text: str, look: str = "", end: bool = False) -> str:
    anchor = ' text-anchor="end"' if end else ""
    return f'<text class="{look}" x="{x:.1f}" y="{y}"{anchor}>{escape(text)}</text>'


def _head(report: DecisionReport) -> Iterator[str]:
    yield _text(MARGIN, 46, "secateur", "brand")
    yield _text(MARGIN + 10 * CELL, 46, clip("   ".join(filter(None, (report.kind, report.source))), 100), "faint")
    yield _text(MARGIN, 84, clip(" ".join(report.question.split()), 84), "question")
    figures = f"{report.after:,} of {report.budget:,} tokens"
    yield _text(MARGIN, 124, figures, "bold")
    rest = f"from {report.before:,}{report.saved_words}"
    at = MARGIN + (cell_width(figures) + 3) * CELL
    yield _text(at, 124, rest, "faint")
    at += (cell_width(rest) + 4) * CELL
    for state in STATE_ORDER:
        if report.counts[state].number:
            text = f"{state.glyph} {report.counts[state].number:,} {state.label}"
            yield _text(at, 124, text, f"text-{state.label}")
            at += (cell_width(text) + 3) * CELL


def _bar(report: DecisionReport) -> Iterator[str]:
    whole, left = max(report.budget, report.after, 1), float(MARGIN)
    for segment in looks.segments_of(report):
        wide = segment.tokens * INSIDE / whole
        yield (
            f'<rect class="segment {segment.look}" x="{left:.2f}" y="{_BAR_TOP}" width="{wide:.2f}"'
            f' height="{_BAR_HEIGHT}">'
            f"<title>{escape(segment.told)}</title></rect>"
        )
        name = looks.fit_name(
            segment.label or (looks.FREE if segment.look == looks.FREE else ""), int((wide - 12) / 7.9)
        )
        if name:
            plain = "label" if segment.look == State.KEPT.label else "label ringed"
            yield _text(left + 7, _BAR_TOP + _BAR_HEIGHT // 2 + 5, name, plain)
        left += wide
    yield f'<rect class="rim" x="{MARGIN}" y="{_BAR_TOP}" width="{INSIDE}" height="{_BAR_HEIGHT}"/>'


def _rows(report: DecisionReport) -> Iterator[str]:
    if report.scored:
        going = sorted(report.going_out, key=lambda item: item.number)
        dropped = [item for item in report.items if item.state is State.DROPPED]
        count = report.counts[State.DROPPED].number
        yield from _some(going, MOST_GOING, sum(one.number for one in report.counts.values()) - count, report)
        if count:
            text = f"cut at {report.budget:,}, {report.free:,} free"
            right = MARGIN + (cell_width(text) + 7) * CELL
            line = f"M{MARGIN} -5H{MARGIN + 4 * CELL:.1f}M{right:.1f} -5H{WIDTH - MARGIN}"
            yield f'<path class="cut" d="{line}"/>' + _text(MARGIN + 5.5 * CELL, 0, text, "text-cut")
            yield from _some(dropped, MOST_DROPPED, count, report)
        return
    changed = sorted(report.items, key=lambda item: (item.after - item.before, item.number))[:MOST_CHANGED]
    listed = sorted(changed, key=lambda item: item.number)
    yield from _some(listed, MOST_CHANGED, sum(sums.number for sums in report.counts.values()), report)


def _some(items: Sequence[ReportItem], most: int, of: int, report: DecisionReport) -> Iterator[str]:
    for item in items[:most]:
        yield _row(item, report)
    if more := of - min(most, len(items)):
        yield _text(MARGIN, 0, f"… and {more:,} more", "faint")


def _row(item: ReportItem, report: DecisionReport) -> str:
    left, right, rank, score = float(MARGIN), WIDTH - MARGIN - 18 * CELL, "", ""
    if report.scored:
        rank = _text(left + 3 * CELL, 0, f"{item.number:,}", "faint", end=True)
        left += 5 * CELL
        score = _text(right, 0, f"{item.score:.3f}", end=True)
        right -= 6.5 * CELL + _SCORE
        bar = looks.stacked_bar(item.terms, max(other.score for other in report.items), _SCORE)
        score += f'<g transform="translate({right:.1f} -10)">{bar}</g>'
        right -= 2 * CELL
    state = _text(left, 0, f"{item.state.glyph} {item.state.label}", f"text-{item.state.label}")
    left += 14 * CELL
    tokens = _text(WIDTH - MARGIN, 0, item.tokens, end=True)
    room = int((right - left) / CELL)
    name = clip(item.name, room)
    shown = _text(left, 0, name, "bold" if item.state is not State.DROPPED else "")
    if (rest := room - cell_width(name) - 2) >= 8:
        beside = "  ".join(filter(None, (item.place, item.beside)))
        shown += _text(left + (cell_width(name) + 2) * CELL, 0, clip(beside, rest), "faint")
    return rank + state + tokens + score + shown
