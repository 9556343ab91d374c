"""Finds what of a scenario does not hold: decisions that are others than those recorded, assertions that fail. Pure."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from secateur.ledger import State
from secateur.render.sentences import sentence
from secateur.scenarios.running import Decided, Listed
from secateur.scenarios.scenario import DIGITS, Expect, Recorded, RecordedItem, Scenario
from secateur.suggestions import suggestion

NAMED = 5
"""Items that one line of an explanation names."""


class Aspect(StrEnum):
    """The ways in which an item differs."""

    STATE = "state"
    REASON = "reason"
    TOKENS = "tokens"  # compared with `exact = true` alone, as score and rank
    SCORE = "score"
    RANK = "rank"
    NEW = "new"  # not recorded
    GONE = "gone"  # recorded, and no longer among the entries


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """One item whose decision changed."""

    id: str
    what: Aspect
    was: RecordedItem | None
    now: RecordedItem | None
    because: str  # the reason now, as a sentence; "" where it is gone
    causes: tuple[str, ...] = ()  # what moved it: terms, its text

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        out: dict[str, Any] = {"id": self.id, "what": self.what.value}
        for name, item in (("was", self.was), ("now", self.now)):
            out[name] = msgspec.to_builtins(item) if item is not None else None
        return out | {"because": self.because, "causes": list(self.causes)}


@dataclass(frozen=True, slots=True)
class Failure:
    """One assertion that does not hold."""

    assertion: str  # as it is written: `must_keep "a.py::f"`
    said: str  # what is there instead

    def to_dict(self) -> dict[str, str]:
        return {"assertion": self.assertion, "said": self.said}


@dataclass(frozen=True, slots=True)
class CheckFindings:
    """The findings of one scenario."""

    differences: tuple[DecisionChange, ...] = ()
    failures: tuple[Failure, ...] = ()
    knobs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # (recorded, now) of those that moved
    files: tuple[str, ...] = ()  # whose text changed, where decisions did
    impossible: tuple[str, ...] = ()  # assertions that say nothing to this kind


def compare(scenario: Scenario, decided: Decided) -> CheckFindings:
    """Finds what of a scenario does not hold for these decisions."""
    recorded = scenario.recorded
    differences: tuple[DecisionChange, ...] = ()
    knobs: dict[str, tuple[Any, Any]] = {}
    files: tuple[str, ...] = ()
    if recorded is not None:
        differences = tuple(_differences(recorded, decided, exact=scenario.expect.exact))
        if differences:
            knobs = {
                key: (recorded.knobs.get(key), value)
                for key, value in decided.knobs.items()
                if key in recorded.knobs and recorded.knobs[key] != value
            }
            files = tuple(dict.fromkeys(_file(id_) for id_ in _retexted(recorded, decided)))
    failures, impossible = _asserted(scenario.expect, decided)
    return CheckFindings(differences, tuple(failures), knobs, files, tuple(impossible))


def wanted_ids(scenario: Scenario) -> set[str]:
    """Ids that are looked up whatever became of them."""
    expect = scenario.expect
    ids = {*expect.must_keep, *expect.must_shorten, *expect.must_drop, *(one.id for one in expect.rank_of)}
    ids |= {id_ for one in expect.recall_of for id_ in one.ids} | set(scenario.judged)
    return ids | ({item.id for item in scenario.recorded.items} if scenario.recorded else set())


# --- recorded decisions -----------------------------------------------------------------------------------------------


def _differences(recorded: Recorded, decided: Decided, *, exact: bool) -> Iterator[DecisionChange]:
    pairs, gone, new = _matched(recorded, decided)
    for item, one in pairs:
        now = decided.item(one)
        what = _what(item, now, exact=exact)
        if what is not None:
            yield DecisionChange(item.id, what, item, now, sentence(one.entry), tuple(_causes(item, now)))
    for item in gone:
        if decided.kind.finds_entries and not item.leaves:
            continue  # it did not leave, and it does not
        yield DecisionChange(item.id, Aspect.GONE, item, None, "")
    for one in new:
        # Of a kind that finds its entries only what leaves is news: the dropped ones are no list of all there is.
        if recorded.listed == "all" or one.entry.state is not State.DROPPED:
            yield DecisionChange(one.id, Aspect.NEW, None, decided.item(one), sentence(one.entry))


def _matched(
    recorded: Recorded, decided: Decided
) -> tuple[list[tuple[RecordedItem, Listed]], list[RecordedItem], list[Listed]]:
    """Recorded and present entries: by id where the text is the same, then by text, then by id.

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


def _causes(was: RecordedItem, now: RecordedItem) -> Iterator[str]:
    if was.text and now.text and was.text != now.text:
        yield f"its text changed ({was.tokens[0]:,} -> {now.tokens[0]:,} tokens)"
    moved = [
        f"{name} {was.terms.get(name, 0.0):.{DIGITS}f} -> {now.terms.get(name, 0.0):.{DIGITS}f}"
        for name in dict.fromkeys((*was.terms, *now.terms))
        if was.terms.get(name, 0.0) != now.terms.get(name, 0.0)
    ]
    if was.rank is not None and now.rank is not None and was.rank != now.rank:
        yield f"rank {was.rank} -> {now.rank}" + (f" because {', '.join(moved)}" if moved else "")
    elif moved:
        yield ", ".join(moved)


def _retexted(recorded: Recorded, decided: Decided) -> Iterator[str]:
    for item in recorded.items:
        one = decided.by_id.get(item.id)
        if one is None or (item.text and decided.digest(one) != item.text):
            yield item.id
    if recorded.listed == "all":
        known = {item.id for item in recorded.items}
        yield from (one.id for one in decided.listed if one.id not in known)


def _file(id_: str) -> str:
    return id_.partition("::")[0]


# --- assertions -------------------------------------------------------------------------------------------------------


def _asserted(expect: Expect, decided: Decided) -> tuple[list[Failure], list[str]]:
    failures: list[Failure] = []
    impossible: list[str] = []
    for name, states in (
        ("must_keep", (State.KEPT,)),
        ("must_shorten", (State.SHORTENED, State.SUMMARISED)),
        ("must_drop", (State.DROPPED,)),
    ):
        for id_ in getattr(expect, name):
            failures += _stands(name, id_, states, decided)
    for rank in expect.rank_of:
        failures += _ranked(rank.id, rank.at_most, decided, impossible)
    for recall in expect.recall_of:
        kept = [id_ for id_ in recall.ids if _state(decided, id_) is State.KEPT]
        share = len(kept) / len(recall.ids)
        if share < recall.at_least:
            missing = _few([id_ for id_ in recall.ids if id_ not in kept])
            said = f"{len(kept)} of {len(recall.ids)} leave whole ({share:.2f}); not {missing}"
            failures.append(Failure(f"recall_of at_least {recall.at_least:g}", said))
    if expect.budget_used_between is not None:
        failures += _used(expect.budget_used_between, decided)
    if expect.contains or expect.lacks:
        text = decided.kind.leaving(decided.outcome)
        failures += [
            Failure(f"contains {_q(one)}", "what leaves does not hold it") for one in expect.contains if one not in text
        ]
        failures += [Failure(f"lacks {_q(one)}", "what leaves holds it") for one in expect.lacks if one in text]
    measures = decided.kind.measures(decided.outcome)
    if expect.cache_reread_at_most is not None:
        reread = measures.get("cache_reread")
        if reread is None:
            impossible.append(f"cache_reread_at_most says nothing to {decided.kind.name}")
        elif reread > expect.cache_reread_at_most:
            said = f"{reread:,} tokens have to be read again"
            failures.append(Failure(f"cache_reread_at_most {expect.cache_reread_at_most:,}", said))
    if expect.coverage:
        covered = measures.get("coverage")
        if covered is None:
            impossible.append(f"coverage says nothing to {decided.kind.name}")
        else:
            for path, state in expect.coverage.items():
                now = covered.get(path)
                if now != state:
                    near = suggestion(path, covered) if now is None else ""
                    said = f"it is {now}" if now else "it is not changed" + (f"; did you mean {near}?" if near else "")
                    failures.append(Failure(f"coverage {_q(path)} {state}", said))
    return failures, impossible


def _stands(name: str, id_: str, states: Sequence[State], decided: Decided) -> Iterator[Failure]:
    one = decided.by_id.get(id_)
    if one is None:
        if name == "must_drop" and decided.kind.finds_entries:
            return  # what is not even found does not leave
        yield Failure(f"{name} {_q(id_)}", _absent(id_, decided))
    elif one.entry.state not in states:
        yield Failure(f"{name} {_q(id_)}", f"it is {one.entry.state.label}: {sentence(one.entry)}")


def _ranked(id_: str, at_most: int, decided: Decided, impossible: list[str]) -> Iterator[Failure]:
    one, name = decided.by_id.get(id_), f"rank_of {_q(id_)} at_most {at_most}"
    if one is None:
        yield Failure(name, _absent(id_, decided))
        return
    rank = one.number + 1 if one.entry.terms else one.entry.position
    if rank is None and any(other.entry.terms or other.entry.position for other in decided.listed):
        yield Failure(name, "it does not leave")
    elif rank is None:
        impossible.append(f"rank_of says nothing to {decided.kind.name}")
    elif rank > at_most:
        yield Failure(name, f"it stands at {rank}")


def _used(between: tuple[float, float], decided: Decided) -> Iterator[Failure]:
    least, most = between
    used, budget = decided.ledger.after, decided.ledger.budget
    shares = most <= 1
    value = used / budget if shares and budget else float(used)
    if not least <= value <= most:
        said = f"{value:.3f} of {budget:,} tokens" if shares else f"{used:,} tokens"
        yield Failure(f"budget_used_between {least:g} and {most:g}", f"used are {said}")


def _state(decided: Decided, id_: str) -> State | None:
    one = decided.by_id.get(id_)
    return one.entry.state if one is not None else None


def _absent(id_: str, decided: Decided) -> str:
    near = suggestion(id_, decided.by_id)
    return "it is not among the entries" + (f"; did you mean {near}?" if near else "")


def _few(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _q(text: str) -> str:
    return f'"{text}"'
