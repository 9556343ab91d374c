"""The candidates of a search as a list: by rank, each with its places moved, decision, name and place, tokens, priority
and what the priority is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from secateur.model import Pool, Reason, Selection, State
from secateur.terminal import visible

from secateur_tui.columns import NAME, Label, ListColumn, bar_cells, sample_items
from secateur_tui.state.list_view import figures_of
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.state.search_comparison import ABSENT, SearchComparison
from secateur_tui.state.signals import SIGNALS
from secateur_tui.styled_text import Line, Span, line, stack_bar
from secateur_tui.widgets.listing import SORTED, Crossing, CutLine, ItemListing, find_alike, label_columns

_LEAST_BREAKDOWN, _MOST_BREAKDOWN = 10, 28
"""Cells of the bar of terms. It matters more than all but the name: every screen of 100 columns has it."""

_NAME_CELLS, _PLACE_CELLS = 20, 12
"""Cells that names take before paths have any, and the least of paths."""

_COMPARED = 1_000
"""Labels that are compared: all of a search in most repositories."""

TITLES = {
    "priority": "prio",
    "density": "dens",
    "relevance": "rel",
    "hotspot": "hot",
    "distance": "dist",
    "preference": "pref",
}
"""Titles of the column that shows what the list is ordered by."""

_WITHOUT_ROOM = (Reason.NO_ROOM, Reason.SIGNATURE)
"""Reasons of items that would leave whole under a larger budget."""


class CandidateListing(ItemListing):
    """See the module docstring; an item is a row of the pool. `sorted_by` is the figure that the list is sorted by; ""
    for the answer's own order. The last column shows what orders the list, and the title that does is marked."""

    def __init__(
        self,
        answer: SearchAnswer,
        comparison: SearchComparison | None = None,
        crossings: Sequence[Crossing] = (),
        *,
        of_workspace: bool = False,
        sorted_by: str = "",
        screen: int = 0,
    ) -> None:
        super().__init__(answer)
        self._of_workspace = of_workspace
        self._selection, self._comparison = answer.selection, comparison
        self._figures = figures_of(answer.selection) | {answer.ordered_by: answer.selection.score}
        by = sorted_by if sorted_by in (NAME, *self._figures) else answer.ordered_by
        self._figure = answer.ordered_by if by in (NAME, "tokens") else by
        self.columns = _columns(answer.selection.pool, self._figure, by, screen)
        self.cut = cut_of(answer.selection, crossings)

    def label(self, item: int) -> Label:
        label = label_of(self._selection.pool, item)
        return label._replace(repository=label.place.partition("/")[0]) if self._of_workspace else label

    def alike(self, name: int, place: int) -> Mapping[str, int]:
        return _find_alike(self._selection.pool, name, place)

    def after(self, item: int) -> int:
        return self._selection.decision(item).tokens_after

    def describe_item(self, item: int) -> str:
        parts = {part: float(column[item]) for part, column in self._selection.pool.parts.get("relevance", {}).items()}
        largest = max(parts, key=parts.__getitem__, default="")
        most = f" · most relevance: {largest} {parts[largest]:.2f}" if largest and parts[largest] > 0 else ""
        return super().describe_item(item) + most

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        selection, id_ = self._selection, column.id
        if id_ == "rank":
            return (Span(f"{int(selection.rank[item]):,}", "faint"),)
        if id_ == "delta":
            return _draw_move(self._comparison, item)
        if id_ == "state":
            flipped = self._comparison is not None and bool(self._comparison.flipped[item])
            state = State(int(selection.state[item]))
            return self.decision(item, state, flipped)
        if id_ == "tokens":
            return (Span(f"{int(selection.pool.tokens[item]):,}"),)
        if id_ == "order":
            return (Span(order_figure(float(self._figures[self._figure][item]), self._figure)),)
        terms = [(float(amounts[item]), SIGNALS[name].texture, name) for name, amounts in selection.terms.items()]
        return _draw_breakdown(terms, float(selection.priority[item]), self.answer.highest, cells)


def label_of(pool: Pool, row: int) -> Label:
    """Returns the name and the place of a candidate; what has no name is called as its file."""
    path = visible(pool.path[row])
    name = visible(pool.qualname[row]) or path.rpartition("/")[2]
    return Label(name, f"{path}:{int(pool.line_start[row])}")


@lru_cache(maxsize=4)
def _find_alike(pool: Pool, name: int, place: int) -> Mapping[str, int]:
    return find_alike((label_of(pool, row) for row in sample_items(len(pool), _COMPARED)), name, place)


def order_figure(value: float, name: str) -> str:
    """Returns a figure that a list is ordered by, in five cells; densities are small, and have four decimals."""
    return f"{value:.4f}"[int(value < 1) :][:5] if name == "density" else f"{value:.3f}"


@lru_cache(maxsize=4)
def _columns(pool: Pool, figure: str, by: str, screen: int) -> tuple[ListColumn, ...]:
    """Returns the columns of all answers from a pool: they stay where they are while knobs turn. `figure` is that of
    the last column, `by` the column that is marked."""

    def title(column: str, text: str) -> str:
        return text + SORTED if column == by else text

    digits = len(f"{len(pool):,}")
    most = int(pool.tokens.max()) if len(pool) else 0
    name, place = label_columns([label_of(pool, row) for row in sample_items(len(pool))], title(NAME, "name"), "in")
    cells = bar_cells(_LEAST_BREAKDOWN, _MOST_BREAKDOWN, screen)
    return (
        ListColumn.fixed("rank", "#", max(2, digits), 3),
        ListColumn.fixed("delta", "Δ", max(3, digits + 1), 5),
        ListColumn.fixed("state", "", 2, 0),
        replace(name, wants=min(name.wants, _NAME_CELLS)),
        replace(place, matters=7, least=min(place.least, _PLACE_CELLS)),
        ListColumn("terms", "why it ranks", cells, cells, 2, brief="why"),
        ListColumn.fixed("tokens", title("tokens", "tok"), max(5, len(f"{most:,}")), 4),
        ListColumn.fixed("order", title(figure, TITLES[figure]), 5, 6),
    )


@lru_cache(maxsize=2)
def _cut_of(selection: Selection) -> CutLine | None:
    reason, rank = selection.reason, selection.rank
    short = rank[np.isin(reason, _WITHOUT_ROOM)]
    above = int(short.min(initial=len(selection) + 1)) - 1
    if above >= len(selection):
        return None
    leaving = rank[(selection.state != State.DROPPED) & (reason != Reason.PINNED)]  # a pin is no matter of size
    below = int((leaving > above).sum())
    return CutLine(above, selection.budget, below)


def cut_of(selection: Selection, crossings: Sequence[Crossing] = ()) -> CutLine | None:
    """Returns the place where the pack ends: before the first candidate that had no room whole. None: all leave that
    may."""
    cut = _cut_of(selection)
    return replace(cut, crossings=crossings) if cut is not None else None


def _draw_breakdown(terms: list[tuple[float, str, str]], priority: float, top: float, cells: int) -> Line:
    """Draws a bar as long as the priority; a boost below 1 takes from the other terms what it takes from the
    priority."""
    positive = sum(max(0.0, amount) for amount, _, _ in terms)
    share = min(1.0, priority / positive) if positive > 0 else 0.0
    return stack_bar([(amount * share, texture, role) for amount, texture, role in terms], top, cells)


def _draw_move(comparison: SearchComparison | None, row: int) -> Line:
    if comparison is None:
        return ()
    if comparison.row_then[row] == ABSENT:
        return line(Span("new", "up"))
    moved = int(comparison.moved[row])
    return line(Span(f"{'▲' if moved > 0 else '▼'}{abs(moved):,}", "up" if moved > 0 else "down")) if moved else ()
