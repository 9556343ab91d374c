"""Compares two decisions of one kind: entries that go out on one side, on both, and their changes of rank. Pure.

    sides = side_by_side(kind.decide(material, inputs, spec), kind.decide(material, inputs, recommended))
    [pair.id for pair in sides.only_right]      # kept by `recommended` and dropped by `spec`

The decisions may differ in settings, commits or time: entries with equal ids are the same.
"""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from secateur.kinds.base import Outcome
from secateur.ledger import Entry, Ledger, State


class Placed(Struct, frozen=True):
    """An entry of one side."""

    number: int  # in the ledger of its side, for `Kind.describe` and `Kind.texts`
    entry: Entry
    rank: int  # from 1, in the order of the ledger; for a search by priority

    @property
    def leaves(self) -> bool:
        return self.entry.state is not State.DROPPED


class Pair(Struct, frozen=True):
    """One id on both sides; None on a side without this entry."""

    id: str
    left: Placed | None
    right: Placed | None

    @property
    def moved(self) -> int:
        """Ranks gained from left to right (positive: up); 0 if it is only on one side."""
        return self.left.rank - self.right.rank if self.left is not None and self.right is not None else 0

    @property
    def gained(self) -> int:
        """Outgoing tokens on the right minus those on the left."""
        return _tokens(self.right) - _tokens(self.left)

    @property
    def otherwise(self) -> bool:
        """Tells whether it goes out on both sides, but in another state or with other tokens."""
        if self.left is None or self.right is None:
            return False
        return (self.left.entry.state, self.left.entry.after) != (self.right.entry.state, self.right.entry.after)


class SideBySide(Struct, frozen=True, eq=False, dict=True):
    """The comparison. Pairs have the order of the side that keeps them; `both` has the order of the right side.

    Attributes:
        left, right: the ledgers, with the entries that go out on either side.
    """

    left: Ledger
    right: Ledger
    only_left: tuple[Pair, ...]
    only_right: tuple[Pair, ...]
    both: tuple[Pair, ...]

    @cached_property
    def otherwise(self) -> tuple[Pair, ...]:
        """The pairs in `both` that differ in state or tokens."""
        return tuple(pair for pair in self.both if pair.otherwise)

    @cached_property
    def moved(self) -> tuple[Pair, ...]:
        """The pairs in `both` with another rank, the largest change first."""
        return tuple(sorted((pair for pair in self.both if pair.moved), key=lambda pair: (-abs(pair.moved), pair.id)))

    @property
    def equal(self) -> bool:
        """Tells whether both sides keep the same entries, in the same states and at the same ranks."""
        return not (self.only_left or self.only_right or self.otherwise or self.moved)

    @property
    def gained(self) -> int:
        """Outgoing tokens on the right minus those on the left: the sum over all pairs and the wrappers."""
        return self.right.after - self.left.after


def side_by_side(left: Outcome[Any], right: Outcome[Any]) -> SideBySide:
    """Compares two outcomes of a kind. In a search, entries dropped on both sides have no pair."""
    then, now = left.ledger, right.ledger
    before, after = _place_entries(then, now), _place_entries(now, then)

    def pairs(ids: Collection[str]) -> tuple[Pair, ...]:
        return tuple(Pair(id_, before.get(id_), after.get(id_)) for id_ in ids)

    leaving = tuple({id_ for id_, placed in side.items() if placed.leaves} for side in (before, after))
    return SideBySide(
        then,
        now,
        pairs([id_ for id_, placed in before.items() if placed.leaves and id_ not in leaving[1]]),
        pairs([id_ for id_, placed in after.items() if placed.leaves and id_ not in leaving[0]]),
        pairs([id_ for id_, placed in after.items() if placed.leaves and id_ in leaving[0]]),
    )


def _place_entries(ledger: Ledger, other: Ledger) -> Mapping[str, Placed]:
    numbers = ledger.listed(0, [id_ for id_, _ in other.ranked])
    return {ledger.ids[number]: Placed(number, ledger.entries[number], ledger.rank[number]) for number in numbers}


def _tokens(placed: Placed | None) -> int:
    return placed.entry.after if placed is not None else 0
