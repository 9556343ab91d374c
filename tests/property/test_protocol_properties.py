"""What leaves a pruner is what a provider accepts, for conversations as agents have them; and the books hold there
too."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.kinds.conversation.decisions import Pruned, measure
from secateur.kinds.conversation.messages import ASIDE
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.transcripts import read_messages
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.conversation_strategies import TEXT
from support.conversations import FORMATS
from support.protocols import faults
from support.talks import TALKS, Turn, talk

COUNTER = get_counter("chars4")
ZONES = st.one_of(st.integers(0, 80), st.integers(0, 4000))


def pruned(messages: list[dict[str, object]], strategy: str, zone: int, group: int = 4) -> Pruned:
    values = {
        "tokens.counter": "chars4",
        "conversation_prune.safe_zone_tokens": zone,
        "conversation_prune.group_size": group,
    }
    return prune(read_messages(messages), with_values(Settings(), values), strategy)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=6)
@given(turns=TALKS, asks=TEXT, zone=ZONES, group=st.integers(1, 6))
def test_what_leaves_would_be_accepted_and_the_books_hold(
    form: str, strategy: str, turns: list[Turn], asks: str, zone: int, group: int
) -> None:
    messages = talk(form, turns, asks)
    assert faults(form, messages) == [], "the test's own conversation is at fault"
    before = copy.deepcopy(messages)
    result = pruned(messages, strategy, zone, group)
    assert messages == before
    assert faults(form, result.messages) == []
    report = result.report
    assert measure(read_messages(result.messages), COUNTER).total == report.after <= report.before
    assert (sum(action.before for action in report.actions), sum(action.after for action in report.actions)) == (
        report.before,
        report.after,
    )
    assert (report.after <= zone) != any(notice.code == "safe_zone_exceeded" for notice in result.warnings)
    left = {str(message.get("uuid")): message for message in result.messages}
    for message in result.transcript.messages:
        if message.role == ASIDE and "uuid" in message.raw:
            assert left[str(message.raw["uuid"])] | {"parentUuid": None} == message.raw | {"parentUuid": None}, (
                "a line of another branch is changed"
            )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=6)
@given(turns=TALKS, asks=TEXT, zone=ZONES)
def test_pruning_twice_is_pruning_once(form: str, strategy: str, turns: list[Turn], asks: str, zone: int) -> None:
    once = pruned(talk(form, turns, asks), strategy, zone).messages
    assert pruned(once, strategy, zone).messages == once


@settings(max_examples=6)
@given(turns=TALKS, asks=TEXT)
def test_a_session_with_given_up_answers_weighs_what_the_same_talk_weighs_without(turns: list[Turn], asks: str) -> None:
    straight = [Turn(turn.user, turn.rounds, turn.answer) for turn in turns]
    assert (
        measure(read_messages(talk("claude-code", turns, asks)), COUNTER).total
        == measure(read_messages(talk("claude-code", straight, asks)), COUNTER).total
    )
