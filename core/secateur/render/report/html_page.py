"""The report as one HTML page without external files: it opens from disk, and is complete without its script.

The content security policy allows the page's own style and script, by their digests, and nothing else: no request, no
form, no style or script in outside text. Outside text is escaped too.

Without a script, a row of the list opens to show score, facts, text and trim diff.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from html import escape
from pathlib import Path

from secateur.ledger import State
from secateur.render.page import fewer_together
from secateur.render.report.content import STATE_ORDER, DecisionReport, Excerpt, ReportItem, summary_sentence
from secateur.render.report.looks import fit_name, known_signal, page_styles, pattern_defs, segments_of, stacked_bar
from secateur.terminal import visible

MOST_LINES = 1_500  # most lines per side that are compared: time grows with their product


def compare_lines(before: str, after: str) -> list[str] | None:
    """Returns the lines of a unified diff, without the names above it; None: the sides are too long to compare."""
    then, now = before.splitlines(), after.splitlines()
    return None if max(len(then), len(now)) > MOST_LINES else list(unified_diff(then, now, lineterm=""))[2:]


SCORE_CELLS = 110  # width of the bar of a score
_MARKS = {"-": "gone", "+": "come", " ": "", "@": "stay"}


def tools(report: DecisionReport) -> str:
    """Returns the fields that sort and filter the list; hidden until the script shows them."""
    orders = [("order", "by rank" if report.scored else "in their order"), ("pack", "as it goes out")]
    orders += [("score", "by score")] * report.scored
    orders += [("after", "by tokens that go out"), ("before", "by tokens that came in"), ("name", "by name")]
    options = "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in orders)
    boxes = "".join(
        f'<label><input type="checkbox" value="{state.label}" checked> {state.glyph} {state.label}</label>'
        for state in STATE_ORDER
        if any(item.state is state for item in report.items)
    )
    return (
        '<div class="tools" id="tools" hidden>'
        '<label><span class="hidden">filter</span><input type="search" id="find" placeholder="filter by any word"'
        ' autocomplete="off" spellcheck="false"></label>'
        f'<fieldset><legend class="hidden">states</legend>{boxes}</fieldset>'
        f'<label>sort <select id="sort">{options}</select></label>'
        '<button type="button" id="all">open or close all</button><output id="said" aria-live="polite"></output></div>'
    )


def item_list(report: DecisionReport) -> str:
    """Formats all rows."""
    most = max((item.score for item in report.items), default=0.0)
    rows = "\n".join(_row(item, report, most) for item in report.items)
    rank, score = ("<span>#</span>", "<span>score</span>") if report.scored else ("", "")
    head = (
        f'<div class="row head" aria-hidden="true">{rank}<span>state</span><span>name, place, reason</span>{score}'
        '<span class="right">tokens</span></div>'
    )
    signals = "".join(
        '<li><svg width="13" height="11" aria-hidden="true">'
        f'<rect class="{known_signal(name)}" width="13" height="11"/></svg>{escape(name)}</li>'
        for name in dict.fromkeys(name for item in report.items for name in item.terms)
    )
    legend = f'<ul class="legend signals" aria-label="parts of the score">{signals}</ul>' if signals else ""
    look = "scored" if report.scored else ""
    return f'<div class="{look}">{legend}{head}<ol class="items" id="items">\n{rows}\n</ol></div>'


def _row(item: ReportItem, report: DecisionReport, most: float) -> str:
    place = f' <span class="place mono">{escape(item.place)}</span>' if item.place else ""
    beside = f'<span class="beside">{escape(item.beside)}</span>' if item.beside else ""
    rank = f'<span class="rank">{item.number}</span>' if report.scored else ""
    score = ""
    if report.scored:  # the terms as one stacked bar, with their sum
        description = escape(" + ".join(f"{name} {value:.3f}" for name, value in item.terms.items()))
        score = (
            f'<span class="score"><svg width="{SCORE_CELLS}" height="11" aria-hidden="true">'
            f"<title>{description}</title>{stacked_bar(item.terms, most, SCORE_CELLS)}</svg>{item.score:.3f}</span>"
        )
    same = item.state is State.KEPT and item.before == item.after
    before = "" if same else f"<s>{item.before:,} →</s> "
    pairs = item.facts or (() if item.id == item.name else (("id", item.id),))
    facts = fact_list(pairs) if pairs else ""
    pack = item.number if item.position is None else item.position
    data = (
        f'data-order="{item.number}" data-pack="{pack if item.state is not State.DROPPED else 10**9}"'
        f' data-score="{item.score:.6f}" data-before="{item.before}" data-after="{item.after}"'
        f' data-state="{item.state.label}" data-name="{escape(item.name.lower())}"'
    )
    return (
        f'<li class="item {item.state.label}" id="i{item.number}" {data}><details><summary><div class="row">{rank}'
        f'<span class="state"><span class="glyph">{item.state.glyph}</span>{item.state.label}</span>'
        f'<span class="what"><span class="name">{escape(item.name)}</span>{place}'
        f'<span class="reason">{escape(item.reason)}</span>{beside}</span>'
        f'{score}<span class="tokens">{before}{item.after:,}</span></div></summary>'
        f'<div class="body">{_terms(item)}{facts}{_texts(item)}</div></details></li>'
    )


def _terms(item: ReportItem) -> str:
    if not item.terms:
        return ""
    most = max(0.0, *item.terms.values())
    rows = []
    for name, value in item.terms.items():
        wide = 140 * max(0.0, value) / most if most > 0 else 0.0
        rows.append(
            f'<tr><th scope="row">{escape(name)}</th><td><svg width="140" height="11" aria-hidden="true">'
            f'<rect class="{known_signal(name)}" width="{wide:.2f}" height="11"/></svg></td>'
            f'<td class="number">{value:.3f}</td></tr>'
        )
    rows.append(f'<tr class="sum"><th scope="row">sum</th><td></td><td class="number">{item.score:.3f}</td></tr>')
    return f'<table class="terms">{"".join(rows)}</table>'


def _texts(item: ReportItem) -> str:
    came, went = item.came, item.went
    if item.state is State.DROPPED or went is None:
        title = "what came in; nothing of it goes out" if item.state is State.DROPPED else "what came in"
        return f"<h3>{title}</h3>{excerpt(came)}" if came is not None else ""
    out = f"<h3>what goes out</h3>{excerpt(went)}"
    if came is None:
        return out
    changed = compare_lines(came.text, went.text) if not (came.more or went.more) else None
    if not changed:
        return f"{out}<h3>what came in</h3>{excerpt(came)}"
    lines = (f'<span class="{_MARKS[line[0]]}">{escape(line)}</span>' for line in changed)
    return f'{out}<h3>trim diff: - goes, + stands in its place</h3><pre class="diff">{"".join(lines)}</pre>'


def fact_list(pairs: Iterable[tuple[str, str]]) -> str:
    """Formats labels and their texts."""
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in pairs)
    return f'<dl class="facts">{rows}</dl>'


def excerpt(text: Excerpt) -> str:
    """Formats a text, and how much of it is not shown."""
    more = f'<p class="faint">… and {text.more:,} more characters</p>' if text.more else ""
    return f"<pre>\n{escape(text.text)}</pre>{more}"


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
