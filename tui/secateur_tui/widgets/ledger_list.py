"""The items of a ledger as a list, in its order: what was decided, what it changed since the baseline, tokens in and
out. A kind with columns of its own has a subclass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

from secateur.ledger import WRAPPER, Entry
from secateur.model import Reason, State
from secateur.render.sentences import fewer_together
from secateur.terminal import visible

from secateur_tui.columns import NAME, Label, ListColumn, sample_items
from secateur_tui.state.ledger_answer import LONGEST_BESIDE, LedgerAnswer
from secateur_tui.styled_text import Line, line
from secateur_tui.widgets.listing import SORTED, CutLine, ItemListing, find_alike, label_columns

LEAST_FIGURE = 5
"""The least width of a column of tokens."""


def label_path(entry: str) -> Label:
    """Returns the id of an entry as a name and a place: `flask/sessions.py::open` is `open` in that file, a path is a
    file in a folder."""
    text = visible(entry)
    place, of_symbol, name = text.rpartition("::")
    if not of_symbol:
        place, _, name = text.rpartition("/")
    return Label(name, place) if name and place else Label(text)


def label_wrapper(entry: Entry) -> Label:
    """Returns what the row of the wrapper is called; below 0 no figure tells of it, but the name."""
    number, _, how = fewer_together(entry.after).rpartition(" ")
    return Label(number, how, prose=True) if entry.after < 0 else Label(WRAPPER)


SAVED = "saved"
"""The figure of an order that has no column of its own."""

_COLUMNS_OF = {"tokens": ("in", "tokens"), "tokens out": ("out", "tokens"), SAVED: (SAVED,)}
"""By figure the columns that show it, the first that a list has."""


def mark_order(columns: Sequence[ListColumn], by: str) -> Sequence[ListColumn]:
    """Returns the columns with a mark in the title of what orders the list: a column, or a figure. A figure without a
    column takes the place of the last one."""
    known = [column.id for column in columns]
    marked = next((id_ for id_ in _COLUMNS_OF.get(by, (by,)) if id_ in known), "")
    if not marked:
        last = columns[-1]
        figure = replace(last, id=by, title=by, least=max(last.least, len(by) + 1), wants=max(last.wants, len(by) + 1))
        columns, marked = (*columns[:-1], figure), by
    return [
        replace(column, title=column.title + SORTED, brief=column.brief + SORTED) if column.id == marked else column
        for column in columns
    ]


@lru_cache(maxsize=2)
def measure_labels(listing: type[LedgerListing], answer: LedgerAnswer[Any]) -> tuple[ListColumn, ListColumn]:
    """Returns the columns of names and places of an answer. They are measured once, a list is painted often."""
    items = (item for item in sample_items(len(answer)) if answer.entry_number(item) is not None)
    labels = [listing.label_of(answer, item) for item in items]
    return label_columns(labels, *listing.titles)


@lru_cache(maxsize=4)
def _find_alike(listing: type[LedgerListing], answer: LedgerAnswer[Any], name: int, place: int) -> Mapping[str, int]:
    items = (item for item in sample_items(len(answer)) if answer.entry_number(item) is not None)
    return find_alike((listing.label_of(answer, item) for item in items), name, place)


class LedgerListing(ItemListing):
    """See the module docstring."""

    titles: ClassVar[tuple[str, str]] = ("name", "")  # of the columns of names and places
    spends_in_order: ClassVar[bool] = False  # items are listed in the order in which the budget is spent
    ordered_by: ClassVar[str] = NAME  # the column that tells of the list's own order

    def make_columns(self) -> Sequence[ListColumn]:
        return mark_order(self.list_columns(), self.sorted_by or self.ordered_by)

    def find_cut(self) -> CutLine | None:
        return _cut_of(self.answer) if self.spends_in_order else None

    def list_columns(self) -> Sequence[ListColumn]:
        """Returns the columns, from left to right."""
        answers = (self.answer, self.comparison.then) if self.comparison is not None else (self.answer,)
        figure = max(LEAST_FIGURE, len(f"{max(answer.most for answer in answers):,}"))
        sent = max(LEAST_FIGURE, len(f"{max(answer.most_sent for answer in answers):,}"))
        return (
            ListColumn.fixed("delta", "Δ", sent + 1, 4),
            ListColumn.fixed("state", "", 2, 0),
            *measure_labels(type(self), self.answer),
            *self.own_columns(),
            ListColumn.fixed("in", "in", figure, 3),
            ListColumn.fixed("out", "out", figure if self.sorted_by == SAVED else sent, 2),
        )

    def own_columns(self) -> Sequence[ListColumn]:
        """Returns the columns that only this kind has; they stand behind the places."""
        return ()

    @staticmethod
    def label_of(answer: Any, item: int) -> Label:
        """Returns what an item is called, and where it is or what it says."""
        entry_number, entry = answer.entry_number(item), answer.entries[item]
        beside = answer.kind.describe(answer.outcome, entry_number).beside if entry_number is not None else ""
        if beside:
            return Label(visible(entry.id), visible(beside[:LONGEST_BESIDE]), prose=True)
        return label_wrapper(entry) if entry.id == WRAPPER else label_path(entry.id)

    def label(self, item: int) -> Label:
        return self.label_of(self.answer, item)

    def alike(self, name: int, place: int) -> Mapping[str, int]:
        return _find_alike(type(self), self.answer, name, place)

    def after(self, item: int) -> int:
        return int(self.answer.entries[item].after)

    def describe_item(self, item: int) -> str:
        after = self.after(item)
        return fewer_together(after) if after < 0 else super().describe_item(item)

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:  # noqa: ARG002 - columns of subclasses use it
        entry = self.answer.entries[item]
        if column.id == SAVED:
            return line(f"{entry.before - entry.after:,}")
        if column.id == "in":
            return line(f"{entry.before:,}")
        if entry.after < 0:
            return ()  # its name says it
        return line(f"{entry.after:,}" if entry.after != entry.before else "·")


@lru_cache(maxsize=2)
def _cut_of(answer: LedgerAnswer[Any]) -> CutLine | None:
    ordered = [answer.entries[answer.item_at(line_number)] for line_number in range(len(answer))]
    above = next((line_number for line_number, entry in enumerate(ordered) if entry.reason is Reason.NO_ROOM), None)
    if above is None:
        return None
    below = sum(entry.state is not State.DROPPED and entry.id != WRAPPER for entry in ordered[above:])
    return CutLine(above, answer.ledger.budget, below)
