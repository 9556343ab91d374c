"""Finds the assertions of a scenario that do not hold. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

from msgspec import Meta
from secateur import Number, Shape, State, redact, sentence, suggestion

from secateur_lab.scenarios.causes import join_first
from secateur_lab.scenarios.malformed import ScenarioError
from secateur_lab.scenarios.running import Decided
from secateur_lab.scenarios.scenario import Expect
from secateur_lab.scenarios.toml_writing import KeyPath

MOST_NAMED = 5  # most items in one line of an explanation
MOST_COUNTED = 30  # most items of an input that is above its ceiling

MOST_SUGGESTED = 20  # ids of one list for which the nearest id is looked for, since each is compared with all items


class Failure(Shape, frozen=True):
    """One assertion that does not hold."""

    assertion: str  # as it is written: `must_keep "a.py::f"`
    said: Annotated[str, Meta(description="What is true instead.")]
    line: Annotated[Number, Meta(description="Of the scenario's file.")]


LineOf = Callable[[KeyPath], int]  # returns the line in a scenario's file, from 1, of a path in it


def find_failures(expect: Expect, decided: Decided, line_of: LineOf) -> Iterator[Failure]:
    """Yields the assertions that do not hold for these decisions. Raises ScenarioError: an assertion does not apply to
    this kind of context."""
    for assertion, said, where in _find_faults(expect, decided):
        yield Failure(assertion, said, line_of(where))


_Fault = tuple[str, str, KeyPath]  # an assertion, what is true instead, and the path of the assertion in the scenario


def _find_faults(expect: Expect, decided: Decided) -> Iterator[_Fault]:
    for name, states in (
        ("must_keep", (State.KEPT,)),
        ("must_shorten", (State.SHORTENED, State.SUMMARISED)),
        ("must_drop", (State.DROPPED,)),
    ):
        for index, id_ in enumerate(getattr(expect, name)):
            yield from _check_state(name, index, id_, states, decided)
    for index, rank in enumerate(expect.rank_of):
        yield from _check_rank(rank.id, rank.at_most, index, decided)
    for index, recall in enumerate(expect.recall_of):
        listed = [decided.by_id[id_] for id_ in recall.ids if id_ in decided.by_id]
        kept = [item.id for item in listed if item.entry.state is State.KEPT]
        share = len(kept) / len(recall.ids)
        if share < recall.at_least:
            missing = join_first([id_ for id_ in recall.ids if id_ not in kept], MOST_NAMED)
            fault = f"{len(kept)} of {len(recall.ids)} are kept whole ({share:.2f}); not {missing}"
            yield (f"recall_of at_least {recall.at_least:g}", fault, _key("recall_of", index))
    if expect.budget_used_between is not None:
        least, most = expect.budget_used_between
        used, budget = decided.ledger.after, decided.ledger.budget
        shares = most <= 1
        value = used / budget if shares and budget else float(used)
        if not least <= value <= most:
            used_text = f"{value:.3f} of {budget:,} tokens" if shares else f"{used:,} tokens"
            name = f"budget_used_between {least:g} and {most:g}"
            yield (name, f"the output has {used_text}", _key("budget_used_between"))
    if expect.contains or expect.lacks:
        text = decided.kind.leaving(decided.outcome)
        for index, wanted in enumerate(expect.contains):
            if wanted not in text:
                yield (f"contains {_quote(wanted)}", "the output does not contain it", _key("contains", index))
        for index, wanted in enumerate(expect.lacks):
            if wanted in text:
                yield (f"lacks {_quote(wanted)}", "the output contains it", _key("lacks", index))
    if expect.lacks_credentials and (redactions := redact(decided.kind.leaving(decided.outcome))[1]):
        rules = join_first(sorted({redaction.rule for redaction in redactions}), MOST_NAMED)
        yield ("lacks_credentials", f"the output contains: {rules}", _key("lacks_credentials"))
    if expect.input_at_most is not None and decided.ledger.before > expect.input_at_most:
        yield describe_input(expect.input_at_most, decided)
    measures = decided.outcome.measures()
    if expect.cache_reread_at_most is not None:
        if (reread := measures.get("cache_reread")) is None:
            raise _ignored_error("cache_reread_at_most", decided)
        if reread > expect.cache_reread_at_most:
            fault = f"{reread:,} tokens must be read again"
            yield (f"cache_reread_at_most {expect.cache_reread_at_most:,}", fault, _key("cache_reread_at_most"))
    if expect.coverage:
        if (covered := measures.get("coverage")) is None:
            raise _ignored_error("coverage", decided)
        for path, state in expect.coverage.items():
            now = covered.get(path)
            if now != state:
                near = suggestion(path, covered) if now is None else ""
                fault = f"it is {now}" if now else "it is not changed" + (f"; did you mean {near}?" if near else "")
                yield (f"coverage {_quote(path)} {state}", fault, _key("coverage", path))


def _key(*parts: str | int) -> KeyPath:
    return ("expect", *parts)


def _ignored_error(name: str, decided: Decided) -> ScenarioError:
    return ScenarioError(f"expect.{name} is ignored by kind {decided.kind.name}", hint="leave it out", where=_key(name))


def _check_state(name: str, index: int, id_: str, states: Sequence[State], decided: Decided) -> Iterator[_Fault]:
    if (listed := decided.by_id.get(id_)) is None:
        if name == "must_drop" and decided.kind.finds:
            return  # an item that is not found is not in the output
        yield (f"{name} {_quote(id_)}", _absent(id_, index, decided), _key(name, index))
    elif listed.entry.state not in states:
        fault = f"it is {listed.entry.state.label}: {sentence(listed.entry)}"
        yield (f"{name} {_quote(id_)}", fault, _key(name, index))


def _check_rank(id_: str, at_most: int, index: int, decided: Decided) -> Iterator[_Fault]:
    listed, name = decided.by_id.get(id_), f"rank_of {_quote(id_)} at_most {at_most}"
    if listed is None:
        yield (name, _absent(id_, index, decided), _key("rank_of", index))
        return
    rank = listed.rank if listed.entry.terms else listed.entry.position
    if rank is None and any(other.entry.terms or other.entry.position for other in decided.listed):
        yield (name, "it is not in the output", _key("rank_of", index))
    elif rank is None:
        raise _ignored_error("rank_of", decided)
    elif rank > at_most:
        yield (name, f"its rank is {rank}", _key("rank_of", index))


def describe_input(at_most: int, decided: Decided) -> _Fault:
    """Lists the tokens of each item, the largest first, whether or not there are too many."""
    items = sorted(decided.listed, key=lambda listed: -listed.entry.before)
    listed = join_first([f"{item.id} {item.entry.before:,}" for item in items], MOST_COUNTED)
    over = decided.ledger.before - at_most
    figure = f"{over:,} too many" if over > 0 else f"{-over:,} below"
    said = f"{decided.ledger.before:,} tokens are read, {figure}: {listed}"
    return (f"input_at_most {at_most:,}", said, _key("input_at_most"))


def _absent(id_: str, index: int, decided: Decided) -> str:
    near = suggestion(id_, decided.by_id) if index < MOST_SUGGESTED else ""
    fault = "it no longer exists" if decided.kind.unknown(decided.outcome, [id_]) else "it is not found"
    return fault + (f"; did you mean {near}?" if near else "")


def _quote(text: str) -> str:
    return f'"{text}"'
