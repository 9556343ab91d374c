"""Finds the settings that move an item from what becomes of it on one side to what becomes of it on the other.

    with bisected_input(kind, inputs, environment) as subject:
        found = bisect(subject, Side("spec", one), Side("recommended", other), "orders/money.py::Money.round")
    found.sets[0].changes       # the settings that move it
    found.sets[0].applied       # what becomes of it on the first side with them: decided, not concluded

Every statement was decided by the kind itself, whatever kind it is. A setting that moves the item alone is found by
trying each; where none does, delta debugging finds a set of which each is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, TypeVar

from msgspec import Meta
from msgspec import field as named

from secateur.errors import ConfigError, SecateurError, shown
from secateur.kinds.base import Environment, Kind
from secateur.progress import Progress, unreported
from secateur.scenarios.running import Decided, Listed, decided_of, deciding_keys
from secateur.settings import Settings, lookup, with_values
from secateur.shape import Shape

T = TypeVar("T")


def minimised(changes: Sequence[T], has_effect: Callable[[Collection[T]], bool]) -> tuple[T, ...]:
    """The changes of a 1-minimal subset that still has the effect, in their order.

    Args:
        changes: different from each other; together they have the effect.
        has_effect: whether some of them have it; need not be monotone.
    """
    left, parts = list(changes), 2
    while len(left) > 1:
        pieces = _pieces(left, parts)
        smaller = next((piece for piece in pieces if has_effect(piece)), None)
        if smaller is not None:
            left, parts = smaller, 2
            continue
        rests = ([one for one in left if one not in piece] for piece in pieces)
        rest = next((rest for rest in rests if has_effect(rest)), None) if parts > 2 else None
        if rest is not None:
            left, parts = rest, parts - 1
        elif parts < len(left):
            parts = min(len(left), 2 * parts)
        else:
            break
    return tuple(left)


def _pieces(items: list[T], parts: int) -> list[list[T]]:
    """The items in so many pieces of about the same size, none empty."""
    ends = [len(items) * number // parts for number in range(parts + 1)]
    return [items[first:last] for first, last in pairwise(ends) if first < last]


NO_SUCH_ITEM = "NO_SUCH_ITEM"
"""Code of the error about an id that neither side has."""

_ALL = 1 << 30
_LONGEST = 200
_NEAR = 75
"""Of 100, from which an id is taken for a slip of another."""

MOST_READINGS = 12
"""Inputs that are kept as they were read: sets of settings that differ in what is decided alone share one."""

NOT_FOUND = "not found"
"""The state of an item that a search does not find; `UNDECIDED` where there is no answer at all."""

UNDECIDED = "undecided"


class Moved(StrEnum):
    """The ways in which an item differs between the sides."""

    STATE = "state"
    REASON = "reason"
    RANK = "rank"
    NOTHING = "nothing"


class ItemOutcome(Shape, frozen=True):
    """The state of the item under some settings."""

    state: Annotated[
        str,
        Meta(description="As in a ledger; `not found`: no search finds it; `undecided`: there is no answer."),
    ]
    reason: Annotated[str, Meta(description="Code; empty where it is not among the entries.")]
    rank: Annotated[int | None, Meta(description="By score, or place in what leaves.")]
    because: Annotated[str, Meta(description="As a sentence.")]


class DifferingSetting(Shape, frozen=True):
    """One setting with its values on both sides."""

    key: str
    was: Any = named(name="from")
    now: Any = named(name="to")


@dataclass(frozen=True, slots=True)
class Side:
    """Settings with the name that reports give them."""

    name: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class MovingSet:
    """Settings that together move the item, each of them needed, and the runs that prove it."""

    changes: tuple[DifferingSetting, ...]
    applied: ItemOutcome  # the first side with all of them
    without: tuple[ItemOutcome, ...]  # the first side with all but one of them, in their order
    taken_back: ItemOutcome  # the second side with all of them as on the first


@dataclass(frozen=True, slots=True)
class Bisection:
    """The answer of a bisection."""

    item: str
    before: Side
    after: Side
    was: ItemOutcome
    now: ItemOutcome
    moved: Moved
    differing: tuple[DifferingSetting, ...]
    sets: tuple[MovingSet, ...]  # several where each of them is enough by itself
    runs: int  # decisions that were made for it


@dataclass
class BisectedInput:
    """An input whose item is looked at under different settings."""

    kind: Kind[Any, Any]
    inputs: Mapping[str, Any]
    environment: Environment
    _read: dict[Hashable, Any] = field(default_factory=dict)

    def decided(self, settings: Settings, ids: Collection[str], dropped: int | None = None) -> Decided:
        """The decisions under settings; raises SecateurError as `Kind.read` and `Kind.decide`."""
        kind = self.kind
        settings = replace(settings, llm=replace(settings.llm, enabled=False))
        key = kind.reading_of(self.inputs, settings)
        if key not in self._read:
            self._forget(keep=MOST_READINGS - 1)
            self._read[key] = kind.read(self.inputs, settings, self.environment.redacting(settings))
        outcome = kind.answer(self._read[key], self.inputs, settings, progress=self.environment.progress)
        if dropped is not None:
            ids = [entry.id for entry in kind.listed(outcome, dropped)[0].entries]
        return decided_of(kind, outcome, ids)

    def observed(self, settings: Settings, item: str) -> ItemOutcome:
        """The state of an item under settings; raises as `decided`."""
        decided = self.decided(settings, [item])
        one = decided.by_id.get(item)
        if one is None:
            return ItemOutcome(NOT_FOUND, "", None, "it is not among the entries")
        because = decided.kind.because(decided.outcome, one.number)
        return ItemOutcome(one.entry.state.label, one.entry.reason.label, _rank(one), because)

    def close(self) -> None:
        """Let go of what was read."""
        self._forget(0)

    def _forget(self, keep: int) -> None:
        while len(self._read) > keep:
            self.kind.release(self._read.pop(next(iter(self._read))))


@contextmanager
def bisected_input(
    kind: Kind[Any, Any], inputs: Mapping[str, Any], environment: Environment
) -> Iterator[BisectedInput]:
    """A subject that is closed at the end, with the index that its readings share."""
    shared: dict[Hashable, Any] = {}
    subject = BisectedInput(kind, inputs, replace(environment, shared=shared, ahead=True))
    try:
        yield subject
    finally:
        subject.close()
        for opened in shared.values():
            opened.close()


def bisect(
    subject: BisectedInput, before: Side, after: Side, item: str, *, rank: bool = False, progress: Progress = unreported
) -> Bisection:
    """Finds the settings that move an item.

    Args:
        rank: its rank is looked at where state and reason are the same: at the rank of the second side, or beyond it.

    Raises:
        SecateurError: `NO_SUCH_ITEM`: neither side has it; as `BisectedInput.decided` where a side has no answer.
    """
    changes = {
        key: DifferingSetting(key, lookup(before.settings, key), lookup(after.settings, key))
        for key in deciding_keys(subject.kind)
        if lookup(before.settings, key) != lookup(after.settings, key)
    }
    runs = _Runs(subject, before, after, item, changes, progress)
    was, now = runs.of(()), runs.of(changes)
    if was.state == now.state == NOT_FOUND:
        raise _no_such_item(subject, before, after, item)
    moved = _moved(was, now, rank=rank)

    def moves(keys: Collection[str]) -> bool:
        return has_moved(runs.of(keys), was, now, moved)

    found: list[tuple[str, ...]] = []
    if moved is not Moved.NOTHING:
        ordered = sorted(changes, key=lambda key: (runs.reads_anew(key), list(changes).index(key)))
        found = [(key,) for key in ordered if moves((key,))] or [minimised(ordered, moves)]
    sets = tuple(runs.proven(keys) for keys in found)
    return Bisection(item, before, after, was, now, moved, tuple(changes.values()), sets, runs.made)


def has_moved(seen: ItemOutcome, was: ItemOutcome, now: ItemOutcome, what: Moved) -> bool:
    """Tells whether an item stands as on the second side, in what differs between them."""
    if what is Moved.STATE:
        return seen.state == now.state
    if what is Moved.REASON:
        return (seen.state, seen.reason) == (now.state, now.reason)
    if seen.rank is None or was.rank is None or now.rank is None:
        return what is Moved.RANK and seen.rank == now.rank
    return seen.rank >= now.rank if now.rank > was.rank else seen.rank <= now.rank


def _moved(was: ItemOutcome, now: ItemOutcome, *, rank: bool) -> Moved:
    if was.state != now.state:
        return Moved.STATE
    if was.reason != now.reason:
        return Moved.REASON
    return Moved.RANK if rank and was.rank != now.rank else Moved.NOTHING


@dataclass
class _Runs:
    """Decisions of a bisection; each set of settings is decided once."""

    subject: BisectedInput
    before: Side
    after: Side
    item: str
    changes: Mapping[str, DifferingSetting]
    progress: Progress
    made: int = 0
    _seen: dict[frozenset[str], ItemOutcome] = field(default_factory=dict)

    def of(self, keys: Collection[str]) -> ItemOutcome:
        """The state of the item on the first side with these settings of the second."""
        chosen = frozenset(keys)
        if chosen not in self._seen:
            self.progress("deciding", self.made, 0)
            self.made += 1
            self._seen[chosen] = self._observed(chosen)
        return self._seen[chosen]

    def proven(self, keys: tuple[str, ...]) -> MovingSet:
        """The set with the runs that prove it."""
        return MovingSet(
            tuple(self.changes[key] for key in keys),
            self.of(keys),
            tuple(self.of([other for other in keys if other != key]) for key in keys),
            self.of([key for key in self.changes if key not in keys]),
        )

    def reads_anew(self, key: str) -> bool:
        """Tells whether a setting changes what is read, and not only what is decided of it."""
        kind, inputs, settings = self.subject.kind, self.subject.inputs, self.before.settings
        try:
            turned = with_values(settings, {key: self.changes[key].now})
        except ConfigError:
            return True
        return kind.reading_of(inputs, turned) != kind.reading_of(inputs, settings)

    def _observed(self, chosen: frozenset[str]) -> ItemOutcome:
        if not chosen:
            return self.subject.observed(self.before.settings, self.item)
        if len(chosen) == len(self.changes):
            return self.subject.observed(self.after.settings, self.item)
        values = {key: change.now for key, change in self.changes.items() if key in chosen}
        try:
            return self.subject.observed(with_values(self.before.settings, values), self.item)
        except SecateurError as error:  # half of two settings that belong together may be no setting at all
            return ItemOutcome(UNDECIDED, "", None, error.message)


def _rank(one: Listed) -> int | None:
    return one.number + 1 if one.entry.terms else one.entry.position


def _no_such_item(subject: BisectedInput, before: Side, after: Side, item: str) -> SecateurError:
    known: dict[str, None] = {}
    for side in (before, after):
        known |= dict.fromkeys(subject.decided(side.settings, (), dropped=_ALL).by_id)
    near = _nearest(item, sorted(known, key=lambda one: (len(one), one)))
    hint = f"did you mean {shown(near)}?" if near else "the JSON of the command names every id (--format json)"
    where = f"under {before.name} or {after.name}" if before.name != after.name else f"under {before.name}"
    return SecateurError(f"no entry is called {shown(item)} {where}", hint=hint, code=NO_SUCH_ITEM)


def _nearest(item: str, known: Sequence[str]) -> str:
    """The id that was meant, if one is near: an id is long, and people type its end."""
    from rapidfuzz import fuzz, process

    found = process.extractOne(item[:_LONGEST], known, scorer=fuzz.WRatio, processor=str.casefold, score_cutoff=_NEAR)
    return found[0] if found else ""
