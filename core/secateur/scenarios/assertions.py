"""Assertions of a scenario that do not hold. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from secateur.ledger import State
from secateur.render.sentences import sentence
from secateur.scenarios.malformed import ScenarioError
from secateur.scenarios.running import Decided
from secateur.scenarios.scenario import Expect
from secateur.scenarios.toml_places import KeyPath
from secateur.shape import Number, Shape
from secateur.suggestions import suggestion

NAMED = 5
"""Items that one line of an explanation names."""


class FailureShape(Shape, frozen=True):
    """One assertion that does not hold."""

    assertion: str
    said: Annotated[str, Meta(description="What is there instead.")]
    line: Annotated[Number, Meta(description="Of the scenario's file.")]


@dataclass(frozen=True, slots=True)
class Failure:
    """One assertion that does not hold."""

    assertion: str  # as it is written: `must_keep "a.py::f"`
    said: str  # what is there instead
    where: KeyPath = ()  # in the scenario
    line: int = 0  # of its file, from 1; 0: not looked up

    def shape(self) -> FailureShape:
        """The failure in JSON."""
        return FailureShape(self.assertion, self.said, self.line)


def failures(expect: Expect, decided: Decided) -> Iterator[Failure]:
    """The assertions that do not hold for these decisions.

    Raises:
        ScenarioError: one says nothing to this kind of context.
    """
    for name, states in (
        ("must_keep", (State.KEPT,)),
        ("must_shorten", (State.SHORTENED, State.SUMMARISED)),
        ("must_drop", (State.DROPPED,)),
    ):
        for number, id_ in enumerate(getattr(expect, name)):
            yield from _stands(name, number, id_, states, decided)
    for number, rank in enumerate(expect.rank_of):
        yield from _ranked(rank.id, rank.at_most, number, decided)
    for number, recall in enumerate(expect.recall_of):
        kept = [id_ for id_ in recall.ids if _state(decided, id_) is State.KEPT]
        share = len(kept) / len(recall.ids)
        if share < recall.at_least:
            missing = _few([id_ for id_ in recall.ids if id_ not in kept])
            said = f"{len(kept)} of {len(recall.ids)} leave whole ({share:.2f}); not {missing}"
            yield Failure(f"recall_of at_least {recall.at_least:g}", said, _key("recall_of", number))
    if expect.budget_used_between is not None:
        yield from _used(expect.budget_used_between, decided)
    if expect.contains or expect.lacks:
        text = decided.kind.leaving(decided.outcome)
        for number, one in enumerate(expect.contains):
            if one not in text:
                yield Failure(f"contains {_q(one)}", "what leaves does not hold it", _key("contains", number))
        for number, one in enumerate(expect.lacks):
            if one in text:
                yield Failure(f"lacks {_q(one)}", "what leaves holds it", _key("lacks", number))
    measures = decided.kind.measures(decided.outcome)
    if expect.cache_reread_at_most is not None:
        reread = measures.get("cache_reread")
        if reread is None:
            raise _says_nothing("cache_reread_at_most", decided)
        if reread > expect.cache_reread_at_most:
            said = f"{reread:,} tokens have to be read again"
            yield Failure(f"cache_reread_at_most {expect.cache_reread_at_most:,}", said, _key("cache_reread_at_most"))
    if expect.coverage:
        covered = measures.get("coverage")
        if covered is None:
            raise _says_nothing("coverage", decided)
        for path, state in expect.coverage.items():
            now = covered.get(path)
            if now != state:
                near = suggestion(path, covered) if now is None else ""
                said = f"it is {now}" if now else "it is not changed" + (f"; did you mean {near}?" if near else "")
                yield Failure(f"coverage {_q(path)} {state}", said, _key("coverage", path))


def _key(*parts: str | int) -> KeyPath:
    return ("expect", *parts)


def _says_nothing(name: str, decided: Decided) -> ScenarioError:
    said = f"expect.{name} says nothing to {decided.kind.name}"
    return ScenarioError(said, hint="leave it out", where=_key(name))


def _stands(name: str, number: int, id_: str, states: Sequence[State], decided: Decided) -> Iterator[Failure]:
    one = decided.by_id.get(id_)
    if one is None:
        if name == "must_drop" and decided.kind.finds_entries:
            return  # what is not even found does not leave
        yield Failure(f"{name} {_q(id_)}", _absent(id_, decided), _key(name, number))
    elif one.entry.state not in states:
        said = f"it is {one.entry.state.label}: {sentence(one.entry)}"
        yield Failure(f"{name} {_q(id_)}", said, _key(name, number))


def _ranked(id_: str, at_most: int, number: int, decided: Decided) -> Iterator[Failure]:
    one, name = decided.by_id.get(id_), f"rank_of {_q(id_)} at_most {at_most}"
    if one is None:
        yield Failure(name, _absent(id_, decided), _key("rank_of", number))
        return
    rank = one.number + 1 if one.entry.terms else one.entry.position
    if rank is None and any(other.entry.terms or other.entry.position for other in decided.listed):
        yield Failure(name, "it does not leave", _key("rank_of", number))
    elif rank is None:
        raise _says_nothing("rank_of", decided)
    elif rank > at_most:
        yield Failure(name, f"it stands at {rank}", _key("rank_of", number))


def _used(between: tuple[float, float], decided: Decided) -> Iterator[Failure]:
    least, most = between
    used, budget = decided.ledger.after, decided.ledger.budget
    shares = most <= 1
    value = used / budget if shares and budget else float(used)
    if not least <= value <= most:
        said = f"{value:.3f} of {budget:,} tokens" if shares else f"{used:,} tokens"
        name = f"budget_used_between {least:g} and {most:g}"
        yield Failure(name, f"used are {said}", _key("budget_used_between"))


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
