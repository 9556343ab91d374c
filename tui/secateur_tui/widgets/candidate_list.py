"""The candidates of a search: as a list by rank, each with its places moved, decision, name and place, tokens, priority
and what the priority is made of; and what changed since the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from secateur.model import Selection, State
from secateur.terminal import cell_width, visible

from secateur_tui.columns import NAME, Label, ListColumn, bar_cells
from secateur_tui.state.answer import Answer, Comparison, SameColumn
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.state.signals import SIGNALS
from secateur_tui.styled_text import Line, Span, choose_fitting, format_change, line, stack_bar
from secateur_tui.widgets.item_pages import draw_name, draw_since
from secateur_tui.widgets.listing import SORTED, ItemListing, draw_label, measure_labels

_LEAST_BREAKDOWN, _MOST_BREAKDOWN = 10, 28
"""Cells of the bar of terms. It matters more than all but the name: every screen of 100 columns has it."""

_NAME_CELLS, _PLACE_CELLS = 20, 12
"""Cells that names take before paths have any, and the least of paths."""

TITLES = {
    "priority": "prio",
    "density": "dens",
    "relevance": "rel",
    "hotspot": "hot",
    "distance": "dist",
    "preference": "pref",
}
"""Titles of the column that shows what the list is ordered by."""


class CandidateListing(ItemListing):
    """See the module docstring; an item is a row of the pool. The last column shows what orders the list."""

    titles: ClassVar[tuple[str, str]] = ("name", "in")
    spends_in_order: ClassVar[bool] = True

    def make_columns(self) -> Sequence[ListColumn]:
        answer: SearchAnswer = self.answer
        self._figures = {**answer.figures, answer.ordered_by: answer.selection.score}
        by = self.sorted_by if self.sorted_by in (NAME, *self._figures) else answer.ordered_by
        self._figure = answer.ordered_by if by in (NAME, "tokens") else by
        return _columns(SameColumn(answer.ids, answer), self._figure, by, self.screen)

    @staticmethod
    def label_of(answer: Any, item: int) -> Label:
        """Returns the name and the place of a candidate; what has no name is called as its file."""
        path = visible(answer.paths[item])
        name = visible(answer.names[item]) or path.rpartition("/")[2]
        return Label(name, f"{path}:{int(answer.selection.pool.line_start[item])}")

    def label(self, item: int) -> Label:
        label = super().label(item)
        return label._replace(repository=label.place.partition("/")[0]) if self.of_workspace else label

    def change_words(self, change: int) -> str:
        return f"{'▲' if change > 0 else '▼'}{abs(change):,}"

    def describe_item(self, item: int) -> str:
        parts = {
            part: float(column[item]) for part, column in self.answer.selection.pool.parts.get("relevance", {}).items()
        }
        largest = max(parts, key=parts.__getitem__, default="")
        most = f" · most relevance: {largest} {parts[largest]:.2f}" if largest and parts[largest] > 0 else ""
        return super().describe_item(item) + most

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        selection, id_ = self.answer.selection, column.id
        if id_ == "rank":
            return (Span(f"{int(selection.rank[item]):,}", "faint"),)
        if id_ == "tokens":
            return (Span(f"{int(selection.pool.tokens[item]):,}"),)
        if id_ == "order":
            return (Span(order_figure(float(self._figures[self._figure][item]), self._figure)),)
        amounts = {name: float(column[item]) for name, column in selection.terms.items()}
        positive = sum(amount for amount in amounts.values() if amount > 0)
        # A boost below 1 takes from the other terms what it takes from the priority.
        share = min(1.0, float(selection.priority[item]) / positive) if positive > 0 else 0.0
        parts = [(amount * share, SIGNALS[name].texture, name) for name, amount in amounts.items()]
        return stack_bar(parts, self.answer.highest, cells)


def order_figure(value: float, name: str) -> str:
    """Returns a figure that a list is ordered by, in five cells; densities are small, and have four decimals."""
    return f"{value:.4f}"[int(value < 1) :][:5] if name == "density" else f"{value:.3f}"


@lru_cache(maxsize=4)
def _columns(ids: SameColumn, figure: str, by: str, screen: int) -> tuple[ListColumn, ...]:
    """Returns the columns of all answers from a pool: they stay where they are while knobs turn. `figure` is that of
    the last column, `by` the column that is marked."""
    digits, most = len(f"{len(ids.values):,}"), int(ids.of.before.max(initial=0))
    name, place = measure_labels(CandidateListing.label_of, CandidateListing.titles, ids)
    cells = bar_cells(_LEAST_BREAKDOWN, _MOST_BREAKDOWN, screen)
    columns = (
        ListColumn.fixed("rank", "#", max(2, digits), 3),
        ListColumn.fixed("delta", "Δ", max(3, digits + 1), 5),
        ListColumn.fixed("state", "", 2, 0),
        replace(name, wants=min(name.wants, _NAME_CELLS)),
        replace(place, matters=7, least=min(place.least, _PLACE_CELLS)),
        ListColumn("terms", "why it ranks", cells, cells, 2, brief="why"),
        ListColumn.fixed("tokens", "tok", max(5, len(f"{most:,}")), 4),
        ListColumn.fixed("order", TITLES[figure], 5, 6),
    )
    marked = by if by in (NAME, "tokens") else "order"
    return tuple(replace(column, title=column.title + SORTED) if column.id == marked else column for column in columns)


def draw_gap(selection: Selection, cells: int, by: str = "priority") -> Line:
    """Draws how far the last candidate that goes out is from the first that does not, by rank and by the score that
    orders the list."""
    goes_out = selection.state[selection.order] != State.DROPPED
    if goes_out.all() or not goes_out.any():
        words = "everything is sent" if goes_out.any() else "nothing is sent"
        return choose_fitting([line(f" {words} "), ()], cells)
    last_place, first_place = int(np.flatnonzero(goes_out)[-1]), int(np.argmin(goes_out))
    last, first = selection.order[last_place], selection.order[first_place]
    rank_last, rank_first = last_place + 1, first_place + 1
    gap = selection.score[last] - selection.score[first]
    out = f"#{rank_last:,} {order_figure(selection.score[last], by)}"
    dropped = f"#{rank_first:,} {order_figure(selection.score[first], by)}"
    figures = f"last out {out} · first dropped {dropped}"
    far = order_figure(abs(gap), by)
    distance = f"gap {'−' if gap < 0 and far.strip('0.') else ''}{far}"
    skipped = ": smaller fitted" if rank_first < rank_last else ""
    ranks = f"#{rank_last:,}/#{rank_first:,}"
    variants = (  # a gap below 0 is explained before the figures are given
        f" {figures} · {distance}{skipped} ",
        *([f" {out} out · {dropped} dropped · {distance}{skipped} "] if skipped else [f" {figures} · {distance} "]),
        f" {distance} {ranks}{skipped} ",
        f" {distance} {ranks} ",
    )
    return choose_fitting([*(line(variant) for variant in variants), ()], cells)


def draw_trim_diff(comparison: Comparison | None, cells: int) -> list[Line]:
    """Draws what changed since the baseline."""
    if comparison is None:
        return draw_since(None, cells)
    then, now = comparison.then, comparison.now
    old, new = then.ledger.budget, now.ledger.budget
    budgets = f"{new:,}" if old == new else f"{old:,} → {new:,}"
    out = (int((answer.state != State.DROPPED).sum()) for answer in (then, now))
    order = now.outcome.payload.selection.strategy
    head = [
        line(Span("tokens ", "faint"), format_change(then.tokens, now.tokens), Span("  of ", "faint"), budgets),
        line(Span("out    ", "faint"), format_change(*out), Span("  in order by ", "faint"), order),
    ]
    return draw_since(comparison, cells, head, _draw_candidate)


def _draw_candidate(answer: Answer[Any], row: int, cells: int) -> Line:
    """Draws a candidate by its name, and behind it its place; of a scenario's recorded decision there is the name
    alone."""
    if not isinstance(answer, SearchAnswer):
        return draw_name(answer, row, cells)
    label = CandidateListing.label_of(answer, row)
    name = min(cell_width(label.name), max(1, cells))
    return draw_label(label, name, max(0, cells - name - 1))
