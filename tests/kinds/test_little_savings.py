"""A tool result that a placeholder hardly makes shorter is not given up while another one will do."""

from __future__ import annotations

from typing import Any

from secateur.kinds.conversation.placeholders import MARK
from secateur.kinds.conversation.tool_results import AgenticConversationPruner
from secateur.settings import Settings, with_values

SHORT = " ".join(f"short{number}" for number in range(24))  # some tokens longer than its placeholder
LONG = " ".join(f"long{number}" for number in range(400))


def conversation() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
    for number, text in enumerate((SHORT, LONG)):
        call = {"type": "tool_use", "id": f"{number}", "name": "Grep", "input": {"pattern": f"word{number}"}}
        result = {"type": "tool_result", "tool_use_id": f"{number}", "content": text}
        found += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return [*found, {"role": "assistant", "content": "Both are read."}]


def cleared(safe_zone: int) -> list[bool]:
    settings = with_values(Settings(), {"conversation_prune.safe_zone_tokens": safe_zone})
    pruned = AgenticConversationPruner(settings).prune_conversations(conversation())
    results = [part for message in pruned if isinstance(message["content"], list) for part in message["content"]]
    return [part["content"].startswith(MARK) for part in results if part["type"] == "tool_result"]


def test_the_oldest_goes_first_unless_it_saves_next_to_nothing() -> None:
    assert cleared(400) == [False, True]


def test_what_saves_little_goes_too_where_the_safe_zone_is_not_met_without_it() -> None:
    assert cleared(1) == [True, True]


def test_nothing_goes_that_need_not() -> None:
    assert cleared(10_000) == [False, False]
