"""What holds for every conversation, strategy and safe zone."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.kinds.conversation.decisions import Pruned, measure
from secateur.kinds.conversation.messages import PartKind
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.transcripts import read_messages, read_transcript
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.conversation_strategies import TEXT, TURNS
from support.conversations import FORMATS, Said, conversation, roles

COUNTER = get_counter("chars4")
ZONES = st.one_of(st.integers(0, 60), st.integers(0, 2000))
PINS = st.lists(st.integers(0, 25), max_size=3)
"""Indexes of pinned messages; some name none."""


def pruned(
    messages: Sequence[dict[str, Any]],
    strategy: str,
    zone: int,
    group: int = 4,
    *,
    cut_to: float = 1,
    first: bool = False,
    pins: Sequence[int] = (),
) -> Pruned:
    values = {
        "pins": tuple(f"messages[{index}]" for index in pins),
        "conversation_prune.cut_to": cut_to,
        "conversation_prune.keep_first": first,
        "conversation_prune.keep_errors": 3 if first else 0,
        "tokens.counter": "chars4",
        "conversation_prune.safe_zone_tokens": zone,
        "conversation_prune.group_size": group,
    }
    return prune(read_messages(messages), with_values(Settings(), values), strategy)


def pairs(messages: Sequence[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Ids of calls and of results, in order."""
    parts = [part for message in read_messages(messages).messages for part in message.parts]
    return [part.call for part in parts if part.kind is PartKind.CALL], [
        part.call for part in parts if part.kind is PartKind.RESULT and part.call
    ]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=12)
@given(
    turns=TURNS,
    asks=st.one_of(st.just(""), TEXT),
    zone=ZONES,
    group=st.integers(1, 6),
    cut_to=st.sampled_from((1, 0.7, 0.1)),
    first=st.booleans(),
    pins=PINS,
)
def test_what_leaves_is_a_conversation_and_its_books_are_right(
    form: str,
    strategy: str,
    turns: list[Said],
    asks: str,
    zone: int,
    group: int,
    cut_to: float,
    first: bool,
    pins: list[int],
) -> None:
    messages = conversation(form, turns, system="You are careful.", asks=asks)
    before = copy.deepcopy(messages)
    result = pruned(messages, strategy, zone, group, cut_to=cut_to, first=first, pins=pins)
    after = result.messages

    assert messages == before, "the input is changed"
    again = measure(read_messages(after), COUNTER)
    assert again.total == result.report.after, "the ledger is not the recounted text"
    assert result.report.before == measure(read_messages(messages), COUNTER).total
    assert sum(action.before for action in result.report.actions) == result.report.before
    assert sum(action.after for action in result.report.actions) == result.report.after
    assert result.report.after <= result.report.before, "it grew"
    assert (result.report.after <= zone) != any(notice.code == "safe_zone_exceeded" for notice in result.warnings)
    if result.report.before <= zone:
        assert all(left is right for left, right in zip(messages, after, strict=True))

    oldest = (Reason.OLDEST_GROUP, Reason.OLDEST_RESULT)
    assert all(entry.figures["over"] for entry in result.ledger.entries if entry.reason in oldest)

    calls, results = pairs(after)
    assert calls == results, "a call and its result are parted"
    spoken = [role for role in roles(after) if role != "system"]
    if form != "openai":
        assert all(left != right for left, right in pairwise(spoken)), "a side speaks twice"
        assert spoken[0] == "user"
    assert [message for message in after if message.get("role") == "system"] == [
        message for message in messages if message.get("role") == "system"
    ]
    asked = {"role": "user", "content": asks or turns[-1].user}
    assert asked in [message.get("message", message) for message in after], "the last question is gone"
    if first:
        opened = {"role": "user", "content": turns[0].user}
        assert opened in [message.get("message", message) for message in after], "the first question is gone"
    spoken_after = [message.get("message", message) for message in after]
    for index in pins:
        assert index >= len(messages) or messages[index].get("message", messages[index]) in spoken_after, (
            "a pin is gone"
        )
    if form == "claude-code":
        ids = [message.get("uuid") for message in after[1:]]
        assert [message["parentUuid"] for message in after[1:]] == [None, *ids[:-1]]
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=12)
@given(turns=TURNS, asks=TEXT, zone=ZONES, cut_to=st.sampled_from((1, 0.7)))
def test_pruning_twice_is_pruning_once(
    form: str, strategy: str, turns: list[Said], asks: str, zone: int, cut_to: float
) -> None:
    once = pruned(conversation(form, turns, asks=asks), strategy, zone, cut_to=cut_to).messages
    assert pruned(once, strategy, zone, cut_to=cut_to).messages == once


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=12)
@given(turns=TURNS, zone=ZONES, pin=st.integers(0, 25))
def test_others_go_in_the_place_of_a_pin(strategy: str, turns: list[Said], zone: int, pin: int) -> None:
    messages = conversation("openai", turns, asks="Go on.")
    whole = measure(read_messages(messages), COUNTER)
    result = pruned(messages, strategy, zone, pins=[pin])
    least = pruned(messages, strategy, 0, pins=[pin]).report.after
    if strategy in ("tool-results", "truncate"):
        assert result.report.after <= max(zone, least), "more could go"
    if pin < len(messages):
        entry = next(entry for entry in result.ledger.entries if entry.id == f"messages[{pin}]")
        assert (entry.state, entry.after) == (State.KEPT, whole.tokens[pin])


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=12)
@given(turns=TURNS, zone=ZONES, cut_to=st.sampled_from((0.3, 0.7)))
def test_a_cut_goes_as_far_down_as_a_safe_zone_of_its_target(
    strategy: str, turns: list[Said], zone: int, cut_to: float
) -> None:
    messages = conversation("anthropic", turns, asks="Go on.")
    cut = pruned(messages, strategy, zone, cut_to=cut_to)
    assert int(zone * cut_to) <= cut.target <= zone
    if cut.report.before <= zone:
        assert cut.messages == messages
    elif strategy in ("tool-results", "truncate"):  # a summary may use the room up to the safe zone
        assert cut.messages == pruned(messages, strategy, cut.target).messages


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=12)
@given(turns=TURNS, zone=ZONES, pins=PINS)
def test_the_cache_keeps_what_is_before_the_first_change(
    form: str, turns: list[Said], zone: int, pins: list[int]
) -> None:
    messages = conversation(form, turns)
    result = pruned(messages, "tool-results", zone, pins=pins)
    first = next(
        (number for number, (old, new) in enumerate(zip(messages, result.messages, strict=True)) if old != new), None
    )
    assert result.cache.first_changed == first
    assert result.cache.prefix_tokens + result.cache.reread_tokens == result.report.after
    assert result.cache.prefix_tokens == measure(read_messages(messages[:first]), COUNTER).total


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=12)
@given(turns=TURNS)
def test_a_file_is_read_and_written_as_it_was(form: str, turns: list[Said]) -> None:
    messages = conversation(form, turns, asks="Go on.")
    as_lines = "".join(json.dumps(message) + " \n" for message in messages)
    transcript = read_transcript(as_lines.encode())
    assert transcript.write([message.raw for message in transcript.messages]) == as_lines
    whole = read_transcript(json.dumps(messages).encode())
    assert json.loads(whole.write([message.raw for message in whole.messages])) == messages
    if any(turn.steps for turn in turns) or form == "claude-code":
        assert transcript.format == whole.format == form
