"""A pruner's answer as the inspector draws it, and what changed between two of them. Every figure is the engine's or a
sum of its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from secateur.model import Notice, State, TrimAction, TrimReport
from secateur.settings import Settings

R = TypeVar("R")

ABSENT = -1
"""Place of an item that the other ledger does not hold."""


class Sum(NamedTuple):
    """Items of one state together."""

    items: int = 0
    before: int = 0
    after: int = 0


@dataclass(frozen=True, eq=False)
class LedgerAnswer(Generic[R]):
    """The `result` of a kind of context under `settings`. Its `report` has one action per item, in the order of the
    ledger's entries; `states` are those of the entries."""

    settings: Settings
    report: TrimReport
    result: R
    states: Sequence[State]
    warnings: tuple[Notice, ...] = ()
    order: Sequence[int] = ()  # items as they are listed; empty: in the ledger's order

    def __len__(self) -> int:
        return len(self.report.actions)

    def action(self, item: int) -> TrimAction:
        """The ledger's entry on an item."""
        return self.report.actions[item]

    @cached_property
    def ids(self) -> Sequence[str]:
        """Per item a name that it keeps under other settings: its section, numbered where a section comes again."""
        seen: Counter[str] = Counter()
        names = []
        for action in self.report.actions:
            seen[action.section] += 1
            names.append(action.section if seen[action.section] == 1 else f"{action.section} #{seen[action.section]}")
        return names

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """The item of a name."""
        return {name: item for item, name in enumerate(self.ids)}

    def item_at(self, line: int) -> int:
        """The item of a line of the list."""
        return self.order[line] if self.order else line

    @cached_property
    def _lines(self) -> Mapping[int, int]:
        return {item: line for line, item in enumerate(self.order)}

    def line_of(self, item: int) -> int:
        """The line of an item in the list."""
        return self._lines[item] if self.order else item

    @cached_property
    def sums(self) -> Mapping[State, Sum]:
        """Items and tokens of each state; the tokens sum to those of the report."""
        sums = dict.fromkeys(State, (0, 0, 0))
        for action, state in zip(self.report.actions, self.states, strict=True):
            items, before, after = sums[state]
            sums[state] = (items + 1, before + action.before, after + action.after)
        return {state: Sum(*figures) for state, figures in sums.items()}

    @cached_property
    def most(self) -> int:
        """Tokens of the largest item: they set the width of the figures' columns."""
        return max((max(action.before, action.after) for action in self.report.actions), default=0)

    def prepared(self) -> LedgerAnswer[R]:
        """Returns itself after working out all that is drawn of it; called on a thread where no frame waits."""
        _ = self.place_of, self.sums, self.most, self._lines
        return self


@dataclass(frozen=True, eq=False)
class LedgerComparison:
    """`then` against `now`; items are those of `now`."""

    then: LedgerAnswer[Any]
    now: LedgerAnswer[Any]

    def place_then(self, item: int) -> int:
        """The same item in `then`, or ABSENT."""
        return self.then.place_of.get(self.now.ids[item], ABSENT)

    def flipped(self, item: int) -> bool:
        """Tells whether the decision is another one, or the item was none."""
        place = self.place_then(item)
        return place == ABSENT or self.then.states[place] != self.now.states[item]

    def gained(self, item: int) -> int:
        """Tokens that go out of it now minus then."""
        place = self.place_then(item)
        return self.now.action(item).after - (0 if place == ABSENT else self.then.action(place).after)

    @property
    def tokens(self) -> int:
        """Tokens that go out now minus then."""
        return self.now.report.after - self.then.report.after

    @cached_property
    def moved(self) -> Sequence[int]:
        """Items whose decision or tokens are others, in order."""
        return [item for item in range(len(self.now)) if self.flipped(item) or self.gained(item)]

    @cached_property
    def vanished(self) -> Sequence[int]:
        """Items of `then` that are none now."""
        return [item for item, name in enumerate(self.then.ids) if name not in self.now.place_of]

    def prepared(self) -> LedgerComparison:
        """Returns itself after working out all that is drawn of it."""
        _ = self.moved, self.vanished
        return self
