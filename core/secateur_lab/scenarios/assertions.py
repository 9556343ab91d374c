"""Finds the assertions of a scenario that do not hold, and explains a changed decision: by settings, texts, terms of
scores, and other items that took the room. Pure. A cause shows figures of the recorded decision and the present one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from secateur import Number, Shape, State, installed_keys, redact, sentence, suggestion

from secateur_lab.scenarios.malformed import ScenarioError
from secateur_lab.scenarios.running import Decided
from secateur_lab.scenarios.scenario import DIGITS, Expect, Recorded, RecordedItem
from secateur_lab.scenarios.toml_writing import KeyPath

MOST_CAUSES_NAMED = 3  # most other items in one cause
Pair = tuple[RecordedItem, RecordedItem]  # an item as recorded, and as it is now


def changed_settings(recorded: Recorded, decided: Decided) -> dict[str, tuple[Any, Any]]:
    """Returns (recorded, now) of the settings that changed, wherever they are set; the budget in force first."""
    moved = {"budget": (recorded.budget, decided.budget)} if recorded.budget != decided.budget else {}
    known = installed_keys()
    for key in dict.fromkeys((*recorded.knobs, *decided.knobs)):
        if key not in known or key in ("budget", "graph_rag.token_budget", decided.kind.budget.key):
            continue
        default = known[key].default
        was, is_now = (values.get(key, default) for values in (recorded.knobs, decided.knobs))
        if _plain(was) != _plain(is_now):
            moved[key] = (was, is_now)
    return moved


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


class Moves:
    """The items of a decision with the recorded ones, to explain what changed an item."""

    def __init__(self, pairs: Sequence[Pair], new: Sequence[RecordedItem]) -> None:
        self._pairs = pairs
        entered = [now for was, now in pairs if now.leaves and not was.leaves]
        no_rank = float("inf")
        self._entered = sorted([*entered, *new], key=lambda item: no_rank if item.rank is None else item.rank)

    def instead(self, was: RecordedItem, now: RecordedItem | None) -> tuple[str, ...]:
        """Returns the items that took the place of an item that is no longer in the output: new items in the output
        that rank before it, or all new ones if there are no ranks."""
        if not was.leaves or (now is not None and now.leaves):
            return ()
        rank = now.rank if now is not None else None
        before = [item for item in self._entered if rank is None or item.rank is None or item.rank < rank]
        ranks = [f"rank {item.rank}, " if item.rank is not None else "" for item in before]
        return tuple(f"{item.id} ({of}{item.tokens[1]:,} tokens)" for item, of in zip(before, ranks, strict=True))

    def causes(self, was: RecordedItem, now: RecordedItem) -> Iterator[str]:
        """Yields the causes that changed an item that still exists, the nearest first."""
        if was.text and now.text and was.text != now.text:
            yield f"its text changed ({was.tokens[0]:,} -> {now.tokens[0]:,} tokens)"
        yield from self._score(was, now)
        if was.leaves and not now.leaves and not self.instead(was, now):
            grown = [
                f"{other.id} ({before.tokens[1]:,} -> {other.tokens[1]:,} tokens)"
                for before, other in self._pairs
                if before.leaves and other.leaves and other.tokens[1] > before.tokens[1]
            ]
            if grown:
                yield f"takes more room now: {join_first(grown)}"

    def _score(self, was: RecordedItem, now: RecordedItem) -> Iterator[str]:
        moved = _terms(was, now)
        if was.rank is None or now.rank is None or was.rank == now.rank:
            if moved:
                yield moved
        elif moved:
            yield f"rank {was.rank} -> {now.rank} because {moved}"
        else:
            passed = [
                f"{other.id} ({terms})"
                for before, other in self._pairs
                if before.rank and other.rank and before.rank > was.rank and other.rank < now.rank
                if (terms := _terms(before, other))
            ]
            yield f"rank {was.rank} -> {now.rank}" + (f": passed by {join_first(passed)}" if passed else "")


def _terms(was: RecordedItem, now: RecordedItem) -> str:
    """Lists what moved the priority; for a changed rank, first what moved it that way."""
    names = dict.fromkeys((*was.terms, *now.terms))
    moved = [(name, was.terms.get(name, 0.0), now.terms.get(name, 0.0)) for name in names]
    fell = (now.rank or 0) > (was.rank or 0)
    moved = [term for term in moved if term[1] != term[2]]
    moved.sort(key=lambda term: ((term[2] < term[1]) != fell, -abs(term[2] - term[1])))
    return ", ".join(f"{name} {before:.{DIGITS}f} -> {after:.{DIGITS}f}" for name, before, after in moved)


def join_first(texts: Sequence[str], most: int = MOST_CAUSES_NAMED) -> str:
    """Joins the first texts, and counts the others."""
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


MOST_NAMED = 5  # most items in one line of an explanation
MOST_COUNTED = 30  # most items of an input that is above its ceiling

MOST_SUGGESTED = 20  # ids of one list for which the nearest id is looked for, since each is compared with all items


class Failure(Shape, frozen=True):
    """One assertion that does not hold."""

    assertion: str  # as it is written: `must_keep "a.py::f"`
    said: Annotated[str, Meta(description="What is true instead.")]
    line: Annotated[Number, Meta(description="Of the scenario's file.")]
    ids: Annotated[Sequence[str], Meta(description="The items because of which it fails.")] = ()
    now: Annotated[str, Meta(description="The item that has its text now, or its nearest name.")] | UnsetType = UNSET
    causes: Annotated[Sequence[str], Meta(description="What moved them since it was saved, the nearest first.")] = ()

    @property
    def words_to_accept(self) -> tuple[str, ...]:
        """The flags of `secateur check` that replace or remove the assertion, as far as that is one item."""
        if isinstance(self.now, str):
            return ("--replace", self.ids[0], self.now)
        return ("--remove", self.ids[0]) if len(self.ids) == 1 else ()


def asserted_ids(expect: Expect) -> set[str]:
    """Returns the ids of items about which something is asserted."""
    ids = {*expect.must_keep, *expect.must_shorten, *expect.must_drop, *(rule.id for rule in expect.rank_of)}
    return ids | {id_ for rule in expect.recall_of for id_ in rule.ids}


LineOf = Callable[[KeyPath], int]  # returns the line in a scenario's file, from 1, of a path in it


def find_failures(expect: Expect, decided: Decided, line_of: LineOf) -> Iterator[Failure]:
    """Yields the assertions that do not hold for these decisions. Raises ScenarioError: an assertion does not apply to
    this kind of context."""
    for assertion, said, where, *ids in _find_faults(expect, decided):
        near = said.partition(_NEAR)[2].removesuffix("?")
        yield Failure(assertion, said, line_of(where), ids, now=near if ids and near else UNSET)


_NEAR = "; did you mean "

# An assertion, what is true instead, the path of the assertion in the scenario, and the items that are to blame.
_Fault = tuple[str, str, KeyPath, *tuple[str, ...]]


def _find_faults(expect: Expect, decided: Decided) -> Iterator[_Fault]:
    for name, states in (
        ("must_keep", (State.KEPT,)),
        ("must_shorten", (State.SHORTENED, State.SUMMARISED)),
        ("must_drop", (State.DROPPED,)),
    ):
        for index, id_ in enumerate(getattr(expect, name)):
            yield from _check_state(name, index, id_, states, decided, expect)
    for index, rank in enumerate(expect.rank_of):
        yield from _check_rank(rank.id, rank.at_most, index, decided, expect)
    for index, recall in enumerate(expect.recall_of):
        listed = [decided.by_id[id_] for id_ in recall.ids if id_ in decided.by_id]
        kept = [item.id for item in listed if item.entry.state is State.KEPT]
        share = len(kept) / len(recall.ids)
        if share < recall.at_least:
            missing = [id_ for id_ in recall.ids if id_ not in kept]
            fault = (
                f"{len(kept)} of {len(recall.ids)} are kept whole ({share:.2f}); not {join_first(missing, MOST_NAMED)}"
            )
            yield (f"recall_of at_least {recall.at_least:g}", fault, _key("recall_of", index), *missing)
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


def _check_state(
    name: str, index: int, id_: str, states: Sequence[State], decided: Decided, expect: Expect
) -> Iterator[_Fault]:
    if (listed := decided.by_id.get(id_)) is None:
        if name == "must_drop" and decided.kind.finds:
            return  # an item that is not found is not in the output
        yield (f"{name} {_quote(id_)}", _absent(id_, index, decided, expect), _key(name, index), id_)
    elif listed.entry.state not in states:
        fault = f"it is {listed.entry.state.label}: {sentence(listed.entry)}"
        yield (f"{name} {_quote(id_)}", fault, _key(name, index), id_)


def _check_rank(id_: str, at_most: int, index: int, decided: Decided, expect: Expect) -> Iterator[_Fault]:
    listed, name = decided.by_id.get(id_), f"rank_of {_quote(id_)} at_most {at_most}"
    if listed is None:
        yield (name, _absent(id_, index, decided, expect), _key("rank_of", index), id_)
        return
    rank = listed.rank if listed.entry.terms else listed.entry.position
    if rank is None and any(other.entry.terms or other.entry.position for other in decided.listed):
        yield (name, "it is not in the output", _key("rank_of", index), id_)
    elif rank is None:
        raise _ignored_error("rank_of", decided)
    elif rank > at_most:
        yield (name, f"its rank is {rank}", _key("rank_of", index), id_)


def describe_input(at_most: int, decided: Decided) -> _Fault:
    """Lists the tokens of each item, the largest first, whether or not there are too many."""
    items = sorted(decided.listed, key=lambda listed: -listed.entry.before)
    listed = join_first([f"{item.id} {item.entry.before:,}" for item in items], MOST_COUNTED)
    over = decided.ledger.before - at_most
    figure = f"{over:,} too many" if over > 0 else f"{-over:,} below"
    said = f"{decided.ledger.before:,} tokens are read, {figure}: {listed}"
    return (f"input_at_most {at_most:,}", said, _key("input_at_most"))


def _absent(id_: str, index: int, decided: Decided, expect: Expect) -> str:
    asserted = asserted_ids(expect)
    near = suggestion(id_, [name for name in decided.by_id if name not in asserted]) if index < MOST_SUGGESTED else ""
    fault = "it no longer exists" if decided.kind.unknown(decided.outcome, [id_]) else "it is not found"
    return fault + (f"{_NEAR}{near}?" if near else "")


def _quote(text: str) -> str:
    return f'"{text}"'
