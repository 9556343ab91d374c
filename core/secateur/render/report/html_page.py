"""The report as one HTML page without external files: it opens from disk, and is complete without its script.

The content security policy allows the page's own style and script, by their digests, and nothing else: no request, no
form, no style or script in outside text. Outside text is escaped too.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from secateur.ledger import State
from secateur.render.report.content import STATE_ORDER, DecisionReport, summary_sentence
from secateur.render.report.html_items import CallTrees, excerpt, item_list, tools
from secateur.render.report.looks import (
    DARK,
    DARK_CONTRAST,
    LIGHT,
    LIGHT_CONTRAST,
    Segment,
    file_beside,
    fit_name,
    palette_variables,
    pattern_defs,
    pattern_styles,
    segments_of,
)
from secateur.render.sentences import fewer_together
from secateur.terminal import visible

BAR_HEIGHT = 46
CHARACTERS = 1.42  # characters of a name per percent of the bar, on a wide screen
TITLE = 110  # most characters of the question in the title


def html_page(report: DecisionReport) -> str:
    """Returns the whole page; the same report gives the same bytes."""
    style, script = _style(), "\n" + file_beside("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none';"
        " form-action 'none'"
    )
    told = ((escape(notice.title), escape(visible(notice.message))) for notice in report.notices)
    notices = "".join(f"<li><b>! {name}</b> {message}</li>" for name, message in told)
    title = report.title(TITLE)
    head = (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta name="generator" content="secateur {escape(report.version)}">',
        f"<title>{escape(title)} – secateur</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f'<svg class="defs" aria-hidden="true">{pattern_defs()}</svg>',
        '<div class="sheet">',
        '<a class="skip" href="#items">to the list</a>',
    )
    parts = (
        *head,
        _top(report, title),
        "<main>",
        _figures(report),
        _bar(report),
        _facts(report),
        f'<ul class="notices" aria-label="warnings">{notices}</ul>' if notices else "",
        f"<h2>{escape(report.noun)}</h2>",
        tools(report),
        item_list(report),
        _unlisted(report),
        CallTrees(report).drawn(),
        _further(report),
        _leaving(report),
        "<h2>Get it again</h2>",
        f'<pre class="command mono">\n{escape(report.command)}</pre>',
        "</main>",
        f"<footer>Made by secateur {escape(report.version)}. Nothing on this page is loaded from elsewhere.</footer>",
        "</div>",
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    )
    return "\n".join(part for part in parts if part) + "\n"


def _style() -> str:
    looks = (
        f":root {{ {palette_variables(LIGHT)} }}",
        f"@media (prefers-contrast: more) {{ :root {{ {palette_variables(LIGHT_CONTRAST)} }} }}",
        f"@media (prefers-color-scheme: dark) {{ :root {{ {palette_variables(DARK)} }} }}",
        "@media (prefers-color-scheme: dark) and (prefers-contrast: more)"
        f" {{ :root {{ {palette_variables(DARK_CONTRAST)} }} }}",
        f"@media print {{ :root {{ {palette_variables(LIGHT_CONTRAST)} }} }}",
    )
    return "\n" + "\n".join((*looks, pattern_styles(), file_beside("page.css")))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _top(report: DecisionReport, title: str) -> str:
    source = f"<span>{escape(report.source)}</span>" if report.source else ""
    whole = ""
    if title != report.question:
        whole = (
            '<details class="question more"><summary>the whole question</summary>'
            f"<pre>\n{escape(report.question)}</pre></details>"
        )
    return (
        f'<header><div class="brand"><b>secateur</b><span>{escape(report.kind)}</span>{source}</div>'
        f"<h1>{escape(title) or 'A decision'}</h1>{whole}<p>{escape(summary_sentence(report))}</p></header>"
    )


def _figures(report: DecisionReport) -> str:
    over = report.after > report.budget
    cells = [
        _figure(f"{report.after:,}", f"tokens go out, of {report.budget:,}", "of over" if over else "of"),
        _figure(f"{report.before:,}", "tokens came in"),
    ]
    if report.saved:
        cells.append(_figure(report.saved, "less"))
    for state in STATE_ORDER:
        sums = report.counts[state]
        if sums.number or state is State.KEPT:
            cells.append(_figure(f"{sums.number:,}", f"{state.glyph} {state.label}"))
    return f'<div class="figures">{"".join(cells)}</div>'


def _figure(number: str, label: str, look: str = "") -> str:
    return f'<div class="figure {look}"><b>{escape(number)}</b><span>{escape(label)}</span></div>'


def _bar(report: DecisionReport) -> str:
    """Draws the budget. Readers who cannot see it find the same figures in the legend."""
    whole = max(report.budget, report.after, 1)
    drawn, left = [], 0.0
    for segment in segments_of(report):
        wide = segment.tokens * 100 / whole
        drawn.append(_segment(segment, left, wide))
        left += wide
    if report.after > report.budget:
        at = f"{report.budget * 100 / whole:.3f}%"
        limit = f'<line class="limit" x1="{at}" x2="{at}" y2="{BAR_HEIGHT}"/>'
        drawn.append(f"<g><title>budget: {report.budget:,}</title>{limit}</g>")
    picture = f'<svg aria-hidden="true">{"".join(drawn)}</svg>'
    going = [(state, report.counts[state]) for state in STATE_ORDER[:3] if report.counts[state].number]
    legend = [_legend(state.label, f"{state.glyph} {state.label}", sums.number, sums.after) for state, sums in going]
    if report.wrapper > 0:
        legend.append(_legend("wrapper", "around them", 0, report.wrapper))
    elif report.wrapper < 0:
        legend.append(f"<li>{escape(fewer_together(report.wrapper))}</li>")
    legend.append(_legend("free", "free", 0, report.free))
    return f'<div class="bar">{picture}</div><ul class="legend">{"".join(legend)}</ul>'


def _segment(segment: Segment, left: float, wide: float) -> str:
    rect = f'<rect class="segment {segment.look}" width="100%" height="{BAR_HEIGHT}"/>'
    name = fit_name(segment.label, int(wide * CHARACTERS) - 1)
    label = f'<text class="label" x="7" y="28">{escape(name)}</text>' if name else ""
    inside = f"<title>{escape(segment.told)}</title>{rect}{label}"
    drawn = f'<svg x="{left:.3f}%" width="{wide:.3f}%" height="{BAR_HEIGHT}">{inside}</svg>'
    return f'<a href="#i{segment.item}" tabindex="-1">{drawn}</a>' if segment.item else drawn


def _legend(look: str, label: str, number: int, tokens: int) -> str:
    swatch = (
        '<svg width="15" height="15" viewBox="0 0 15 15" aria-hidden="true">'
        f'<rect class="{look}" width="15" height="15"/></svg>'
    )
    many = f"{number:,} · " if number else ""
    return f'<li>{swatch}{escape(label)} <span class="faint">{many}{tokens:,} tokens</span></li>'


def _facts(report: DecisionReport) -> str:
    knobs = " · ".join(f"{label} {value}" for label, value in report.knobs)
    pairs = [*report.figures, *([("settings", knobs)] if knobs else [])]
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in pairs)
    return f'<dl class="facts">{rows}</dl>'


def _unlisted(report: DecisionReport) -> str:
    parts = [
        f"{sums.number:,} {state.label} ({sums.before:,} tokens came in, {sums.after:,} go out)"
        for state, sums in report.unlisted.items()
        if sums.number
    ]
    lines = [f"Not listed here: {'; '.join(parts)}."] if parts else []
    if report.without_text:
        lines.append(f"The text of {report.without_text:,} of those listed is left out, to keep this page small.")
    return "".join(f'<p class="faint">{escape(line)}</p>' for line in lines)


def _further(report: DecisionReport) -> str:
    parts = "".join(
        f'<details class="more"><summary>{escape(title)}</summary><pre class="mono">\n{escape(text)}</pre></details>'
        for title, text in report.further
    )
    return f"<h2>Further</h2>{parts}" if parts else ""


def _leaving(report: DecisionReport) -> str:
    if report.leaving is None:
        return "<h2>What a model reads</h2><p>Nothing goes out.</p>"
    return (
        '<h2>What a model reads</h2><details class="more"><summary>the text that goes out,'
        f" {report.after:,} tokens</summary>{excerpt(report.leaving)}</details>"
    )
