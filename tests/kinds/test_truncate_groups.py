"""`truncate` takes out groups, oldest first, and gives the room that is left to the newest messages that fit it."""

from __future__ import annotations

from typing import Any

import pytest
from secateur import ConversationPruner
from secateur.kinds.conversation.decisions import FEW_WORDS_KEPT
from secateur.kinds.conversation.transcripts import read_messages
from secateur.settings import Settings, with_values

TURNS = 24
EXCHANGE = 2
SENTENCE = "the parcel was weighed, stamped and put onto the van that leaves at noon "


def left_of(group_size: int, zone: int) -> list[int]:
    """Numbers of the messages that are left of 24 of the same size."""
    values = {
        "tokens.counter": "chars4",
        "conversation_prune.safe_zone_tokens": zone,
        "conversation_prune.group_size": group_size,
    }
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": f"{number:02} {SENTENCE * 5}"} for number in range(TURNS)]
    pruned = ConversationPruner(with_values(Settings(), values)).prune_conversations(messages, "truncate")
    return [int(message["content"][:2]) for message in pruned]


@pytest.mark.parametrize("zone", [900, 1500, 1900])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_the_oldest_go_and_no_more_than_are_needed(size: int, zone: int) -> None:
    taken = TURNS - len(left_of(1, zone))
    assert taken > 1 and taken % EXCHANGE == 0, "a question and its answer go together"
    assert left_of(size, zone) == list(range(taken, TURNS))


def test_room_is_filled_with_whole_steps_and_turns() -> None:
    """Large and small steps of several turns: what stays is a conversation, and no step more would fit."""
    messages: list[dict[str, Any]] = []
    for turn in range(6):
        messages.append({"role": "user", "content": f"question {turn}"})
        for step in range(5):
            name, text = f"c{turn}{step}", SENTENCE * (3 if (turn + step) % 3 else 30)
            call = {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": name, "content": text})
        messages.append({"role": "assistant", "content": f"answer {turn}"})
    messages.append({"role": "user", "content": "And now?"})
    pruner = ConversationPruner(
        with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 1_700})
    )
    kept = pruner.prune_conversations(messages, "truncate")
    assert pruner.report is not None and 1_700 - 60 < pruner.report.after <= 1_700, "a small step has about 60 tokens"
    assert pruner.result is not None and {notice.code for notice in pruner.result.warnings} <= {FEW_WORDS_KEPT}
    assert not read_messages(kept).notices, "calls and results are paired"
    questions = [message["content"][-1] for message in kept if message["role"] == "user"]
    answers = [message["content"][-1] for message in kept if message["role"] == "assistant" and message["content"]]
    assert questions[:-1] == answers


def test_what_fits_stays_whatever_the_size_of_a_group() -> None:
    assert left_of(4, 100_000) == list(range(TURNS))


@pytest.mark.parametrize("strategy", ["summarize", "hybrid", "staged"])
def test_room_that_a_summary_leaves_goes_to_the_newest_messages(strategy: str) -> None:
    """A group of four messages is larger than what has to go: half of it stays."""
    steps = [
        message
        for number in range(8)
        for message in (
            {"role": "assistant", "content": f"Step {number}. " + "parcel " * 600},
            {"role": "user", "content": "Go on."},
        )
    ]
    values = {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 3700}
    pruner = ConversationPruner(with_values(Settings(), values))
    kept = pruner.prune_conversations([{"role": "user", "content": "Start."}, *steps], strategy)
    assert sum(message["content"].startswith("Step") for message in kept) == 3
    assert pruner.report is not None and 3300 < pruner.report.after <= 3700
