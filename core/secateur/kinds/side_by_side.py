"""Two decisions of one kind side by side: what only one of them lets out, what both do, and where that moved. Pure.

    sides = side_by_side(kind, kind.decide(material, inputs, spec), kind.decide(material, inputs, recommended))
    [pair.id for pair in sides.only_right]      # what `recommended` lets out and `spec` does not

The two may be of different settings, of different commits, or of what was and what is now: entries are the same where
their ids are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from secateur.kinds.base import Kind, Outcome
from secateur.ledger import WRAPPER, Entry, Ledger, Reason, State


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry of one side."""

    number: int  # in the whole ledger of that side: what `Kind.describe` and `Kind.texts` take
    entry: Entry
    rank: int  # from 1, in the order of the ledger; of a search by priority

    @property
    def leaves(self) -> bool:
        return self.entry.state is not State.DROPPED


@dataclass(frozen=True, slots=True)
class Pair:
    """One id on both sides; None on a side that has no such entry."""

    id: str
    left: Placed | None
    right: Placed | None

    @property
    def moved(self) -> int:
        """Ranks gained from left to right (positive: up); 0 where it stands on one side alone."""
        return self.left.rank - self.right.rank if self.left is not None and self.right is not None else 0

    @property
    def gained(self) -> int:
        """Tokens that go out of it on the right less those on the left."""
        return _tokens(self.right) - _tokens(self.left)

    @property
    def otherwise(self) -> bool:
        """Tells whether it goes out on both sides, but in another state or with other tokens."""
        if self.left is None or self.right is None:
            return False
        return (self.left.entry.state, self.left.entry.after) != (self.right.entry.state, self.right.entry.after)


@dataclass(frozen=True, eq=False)
class SideBySide:
    """The comparison. Pairs stand in the order of the side that lets them out; of `both`, of the right one.

    Attributes:
        left, right: the ledgers, with what leaves on either side.
    """

    left: Ledger
    right: Ledger
    only_left: tuple[Pair, ...]
    only_right: tuple[Pair, ...]
    both: tuple[Pair, ...]

    @cached_property
    def otherwise(self) -> tuple[Pair, ...]:
        """Those of `both` that go out in another state, or with other tokens."""
        return tuple(pair for pair in self.both if pair.otherwise)

    @cached_property
    def moved(self) -> tuple[Pair, ...]:
        """Those of `both` at another rank, the furthest first."""
        return tuple(sorted((pair for pair in self.both if pair.moved), key=lambda pair: (-abs(pair.moved), pair.id)))

    @property
    def equal(self) -> bool:
        """Tells whether the same goes out on both sides, in the same states and at the same ranks."""
        return not (self.only_left or self.only_right or self.otherwise or self.moved)

    @property
    def gained(self) -> int:
        """Tokens that go out on the right less those on the left: the sum over all pairs and the wrappers."""
        return self.right.after - self.left.after


def side_by_side(kind: Kind[Any, Any], left: Outcome[Any], right: Outcome[Any]) -> SideBySide:
    """Compares two outcomes of a kind. Of a search what is dropped on both sides has no pair."""
    out = _leaving(kind, left), _leaving(kind, right)
    (then, before), (now, after) = _placed(kind, left, out[1]), _placed(kind, right, out[0])

    def pairs(ids: Collection[str]) -> tuple[Pair, ...]:
        return tuple(Pair(id_, before.get(id_), after.get(id_)) for id_ in ids)

    leaving = tuple({id_ for id_, one in side.items() if one.leaves} for side in (before, after))
    return SideBySide(
        then,
        now,
        pairs([id_ for id_, one in before.items() if one.leaves and id_ not in leaving[1]]),
        pairs([id_ for id_, one in after.items() if one.leaves and id_ not in leaving[0]]),
        pairs([id_ for id_, one in after.items() if one.leaves and id_ in leaving[0]]),
    )


def _leaving(kind: Kind[Any, Any], outcome: Outcome[Any]) -> Collection[str]:
    return [id_ for id_, _ in kind.ranked(outcome)]


def _placed(kind: Kind[Any, Any], outcome: Outcome[Any], ids: Collection[str]) -> tuple[Ledger, Mapping[str, Placed]]:
    """The entries of one side by their ids, in the order of its ledger: those that leave, and those of `ids`."""
    ledger, numbers = kind.listed(outcome, 0, ids)
    named = zip(ledger.ids, numbers, ledger.entries, strict=False)
    placed = {
        id_: Placed(number, entry, number + 1)
        for id_, number, entry in named
        if entry.id != WRAPPER and entry.reason is not Reason.NOT_LISTED
    }
    return ledger, placed


def _tokens(one: Placed | None) -> int:
    return one.entry.after if one is not None else 0
