"""Compares a scenario with decisions: decisions that differ from the recorded ones, assertions that fail. Pure."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, structs
from secateur import Number, Reason, Shape, State

from secateur_lab.scenarios.assertions import (
    Failure,
    LineOf,
    Moves,
    asserted_ids,
    changed_settings,
    describe_input,
    find_failures,
)
from secateur_lab.scenarios.running import Decided, Listed
from secateur_lab.scenarios.scenario import Recorded, RecordedItem, Scenario


class Aspect(StrEnum):
    """The aspects in which the recorded and the present decision on an item differ."""

    STATE = "state"
    REASON = "reason"
    TOKENS = "tokens"  # compared only with `exact = true`, like score and rank
    SCORE = "score"
    RANK = "rank"
    NEW = "new"  # not recorded
    GONE = "gone"  # recorded, but no longer among the entries


class Way(IntEnum):
    """The effects that a change has on the output, in the order of reports."""

    OUT = 0  # it was in the output and no longer is
    IN = 1  # it is in the output and was not
    OTHERWISE = 2  # in the output as before or not as before, but in another form or for another reason
    FIGURES = 3  # only tokens, score or rank differ


NO_LONGER = "it no longer exists"  # the reason of an item that is gone because its text is


class DecisionChange(Shape, frozen=True, kw_only=True):
    """One item whose decision differs from the recorded one."""

    id: str
    what: Aspect
    text_changed: Annotated[bool, Meta(description="Its text is another, or no longer exists.")]
    line: Annotated[Number, Meta(description="In the scenario's file; absent in a replay.")] | UnsetType = UNSET
    was: RecordedItem | None
    now: RecordedItem | None
    because: Annotated[str, Meta(description="The reason now, as a sentence.")]
    causes: Annotated[Sequence[str], Meta(description="Causes of the change, the nearest first.")]
    instead: Annotated[Sequence[str], Meta(description="Items that took its place in the output.")]

    @property
    def way(self) -> Way:
        """The way in which it changed."""
        left = self.was is not None and self.was.leaves
        leaves = self.now is not None and self.now.leaves
        if left != leaves:
            return Way.OUT if left else Way.IN
        return Way.OTHERWISE if self.what in (Aspect.STATE, Aspect.REASON, Aspect.NEW, Aspect.GONE) else Way.FIGURES


def change_of(
    what: Aspect,
    was: RecordedItem | None,
    now: RecordedItem | None,
    because: str,
    moves: Moves,
    line: int | UnsetType = UNSET,
) -> DecisionChange:
    """Returns the change of one item, with its causes and what took its place."""
    item = now or was
    assert item is not None
    if was is None or now is None:
        text_changed = was is not None and because == NO_LONGER
    else:
        text_changed = bool(was.text and now.text) and was.text != now.text
    return DecisionChange(
        id=item.id,
        what=what,
        text_changed=text_changed,
        line=line,
        was=was,
        now=now,
        because=because,
        causes=tuple(moves.causes(was, now)) if was and now else (),
        instead=moves.instead(was, now) if was else (),
    )


@dataclass(frozen=True, slots=True)
class CheckFindings:
    """The findings of one scenario."""

    differences: tuple[DecisionChange, ...] = ()
    failures: tuple[Failure, ...] = ()
    flips: tuple[DecisionChange, ...] = ()  # at the cut, within the tolerance: they count as no difference
    knobs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # (recorded, now) of settings that changed
    files: tuple[str, ...] = ()  # files whose text changed, if decisions changed
    origins: Mapping[str, str] = field(default_factory=dict)  # where the changed settings are set
    input_read: str = ""  # what is read, item by item, where that has a ceiling and is below it


def compare(scenario: Scenario, decided: Decided, line_of: LineOf = lambda _: 1) -> CheckFindings:
    """Compares a scenario with these decisions. Raises ScenarioError: an assertion does not apply to this kind of
    context."""
    recorded, exact = scenario.recorded, scenario.expect.exact
    failed = tuple(find_failures(scenario.expect, decided, line_of))
    changes = _differences(recorded, decided, line_of, exact=exact) if recorded is not None else ()
    differences = tuple(sorted(changes, key=lambda change: change.way))
    flips: tuple[DecisionChange, ...] = ()
    if recorded is not None and scenario.expect.cut_tolerance is not None:
        differences, flips = _separate_flips(differences, recorded, decided, scenario.expect.cut_tolerance)
    if (basis := recorded or scenario.saved) is None or not (differences or failed):
        ceiling = scenario.expect.input_at_most
        read = describe_input(ceiling, decided) if ceiling is not None and not failed else None
        return CheckFindings(differences, failed, flips, input_read=f"{read[0]}: {read[1]}" if read is not None else "")
    failed = tuple(_explain(failed, basis, decided, asserted_ids(scenario.expect)))
    knobs = changed_settings(basis, decided)
    origins = {key: decided.origins[key] for key in knobs if key in decided.origins}
    files = tuple(dict.fromkeys(id_.partition("::")[0] for id_ in _changed_texts(basis, decided)))
    return CheckFindings(differences, failed, flips, knobs, files, origins)


def _explain(
    failures: Sequence[Failure], basis: Recorded, decided: Decided, asserted: Collection[str]
) -> Iterator[Failure]:
    """Yields failures with what moved their items since `basis`. An item that is gone is looked for by its text."""
    now = {id_: decided.item(listed) for id_, listed in decided.by_id.items()} if failures else {}
    by_text = {item.text: item for id_, item in reversed(now.items()) if item.text and id_ not in asserted}
    pairs = [(was, now.get(was.id) or by_text.get(was.text)) for was in basis.items]
    known = [(was, item) for was, item in pairs if item is not None]
    moves, by_id = Moves(known, []), {was.id: (was, item) for was, item in known}
    for failure in failures:
        found = [by_id[id_] for id_ in failure.ids if id_ in by_id]
        causes = [(was.id, cause) for was, item in found for cause in moves.causes(was, item)]
        texts = [f"{id_}: {cause}" if len(failure.ids) > 1 else cause for id_, cause in causes]
        if len(failure.ids) == 1 and found and (moved := found[0][1]).id != failure.ids[0]:
            said = f"its text is {moved.id} now, which is {moved.state}"
            yield structs.replace(failure, said=said, now=moved.id, causes=texts)
        else:
            yield structs.replace(failure, causes=texts)


def wanted_ids(scenario: Scenario) -> set[str]:
    """Returns the ids that must be looked up even if they are not in the output."""
    ids = asserted_ids(scenario.expect) | set(scenario.judged)
    return ids | ({item.id for item in scenario.recorded.items} if scenario.recorded else set())


# --- recorded decisions -----------------------------------------------------------------------------------------------


def _differences(recorded: Recorded, decided: Decided, line_of: LineOf, *, exact: bool) -> Iterator[DecisionChange]:
    """Yields every item whose decision changed: those no longer in the output, new ones in it, then the others."""
    pairs, gone, new = match_entries(recorded, decided)
    numbers = {item.id: index for index, item in enumerate(recorded.items)}
    pairs_now = [(item, decided.item(listed)) for item, listed in pairs]
    moves = Moves(pairs_now, [decided.item(listed) for listed in new if listed.entry.state is not State.DROPPED])
    aspects = (Aspect.STATE, Aspect.REASON, *((Aspect.TOKENS, Aspect.SCORE, Aspect.RANK) if exact else ()))
    for (item, now), (_, listed) in zip(pairs_now, pairs, strict=True):
        what = next((aspect for aspect in aspects if getattr(item, aspect) != getattr(now, aspect)), None)
        if what is not None:
            because = decided.kind.describe(decided.outcome, listed.number).because
            line = line_of(("recorded", "items", numbers[item.id]))
            yield change_of(what, item, now, because, moves, line)
    # Dropped items of a kind that finds its entries were never in the output.
    gone = [item for item in gone if item.leaves or not decided.kind.finds]
    not_there = set(decided.kind.unknown(decided.outcome, [item.id for item in gone])) if gone else set()
    for item in gone:
        because = NO_LONGER if item.id in not_there else "it is no longer found"
        line = line_of(("recorded", "items", numbers[item.id]))
        yield change_of(Aspect.GONE, item, None, because, moves, line)
    for listed in new:
        # A kind that finds its entries reports new ones only in the output: it lists only some of its dropped entries.
        if recorded.listed == "all" or listed.entry.state is not State.DROPPED:
            because = decided.kind.describe(decided.outcome, listed.number).because
            line = line_of(("recorded", "items"))
            yield change_of(Aspect.NEW, None, decided.item(listed), because, moves, line)


def _separate_flips(
    changes: Sequence[DecisionChange], recorded: Recorded, decided: Decided, tolerance: float
) -> tuple[tuple[DecisionChange, ...], tuple[DecisionChange, ...]]:
    """Splits the changes into those that count and those at the cut.

    The cut is the best score of an item that found no room: items below it fill what is left, so another item's size
    decides about them. A change is at the cut if the item's score on the side where it goes out is at most
    the cut of that side plus `tolerance`.
    """
    cuts = find_cut(recorded.items), find_cut([decided.item(listed) for listed in decided.listed])
    clear: list[DecisionChange] = []
    flips: list[DecisionChange] = []
    for change in changes:
        side, cut = (change.now, cuts[1]) if change.was is None or not change.was.leaves else (change.was, cuts[0])
        near = side is not None and side.score is not None and cut is not None and side.score <= cut + tolerance
        (flips if near and change.because != NO_LONGER else clear).append(change)
    return tuple(clear), tuple(flips)


def find_cut(items: Sequence[RecordedItem]) -> float | None:
    """Returns the best score of an item that found no room; None if all found room or the kind has no scores."""
    return max((item.score for item in items if item.score and item.reason == Reason.NO_ROOM.label), default=None)


def match_entries(
    recorded: Recorded, decided: Decided
) -> tuple[list[tuple[RecordedItem, Listed]], list[RecordedItem], list[Listed]]:
    """Pairs recorded entries with present ones, and returns the pairs, the missing ones and the new ones.

    Entries match by id if the text is the same, then by text, then by id.

    A line inserted into a log, or a message into a transcript, changes the numbers of all that follow: the same text
    under another number is not a change.
    """
    if decided.kind.finds:
        pairs = [(item, decided.by_id[item.id]) for item in recorded.items if item.id in decided.by_id]
        known = {item.id for item in recorded.items}
        gone = [item for item in recorded.items if item.id not in decided.by_id]
        return pairs, gone, [listed for listed in decided.listed if listed.id not in known]
    digests = {listed.id: decided.digest(listed) for listed in decided.listed}
    taken: dict[str, Listed] = {}
    left = []
    for item in recorded.items:
        if (listed := decided.by_id.get(item.id)) is not None and digests[listed.id] == item.text:
            taken[item.id] = listed
        else:
            left.append(item)
    used = {listed.id for listed in taken.values()}
    by_text: defaultdict[str, deque[Listed]] = defaultdict(deque)
    for listed in decided.listed:
        if listed.id not in used and digests[listed.id]:
            by_text[digests[listed.id]].append(listed)
    unmatched = []
    for item in left:
        if item.text and by_text[item.text]:
            taken[item.id] = by_text[item.text].popleft()
            used.add(taken[item.id].id)
        else:
            unmatched.append(item)
    gone = []
    for item in unmatched:
        if (listed := decided.by_id.get(item.id)) is not None and listed.id not in used:
            taken[item.id] = listed
            used.add(listed.id)
        else:
            gone.append(item)
    pairs = [(item, taken[item.id]) for item in recorded.items if item.id in taken]
    return pairs, gone, [listed for listed in decided.listed if listed.id not in used]


def _changed_texts(recorded: Recorded, decided: Decided) -> Iterator[str]:
    missing = [item.id for item in recorded.items if item.id not in decided.by_id]
    not_there = set(decided.kind.unknown(decided.outcome, missing)) if missing else set()
    for item in recorded.items:
        if (listed := decided.by_id.get(item.id)) is None and item.id not in not_there:
            continue  # it exists, but is not found
        if listed is None or (item.text and decided.digest(listed) != item.text):
            yield item.id
    if recorded.listed == "all":
        known = {item.id for item in recorded.items}
        yield from (listed.id for listed in decided.listed if listed.id not in known)
