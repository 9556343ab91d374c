"""A ledger as the inspector draws it, and the comparison of two ledgers. Every state, reason, name and figure is
that of an entry of the engine's ledger, or a sum of such figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from secateur.kinds import registry
from secateur.kinds.base import Kind, Outcome
from secateur.ledger import WRAPPER
from secateur.model import Entry, Ledger, Notice, Reason, State
from secateur.settings import Settings
from secateur_lab.scenarios.running import decided_of

from secateur_tui.state.list_view import ItemColumns, ledger_columns

P = TypeVar("P")  # what the kind decided

LONGEST_BESIDE = 1_000
"""Characters of the text beside a name that are used: more than any list has room for."""

ABSENT = -1
"""The number of an item that the other answer does not have."""


class Sum(NamedTuple):
    """The number of items of one state, and their tokens."""

    items: int = 0
    before: int = 0
    after: int = 0


@dataclass(frozen=True, eq=False)
class LedgerAnswer(Generic[P]):
    """The outcome of a kind of context under `settings`, and its ledger. An item is the number of an entry."""

    settings: Settings
    ledger: Ledger
    outcome: Outcome[P]  # None for recorded decisions: only what changed since them is drawn
    warnings: tuple[Notice, ...] = ()
    order: Sequence[int] = ()  # items as they are listed; empty: in the ledger's order
    paths: Sequence[str] = ()  # the file that each item is, or is in; empty: items are in no file
    facets: Mapping[str, Callable[[], Sequence[str]]] = field(default_factory=dict)  # further filters
    reserve: int = 0  # tokens that are kept free for the answer of a model

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """The entry of each item: all of the ledger's but a wrapper of no tokens, which stands last."""
        return [entry for entry in self.ledger.entries if entry.id != WRAPPER or entry.before or entry.after]

    @cached_property
    def ids(self) -> Sequence[str]:
        """The name of each item, which it keeps under other settings."""
        return [entry.id for entry in self.entries]

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """The item of a name."""
        return {name: item for item, name in enumerate(self.ids)}

    def item_at(self, line: int) -> int:
        """Returns the item of a line of the list."""
        return self.order[line] if self.order else line

    @cached_property
    def _lines(self) -> Mapping[int, int]:
        return {item: line for line, item in enumerate(self.order)}

    def line_of(self, item: int) -> int:
        """Returns the line of an item in the list."""
        return self._lines[item] if self.order else item

    @cached_property
    def newest(self) -> int:
        """The last item that leaves; if nothing leaves, the last item."""
        leaving = (item for item in reversed(range(len(self))) if self.entries[item].state != State.DROPPED)
        return next((item for item in leaving if self.ids[item] != WRAPPER), len(self) - 1)

    @cached_property
    def sums(self) -> Mapping[State, Sum]:
        """Items and tokens of each state; the tokens sum to those of the ledger."""
        return sum_states(self.entries)

    @cached_property
    def most(self) -> int:
        """Tokens of the largest item: they set the width of the figures' columns."""
        return max((max(entry.before, entry.after) for entry in self.entries), default=0)

    @cached_property
    def most_sent(self) -> int:
        """The most tokens that are sent of an entry."""
        return max((entry.after for entry in self.entries), default=0)

    def state_of(self, item: int) -> State:
        """Returns the state of an item."""
        return self.entries[item].state

    def reason_of(self, item: int) -> Reason:
        """Returns the reason of the decision on an item."""
        return self.entries[item].reason

    @property
    def kind(self) -> Kind[Any, P]:
        """The kind that decided."""
        return registry.get_kind(self.outcome.kind)

    def entry_number(self, item: int) -> int | None:
        """Returns the number of the ledger's entry that an item shows; None: it shows no entry."""
        return item if self.entries[item].id != WRAPPER else None

    def entry_name(self, item: int) -> str:
        """Returns the id of the ledger's entry that an item shows; "" for none."""
        entry_number = self.entry_number(item)
        return entry_ids(self.outcome).get(entry_number, "") if entry_number is not None else ""

    def item_of(self, entry: str) -> int | None:
        """Returns the first item of the list that shows an entry; None if no item shows it."""
        return entry_number_of(self.outcome, entry)

    def item_columns(self, comparison: LedgerComparison | None) -> ItemColumns:
        """Returns the items as columns, by which they are found, filtered and sorted; compared with the baseline."""
        changed = [item for item in range(len(self)) if comparison.is_flipped(item)] if comparison is not None else ()
        return ledger_columns(self.entries, self.order, changed, self.paths, self.facets)

    def sought_names(self) -> Sequence[str]:
        """Returns the words by which a person looks for each item. May be slow."""
        names = []
        for item, name in enumerate(self.ids):
            entry_number = self.entry_number(item)
            beside = self.kind.describe(self.outcome, entry_number).beside if entry_number is not None else ""
            names.append(f"{name} {' '.join(beside[:LONGEST_BESIDE].split())}".strip())
        return names

    def since(self, then: LedgerAnswer[Any]) -> LedgerComparison:
        """Returns the changes since another answer; the same object for the same pair."""
        return compare_ledgers(then, self)

    def work_out(self) -> LedgerAnswer[P]:
        """Computes everything that is drawn of it, and returns itself; called on a thread where no frame waits."""
        _ = self.place_of, self.newest, self.sums, self.most, self._lines
        return self


@lru_cache(maxsize=2)
def entry_ids(outcome: Outcome[Any]) -> Mapping[int, str]:
    """Returns the names of the entries by their numbers in the ledger."""
    return {item.number: item.id for item in decided_of(registry.get_kind(outcome.kind), outcome).listed}


def entry_number_of(outcome: Outcome[Any], entry: str) -> int | None:
    """Returns the number of the entry with this name; None if there is no such entry."""
    return next((entry_number for entry_number, name in entry_ids(outcome).items() if name == entry), None)


def sum_states(entries: Iterable[Entry]) -> Mapping[State, Sum]:
    """Counts the entries and tokens of each state."""
    sums = dict.fromkeys(State, Sum())
    for entry in entries:
        items, before, after = sums[entry.state]
        sums[entry.state] = Sum(items + 1, before + entry.before, after + entry.after)
    return sums


@dataclass(frozen=True, eq=False)
class LedgerComparison:
    """`then` against `now`; items are those of `now`."""

    then: LedgerAnswer[Any]
    now: LedgerAnswer[Any]

    def place_then(self, item: int) -> int:
        """The same item in `then`, or ABSENT."""
        return self.then.place_of.get(self.now.ids[item], ABSENT)

    def is_flipped(self, item: int) -> bool:
        """Tells whether the decision differs, or the item is new."""
        item_then = self.place_then(item)
        return item_then == ABSENT or self.then.entries[item_then].state != self.now.entries[item].state

    def count_gained(self, item: int) -> int:
        """Returns the difference in tokens between now and then."""
        item_then = self.place_then(item)
        return self.now.entries[item].after - (0 if item_then == ABSENT else self.then.entries[item_then].after)

    def change_of(self, item: int) -> int | None:
        """Returns the tokens that an item gained; None for a new one."""
        return None if self.place_then(item) == ABSENT else self.count_gained(item)

    @cached_property
    def moved(self) -> Sequence[int]:
        """Items whose decision or tokens are others, in order."""
        return [item for item in range(len(self.now)) if self.is_flipped(item) or self.count_gained(item)]

    @cached_property
    def vanished(self) -> Sequence[int]:
        """Items of `then` that are missing now."""
        return [item for item, name in enumerate(self.then.ids) if name not in self.now.place_of]

    @cached_property
    def flip_counts(self) -> Mapping[State, int]:
        """The items whose decision differs, counted by their state now."""
        return Counter(self.now.entries[item].state for item in self.moved if self.is_flipped(item))

    @property
    def same(self) -> bool:
        """Tells whether the same goes out."""
        return not (self.moved or self.vanished)

    def work_out(self) -> LedgerComparison:
        """Computes everything that is drawn of it, and returns itself."""
        _ = self.moved, self.vanished, self.flip_counts
        return self


@lru_cache(maxsize=2)
def compare_ledgers(then: LedgerAnswer[Any], now: LedgerAnswer[Any]) -> LedgerComparison:
    """Returns the same object for the same pair, so that a comparison is worked out once: for the answer on screen, and
    for the one that is being decided."""
    return LedgerComparison(then, now)
