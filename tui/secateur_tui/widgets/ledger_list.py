"""The items of a ledger as a list, in its order: what was decided, what it changed since the baseline, tokens in and
out, and the columns of the subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from secateur.ledger import WRAPPER
from secateur.model import Reason, State

from secateur_tui.columns import Label, ListColumn, sampled
from secateur_tui.state.ledger_answer import ABSENT, LedgerAnswer, LedgerComparison
from secateur_tui.state.subject import Subject
from secateur_tui.styled_text import Line, Span, line, signed
from secateur_tui.widgets.listing import Crossing, CutLine, ItemListing, label_columns

LEAST_FIGURE = 5
"""Cells of a number of tokens, at least."""


@lru_cache(maxsize=2)
def _label_columns(subject: Subject[Any, Any], answer: LedgerAnswer[Any]) -> tuple[ListColumn, ListColumn]:
    labels = [subject.label(answer, item) for item in sampled(len(answer))]
    return label_columns(labels, *subject.label_titles)


class LedgerListing(ItemListing):
    """See the module docstring; an item is that of the answer."""

    def __init__(
        self,
        subject: Subject[Any, Any],
        answer: LedgerAnswer[Any],
        comparison: LedgerComparison | None = None,
        crossings: Sequence[Crossing] = (),
    ) -> None:
        self._subject, self._answer, self._comparison = subject, answer, comparison
        most = max(answer.most, comparison.then.most if comparison is not None else 0)
        figure = max(LEAST_FIGURE, len(f"{most:,}"))
        before, after = subject.columns(answer)
        self.columns = (
            *before,
            ListColumn.fixed("delta", "Δ", figure + 1, 4),
            ListColumn.fixed("state", "", 2, 0),
            *_label_columns(subject, answer),
            *after,
            ListColumn.fixed("in", "in", figure, 3),
            ListColumn.fixed("out", "out", figure, 2),
        )
        self.cut = cut_of(answer, crossings) if subject.spends_in_order else None

    def __len__(self) -> int:
        return len(self._answer)

    def item_at(self, line: int) -> int:
        return self._answer.item_at(line)

    def line_of(self, item: int) -> int:
        return self._answer.line_of(item)

    def label(self, item: int) -> Label:
        return self._subject.label(self._answer, item)

    def tone(self, item: int) -> str:
        return "faint" if self._answer.entries[item].state is State.DROPPED else ""

    def after(self, item: int) -> int:
        return self._answer.entries[item].after

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        entry = self._answer.entries[item]
        if column.id == "delta":
            return _gained(self._comparison, item)
        if column.id == "state":
            flipped = self._comparison is not None and self._comparison.flipped(item)
            return self.decision(item, entry.state, flipped)
        if column.id == "in":
            return line(f"{entry.before:,}")
        if column.id == "out":
            return line(f"{entry.after:,}" if entry.after != entry.before else "·")
        return self._subject.cell(self._answer, item, column.id, cells)


@lru_cache(maxsize=2)
def _cut_of(answer: LedgerAnswer[Any]) -> CutLine | None:
    ordered = [answer.entries[answer.item_at(number)] for number in range(len(answer))]
    above = next((number for number, entry in enumerate(ordered) if entry.reason is Reason.NO_ROOM), None)
    if above is None:
        return None
    below = sum(entry.state is not State.DROPPED and entry.id != WRAPPER for entry in ordered[above:])
    return CutLine(above, answer.ledger.budget, below)


def cut_of(answer: LedgerAnswer[Any], crossings: Sequence[Crossing] = ()) -> CutLine | None:
    """The place where the budget ends, in a list in the order in which it is spent: before the first item that had no
    room. None: all had."""
    cut = _cut_of(answer)
    return replace(cut, crossings=crossings) if cut is not None else None


def _gained(comparison: LedgerComparison | None, item: int) -> Line:
    if comparison is None:
        return ()
    if comparison.place_then(item) == ABSENT:
        return line(Span("new", "up"))
    gained = comparison.gained(item)
    return line(Span(signed(gained), "up" if gained > 0 else "down")) if gained else ()
