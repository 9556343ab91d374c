"""The items of a ledger: as a list in its order, with what was decided, what it changed since the baseline, tokens in
and out; and the pages beside it: why an item was decided as it was, its texts, and what changed since the baseline. A
kind with columns of its own has a subclass of the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

from secateur.ledger import CHARS_AFTER, CHARS_BEFORE, WRAPPER, Entry
from secateur.model import Reason, State
from secateur.render.sentences import describe_redactions, fewer_together
from secateur.terminal import visible

from secateur_tui.columns import NAME, Label, ListColumn, sample_items
from secateur_tui.short_names import shorten_path
from secateur_tui.state.ledger_answer import ABSENT, LONGEST_BESIDE, LedgerAnswer, LedgerComparison
from secateur_tui.styled_text import (
    Line,
    Span,
    begin_sentence,
    clip_line,
    format_change,
    format_signed,
    line,
    spread_line,
    wrap_name,
    wrap_words,
)
from secateur_tui.widgets.listing import SORTED, CutLine, ItemListing, find_alike, label_columns
from secateur_tui.widgets.text_page import ItemText, text_lines
from secateur_tui.widgets.texts import NOTHING_CHANGED, draw_changes, draw_group

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


STATE_WORDS: Mapping[State, str] = {
    State.KEPT: "is sent as it came",
    State.SHORTENED: "is sent shortened",
    State.SUMMARISED: "is sent in a summary",
    State.DROPPED: "nothing of it is sent",
}

_LONGEST_LIST = 100
"""Items listed under one heading; the rest is counted."""


def draw_why(answer: LedgerAnswer[Any], item: int, cells: int, facts: Sequence[Line] = ()) -> list[Line]:
    """Draws the decision in words with its figures, then further facts."""
    entry = answer.entries[item]
    state = entry.state
    head = line(Span(f"{state.glyph} {state.label.upper()}", f"bold {state.label}"))
    figures = (
        f"{entry.before:,} → {entry.after:,} tokens" if entry.after != entry.before else f"{entry.before:,} tokens"
    )
    figure = line(figures if entry.after >= 0 else fewer_together(entry.after))
    lines = [spread_line(head, figure, cells), *wrap_name(entry.id, cells)]
    if {CHARS_BEFORE, CHARS_AFTER} <= entry.figures.keys():
        before, after = entry.figures[CHARS_BEFORE], entry.figures[CHARS_AFTER]
        lines.append(line(Span(f"{before:,} → {after:,} characters", "faint")))
    lines += wrap_words(visible(begin_sentence(answer.kind.describe(answer.outcome, item).because)), cells, state.label)
    if saved := entry.before - entry.after:
        share = abs(saved) / max(1, answer.ledger.before)
        lines.append(
            line(
                Span(f"{'saves' if saved > 0 else 'costs'} {abs(saved):,} tokens, {share:.1%} of what came in", "faint")
            )
        )
    if entry.redactions:
        lines += wrap_words(f"credentials taken out: {describe_redactions(entry.redactions)}", cells, "warning")
    return [clip_line(drawn, cells) for drawn in (*lines, (), *facts)]


def text_of(state: State, before: str, after: str) -> ItemText:
    """Returns what goes out of an item, then what came in if it differs."""
    head = line(Span(f"{state.glyph} {STATE_WORDS[state]}", state.label))
    if before == after:
        return ItemText(head, [*text_lines(before)])
    lines: list[Line] = []
    if after:
        lines += [line(Span("what is sent", "bold")), *text_lines(after), ()]
    if before:
        lines += [line(Span("came in", "bold")), *text_lines(before, "" if after else "faint")]
    return ItemText(head, lines)


def draw_diff(comparison: LedgerComparison | None, entry: str, before: str, after: str, cells: int) -> list[Line]:
    """Draws what changed since the baseline, then what pruning does to the entry at the cursor."""
    name = line(Span(shorten_path(visible(entry), cells), "bold"))
    changes = draw_changes(before, after, cells) if before != after else [line(Span(STATE_WORDS[State.KEPT], "faint"))]
    return [*draw_since(comparison, cells), (), name, *changes]


def draw_since(comparison: LedgerComparison | None, cells: int) -> list[Line]:
    """Draws what changed since the baseline."""
    if comparison is None:
        return [*NOTHING_CHANGED]
    then, now = comparison.then.ledger, comparison.now.ledger
    lines = [line(Span("tokens ", "faint"), format_change(then.after, now.after))]
    if then.budget != now.budget:
        lines.append(line(Span("budget ", "faint"), format_change(then.budget, now.budget)))
    groups: dict[str, list[int]] = {title: [] for title in _GROUPS}
    for item in comparison.moved:
        groups[_group_of(comparison, item)].append(item)

    def draw_move(item: int) -> Line:
        item_then, entry = comparison.place_then(item), comparison.now.entries[item]
        before = " " if item_then == ABSENT else comparison.then.entries[item_then].state.glyph
        head = f"{before}→{entry.state.glyph} {format_signed(comparison.count_gained(item)):>8} "
        return line(head, Span(shorten_path(visible(entry.id), max(1, cells - len(head)))))

    def draw_gone(item: int) -> Line:
        return line("   ", Span(shorten_path(visible(comparison.then.entries[item].id), max(1, cells - 3))))

    for title, role in _GROUPS.items():
        lines += draw_group(title, role, groups[title], draw_move, _LONGEST_LIST)
    lines += draw_group("there no longer", "down", comparison.vanished, draw_gone, _LONGEST_LIST)
    return lines if comparison.moved or comparison.vanished else [*lines, (), line(Span("the same is sent", "faint"))]


_GROUPS = {"kept again": "up", "new": "accent", "cut now": "down", "cut differently": "accent"}
"""Headings of what changed, with their roles."""


def _group_of(comparison: LedgerComparison, item: int) -> str:
    item_then = comparison.place_then(item)
    if item_then == ABSENT:
        return "new"
    then, now = comparison.then.entries[item_then].state, comparison.now.entries[item].state
    if then == now:
        return "cut differently"
    return "kept again" if now is State.KEPT else "cut now" if then is State.KEPT else "cut differently"
