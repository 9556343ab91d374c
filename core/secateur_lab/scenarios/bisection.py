"""Finds the settings that change the decision about an item between two sets of settings.

    with bisected_input(kind, inputs, environment) as subject:
        found = bisect(subject, Side("spec", one), Side("recommended", other), "orders/money.py::Money.round")
    found.sets[0].changes       # the settings that change it
    found.sets[0].applied       # the item's outcome on the first side with them: decided, not inferred

Every statement was decided by the kind itself, whatever kind it is. Single settings that change the item are found by
trying each; if there are none, delta debugging finds a set in which each setting is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, TypeVar

from msgspec import Meta, structs
from msgspec import field as named
from secateur import (
    ConfigError,
    Environment,
    Kind,
    Progress,
    SecateurError,
    Settings,
    Shape,
    answer_of,
    lookup,
    shown,
    unreported,
    with_values,
)

from secateur_lab.scenarios.running import Decided, Listed, decided_of, deciding_keys

T = TypeVar("T")


def minimise(changes: Sequence[T], has_effect: Callable[[Collection[T]], bool]) -> tuple[T, ...]:
    """Returns a 1-minimal subset of changes that still has the effect, in their order.

    Args:
        changes: distinct; together they have the effect.
        has_effect: tells whether a subset has it; need not be monotone.
    """
    left, parts = list(changes), 2
    while len(left) > 1:
        pieces = _pieces(left, parts)
        smaller = next((piece for piece in pieces if has_effect(piece)), None)
        if smaller is not None:
            left, parts = smaller, 2
            continue
        rests = ([change for change in left if change not in piece] for piece in pieces)
        rest = next((rest for rest in rests if has_effect(rest)), None) if parts > 2 else None
        if rest is not None:
            left, parts = rest, parts - 1
        elif parts < len(left):
            parts = min(len(left), 2 * parts)
        else:
            break
    return tuple(left)


def _pieces(items: list[T], parts: int) -> list[list[T]]:
    """Splits the items into so many pieces of about the same size, without empty pieces."""
    ends = [len(items) * index // parts for index in range(parts + 1)]
    return [items[first:last] for first, last in pairwise(ends) if first < last]


NO_SUCH_ITEM = "NO_SUCH_ITEM"
"""Code of the error about an id that exists on neither side."""

_ALL = 1 << 30
_LONGEST = 200
_NEAR = 75
"""Similarity, of 100, above which an id counts as a misspelling of another."""

MOST_READINGS = 12
"""Most inputs that are kept after reading: sets of settings that differ only in deciding share one."""

NOT_FOUND = "not found"
"""The state of an item that a search does not find; `UNDECIDED` if there is no answer."""

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
        Meta(description="As in a ledger; `not found`: the search does not find it; `undecided`: there is no answer."),
    ]
    reason: Annotated[str, Meta(description="Code; empty if it is not among the entries.")]
    rank: Annotated[int | None, Meta(description="By score, or position in the output.")]
    because: Annotated[str, Meta(description="As a sentence.")]


class DifferingSetting(Shape, frozen=True):
    """One setting with its values on both sides."""

    key: str
    was: Any = named(name="from")
    now: Any = named(name="to")


@dataclass(frozen=True, slots=True)
class Side:
    """Settings, and their name in reports."""

    name: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class MovingSet:
    """Settings that together change the item's outcome, each of them needed, and the runs that prove it."""

    changes: tuple[DifferingSetting, ...]
    applied: ItemOutcome  # the first side with all of them
    without: tuple[ItemOutcome, ...]  # the first side with all but one of them, in their order
    taken_back: ItemOutcome  # the second side with all of them set as on the first


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
    sets: tuple[MovingSet, ...]  # several if each of them is enough by itself
    runs: int  # number of decisions made


@dataclass
class BisectedInput:
    """An input whose item is decided under different settings."""

    kind: Kind[Any, Any]
    inputs: Mapping[str, Any]
    environment: Environment
    _read: dict[Hashable, Any] = field(default_factory=dict)

    def decided(self, settings: Settings, ids: Collection[str], dropped: int | None = None) -> Decided:
        """Returns the decisions under some settings; raises SecateurError like `Kind.read` and `Kind.decide`."""
        kind = self.kind
        settings = structs.replace(settings, llm=structs.replace(settings.llm, enabled=False))
        key = kind.reading_of(self.inputs, settings)
        if key not in self._read:
            self._forget(keep=MOST_READINGS - 1)
            self._read[key] = kind.read(self.inputs, settings, self.environment.redacting(settings))
        outcome = answer_of(kind, self._read[key], self.inputs, settings, progress=self.environment.progress)
        if dropped is not None:
            ids = [entry.id for entry in kind.listed(outcome, dropped)[0].entries]
        return decided_of(kind, outcome, ids)

    def observed(self, settings: Settings, item: str) -> ItemOutcome:
        """Returns the outcome of an item under some settings; raises like `decided`."""
        decided = self.decided(settings, [item])
        listed = decided.by_id.get(item)
        if listed is None:
            return ItemOutcome(NOT_FOUND, "", None, "it is not among the entries")
        because = decided.kind.describe(decided.outcome, listed.number).because
        return ItemOutcome(listed.entry.state.label, listed.entry.reason.label, _rank(listed), because)

    def close(self) -> None:
        """Releases what was read."""
        self._forget(0)

    def _forget(self, keep: int) -> None:
        while len(self._read) > keep:
            self.kind.release(self._read.pop(next(iter(self._read))))


@contextmanager
def open_bisected_input(
    kind: Kind[Any, Any], inputs: Mapping[str, Any], environment: Environment
) -> Iterator[BisectedInput]:
    """Opens an input that is closed at the end, with an index that its readings share."""
    shared: dict[Hashable, Any] = {}
    subject = BisectedInput(kind, inputs, structs.replace(environment, shared=shared, ahead=True))
    try:
        yield subject
    finally:
        subject.close()
        for opened in shared.values():
            opened.close()


def bisect(
    subject: BisectedInput, before: Side, after: Side, item: str, *, rank: bool = False, progress: Progress = unreported
) -> Bisection:
    """Finds the settings that change the outcome of an item.

    Args:
        rank: also compare its rank if state and reason are the same; its second rank or beyond it counts.

    Raises:
        SecateurError: `NO_SUCH_ITEM` if neither side has it; like `BisectedInput.decided` if a side has no answer.
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
    moved = _differing_aspect(was, now, rank=rank)

    def moves(keys: Collection[str]) -> bool:
        return reaches_second_side(runs.of(keys), was, now, moved)

    sets_of_keys: list[tuple[str, ...]] = []
    if moved is not Moved.NOTHING:
        ordered = sorted(changes, key=lambda key: (runs.reads_anew(key), list(changes).index(key)))
        sets_of_keys = [(key,) for key in ordered if moves((key,))] or [minimise(ordered, moves)]
    sets = tuple(runs.proven(keys) for keys in sets_of_keys)
    return Bisection(item, before, after, was, now, moved, tuple(changes.values()), sets, runs.made)


def reaches_second_side(seen: ItemOutcome, was: ItemOutcome, now: ItemOutcome, what: Moved) -> bool:
    """Tells whether an outcome equals that of the second side, in the aspect that differs."""
    if what is Moved.STATE:
        return seen.state == now.state
    if what is Moved.REASON:
        return (seen.state, seen.reason) == (now.state, now.reason)
    if seen.rank is None or was.rank is None or now.rank is None:
        return what is Moved.RANK and seen.rank == now.rank
    return seen.rank >= now.rank if now.rank > was.rank else seen.rank <= now.rank


def _differing_aspect(was: ItemOutcome, now: ItemOutcome, *, rank: bool) -> Moved:
    if was.state != now.state:
        return Moved.STATE
    if was.reason != now.reason:
        return Moved.REASON
    return Moved.RANK if rank and was.rank != now.rank else Moved.NOTHING


@dataclass
class _Runs:
    """The decisions of a bisection; each set of settings is decided once."""

    subject: BisectedInput
    before: Side
    after: Side
    item: str
    changes: Mapping[str, DifferingSetting]
    progress: Progress
    made: int = 0
    _seen: dict[frozenset[str], ItemOutcome] = field(default_factory=dict)

    def of(self, keys: Collection[str]) -> ItemOutcome:
        """Returns the outcome of the item on the first side with these settings of the second."""
        chosen = frozenset(keys)
        if chosen not in self._seen:
            self.progress("deciding", self.made, 0)
            self.made += 1
            self._seen[chosen] = self._observed(chosen)
        return self._seen[chosen]

    def proven(self, keys: tuple[str, ...]) -> MovingSet:
        """Returns the set with the runs that prove it."""
        return MovingSet(
            tuple(self.changes[key] for key in keys),
            self.of(keys),
            tuple(self.of([other for other in keys if other != key]) for key in keys),
            self.of([key for key in self.changes if key not in keys]),
        )

    def reads_anew(self, key: str) -> bool:
        """Tells whether a setting changes what is read, not only what is decided."""
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
        except SecateurError as error:  # half of two settings that belong together may be invalid
            return ItemOutcome(UNDECIDED, "", None, error.message)


def _rank(listed: Listed) -> int | None:
    return listed.number + 1 if listed.entry.terms else listed.entry.position


def _no_such_item(subject: BisectedInput, before: Side, after: Side, item: str) -> SecateurError:
    known: dict[str, None] = {}
    for side in (before, after):
        known |= dict.fromkeys(subject.decided(side.settings, (), dropped=_ALL).by_id)
    near = _nearest(item, sorted(known, key=lambda id_: (len(id_), id_)))
    hint = f"did you mean {shown(near)}?" if near else "the JSON of the command names every id (--format json)"
    where = f"under {before.name} or {after.name}" if before.name != after.name else f"under {before.name}"
    return SecateurError(f"no entry has the id {shown(item)} {where}", hint=hint, code=NO_SUCH_ITEM)


def _nearest(item: str, known: Sequence[str]) -> str:
    """Returns the id that was probably meant, or "": ids are long, and people type only their ends."""
    from rapidfuzz import fuzz, process

    match = process.extractOne(item[:_LONGEST], known, scorer=fuzz.WRatio, processor=str.casefold, score_cutoff=_NEAR)
    return match[0] if match else ""
