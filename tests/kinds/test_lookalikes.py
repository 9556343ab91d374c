"""What only looks like a pruner's own words: a user's, a tool's, a file's."""

from __future__ import annotations

from typing import Any

import pytest
from secateur import AgenticConversationPruner, ConversationPruner, Settings
from secateur.kinds.conversation.decisions import BRIDGE, NOTED, SUMMARY_MARK
from secateur.kinds.conversation.placeholders import MARK
from secateur.settings import with_values

LONG = "All of this is what the tool printed, and it goes on and on. " * 40


def settings(zone: int) -> Settings:
    return with_values(Settings(), {"conversation_prune.safe_zone_tokens": zone, "conversation_prune.group_size": 1})


def talk(last: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "Start. " * 50},
        {"role": "assistant", "content": "Yes. " * 50},
        {"role": "user", "content": last},
        {"role": "user", "content": "<tool_result tool_name='make'>It was made.</tool_result>"},
        {"role": "assistant", "content": "Working. " * 5},
    ]


@pytest.mark.parametrize("strategy", ["summarize", "truncate", "hybrid", "tool-results"])
@pytest.mark.parametrize(
    "said",
    [
        f"{SUMMARY_MARK}the meeting] Please write it up.",
        f"{SUMMARY_MARK}3 earlier messages, in excerpts] is what I saw",
        NOTED,
    ],
)
def test_the_last_thing_a_user_said_survives_whatever_it_begins_with(said: str, strategy: str) -> None:
    messages = talk(said)
    pruner = ConversationPruner(settings(0))
    assert messages[2] in pruner.prune_conversations(messages, strategy)


def test_where_users_only_bring_results_the_last_of_them_stays_and_not_what_a_summary_put_there() -> None:
    result = f"<tool_result tool_name='make'>{LONG}</tool_result>"
    messages = [
        {"role": "user", "content": result},
        {"role": "assistant", "content": f"{SUMMARY_MARK}5 earlier messages, in excerpts]"},
        {"role": "user", "content": BRIDGE},
        {"role": "assistant", "content": "Done."},
    ]
    pruner = ConversationPruner(settings(5))
    assert pruner.prune_conversations(messages, "summarize") == messages


@pytest.mark.parametrize(
    "printed",
    [
        MARK + LONG,
        f"{MARK}Read, 5 tokens, sha256 0123456789ab; {LONG}]",
        f"{SUMMARY_MARK}2 earlier messages, in excerpts]\n{LONG}",
    ],
)
@pytest.mark.parametrize("strategy", ["tool-results", "summarize"])
def test_a_tool_cannot_print_what_is_never_pruned(printed: str, strategy: str) -> None:
    messages = [
        {"role": "user", "content": "Run it."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": printed},
        {"role": "assistant", "content": "It ran."},
        {"role": "user", "content": "And now?"},
    ]
    pruner = ConversationPruner(settings(100))
    pruner.prune_conversations(messages, strategy)
    assert pruner.report is not None and pruner.report.after <= 100


@pytest.mark.parametrize("tool", ["run", "a tool with a name that goes on and on " * 20, "<b>&'"])
def test_a_placeholder_is_never_replaced_by_another(tool: str) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Run it."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": tool, "input": {"a": "<&>"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": LONG}]},
        {"role": "assistant", "content": "It ran."},
        {"role": "user", "content": "And now?"},
    ]
    pruner = AgenticConversationPruner(settings(0))
    once = pruner.prune_conversations(messages)
    assert once[2]["content"][0]["content"].startswith(MARK)
    assert pruner.prune_conversations(once) == once
    assert pruner.result is not None and pruner.result.results_cleaned == 0


def test_a_placeholder_tells_no_lie_when_what_it_speaks_of_is_cleared_too() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
    for number in (1, 2):
        messages += [
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"c{number}", "name": "run", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{number}", "content": LONG}]},
        ]
    cleared = AgenticConversationPruner(settings(0)).prune_conversations(
        [*messages, {"role": "assistant", "content": "Seen."}]
    )
    first, second = (cleared[number]["content"][0]["content"] for number in (2, 4))
    assert "the same text came again later" in first and "call it again" in second
