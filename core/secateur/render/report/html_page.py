"""The report as one HTML page without external files: it opens from disk, and is complete without its script.

The content security policy allows the page's own style and script, by their digests, and nothing else: no request, no
form, no style or script in outside text. Outside text is escaped too.
"""

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from pathlib import Path

from secateur.ledger import State
from secateur.render.report.content import STATE_ORDER, DecisionReport, summary_sentence
from secateur.render.report.html_items import CallTrees, excerpt, fact_list, item_list, tools
from secateur.render.report.looks import fit_name, page_styles, pattern_defs, segments_of
from secateur.render.sentences import fewer_together
from secateur.terminal import visible

BAR_HEIGHT = 46
CHARACTERS = 1.42  # characters of a name per percent of the bar, on a wide screen
TITLE = 110  # most characters of the question in the title


def html_page(report: DecisionReport) -> str:
    """Returns the whole page; the same report gives the same bytes."""
    css, js = ((Path(__file__).parent / name).read_text("utf-8") for name in ("page.css", "page.js"))
    style, script = f"\n{page_styles()}\n{css}", f"\n{js}"
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none';"
        " form-action 'none'"
    )
    told = ((escape(notice.title), escape(visible(notice.message))) for notice in report.notices)
    notices = "".join(f"<li><b>! {name}</b> {message}</li>" for name, message in told)
    title, knobs = report.title(TITLE), " · ".join(f"{label} {value}" for label, value in report.knobs)
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
        fact_list([*report.figures, *([("settings", knobs)] if knobs else [])]),
        f'<ul class="notices" aria-label="warnings">{notices}</ul>' if notices else "",
        f"<h2>{escape(report.noun)}</h2>",
        tools(report),
        item_list(report),
        *_below_list(report),
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
    over = "of over" if report.after > report.budget else "of"
    cells = [
        (f"{report.after:,}", f"tokens go out, of {report.budget:,}", over),
        (f"{report.before:,}", "tokens came in", ""),
        *([(report.saved, "less", "")] if report.saved else []),
    ]
    for state in STATE_ORDER:
        if (number := report.counts[state].number) or state is State.KEPT:
            cells.append((f"{number:,}", f"{state.glyph} {state.label}", ""))
    figures = (f'<div class="figure {look}"><b>{figure}</b><span>{label}</span></div>' for figure, label, look in cells)
    return f'<div class="figures">{"".join(figures)}</div>'


def _bar(report: DecisionReport) -> str:
    """Draws the budget. Readers who cannot see it find the same figures in the legend."""
    whole = max(report.budget, report.after, 1)
    drawn, left = [], 0.0
    for segment in segments_of(report):
        wide = segment.tokens * 100 / whole
        name = fit_name(segment.label, int(wide * CHARACTERS) - 1)
        label = f'<text class="label" x="7" y="28">{escape(name)}</text>' if name else ""
        part = (
            f'<svg x="{left:.3f}%" width="{wide:.3f}%" height="{BAR_HEIGHT}"><title>{escape(segment.told)}</title>'
            f'<rect class="segment {segment.look}" width="100%" height="{BAR_HEIGHT}"/>{label}</svg>'
        )
        drawn.append(f'<a href="#i{segment.item}" tabindex="-1">{part}</a>' if segment.item else part)
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


def _legend(look: str, label: str, number: int, tokens: int) -> str:
    swatch = (
        '<svg width="15" height="15" viewBox="0 0 15 15" aria-hidden="true">'
        f'<rect class="{look}" width="15" height="15"/></svg>'
    )
    many = f"{number:,} · " if number else ""
    return f'<li>{swatch}{escape(label)} <span class="faint">{many}{tokens:,} tokens</span></li>'


def _below_list(report: DecisionReport) -> Iterator[str]:
    """Yields what is not listed, the calls, further content, and the text that goes out."""
    unlisted = "; ".join(
        f"{sums.number:,} {state.label} ({sums.before:,} tokens came in, {sums.after:,} go out)"
        for state, sums in report.unlisted.items()
        if sums.number
    )
    lines = f'<p class="faint">Not listed here: {unlisted}.</p>' if unlisted else ""
    if report.without_text:
        text = f"The text of {report.without_text:,} of those listed is left out, to keep this page small."
        lines += f'<p class="faint">{text}</p>'
    yield lines
    yield CallTrees(report).drawn()
    further = "".join(
        f'<details class="more"><summary>{escape(title)}</summary><pre class="mono">\n{escape(text)}</pre></details>'
        for title, text in report.further
    )
    yield f"<h2>Further</h2>{further}" if further else ""
    leaving = "<p>Nothing goes out.</p>"
    if report.leaving is not None:
        summary = f"<summary>the text that goes out, {report.after:,} tokens</summary>"
        leaving = f'<details class="more">{summary}{excerpt(report.leaving)}</details>'
    yield f"<h2>What a model reads</h2>{leaving}"
