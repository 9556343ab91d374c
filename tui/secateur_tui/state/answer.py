"""An answer of any kind as the inspector draws it, and the comparison of two answers. An answer is columns: no object
is made for an item that nobody looks at. Every state, name and figure is that of the engine's ledger.

    answer = ledger_answer(settings, outcome)
    answer.item_at(0), answer.entries[item], compare(baseline, answer).change_of(item)

A selection as the inspector shows it: an answer over the columns of its pool.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from secateur.kinds import registry
from secateur.kinds.base import Kind, Outcome
from secateur.kinds.search.kind import SearchDecision
from secateur.languages import language_of
from secateur.ledger import WRAPPER
from secateur.model import BoolArray, Entry, FloatArray, IntArray, Ledger, Reason, Selection, State
from secateur.settings import Settings

P = TypeVar("P")  # what the kind decided

States = npt.NDArray[np.int8]  # a State, or a Reason, per item

# Values per item by what a list can be filtered by, in the order in which that is offered; "" for none.
Facets = Mapping[str, Callable[[], Sequence[str]]]

LONGEST_BESIDE = 1_000  # characters of the text beside a name that are used: more than any list has room for
ABSENT = -1  # the number of an item that the other answer does not have
MOST_FOLDERS = 2  # folders of a path that filters use: deeper folders hold too few items
_LAST = np.iinfo(np.int64).max  # the position that stands for a missing position


class SameColumn:
    """A column as a cache key, equal to itself alone. What is derived from it serves the answer to the next step of a
    knob too, which has the same column. `of`: an answer that has it."""

    __slots__ = ("of", "values")

    def __init__(self, values: Sequence[str], of: Any = None) -> None:
        self.values, self.of = values, of

    def __hash__(self) -> int:
        return id(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameColumn) and self.values is other.values


@dataclass(eq=False, repr=False)
class ShownAnswer(Generic[P]):
    """See the module docstring. An item is the number of an entry of the ledger; a wrapper of no tokens is no item.

    Attributes:
        ids: as the ledger names it; it keeps this name under other settings.
        names: what a person calls it; may be empty.
        paths: the file that it is, or is in; "" for none.
        figures: what it can be sorted by.
        order: items in the order of the list.
        leaving: the items that leave, in the order they leave, without what stands around them.
        tokens: tokens that leave; at most these, as long as they are not `counted`.
        rank: its place in the order, from 1, 0 where that is not known; None: items have no ranks.
    """

    settings: Settings
    outcome: Outcome[P]
    ids: Sequence[str]
    names: Sequence[str]
    paths: Sequence[str]
    facets: Facets
    figures: Mapping[str, FloatArray]
    order: IntArray
    leaving: IntArray
    state: States
    reason: States
    before: IntArray
    after: IntArray
    tokens: int
    counted: bool = True
    rank: IntArray | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def ledger(self) -> Ledger:
        """The ledger of the outcome."""
        return self.outcome.ledger

    @property
    def entries(self) -> Sequence[Entry]:
        """The entry of each item."""
        return self.outcome.ledger.entries

    @property
    def kind(self) -> Kind[Any, P]:
        """The kind that decided."""
        return registry.get_kind(self.outcome.kind)

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """The item of a name."""
        return {name: item for item, name in enumerate(self.ids)}

    @cached_property
    def place(self) -> IntArray:
        """Line per item in the order of the list."""
        place = np.empty(len(self), dtype=np.int64)
        place[self.order] = np.arange(len(self))
        return place

    def item_at(self, line: int) -> int:
        """Returns the item of a line of the list."""
        return int(self.order[line])

    def line_of(self, item: int) -> int:
        """Returns the line of an item in the list."""
        return int(self.place[item])

    def state_of(self, item: int) -> State:
        """Returns the state of an item."""
        return State(int(self.state[item]))

    def reason_of(self, item: int) -> Reason:
        """Returns the reason of the decision on an item."""
        return Reason(int(self.reason[item]))

    @property
    def newest(self) -> int:
        """The last item that leaves; if nothing leaves, the last item."""
        leaving = np.flatnonzero(self.state != State.DROPPED)
        return next((item for item in leaving[::-1].tolist() if self.ids[item] != WRAPPER), len(self) - 1)

    @cached_property
    def most(self) -> tuple[int, int]:
        """Tokens of the largest item, and the most that are sent of one: they set the width of the figures' columns."""
        sent = int(self.after.max(initial=0))
        return max(sent, int(self.before.max(initial=0))), sent

    def entry_number(self, item: int) -> int | None:
        """Returns the number of the ledger's entry that an item shows; None: it shows the wrapper."""
        return item if item < len(self.entries) - 1 else None

    def item_of(self, entry: str) -> int | None:
        """Returns the item that shows an entry; None if no item shows it."""
        number = self.ledger.number_of.get(entry)
        return number if number is not None and number < len(self) and self.entry_number(number) is not None else None

    def called(self, item: int) -> str:
        """Returns the short name of an item: what has none is called as its file."""
        return self.names[item] or self.paths[item].rpartition("/")[2]

    def sought_names(self) -> Sequence[str]:
        """Returns the words by which a person looks for each item. May be slow."""
        names = []
        for item, name in enumerate(self.ids):
            entry_number = self.entry_number(item)
            beside = self.kind.describe(self.outcome, entry_number).beside if entry_number is not None else ""
            names.append(f"{name} {' '.join(beside[:LONGEST_BESIDE].split())}".strip())
        return names

    @lru_cache(maxsize=8)  # noqa: B019 - two answers are on the screen, and few older ones stay
    def codes(self, facet: str) -> tuple[Mapping[str, int], IntArray]:
        """Returns the values of a facet with a number for each, and the number per item."""
        numbers: dict[str, int] = {}
        return numbers, np.array(
            [numbers.setdefault(value, len(numbers)) for value in self.facets[facet]()], dtype=np.int64
        )

    def counts(self, facet: str, among: BoolArray) -> list[tuple[str, int]]:
        """Returns the values of a facet with how many items of a mask have each, the most frequent first."""
        numbers, column = self.codes(facet)
        counted = np.bincount(column[among], minlength=len(numbers)).tolist()
        counts = [(value, counted[code]) for value, code in numbers.items() if value and counted[code]]
        return sorted(counts, key=lambda count: (-count[1], count[0]))


def ledger_answer(
    settings: Settings,
    outcome: Outcome[P],
    order: Sequence[int] = (),
    *,
    paths: bool = False,
    facets: Facets = MappingProxyType({}),
    empty: bool = False,
) -> ShownAnswer[P]:
    """Returns the outcome of a kind whose ledger is a list of entries.

    Args:
        order: the first items as they are listed; the others follow in the ledger's order.
        paths: the ids of entries are paths.
        facets: what else they can be filtered by.
        empty: there are no items, only what stands around them.
    """
    ledger = outcome.ledger
    shown = [entry for entry in ledger.entries if entry.id != WRAPPER or entry.before or entry.after]
    entries = shown if not empty else []
    ids = [entry.id for entry in entries]
    before = np.array([entry.before for entry in entries], dtype=np.int64)
    after = np.array([entry.after for entry in entries], dtype=np.int64)
    state = np.array([entry.state for entry in entries], dtype=np.int8)
    reason = np.array([entry.reason for entry in entries], dtype=np.int8)
    positions = np.array([_LAST if entry.position is None else entry.position for entry in entries], dtype=np.int64)
    leaving = np.argsort(positions, kind="stable")
    figures = {"tokens": before, "tokens out": after, "saved": before - after}
    folders: Facets = {
        "language": lambda: [language_of(path) if path else "" for path in ids],
        "folder": partial(folders_of, SameColumn(ids)),
    }
    return ShownAnswer(
        settings,
        outcome,
        ids,
        ids,
        ids if paths else [""] * len(ids),
        {
            "state": partial(label_codes, State, state),
            **facets,
            **(folders if paths and any(ids) else {}),
            "reason": partial(label_codes, Reason, reason),
        },
        {name: figure.astype(np.float64) for name, figure in figures.items()},
        np.array([*order, *range(len(order), len(ids))], dtype=np.int64),
        leaving[(after[leaving] > 0) & (leaving < len(ledger.entries) - 1)],
        state,
        reason,
        before,
        after,
        ledger.after,
    )


@lru_cache(maxsize=2)
def folders_of(paths: SameColumn) -> list[str]:
    """Returns the folder of each path."""
    known = {path: folder_of(path) for path in dict.fromkeys(paths.values)}
    return [known[path] for path in paths.values]


def folder_of(path: str) -> str:
    """Returns the folder by which an item is filtered: the first MOST_FOLDERS of its path; "./" at the top."""
    if not path:
        return ""
    folders = path.split("/")[:-1][:MOST_FOLDERS]
    return "/".join(folders) + "/" if folders else "./"


def label_codes(names: type[State] | type[Reason], column: States) -> list[str]:
    """Returns the label of each state or reason of a column."""
    labels = {int(value): value.label.replace("_", " ") for value in names}
    return [labels[code] for code in column.tolist()]


@dataclass(frozen=True, eq=False)
class AnswerComparison:
    """`then` against `now`; columns are per item of `now`."""

    then: ShownAnswer[Any]
    now: ShownAnswer[Any]

    @cached_property
    def item_then(self) -> IntArray:
        """The same item in `then`; ABSENT for a new one."""
        return _match_items(self.now, self.then)

    def _then(self, column: npt.NDArray[Any]) -> IntArray:
        """Returns a column of `then` per item of `now`; 0, which is also the state "dropped", for a new item."""
        known = self.item_then != ABSENT
        then = np.zeros(len(self.now), dtype=np.int64)
        then[known] = column[self.item_then[known]]
        return then

    @cached_property
    def state_then(self) -> IntArray:
        """State then; a new item counts as dropped then."""
        return self._then(self.then.state)

    @cached_property
    def flipped(self) -> BoolArray:
        """True where the decision differs, or an item is new that no search found."""
        flipped: BoolArray = self.state_then != self.now.state
        return flipped if self.now.rank is not None else flipped | (self.item_then == ABSENT)

    @cached_property
    def gained(self) -> IntArray:
        """The difference in tokens that leave between now and then."""
        return self.now.after - self._then(self.then.after)

    @cached_property
    def climbed(self) -> IntArray:
        """Ranks gained (positive: up) since then; 0 for a new item, and where its rank then is not known."""
        if self.now.rank is None or self.then.rank is None:
            return np.zeros(len(self.now), dtype=np.int64)
        then = self._then(self.then.rank)
        return np.where(then > 0, then - self.now.rank, 0)

    def change_of(self, item: int) -> int | None:
        """Returns the ranks that an item gained, or the tokens where items have no ranks; None for a new item."""
        if self.item_then[item] == ABSENT:
            return None
        return int(self.gained[item] if self.now.rank is None else self.climbed[item])

    @cached_property
    def moved(self) -> Sequence[int]:
        """Items whose decision or tokens are others, in order."""
        moved: list[int] = np.flatnonzero(self.flipped | (self.gained != 0)).tolist()
        return moved

    @cached_property
    def vanished(self) -> Sequence[int]:
        """Items of `then` that are missing now; of what a search found, those that left then, the best first."""
        if self.then.ids is self.now.ids:
            return []
        gone = _match_items(self.then, self.now) == ABSENT
        if self.now.rank is None:
            return np.flatnonzero(gone).tolist()
        order = self.then.order
        return order[gone[order] & (self.then.state[order] != State.DROPPED)].tolist()  # type: ignore[no-any-return]

    @cached_property
    def flip_counts(self) -> Mapping[State, int]:
        """The items whose decision differs, counted by their state now."""
        states = self.now.state[self.flipped]
        return {state: count for state in State if (count := int((states == state).sum()))}

    @cached_property
    def same(self) -> bool:
        """Tells whether the same goes out, in the same order."""
        return len(self.then) == len(self.now) and not (self.moved or self.climbed.any() or self.vanished)


def _match_items(here: ShownAnswer[Any], there: ShownAnswer[Any]) -> IntArray:
    """For each item of `here`, the same item of `there`, or ABSENT."""
    if here.ids is there.ids:
        return np.arange(len(here), dtype=np.int64)
    place_of = there.place_of
    return np.fromiter((place_of.get(name, ABSENT) for name in here.ids), dtype=np.int64, count=len(here))


@lru_cache(maxsize=2)
def compare(then: ShownAnswer[Any], now: ShownAnswer[Any]) -> AnswerComparison:
    """Returns the same object for the same pair, so that a comparison is worked out once: for the answer on screen, and
    for the one that is being decided."""
    return AnswerComparison(then, now)


class SearchAnswer(ShownAnswer[SearchDecision]):
    """A selection and the settings it was decided with. An item is a row of its pool."""

    @classmethod
    def of(cls, settings: Settings, outcome: Outcome[SearchDecision]) -> SearchAnswer:
        """Returns the answer; its tokens are a bound until they are counted."""
        selection = outcome.payload.selection
        pool = selection.pool
        facets: Facets = {
            "state": partial(label_codes, State, selection.state),
            "kind": lambda: pool.kind,
            "language": lambda: pool.language,
            "folder": partial(folders_of, SameColumn(pool.path)),
            "reason": partial(label_codes, Reason, selection.reason),
        }
        figures: dict[str, FloatArray] = {
            "tokens": pool.tokens.astype(np.float64),
            "priority": selection.priority,
            "relevance": pool.relevance,
            "hotspot": pool.hotspot,
            "distance": np.where(pool.distance > 0, 1 / np.maximum(pool.distance, 1), 0.0),
            **({"preference": pool.preference} if pool.preference.any() else {}),
        }
        return cls(
            settings,
            outcome,
            pool.symbol_id,
            pool.qualname,
            pool.path,
            facets,
            figures,
            selection.order,
            np.array(selection.pack_rows, dtype=np.int64),
            selection.state,
            selection.reason,
            pool.tokens,
            selection.tokens_after,
            selection.used + selection.last_line,
            counted=False,
            rank=selection.rank,
        )

    @property
    def selection(self) -> Selection:
        """The decisions on the candidates."""
        return self.outcome.payload.selection

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        return self.selection.pool.row_of

    def sought_names(self) -> Sequence[str]:
        return self.names

    @property
    def ordered_by(self) -> str:
        """The name of the score that the candidates are ordered by."""
        strategy, short = self.selection.strategy, self.selection.pool.short_query
        return "priority" if strategy == "density" and short else strategy

    def count(self) -> None:
        """Counts the tokens of the pack. Slow; reads the texts."""
        self.tokens, self.counted = self.ledger.after, True

    @cached_property
    def highest(self) -> float:
        """The highest priority: the length of a full bar."""
        return float(self.selection.priority.max()) if len(self) else 0.0


def query_terms(answer: Any) -> Collection[str]:
    """Returns the words that the items were looked for by, as the search counts them; none where nothing was."""
    terms: Mapping[str, Any] = answer.selection.pool.facts.get("terms", {}) if isinstance(answer, SearchAnswer) else {}
    return terms.keys()
