"""What holds of every envelope, budget and counter (context-budget, frozen invariants)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from secateur import Settings
from secateur.errors import BudgetExceeded
from secateur.kinds.envelope.envelope import Budget, TrimmedEnvelope, fit, trim_envelope
from secateur.kinds.envelope.ledger_entries import Remembered
from secateur.kinds.envelope.sections import EnvelopeValue, Path, section_of, sections, value_at, walk
from secateur.model import State
from secateur.settings import with_values
from secateur.tokens import count_tokens, get_counter
from support.envelopes import SECTIONS

MODEL = "some-model"
anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=30)
"""Lone surrogates and control characters included."""

keys = st.sampled_from(["path", "summary", "hash", "content", "notes", "extensions", "x_more", "a.b", ""]) | anything
texts = anything | st.builds(lambda text, times: text * times, anything, st.integers(1, 60))
scalars = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=14) | st.dictionaries(keys, inner, max_size=6), max_leaves=25
)
paths = st.builds(
    lambda base, number: [f"{base}/{n % 7}/{n}.md" for n in range(number)],
    st.sampled_from(["docs", "src/a", "订单"]),
    st.integers(8, 80),
)
long = st.builds(lambda text, times: (text + " words ") * times, anything, st.integers(5, 80))
entry = st.fixed_dictionaries(
    {"path": anything, "content": texts | long},
    optional={"summary": texts, "hash": texts, "refs": paths, "more": values},
)
entries = st.lists(entry, min_size=2, max_size=6).flatmap(
    lambda some: st.integers(1, 5).map(lambda times: some * times)
)
mixed = st.builds(lambda one, other, third: [*one, *other, *third], entries, paths, entries)
whole = st.fixed_dictionaries(
    {"files": entries, "assets": paths, "more": mixed}, optional={"notes": long, "odd": values}
)
digests = (
    whole | st.dictionaries(keys, values | paths | entries | mixed | long, min_size=1, max_size=5) | mixed | values
)
small = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=4
)
envelopes = st.fixed_dictionaries(
    {section: digests if section == "dependency_digest" else small for section in SECTIONS}
)
rules = st.builds(
    lambda counter: with_values(Settings(), {"tokens.counter": counter}),
    st.sampled_from(["o200k_base", "estimate", "chars4"]),
)
picks = st.lists(st.integers(0, 40), max_size=2)
"""Which values of an envelope are pinned, by their numbers in the order of a walk."""

shares = st.sampled_from([0.0, 0.02, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0, 1.1])
"""Of what lies between the smallest budget that can be met and the whole."""


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def floor(value: Any, settings: Settings) -> int:
    """The budget that the error names as enough."""
    try:
        return trim_envelope(value, MODEL, 1, settings=settings).report.after
    except BudgetExceeded as error:
        return int(error.hint.split("budget of ")[1].split(" ")[0].replace(",", ""))


def pinned(value: Any, picks: list[int], settings: Settings) -> tuple[list[Path], Settings]:
    """Some paths outside the target, and the settings that pin them by their ids."""
    nodes = [node.path for name in value for node in walk(EnvelopeValue(value, name, (name,)))]
    paths = [path for at, path in enumerate(nodes) if at in picks]
    return paths, with_values(settings, {"pins": tuple(map(section_of, paths))})


def attempt(value: Any, share: float, settings: Settings) -> TrimmedEnvelope:
    """Trimmed to what lies at `share`, so that every stage is met."""
    least = floor(value, settings)
    return trim_envelope(
        value,
        MODEL,
        least + int(share * (count_tokens(text(value), settings.tokens.counter) - least)),
        settings=settings,
    )


@budgeted(max_examples=3, deadline=None)
@given(value=envelopes, share=shares, settings=rules, picks=picks)
def test_the_budget_is_met_or_an_error_and_the_rest_is_as_it_was(
    value: dict[str, Any], share: float, settings: Settings, picks: list[int]
) -> None:
    before = copy.deepcopy(value)
    paths, settings = pinned(value, picks, settings)
    result = attempt(value, share, settings)
    assert value == before
    report, counter = result.report, settings.tokens.counter
    assert report.before == count_tokens(text(before), counter)
    assert report.after == count_tokens(text(result.envelope), counter) <= report.budget
    assert report.after <= report.before
    assert len(text(result.envelope)) <= len(text(before))
    assert list(result.envelope) == list(before)
    assert result.envelope["target_snapshot"] == before["target_snapshot"]
    for path in paths:
        assert value_at(result.envelope, path) == value_at(before, path), "a pin is cut"
    assert (result.envelope != before) == report.applied == any(action.action != "keep" for action in report.actions)


@budgeted(max_examples=3, deadline=None)
@given(value=envelopes, share=shares, settings=rules, picks=picks)
def test_the_ledger_sums_to_the_recounted_text(
    value: dict[str, Any], share: float, settings: Settings, picks: list[int]
) -> None:
    paths, settings = pinned(value, picks, settings)
    result = attempt(value, share, settings)
    actions = result.report.actions
    kept = {entry.id for entry in result.ledger.entries if entry.state is State.KEPT}
    for path in paths:
        outer = any(other != path and other == path[: len(other)] for other in paths)
        inner = any(other != path and path == other[: len(path)] for other in paths)
        assert outer or inner or path[0] == "target_snapshot" or section_of(path) in kept, "a pin has no row"
    assert sum(action.before for action in actions) == result.report.before
    assert sum(action.after for action in actions) == result.report.after
    assert sum(action.before_chars or 0 for action in actions) == len(text(value))
    assert sum(action.after_chars or 0 for action in actions) == len(text(result.envelope))
    names = [action.section for action in actions]
    assert len(set(names)) == len(names)
    for action in actions:
        if action.action != "keep":
            assert (action.after_chars or 0) < (action.before_chars or 0)
        elif action.section != "envelope":
            assert (action.before, action.before_chars) == (action.after, action.after_chars)
    around = actions[-1]
    assert (around.before_chars or 0) >= 0
    assert (around.after_chars or 0) >= 0


@budgeted(max_examples=4, deadline=None)
@given(value=envelopes, share=shares, settings=rules, picks=picks)
def test_it_is_idempotent_and_gives_the_same_bytes(
    value: dict[str, Any], share: float, settings: Settings, picks: list[int]
) -> None:
    settings = pinned(value, picks, settings)[1]
    result = attempt(value, share, settings)
    again = attempt(value, share, settings)
    assert json.dumps(result.output().to_dict()) == json.dumps(again.output().to_dict())
    twice = trim_envelope(result.envelope, MODEL, result.report.budget, settings=settings)
    assert twice.envelope == result.envelope
    assert not twice.report.applied


@budgeted(max_examples=4, deadline=None)
@given(value=envelopes, settings=rules)
def test_below_the_budget_an_error_names_there_is_only_the_error(value: dict[str, Any], settings: Settings) -> None:
    least = floor(value, settings)
    assert trim_envelope(value, MODEL, least, settings=settings).report.after <= least
    with pytest.raises(BudgetExceeded):
        trim_envelope(value, MODEL, 1, settings=settings)


@budgeted(max_examples=4, deadline=None)
@given(value=envelopes, share=shares, settings=rules)
def test_nothing_shared_with_the_input_can_change(value: dict[str, Any], share: float, settings: Settings) -> None:
    result = attempt(value, share, settings)
    before = copy.deepcopy(value)
    pending: list[Any] = list(result.envelope.values())
    while pending:
        held = pending.pop()
        if isinstance(held, dict | list):
            pending += held.values() if isinstance(held, dict) else held
            held.clear()
    assert value == before


@budgeted(max_examples=6, deadline=None)
@given(
    value=envelopes,
    asked=st.lists(st.tuples(rules, picks), min_size=1, max_size=2),
    order=st.lists(st.tuples(st.integers(0, 1), shares), min_size=6, max_size=10),
)
def test_a_decision_is_the_same_whatever_was_decided_before(
    value: dict[str, Any], asked: list[tuple[Settings, list[int]]], order: list[tuple[int, float]]
) -> None:
    """Budgets, rules and pins are tried in turn, as proofs do."""
    original, remembered = sections(value), Remembered()
    for index, share in order:
        rule, numbers = asked[index % len(asked)]
        _, settings = pinned(value, numbers, rule)
        counter = get_counter(settings.tokens.counter)
        budget = Budget(max(1, int(share * counter.count(text(value)))), 0)
        arguments = original, budget, counter, settings.pins
        assert describe(*arguments, remembered) == describe(*arguments)
    assert original == sections(value)


def describe(*arguments: Any) -> tuple[Any, ...]:
    """What a decision holds, or its error."""
    try:
        result = fit(*arguments)
    except BudgetExceeded as error:
        return str(error), error.hint
    return text(result.envelope), result.ledger.shape(), result.places
