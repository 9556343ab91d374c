"""The list of items on an HTML page, and the calls around the output, without a script: a row opens to show score,
facts, text and trim diff, a tree opens step by step.

Below each item in the tree are its callers, below those their callers, and the same for callees. An item that occurs
above itself is marked and not opened again. At most MOST_CALLS lines are drawn; the others are counted in place.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape

from secateur.ledger import State
from secateur.render.page import count_noun
from secateur.render.report.content import STATE_ORDER, DecisionReport, Excerpt, ReportItem
from secateur.render.report.looks import known_signal, stacked_bar
from secateur.render.walk_text import GLYPHS, CallEnd, WalkedItem, rule_of
from secateur.terminal import visible

MOST_ROOTS = 40  # most items whose calls are drawn
MOST_CALLS = 1_500  # most lines of all trees together
DEEPEST = 3  # most steps from an item


class CallTrees:
    """The trees of one report."""

    def __init__(self, report: DecisionReport) -> None:
        nodes = report.walk.nodes if report.walk is not None else []
        self._items: Mapping[str, WalkedItem] = {item.symbol_id: item for item in nodes}
        self._anchors = {item.id: item.number for item in report.items}
        self._left = MOST_CALLS

    def drawn(self) -> str:
        """Draws all trees, items in the output by rank, or ""."""
        out = [item for item in self._items.values() if item.state not in (None, State.DROPPED.label)]
        trees = "".join(self._root(item) for item in out[:MOST_ROOTS])
        more = len(out) - MOST_ROOTS
        rest = f'<p class="faint">… and {more:,} more that go out</p>' if more > 0 else ""
        return f'<h2>Who calls whom</h2><div class="calls">{trees}{rest}</div>' if trees else ""

    def _root(self, item: WalkedItem) -> str:
        label = self._label(item.symbol_id, item.state)
        drawn = "".join(
            f'<p class="side">{word} {len(ends) + more:,}</p>{self._ends(side, ends, more, (item.symbol_id,))}'
            for side, (word, ends, more) in enumerate(item.sides)
            if ends
        )
        return f"<details><summary>{label}</summary>{drawn}</details>" if drawn else f'<p class="leaf">{label}</p>'

    def _ends(self, side: int, ends: Sequence[CallEnd], more: int, above: tuple[str, ...]) -> str:
        drawn = []
        for index, end in enumerate(ends):
            if self._left <= 0:
                more += len(ends) - index
                break
            self._left -= 1
            drawn.append(f"<li>{self._end(side, end, above)}</li>")
        rest = f'<li class="faint">… and {more:,} more</li>' if more else ""
        return f"<ul>{''.join(drawn)}{rest}</ul>"

    def _end(self, side: int, end: CallEnd, above: tuple[str, ...]) -> str:
        look = "faint" if end.followed else "guess"
        label = f'{self._label(end.symbol_id, end.state)} <span class="{look}">{escape(rule_of(end))}</span>'
        if end.symbol_id in above:
            return f'<p class="leaf"><span title="it stands above itself already">↻</span> {label}</p>'
        item = self._items.get(end.symbol_id)
        _, ends, more = item.sides[side] if item is not None else ("", [], 0)
        if not ends or len(above) >= DEEPEST or self._left <= 0:
            deeper = f' <span class="faint">({count_noun(len(ends) + more, "call")} further)</span>' if ends else ""
            return f'<p class="leaf">{label}{deeper}</p>'
        inside = self._ends(side, ends, more, (*above, end.symbol_id))
        return f"<details><summary>{label}</summary>{inside}</details>"

    def _label(self, symbol: str, state: str | None) -> str:
        path, _, name = (visible(part) for part in symbol.rpartition("::"))
        glyph = f'<span class="glyph {state}">{GLYPHS[state]}</span> ' if state is not None else ""
        shown = f"<b>{escape(name)}</b>"
        if (number := self._anchors.get(visible(symbol))) is not None:
            shown = f'<a href="#i{number}">{shown}</a>'
        return f'{glyph}{shown} <span class="place faint">{escape(path)}</span>'


MOST_LINES = 1_500  # most lines per side that are compared: time grows with their product
_AROUND = 3  # lines shown around a change


def compare_lines(before: str, after: str) -> list[tuple[str, str]] | None:
    """Returns (mark, line): `-` is removed, `+` is added, a space stays, `@` stands for hidden unchanged lines.

    None: the sides are too long to compare.
    """
    then, now = before.splitlines(), after.splitlines()
    if max(len(then), len(now)) > MOST_LINES:
        return None
    lines: list[tuple[str, str]] = []
    end = 0
    for group in SequenceMatcher(None, then, now).get_grouped_opcodes(_AROUND):
        if group[0][1] > end:
            lines.append(("@", f"{group[0][1] - end:,} lines that stay"))
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                lines += [(" ", line) for line in then[start:end]]
                continue
            lines += [("-", line) for line in then[start:end]]
            lines += [("+", line) for line in now[new_start:new_end]]
    if lines and len(then) > end:
        lines.append(("@", f"{len(then) - end:,} lines that stay"))
    return lines


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
    signs = {"-": "−", "@": "…"}
    lines = (f'<span class="{_MARKS[mark]}">{signs.get(mark, mark)} {escape(line)}</span>' for mark, line in changed)
    return f'{out}<h3>trim diff: − goes, + stands in its place</h3><pre class="diff">{"".join(lines)}</pre>'


def fact_list(pairs: Iterable[tuple[str, str]]) -> str:
    """Formats labels and their texts."""
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in pairs)
    return f'<dl class="facts">{rows}</dl>'


def excerpt(text: Excerpt) -> str:
    """Formats a text, and how much of it is not shown."""
    more = f'<p class="faint">… and {text.more:,} more characters</p>' if text.more else ""
    return f"<pre>\n{escape(text.text)}</pre>{more}"
