"""The calls around the output, on an HTML page: a tree that opens step by step without a script.

Below each item are its callers, below those their callers, and the same for callees. An item that occurs above itself
is marked and not opened again. At most MOST_LINES lines are drawn; the others are counted in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from secateur.ledger import State
from secateur.render.page import count_noun
from secateur.render.report.content import DecisionReport
from secateur.render.walk_shapes import CallEnd, WalkedItem
from secateur.render.walk_text import rule_of
from secateur.terminal import visible

MOST_ROOTS = 40
"""Most items whose calls are drawn."""

MOST_LINES = 1_500
"""Most lines of all trees together."""

DEEPEST = 3
"""Most steps from an item."""

_GLYPHS = {state.label: state.glyph for state in State}


class CallTrees:
    """The trees of one report."""

    def __init__(self, report: DecisionReport) -> None:
        nodes = report.walk.nodes if report.walk is not None else []
        self._items: Mapping[str, WalkedItem] = {item.symbol_id: item for item in nodes}
        self._anchors = {item.id: item.number for item in report.items}
        self._left = MOST_LINES

    def drawn(self) -> str:
        """Draws all trees, items in the output by rank; "" if there are none."""
        out = [item for item in self._items.values() if item.state not in (None, State.DROPPED.label)]
        trees = "".join(self._root(item) for item in out[:MOST_ROOTS])
        more = len(out) - MOST_ROOTS
        rest = f'<p class="faint">… and {more:,} more that go out</p>' if more > 0 else ""
        return f'<h2>Who calls whom</h2><div class="calls">{trees}{rest}</div>' if trees else ""

    def _root(self, item: WalkedItem) -> str:
        sides = (
            ("called by", item.callers, item.callers_more, True),
            ("calls", item.callees, item.callees_more, False),
        )
        label = self._label(item.symbol_id, item.state)
        drawn = "".join(
            f'<p class="side">{word} {len(ends) + more:,}</p>{self._ends(ends, more, back, (item.symbol_id,))}'
            for word, ends, more, back in sides
            if ends
        )
        return f"<details><summary>{label}</summary>{drawn}</details>" if drawn else f'<p class="leaf">{label}</p>'

    def _ends(self, ends: Sequence[CallEnd], more: int, back: bool, above: tuple[str, ...]) -> str:
        drawn = []
        for index, end in enumerate(ends):
            if self._left <= 0:
                more += len(ends) - index
                break
            self._left -= 1
            drawn.append(f"<li>{self._end(end, back, above)}</li>")
        rest = f'<li class="faint">… and {more:,} more</li>' if more else ""
        return f"<ul>{''.join(drawn)}{rest}</ul>"

    def _end(self, end: CallEnd, back: bool, above: tuple[str, ...]) -> str:
        look = "faint" if end.followed else "guess"
        label = f'{self._label(end.symbol_id, end.state)} <span class="{look}">{escape(rule_of(end))}</span>'
        if end.symbol_id in above:
            return f'<p class="leaf"><span title="it stands above itself already">↻</span> {label}</p>'
        item = self._items.get(end.symbol_id)
        ends, more = (
            ((item.callers, item.callers_more) if back else (item.callees, item.callees_more)) if item else ([], 0)
        )
        if not ends or len(above) >= DEEPEST or self._left <= 0:
            deeper = f' <span class="faint">({count_noun(len(ends) + more, "call")} further)</span>' if ends else ""
            return f'<p class="leaf">{label}{deeper}</p>'
        inside = self._ends(ends, more, back, (*above, end.symbol_id))
        return f"<details><summary>{label}</summary>{inside}</details>"

    def _label(self, symbol: str, state: str | None) -> str:
        """Formats the decision, name and path of a symbol; with a link to its row if the list has one."""
        path, _, name = (visible(part) for part in symbol.rpartition("::"))
        glyph = f'<span class="glyph {state}">{_GLYPHS[state]}</span> ' if state is not None else ""
        shown = f"<b>{escape(name)}</b>"
        if (number := self._anchors.get(visible(symbol))) is not None:
            shown = f'<a href="#i{number}">{shown}</a>'
        return f'{glyph}{shown} <span class="place faint">{escape(path)}</span>'
