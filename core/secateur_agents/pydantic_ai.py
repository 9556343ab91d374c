"""Pruning in agents of pydantic-ai: `Agent(model, capabilities=[ProcessHistory(prune_history)], tools=[recall])`.

A program's own `Live` goes in by `functools.partial(prune_history, live=live)`, and its tool is `live.recall`.
"""

from __future__ import annotations

from typing import Any

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from secateur_agents.live import Live, prune_objects, user_live


def prune_history(messages: list[ModelMessage], *, live: Live | None = None) -> list[ModelMessage]:
    """Returns what is to be sent in place of a history."""

    def dump(given: Any) -> list[Any]:
        return list(ModelMessagesTypeAdapter.dump_python(list(given), mode="json"))

    return prune_objects(live or user_live(), messages, dump, ModelMessagesTypeAdapter.validate_python)


def recall(digest: str, lines: str = "") -> str:
    """Give back what a placeholder in this conversation says that recall gives back.

    Args:
        digest: the 12 digits behind `recall`.
        lines: only these, such as 10-80.
    """
    return user_live().recall(digest, lines)
