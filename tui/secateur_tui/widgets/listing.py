"""The content of a list, whatever the kind of context: items in an order, each with a cell in every declared column,
and where in this order the budget ends."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from os.path import commonprefix
from typing import Any, ClassVar, NamedTuple

import numpy as np
from secateur.kinds.knobs import Steer
from secateur.ledger import WRAPPER, Entry
from secateur.model import Reason, State
from secateur.render.page import count_noun, fewer_together
from secateur.terminal import cell_width, visible

from secateur_tui.glossary import SIGNS
from secateur_tui.short_names import (
    NAME,
    PLACE,
    Label,
    ListColumn,
    ListLayout,
    fit_path,
    measure_nearly_all,
    measure_usual,
    sample_items,
    shorten_label,
    shorten_shared,
)
from secateur_tui.state.answer import LONGEST_BESIDE, AnswerComparison, SameColumn, ShownAnswer
from secateur_tui.styled_text import Line, Span, choose_fitting, clip_line, format_signed, line, plain, width

_GAP = Span(" ")
# Cells of the two columns: the least, the most, and the most with room to spare. A longer name takes cells of the place
# behind it.
_NAME_CELLS, _PLACE_CELLS = (8, 24, 44), (6, 22, 70)

# The least cells of the column of places, and of a place behind a long name; with fewer it is left out.
_LEAST_COLUMN, _LEAST_PLACE = 14, 6


_NUMBER = re.compile(r":[0-9]+$")  # matches the line number behind a path, which is dropped before the path is cut


SORTED = "▾"  # stands behind the title of the column that the list is ordered by


@dataclass(frozen=True, slots=True)
class Crossing:
    """Items that cross the cut when the budget changes by a step; proven by a re-run of the engine."""

    by: int  # tokens more or less
    keeps: Sequence[str] = ()  # names of what goes out then and does not now
    loses: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CutLine:
    """The line of a list where the budget ends."""

    above: int  # items above it: of them whatever may leave leaves
    budget: int
    below: int  # items below it that leave all the same, because they are smaller
    crossings: Sequence[Crossing] = ()


class Between(NamedTuple):
    """A line between the items of a list."""

    above: int  # items above it
    draw: Callable[[int], Line]


SAVED = "saved"  # the figure of an order that has no column of its own

# By figure the columns that show it, the first that a list has.
_COLUMNS_OF = {"tokens": ("in", "tokens"), "tokens out": ("out", "tokens"), SAVED: (SAVED,)}

LEAST_FIGURE = 5  # the least width of a column of tokens
_WITHOUT_ROOM = (Reason.NO_ROOM, Reason.SIGNATURE)  # reasons of items that would leave whole under a larger budget
_COMPARED = 1_000  # labels that are compared: all of a search in most repositories


LabelOf = Callable[[Any, int], Label]  # returns what an item of an answer is called


class ItemListing:
    """See the module docstring. An item is an item of the answer. A kind with columns of its own has a subclass.

    Args:
        comparison: of the answer with the baseline.
        crossings: what crosses the cut.
        sorted_by: what the list is sorted by; "" for the answer's own order. The title that says so is marked.
    """

    titles: ClassVar[tuple[str, str]] = ("name", "")  # of the columns of names and places
    spends_in_order: ClassVar[bool] = False  # items are listed in the order in which the budget is spent
    ordered_by: ClassVar[str] = NAME  # the column that tells of the list's own order
    overruled: Callable[[int], Steer | None] | None = None  # how the settings overrule an item
    of_workspace = False  # paths begin with the name of a repository

    def __init__(
        self,
        answer: ShownAnswer[Any],
        comparison: AnswerComparison | None = None,
        crossings: Sequence[Crossing] = (),
        sorted_by: str = "",
    ) -> None:
        self.answer: Any = answer
        self.comparison, self.sorted_by = comparison, sorted_by
        self.columns, cut = self.make_columns(), _find_cut(answer) if self.spends_in_order else None
        self.cut = replace(cut, crossings=crossings) if cut is not None else None

    def make_columns(self) -> Sequence[ListColumn]:
        """Returns the columns, from left to right, that which orders the list marked."""
        return mark_order(self.list_columns(), self.sorted_by or self.ordered_by)

    def list_columns(self) -> Sequence[ListColumn]:
        """Returns the columns, from left to right."""
        answers = (self.answer, self.comparison.then) if self.comparison is not None else (self.answer,)
        figure, sent = (
            max(LEAST_FIGURE, len(f"{max(most):,}")) for most in zip(*(a.most for a in answers), strict=True)
        )
        return (
            ListColumn.fixed("delta", "Δ", sent + 1, 4),
            ListColumn.fixed("state", "", 2, 0),
            *measure_labels(self.label_of, self.titles, SameColumn(self.answer.ids, self.answer)),
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
        """Returns what an item of the list is called."""
        return self.label_of(self.answer, item)

    def alike(self, name: int, place: int) -> Mapping[str, int]:
        """Returns `find_alike` of the labels in these cells."""
        return _alike_in(self.label_of, SameColumn(self.answer.ids, self.answer), name, place)

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:  # noqa: ARG002 - columns of subclasses use it
        """Returns the cell of an item in a column that not all lists have; it is padded where it is shorter."""
        before, after = int(self.answer.before[item]), self.after(item)
        if column.id == SAVED:
            return line(f"{before - after:,}")
        if column.id == "in":
            return line(f"{before:,}")
        if after < 0:
            return ()  # its name says it
        return line(f"{after:,}" if after != before else "·")

    def draw_cell(self, item: int, column: ListColumn, cells: int) -> Line:
        """Returns the cell of an item in any column but those of the label."""
        if column.id not in ("delta", "state"):
            return self.cell(item, column, cells)
        if column.id == "delta":
            change = self.comparison.change_of(item) if self.comparison is not None else 0
            if change is None:
                return line(Span("new", "up"))
            return line(Span(self.change_words(change), "up" if change > 0 else "down")) if change else ()
        state, flipped = self.answer.state_of(item), self.comparison is not None and self.comparison.flipped[item]
        how = self.overruled(item) if self.overruled is not None else None
        return Span(
            SIGNS[how] if how is not None else "!" if flipped else " ", "warning" if flipped else "accent"
        ), Span(state.glyph, state.label)

    def after(self, item: int) -> int:
        """Returns the tokens that leave of an item."""
        return int(self.answer.after[item])

    def change_words(self, change: int) -> str:
        """Returns what an item gained since the baseline, or lost, in words."""
        return format_signed(change)

    def describe_item(self, item: int) -> str:
        """Returns an item in a few words: its name, and the tokens that leave of it."""
        after = self.after(item)
        if after < 0:
            return fewer_together(after)
        return f"{self.label(item).name} {count_noun(after, 'token') if after else 'is not sent'}"

    @property
    def between(self) -> Sequence[Between]:
        """The lines between the items, in their order: where the budget ends, or headings."""
        return [Between(self.cut.above, partial(draw_cut, self.cut))] if self.cut is not None else []


@lru_cache(maxsize=2)
def _find_cut(answer: ShownAnswer[Any]) -> CutLine | None:
    reason, state = answer.reason[answer.order], answer.state[answer.order]
    short = np.flatnonzero(np.isin(reason, _WITHOUT_ROOM))
    if not len(short):
        return None
    above = int(short[0])
    # a pin is no matter of size
    below = (state[above:] != State.DROPPED) & ~np.isin(reason[above:], (Reason.PINNED, Reason.WRAPPER))
    return CutLine(above, answer.ledger.budget, int(below.sum()))


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


def mark_order(columns: Sequence[ListColumn], by: str) -> Sequence[ListColumn]:
    """Returns the columns with a mark in the title of what orders the list: a column, or a figure. A figure without a
    column takes the place of the last one."""
    known = [column.id for column in columns]
    if not (marked := next((id_ for id_ in _COLUMNS_OF.get(by, (by,)) if id_ in known), "")):
        last = columns[-1]
        figure = replace(last, id=by, title=by, least=max(last.least, len(by) + 1), wants=max(last.wants, len(by) + 1))
        columns, marked = (*columns[:-1], figure), by
    return [replace(column, title=column.title + SORTED) if column.id == marked else column for column in columns]


@lru_cache(maxsize=4)
def measure_labels(label_of: LabelOf, titles: tuple[str, str], ids: SameColumn) -> tuple[ListColumn, ListColumn]:
    """Returns the columns of names and places of an answer with these ids, as wide as most of its labels need. They are
    measured once, a list is painted often."""
    items = (item for item in sample_items(len(ids.values)) if ids.of.entry_number(item) is not None)
    sample = [label_of(ids.of, item) for item in items]
    names, most = measure_usual([label.name for label in sample], *_NAME_CELLS)
    least, wanted, longest = _PLACE_CELLS
    shown = [label.place for label in sample]
    places, _ = measure_usual(shown, least, wanted, longest)
    spare = measure_nearly_all(shown, places, longest)
    name_column = ListColumn(NAME, titles[0], 1, names, 1, most=most)
    return name_column, ListColumn(PLACE, titles[1], min(places, _LEAST_COLUMN), places, 6, most=spare)


@lru_cache(maxsize=4)
def _alike_in(label_of: LabelOf, ids: SameColumn, name: int, place: int) -> Mapping[str, int]:
    items = (item for item in sample_items(len(ids.values), _COMPARED) if ids.of.entry_number(item) is not None)
    return find_alike((label_of(ids.of, item) for item in items), name, place)


def draw_titles(layout: ListLayout) -> Line:
    """Draws titles of the columns."""
    spans = [Span(" ")]
    for column in layout.columns:
        title = line(Span(column.title, "faint"))
        spans += [Span(" "), *_pad_line(title, layout.cells[column.id], column.right)]
    return tuple(spans[1:])


def draw_row(listing: ItemListing, item: int, layout: ListLayout) -> Line:
    """Draws one item in these columns; a blank for the cursor comes first. A name takes the cells of its place where it
    needs them."""
    label, cells = listing.label(item), layout.cells
    tone = "faint" if listing.answer.state[item] == State.DROPPED else ""  # of text that has no role of its own
    spans: list[Span] = []
    for column in layout.columns:
        id_, room = column.id, cells[column.id]
        if id_ == NAME:
            place = cells[PLACE] if layout.joined else 0
            alike = listing.alike(room, place)
            shared = alike.get(_told(label, room, place), 0) if alike else 0
            spans += (_GAP, *draw_label(label, room, place, tone, shared))
        elif id_ == PLACE and layout.joined:
            continue
        elif id_ == PLACE:
            spans += (_GAP, *_pad_line(_draw_place(label, room), room))
        else:
            own = listing.draw_cell(item, column, room)
            if tone and id_ not in ("delta", "state"):  # the bars of what stays out are as quiet as its words
                own = tuple(Span(span.text, tone) for span in own)
            spans += (_GAP, *_pad_line(own, room, column.right))
    return tuple(spans)


def draw_label(label: Label, name: int, place: int, tone: str = "", shared: int = 0) -> Line:
    """Draws a name and, dim behind it, its place, in these cells and a gap; without one where `place` is 0.

    Args:
        shared: characters of the text that others which would look the same have too, see `find_alike`; 0: none does.
    """
    whole = name + (1 + place if place else 0)
    number = _NUMBER.search(label.place) if shared and not label.prose else None
    end = number[0] if number is not None else ""
    taken = max(name, min(cell_width(label.name + end), whole))
    rest = whole - taken - 1
    drawn = _pad_line((Span(shorten_label(label.name, taken - len(end)) + end, tone),), taken)
    return drawn if rest < 0 else (*drawn, Span(" "), *_pad_line(_draw_place(label, rest, shared), rest))


def find_alike(labels: Iterable[Label], name: int, place: int) -> Mapping[str, int]:
    """Returns what several different labels would look like in these cells, with the characters that their texts have
    in common."""
    texts: dict[str, list[str]] = {}
    for label in dict.fromkeys(labels):
        texts.setdefault(_told(label, name, place), []).append(label.place if label.prose else label.name)
    alike = {told: same for told, same in texts.items() if len(same) > 1 and told.strip()}
    return {told: max(1, len(commonprefix(same))) for told, same in alike.items()}  # noqa: RUF071 - of any text


def _told(label: Label, name: int, place: int) -> str:
    drawn = plain(draw_label(label, name, place))
    return drawn[name:] if label.prose else drawn


def _draw_place(label: Label, cells: int, shared: int = 0) -> Line:
    if cells < min(_LEAST_PLACE, cell_width(label.place)):
        return ()
    if label.prose:
        return (Span(shorten_shared(label.place, cells, shared), "faint"),)
    text = _cut_place(label.place, cells)
    if label.repository and text != label.place:
        first = f"{label.repository}/"
        room = cells - cell_width(first)
        own = _cut_place(label.place.removeprefix(first), room) if room >= _LEAST_PLACE else ""
        text = first + own if own else text
    return (Span(text, "faint"),) if text else ()


def _cut_place(place: str, cells: int) -> str:
    return fit_path(place, cells) or fit_path(_NUMBER.sub("", place), cells)


def _pad_line(drawn: Line, cells: int, right: bool = False) -> Line:
    used = cell_width(drawn[0].text) if len(drawn) == 1 else width(drawn)
    if used == cells:
        return drawn
    if used > cells:
        return clip_line(drawn, cells)
    blank = Span(" " * (cells - used))
    return (blank, *drawn) if right else (*drawn, blank)


def draw_cut(cut: CutLine, cells: int) -> Line:
    """Draws the line where the budget ends, and what crosses it; fewer words where there is less room."""
    budget = Span(f"cut at {cut.budget:,}", "bold accent")
    below = [f" · {cut.below:,} below still fit{'s' if cut.below == 1 else ''}"] if cut.below else []
    whole, brief = ([_tell_crossing(crossing, fully) for crossing in cut.crossings] for fully in (True, False))
    variants = [
        (budget, *(Span(part, "accent") for part in (*start, *end)))
        for crossings in (whole, whole[:1], brief[:1], ())
        for end in [[part for at, told in enumerate(crossings) for part in (" · " if at else " ── ", told)]]
        for start in (below, [])
    ]
    inner = choose_fitting([(Span(" "), *variant, Span(" ")) for variant in variants], max(1, cells - 6))
    rule = max(0, cells - 4 - width(inner))
    return clip_line((Span(" ", ""), Span("───", "accent"), *inner, Span("─" * rule, "accent")), cells)


def _tell_crossing(crossing: Crossing, whole: bool) -> str:
    words = []
    for verb, names in (("keeps", crossing.keeps), ("loses", crossing.loses)):
        if names:
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            words.append(f"{verb} {visible(names[0])}{more}" if whole else f"{verb} {len(names):,}")
    return f"{format_signed(crossing.by)} {', '.join(words) or 'changes nothing'}"
