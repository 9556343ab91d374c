"""The candidates of a search: as a list by rank, each with its places moved, decision, name and place, tokens, priority
and what the priority is made of; as the picture of a budget; and what changed since the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from secateur.model import Pool, Reason, Selection, State
from secateur.terminal import cell_width, visible

from secateur_tui.columns import NAME, Label, ListColumn, bar_cells, sample_items
from secateur_tui.short_names import shorten_path
from secateur_tui.state.ledger_answer import ABSENT, Sum
from secateur_tui.state.list_view import figures_of
from secateur_tui.state.search_answer import SearchAnswer, SearchComparison
from secateur_tui.state.signals import SIGNALS
from secateur_tui.styled_text import Line, Span, choose_fitting, clip_line, format_change, line, stack_bar
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture
from secateur_tui.widgets.listing import SORTED, CutLine, ItemListing, draw_label, find_alike, label_columns
from secateur_tui.widgets.texts import NOTHING_CHANGED, draw_group

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
    """See the module docstring; an item is a row of the pool. The last column shows what orders the list."""

    def make_columns(self) -> Sequence[ListColumn]:
        answer: SearchAnswer = self.answer
        self._selection = answer.selection
        self._figures = figures_of(answer.selection) | {answer.ordered_by: answer.selection.score}
        by = self.sorted_by if self.sorted_by in (NAME, *self._figures) else answer.ordered_by
        self._figure = answer.ordered_by if by in (NAME, "tokens") else by
        return _columns(answer.selection.pool, self._figure, by, self.screen)

    def find_cut(self) -> CutLine | None:
        return _cut_of(self.answer.selection)

    def label(self, item: int) -> Label:
        label = label_of(self._selection.pool, item)
        return label._replace(repository=label.place.partition("/")[0]) if self.of_workspace else label

    def alike(self, name: int, place: int) -> Mapping[str, int]:
        return _find_alike(self._selection.pool, name, place)

    def after(self, item: int) -> int:
        return self._selection.decision(item).tokens_after

    def change_words(self, change: int) -> str:
        return f"{'▲' if change > 0 else '▼'}{abs(change):,}"

    def describe_item(self, item: int) -> str:
        parts = {part: float(column[item]) for part, column in self._selection.pool.parts.get("relevance", {}).items()}
        largest = max(parts, key=parts.__getitem__, default="")
        most = f" · most relevance: {largest} {parts[largest]:.2f}" if largest and parts[largest] > 0 else ""
        return super().describe_item(item) + most

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        selection, id_ = self._selection, column.id
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


def picture_of(answer: SearchAnswer) -> BudgetPicture:
    """Returns the picture of an answer; until its pack is counted, at most its tokens leave."""
    return _make_picture(answer.selection, answer.tokens, answer.recounted is not None)


@lru_cache(maxsize=4)
def _make_picture(selection: Selection, after: int, counted: bool) -> BudgetPicture:
    pool, state = selection.pool, selection.state
    rows = np.array(selection.pack_rows, dtype=np.int64)
    states = state[rows].astype(np.int64)
    tokens = selection.tokens_after[rows]
    sums, dropped = {}, len(selection) - len(rows)
    for kind_of_state in (State.KEPT, State.SHORTENED):
        mask = states == kind_of_state
        sums[kind_of_state] = Sum(int(mask.sum()), int(pool.tokens[rows[mask]].sum()), int(tokens[mask].sum()))
    sums[State.DROPPED] = Sum(dropped, _sum_tokens(pool) - sum(total.before for total in sums.values()))
    around = after - int(tokens.sum())
    frame = BudgetFrame(selection.budget, rows, tokens, states, around)
    return BudgetPicture((frame,), sums, counted)


@lru_cache(maxsize=2)
def _sum_tokens(pool: Pool) -> int:
    return int(pool.tokens.sum())


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


_LONGEST_LIST = 200
"""Candidates listed under one heading; the rest is counted."""

_MOVES = 8
"""Largest moves in rank that are listed."""


def draw_trim_diff(comparison: SearchComparison | None, tokens: tuple[int, int], cells: int) -> list[Line]:
    """Draws the page. `tokens`: of the two packs, then and now."""
    if comparison is None:
        return [*NOTHING_CHANGED]
    then, now = comparison.then, comparison.now
    budgets = f"{now.budget:,}" if then.budget == now.budget else f"{then.budget:,} → {now.budget:,}"
    out_then, out_now = int((then.state != State.DROPPED).sum()), int((now.state != State.DROPPED).sum())
    lines = [
        line(Span("tokens ", "faint"), format_change(*tokens), Span("  of ", "faint"), budgets),
        line(Span("out    ", "faint"), format_change(out_then, out_now), Span("  in order by ", "faint"), now.strategy),
    ]

    def draw_flip(row: int) -> Line:
        before = " " if comparison.row_then[row] == ABSENT else State(int(comparison.state_then[row])).glyph
        return _draw_entry(f"{before}→{State(int(now.state[row])).glyph}", now.pool, row, cells)

    def draw_vanished(row: int) -> Line:
        return _draw_entry("  ", then.pool, row, cells)

    for title, role, states in (
        ("entered", "up", (State.DROPPED, None)),
        ("left", "down", (None, State.DROPPED)),
        ("cut differently", "accent", (None, None)),
    ):
        lines += draw_group(title, role, comparison.flips(*states), draw_flip, _LONGEST_LIST)
    lines += draw_group("no longer candidates", "down", comparison.vanished, draw_vanished, _LONGEST_LIST)
    lines += _draw_moves(comparison, cells)
    if len(lines) == 2:
        lines += [(), line(Span("the same candidates are sent, in the same order", "faint"))]
    return [clip_line(drawn, cells) for drawn in lines]


def _draw_entry(mark: str, pool: Pool, row: int, cells: int) -> Line:
    head = f"{mark} {int(pool.tokens[row]):>6,} "
    return (Span(head), *_draw_candidate(pool, row, cells - len(head)))


def _draw_candidate(pool: Pool, row: int, cells: int) -> Line:
    """Draws a candidate by its name, and behind it its place; of a scenario's recorded decision there is the name
    alone."""
    if not int(pool.line_start[row]):
        return line(Span(shorten_path(visible(pool.symbol_id[row]), max(1, cells))))
    label = label_of(pool, row)
    name = min(cell_width(label.name), max(1, cells))
    return draw_label(label, name, max(0, cells - name - 1))


def _draw_moves(comparison: SearchComparison, cells: int) -> list[Line]:
    size = np.where(comparison.flipped, 0, np.abs(comparison.moved))
    rows = np.lexsort((comparison.now.rank, -size))[: int((size > 0).sum())].tolist()

    def draw_move(row: int) -> Line:
        moved = int(comparison.moved[row])
        mark = f"{'▲' if moved > 0 else '▼'}{abs(moved):,}".rjust(6)
        name = _draw_candidate(comparison.now.pool, row, cells - 8)
        return (Span(mark, "up" if moved > 0 else "down"), Span("  "), *name)

    return draw_group("moved", "faint", rows, draw_move, _MOVES)
