"""The items of a ledger in its order: what was decided, what it changed since the baseline, tokens in and out, and what
the bench tells of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from secateur.model import State

from secateur_tui.state.answer import ListedItems
from secateur_tui.state.ledger_answer import ABSENT, LedgerAnswer, LedgerComparison
from secateur_tui.styled_text import Line, Span, line, signed
from secateur_tui.widgets.item_list import ItemList

LEAST_FIGURE = 6
"""Cells of a number of tokens, at least."""


def figure_cells(answer: LedgerAnswer[Any], comparison: LedgerComparison | None) -> int:
    """Width of the columns of tokens."""
    return max(LEAST_FIGURE, len(f"{max(answer.most, comparison.then.most if comparison else 0):,}"))


def draw_header(answer: LedgerAnswer[Any], comparison: LedgerComparison | None, lead: str, tail: str) -> Line:
    """Titles of the columns; `lead` and `tail` are the bench's own."""
    cells = figure_cells(answer, comparison)
    return line(Span(f" {lead} {'Δ':>{cells + 1}}    {'in':>{cells}} {'out':>{cells}} {tail}", "faint"))


def draw_item(
    answer: LedgerAnswer[Any],
    comparison: LedgerComparison | None,
    item: int,
    lead: str,
    tail: Callable[[int], Line],
    cells: int,
) -> Line:
    """One item: the bench's `lead`, tokens gained or lost since the baseline, decision (`!` when it flipped), tokens in
    and out, the bench's `tail`."""
    entry = answer.entries[item]
    state = entry.state
    figures = figure_cells(answer, comparison)
    tone = "faint" if state is State.DROPPED else ""
    flipped = comparison is not None and comparison.flipped(item)
    head = (
        Span(f" {lead} ", tone),
        _delta(comparison, item, figures + 1),
        Span(" "),
        Span("!" if flipped else " ", "warning"),
        Span(state.glyph, state.label),
        Span(f" {entry.before:>{figures},} ", tone),
        Span(f"{entry.after:>{figures},} " if entry.after != entry.before else f"{'·':>{figures}} ", tone),
    )
    room = max(1, cells - len(lead) - 3 * figures - 9)
    return (*head, *(Span(span.text, span.role or tone) for span in tail(room)))


def _delta(comparison: LedgerComparison | None, item: int, cells: int) -> Span:
    if comparison is None:
        return Span(" " * cells)
    if comparison.place_then(item) == ABSENT:
        return Span(f"{'new':>{cells}}", "up")
    gained = comparison.gained(item)
    return Span(f"{signed(gained):>{cells}}" if gained else " " * cells, "up" if gained > 0 else "down")


class LedgerList(ItemList):
    """Shows an answer of any kind; `draw` draws an item of it within a width, while there is one."""

    def __init__(self, draw: Callable[[int, int], Line], **options: Any) -> None:
        super().__init__(**options)
        self._draw = draw
        self._answer: ListedItems | None = None

    def show(self, answer: ListedItems | None, item: int) -> None:
        """Paint an answer with the cursor on `item`."""
        self._answer = answer
        self.put_cursor(answer.line_of(item) if answer is not None and len(answer) else 0)

    def line_count(self) -> int:
        return len(self._answer) if self._answer is not None else 0

    def item_at(self, index: int) -> int:
        return self._answer.item_at(index) if self._answer is not None else index

    def draw_item(self, index: int, cells: int) -> Line:
        return self._draw(self.item_at(index), cells)
