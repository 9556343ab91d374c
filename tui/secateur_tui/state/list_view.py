"""The part of the items of an answer that a list shows, and their order.

A `ListView` never changes what was decided: it is the answer's own order with some lines left out, or sorted by a
figure. Items that are equal in what a list is sorted by stay in the answer's order.

    view = make_view(answer, ListChoice((("state", "dropped"),), by="hotspot"))
    view.item_at(0), view.line_of(item), view.caption
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from operator import ne
from typing import Any, Protocol

import numpy as np
from secateur.model import BoolArray, IntArray

from secateur_tui.state.answer import SameColumn, ShownAnswer

LIST_ORDER = ""  # the name of the answer's own order
HIDDEN = -1  # the line of an item that the list does not show


@lru_cache(maxsize=2)
def _alphabetical(names: SameColumn, ids: SameColumn) -> IntArray:
    folded = [(name or id_).casefold() for name, id_ in zip(names.values, ids.values, strict=True)]
    order = sorted(range(len(folded)), key=folded.__getitem__)  # names come in runs, which a set would scatter
    ranked = [folded[item] for item in order]
    places = np.zeros(len(folded), dtype=np.int64)
    places[order[1:]] = np.cumsum(np.fromiter(map(ne, ranked[1:], ranked), dtype=np.int64, count=len(ranked[1:])))
    return places


@dataclass(frozen=True, slots=True)
class ListChoice:
    """The part of a list that is wanted, and its order.

    Attributes:
        filters: facet and value; of two values of one facet either may hold, of two facets both have to.
        by: a figure, largest first; NAME; or LIST_ORDER.
    """

    filters: tuple[tuple[str, str], ...] = ()
    by: str = LIST_ORDER

    @property
    def plain(self) -> bool:
        """Tells whether the whole list is shown in its own order."""
        return not self.filters and self.by == LIST_ORDER

    def toggle(self, facet: str, value: str) -> ListChoice:
        """Returns the choice with a filter, or without it where it is on."""
        chosen = facet, value
        rest = tuple(other for other in self.filters if other != chosen)
        return replace(self, filters=rest if chosen in self.filters else (*rest, chosen))


WHOLE = ListChoice()  # the whole list in its own order


class ListedItems(Protocol):
    """Items as a list shows them, by line."""

    def __len__(self) -> int: ...

    def item_at(self, line: int) -> int:
        """Returns the item of a line of the list."""

    def line_of(self, item: int) -> int:
        """Returns the line of an item in the list."""


@dataclass(frozen=True, eq=False)
class ListView:
    """Items as a list shows them."""

    items: IntArray
    of: int  # how many there are
    choice: ListChoice = field(default_factory=ListChoice)

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def _lines(self) -> IntArray:
        lines = np.full(self.of + 1, HIDDEN, dtype=np.int64)
        lines[self.items] = np.arange(len(self.items))
        return lines

    def item_at(self, line: int) -> int:
        """Returns the item of a line."""
        return int(self.items[line])

    def line_of(self, item: int) -> int:
        """Returns the line of an item; HIDDEN where the list does not show it."""
        return int(self._lines[item])

    @property
    def caption(self) -> str:
        """The caption of what is shown: "12 of 156 · state: dropped · by hotspot"; "" for all."""
        if self.choice.plain:
            return ""
        facets: dict[str, list[str]] = {}
        for facet, value in self.choice.filters:
            facets.setdefault(facet, []).append(value)
        parts = [f"{len(self):,} of {self.of:,}"]
        parts += [f"{facet}: {' or '.join(values)}" for facet, values in facets.items()]
        parts += [f"by {self.choice.by}"] if self.choice.by != LIST_ORDER else []
        return " · ".join(parts)


NAME = "name"  # the order by name


def make_view(answer: ShownAnswer[Any], choice: ListChoice) -> ListView:
    """Returns the items of a choice in its order. A filter or order that the answer does not have changes nothing."""
    items = answer.order[filter_items(answer, choice)[answer.order]]
    if choice.by == NAME:
        places = _alphabetical(SameColumn(answer.names), SameColumn(answer.ids))
        items = items[np.argsort(places[items], kind="stable")]
    elif choice.by in answer.figures:
        items = items[np.argsort(-answer.figures[choice.by][items], kind="stable")]
    return ListView(items, len(answer), choice)


def filter_items(answer: ShownAnswer[Any], choice: ListChoice) -> BoolArray:
    """True for the items that pass all filters."""
    passing = np.ones(len(answer), dtype=np.bool_)
    for facet in dict.fromkeys(facet for facet, _ in choice.filters if facet in answer.facets):
        numbers, column = answer.codes(facet)
        wanted = [numbers.get(value, -1) for other, value in choice.filters if other == facet]
        passing &= np.isin(column, wanted)
    return passing


def find_nearest(answer: ShownAnswer[Any], view: ListView, item: int) -> int | None:
    """Returns the item that the cursor goes to: its own where it is shown, else the shown one nearest to it in the
    list's own order; None where nothing is shown."""
    if not len(view):
        return None
    if 0 <= item < len(answer) and view.line_of(item) != HIDDEN:
        return item
    line = int(answer.place[item]) if 0 <= item < len(answer) else 0
    return int(view.items[np.argmin(np.abs(answer.place[view.items] - line))])


def find_next(view: ListView, item: int, wanted: BoolArray, step: int = 1) -> int | None:
    """Returns the next item of a mask after `item` in the list, or the previous one (`step` -1); from the end it goes
    on at the other end. None where the list shows none but `item` itself."""
    lines = np.flatnonzero(wanted[view.items])
    if not len(lines):
        return None
    at = view.line_of(item)
    ahead = lines[lines > at] if step > 0 else lines[lines < at]
    line = (ahead[0] if step > 0 else ahead[-1]) if len(ahead) else (lines[0] if step > 0 else lines[-1])
    item_found = view.item_at(int(line))
    return None if item_found == item else item_found
