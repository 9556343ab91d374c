"""Finds what of a scenario does not hold: decisions that are others than those recorded, assertions that fail. Pure."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from secateur.ledger import State
from secateur.scenarios.assertions import Failure, failures
from secateur.scenarios.causes import Moves, settings_moved
from secateur.scenarios.running import Decided, Listed
from secateur.scenarios.scenario import Recorded, RecordedItem, Scenario
from secateur.scenarios.toml_places import KeyPath
from secateur.shape import Number, Shape


class Aspect(StrEnum):
    """The ways in which an item differs."""

    STATE = "state"
    REASON = "reason"
    TOKENS = "tokens"  # compared with `exact = true` alone, as score and rank
    SCORE = "score"
    RANK = "rank"
    NEW = "new"  # not recorded
    GONE = "gone"  # recorded, and no longer among the entries


class Way(IntEnum):
    """The ways that a changed item went, in the order in which they are told."""

    OUT = 0  # it went out, and does no longer
    IN = 1  # it goes out, and did not
    OTHERWISE = 2  # it still goes out, or still does not, but otherwise or for another reason
    FIGURES = 3  # only tokens, score or rank are others


class ChangeShape(Shape, frozen=True, kw_only=True):
    """One item whose decision is another than the recorded one."""

    id: str
    what: Aspect
    line: Annotated[Number, Meta(description="Of the scenario's file; not in a replay.")] | UnsetType = UNSET
    was: RecordedItem | None
    now: RecordedItem | None
    because: Annotated[str, Meta(description="The reason now, as a sentence.")]
    causes: Annotated[Sequence[str], Meta(description="What moved it, the nearest cause first.")]
    instead: Annotated[Sequence[str], Meta(description="What goes out in its place.")]


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """One item whose decision changed."""

    id: str
    what: Aspect
    was: RecordedItem | None
    now: RecordedItem | None
    because: str  # the reason now, as a sentence; "" where it is gone
    causes: tuple[str, ...] = ()  # what moved it: terms, its text, others
    instead: tuple[str, ...] = ()  # of one that no longer goes out: what does in its place, with rank and tokens
    where: KeyPath = ()  # in the scenario
    line: int = 0  # of its file, from 1; 0: not looked up

    @property
    def way(self) -> Way:
        """The way it went."""
        left = self.was is not None and self.was.leaves
        leaves = self.now is not None and self.now.leaves
        if left != leaves:
            return Way.OUT if left else Way.IN
        return Way.OTHERWISE if self.what in (Aspect.STATE, Aspect.REASON, Aspect.NEW, Aspect.GONE) else Way.FIGURES

    def shape(self) -> ChangeShape:
        """The change in JSON, without its line where none was looked up."""
        return ChangeShape(
            id=self.id,
            what=self.what,
            line=self.line or UNSET,
            was=self.was,
            now=self.now,
            because=self.because,
            causes=self.causes,
            instead=self.instead,
        )


@dataclass(frozen=True, slots=True)
class CheckFindings:
    """The findings of one scenario."""

    differences: tuple[DecisionChange, ...] = ()
    failures: tuple[Failure, ...] = ()
    knobs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # (recorded, now) of settings that moved
    files: tuple[str, ...] = ()  # whose text changed, where decisions did
    origins: Mapping[str, str] = field(default_factory=dict)  # of the settings that moved, where they are set


def compare(scenario: Scenario, decided: Decided) -> CheckFindings:
    """Finds what of a scenario does not hold for these decisions.

    Raises:
        ScenarioError: an assertion says nothing to this kind of context.
    """
    recorded = scenario.recorded
    failed = tuple(failures(scenario.expect, decided))
    differences = tuple(_differences(recorded, decided, exact=scenario.expect.exact)) if recorded is not None else ()
    if recorded is None or not (differences or failed):
        return CheckFindings(differences, failed)
    knobs = settings_moved(recorded, decided)
    origins = {key: decided.origins[key] for key in knobs if key in decided.origins}
    files = tuple(dict.fromkeys(_file(id_) for id_ in _retexted(recorded, decided)))
    return CheckFindings(differences, failed, knobs, files, origins)


def wanted_ids(scenario: Scenario) -> set[str]:
    """Ids that are looked up whatever became of them."""
    expect = scenario.expect
    ids = {*expect.must_keep, *expect.must_shorten, *expect.must_drop, *(one.id for one in expect.rank_of)}
    ids |= {id_ for one in expect.recall_of for id_ in one.ids} | set(scenario.judged)
    return ids | ({item.id for item in scenario.recorded.items} if scenario.recorded else set())


# --- recorded decisions -----------------------------------------------------------------------------------------------


def _differences(recorded: Recorded, decided: Decided, *, exact: bool) -> list[DecisionChange]:
    """Every item whose decision changed: what no longer leaves, what does now, then the others."""
    pairs, gone, new = matched(recorded, decided)
    numbers = {item.id: number for number, item in enumerate(recorded.items)}
    pairs_now = [(item, decided.item(one)) for item, one in pairs]
    moves = Moves(pairs_now, [decided.item(one) for one in new if one.entry.state is not State.DROPPED])
    out = []
    for (item, now), (_, one) in zip(pairs_now, pairs, strict=True):
        what = _what(item, now, exact=exact)
        if what is not None:
            where: KeyPath = ("recorded", "items", numbers[item.id])
            because = decided.kind.because(decided.outcome, one.number)
            out.append(
                DecisionChange(
                    now.id, what, item, now, because, moves.causes(item, now), moves.instead(item, now), where
                )
            )
    gone = [item for item in gone if item.leaves or not decided.kind.finds_entries]  # else it leaves neither way
    not_there = set(decided.kind.unknown(decided.outcome, [item.id for item in gone])) if gone else set()
    for item in gone:
        where = ("recorded", "items", numbers[item.id])
        because = "it is not there any more" if item.id in not_there else "it is not found any more"
        out.append(DecisionChange(item.id, Aspect.GONE, item, None, because, (), moves.instead(item, None), where))
    for one in new:
        # Of a kind that finds its entries only what leaves is news: the dropped ones are no list of all there is.
        if recorded.listed == "all" or one.entry.state is not State.DROPPED:
            because = decided.kind.because(decided.outcome, one.number)
            where = ("recorded", "items")
            out.append(DecisionChange(one.id, Aspect.NEW, None, decided.item(one), because, where=where))
    return sorted(out, key=lambda change: change.way)


def matched(
    recorded: Recorded, decided: Decided
) -> tuple[list[tuple[RecordedItem, Listed]], list[RecordedItem], list[Listed]]:
    """Recorded entries with the present ones they are, those that are gone, and present ones that are not recorded.

    They are the same by id where the text is the same, then by text, then by id.

    A line put into a log, or a message into a transcript, moves the numbers of all that follow: the same text under
    another number is no change.
    """
    if decided.kind.finds_entries:
        pairs = [(item, decided.by_id[item.id]) for item in recorded.items if item.id in decided.by_id]
        known = {item.id for item in recorded.items}
        gone = [item for item in recorded.items if item.id not in decided.by_id]
        return pairs, gone, [one for one in decided.listed if one.id not in known]
    digests = {one.id: decided.digest(one) for one in decided.listed}
    taken: dict[str, Listed] = {}
    left = []
    for item in recorded.items:
        one = decided.by_id.get(item.id)
        if one is not None and digests[one.id] == item.text:
            taken[item.id] = one
        else:
            left.append(item)
    used = {one.id for one in taken.values()}
    by_text: defaultdict[str, deque[Listed]] = defaultdict(deque)
    for one in decided.listed:
        if one.id not in used and digests[one.id]:
            by_text[digests[one.id]].append(one)
    unmatched = []
    for item in left:
        if item.text and by_text[item.text]:
            taken[item.id] = by_text[item.text].popleft()
            used.add(taken[item.id].id)
        else:
            unmatched.append(item)
    gone = []
    for item in unmatched:
        one = decided.by_id.get(item.id)
        if one is not None and one.id not in used:
            taken[item.id] = one
            used.add(one.id)
        else:
            gone.append(item)
    pairs = [(item, taken[item.id]) for item in recorded.items if item.id in taken]
    return pairs, gone, [one for one in decided.listed if one.id not in used]


def _what(was: RecordedItem, now: RecordedItem, *, exact: bool) -> Aspect | None:
    if was.state != now.state:
        return Aspect.STATE
    if was.reason != now.reason:
        return Aspect.REASON
    if not exact:
        return None
    if was.tokens != now.tokens:
        return Aspect.TOKENS
    if was.score != now.score:
        return Aspect.SCORE
    return Aspect.RANK if was.rank != now.rank else None


def _retexted(recorded: Recorded, decided: Decided) -> Iterator[str]:
    missing = [item.id for item in recorded.items if item.id not in decided.by_id]
    not_there = set(decided.kind.unknown(decided.outcome, missing)) if missing else set()
    for item in recorded.items:
        one = decided.by_id.get(item.id)
        if one is None and item.id not in not_there:
            continue  # it is there, and not found
        if one is None or (item.text and decided.digest(one) != item.text):
            yield item.id
    if recorded.listed == "all":
        known = {item.id for item in recorded.items}
        yield from (one.id for one in decided.listed if one.id not in known)


def _file(id_: str) -> str:
    return id_.partition("::")[0]
