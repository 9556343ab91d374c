"""The items of an answer of any kind as columns, and the part and order of them that a list shows.

A `ListView` never changes what was decided: it is the answer's own order with some lines left out, or sorted by a
figure. Items that are equal in what a list is sorted by stay in the answer's order.

    columns = columns_of(answer, comparison)
    view = listed_view(columns, ListChoice((("state", "dropped"),), by="hotspot"))
    view.item_at(0), view.line_of(item), view.caption
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from operator import ne
from types import MappingProxyType
from typing import Any

import numpy as np
from secateur.languages import language_of
from secateur.model import BoolArray, Entry, FloatArray, IntArray, Reason, Selection, State

LIST_ORDER = "list"
"""The name of the answer's own order."""

MOST_FOLDERS = 2
"""Folders of a path that filters use: deeper folders hold too few items."""

HIDDEN = -1
"""The line of an item that the list does not show."""


class SameColumn:
    """A column as a cache key, equal to itself alone. What is derived from it serves the answer to the next step of a
    knob too, which has the same column."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values

    def __hash__(self) -> int:
        return id(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameColumn) and self.values is other.values


@lru_cache(maxsize=2)
def _alphabetical(names: SameColumn, ids: SameColumn) -> IntArray:
    """Returns per item the place of its name in the alphabet; equal names have one place."""
    folded = [(name or id_).casefold() for name, id_ in zip(names.values, ids.values, strict=True)]
    order = sorted(range(len(folded)), key=folded.__getitem__)  # names come in runs, which a set would scatter
    ranked = [folded[item] for item in order]
    places = np.zeros(len(folded), dtype=np.int64)
    places[order[1:]] = np.cumsum(np.fromiter(map(ne, ranked[1:], ranked), dtype=np.int64, count=len(ranked[1:])))
    return places


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """The items of one answer. An item is its number in the columns.

    Attributes:
        ids: as the ledger names it.
        names: what a person calls it; may be empty.
        paths: the file it is in; "" for none.
        facets: what it can be filtered by, in the order in which that is offered; "" for none. Made when asked for.
        figures: what it can be sorted by.
        order: items in the order of the list.
        state: State per item.
        changed: whether its decision differs from the baseline.
    """

    ids: Sequence[str]
    names: Sequence[str]
    paths: Sequence[str]
    facets: Mapping[str, Callable[[], Sequence[str]]]
    figures: Mapping[str, FloatArray]
    order: IntArray
    state: np.ndarray[Any, np.dtype[np.int8]]
    changed: BoolArray

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def place(self) -> IntArray:
        """Line per item in the order of the list."""
        place = np.empty(len(self), dtype=np.int64)
        place[self.order] = np.arange(len(self))
        return place

    @cached_property
    def _codes(self) -> dict[str, tuple[dict[str, int], IntArray]]:
        return {}

    def codes(self, facet: str) -> tuple[Mapping[str, int], IntArray]:
        """Returns the values of a facet with a number for each, and the number per item; worked out when first asked
        for."""
        if facet not in self._codes:
            numbers: dict[str, int] = {}
            column = np.array(
                [numbers.setdefault(value, len(numbers)) for value in self.facets[facet]()], dtype=np.int64
            )
            self._codes[facet] = numbers, column
        return self._codes[facet]

    def counts(self, facet: str, among: BoolArray) -> list[tuple[str, int]]:
        """Returns the values of a facet with how many items of a mask have each, the most frequent first."""
        numbers, column = self.codes(facet)
        counted = np.bincount(column[among], minlength=len(numbers)).tolist()
        counts = [(value, counted[code]) for value, code in numbers.items() if value and counted[code]]
        return sorted(counts, key=lambda count: (-count[1], count[0]))


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


WHOLE = ListChoice()
"""The whole list in its own order."""


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


NAME = "name"
"""The order by name."""


def make_view(columns: ItemColumns, choice: ListChoice) -> ListView:
    """Returns the items of a choice in its order. A filter or an order that the columns do not have changes nothing."""
    items = columns.order[filter_items(columns, choice)[columns.order]]
    if choice.by == NAME:
        places = _alphabetical(SameColumn(columns.names), SameColumn(columns.ids))
        items = items[np.argsort(places[items], kind="stable")]
    elif choice.by in columns.figures:
        items = items[np.argsort(-columns.figures[choice.by][items], kind="stable")]
    return ListView(items, len(columns), choice)


def filter_items(columns: ItemColumns, choice: ListChoice) -> BoolArray:
    """True for the items that pass all filters."""
    passing = np.ones(len(columns), dtype=np.bool_)
    for facet in dict.fromkeys(facet for facet, _ in choice.filters if facet in columns.facets):
        numbers, column = columns.codes(facet)
        wanted = [numbers.get(value, -1) for other, value in choice.filters if other == facet]
        passing &= np.isin(column, wanted)
    return passing


def find_nearest(columns: ItemColumns, view: ListView, item: int) -> int | None:
    """Returns the item that the cursor goes to: its own where it is shown, else the shown one nearest to it in the
    list's own order; None where nothing is shown."""
    if not len(view):
        return None
    if 0 <= item < len(columns) and view.line_of(item) != HIDDEN:
        return item
    line = int(columns.place[item]) if 0 <= item < len(columns) else 0
    return int(view.items[np.argmin(np.abs(columns.place[view.items] - line))])


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


def folder_of(path: str) -> str:
    """Returns the folder by which an item is filtered: the first MOST_FOLDERS of its path; "./" at the top."""
    if not path:
        return ""
    folders = path.split("/")[:-1][:MOST_FOLDERS]
    return "/".join(folders) + "/" if folders else "./"


def search_columns(selection: Selection, changed: BoolArray | None = None) -> ItemColumns:
    """Returns the candidates of a selection. `changed` is of the comparison with the baseline."""
    pool = selection.pool
    return ItemColumns(
        ids=pool.symbol_id,
        names=pool.qualname,
        paths=pool.path,
        facets={
            "state": partial(_labels, State, selection.state),
            "kind": lambda: pool.kind,
            "language": lambda: pool.language,
            "folder": partial(_folders, SameColumn(pool.path)),
            "reason": partial(_labels, Reason, selection.reason),
        },
        figures=figures_of(selection),
        order=selection.order,
        state=selection.state,
        changed=np.zeros(len(pool), dtype=np.bool_) if changed is None else changed,
    )


@lru_cache(maxsize=2)
def figures_of(selection: Selection) -> dict[str, FloatArray]:
    """Returns the figures that the candidates of a selection can be sorted by."""
    pool = selection.pool
    return {
        "tokens": pool.tokens.astype(np.float64),
        "priority": selection.priority,
        "relevance": pool.relevance,
        "hotspot": pool.hotspot,
        "distance": np.where(pool.distance > 0, 1 / np.maximum(pool.distance, 1), 0.0),
        **({"preference": pool.preference} if pool.preference.any() else {}),
    }


def ledger_columns(
    entries: Sequence[Entry],
    order: Sequence[int] = (),
    changed: Sequence[int] = (),
    paths: Sequence[str] = (),
    facets: Mapping[str, Callable[[], Sequence[str]]] = MappingProxyType({}),
) -> ItemColumns:
    """Returns the entries of a ledger.

    Args:
        order: items as they are listed; empty: in the ledger's order.
        changed: items whose decision differs from the baseline.
        paths: the file each is in; empty: none.
        facets: what else they can be filtered by.
    """
    before = np.array([entry.before for entry in entries], dtype=np.float64)
    after = np.array([entry.after for entry in entries], dtype=np.float64)
    differs = np.zeros(len(entries), dtype=np.bool_)
    differs[list(changed)] = True
    state = np.array([entry.state for entry in entries], dtype=np.int8)
    places: dict[str, Callable[[], Sequence[str]]] = {
        "language": lambda: [language_of(path) if path else "" for path in paths],
        "folder": partial(_folders, SameColumn(paths)),
    }
    ids = [entry.id for entry in entries]
    return ItemColumns(
        ids=ids,
        names=ids,
        paths=paths or [""] * len(ids),
        facets={
            "state": partial(_labels, State, state),
            **facets,
            **(places if any(paths) else {}),
            "reason": lambda: [entry.reason.label.replace("_", " ") for entry in entries],
        },
        figures={"tokens": before, "tokens out": after, "saved": before - after},
        order=np.array(order if len(order) else range(len(ids)), dtype=np.int64),
        state=state,
        changed=differs,
    )


@lru_cache(maxsize=2)
def _folders(paths: SameColumn) -> list[str]:
    known = {path: folder_of(path) for path in dict.fromkeys(paths.values)}
    return [known[path] for path in paths.values]


def _labels(names: type[State] | type[Reason], column: np.ndarray[Any, np.dtype[np.int8]]) -> list[str]:
    labels = {int(value): value.label.replace("_", " ") for value in names}
    return [labels[code] for code in column.tolist()]
