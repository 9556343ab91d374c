"""Conversations in every format, from one neutral script, for the tests of pruners."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

FORMATS = ("openai", "anthropic", "claude-code", "text")


@dataclass(frozen=True)
class Said:
    """One turn's part: what the user says, the steps as (tool, path, result, success), the answer."""

    user: str
    steps: tuple[tuple[str, str, str, bool], ...]
    answer: str


def conversation(form: str, turns: Sequence[Said], system: str = "", asks: str = "") -> list[dict[str, Any]]:
    """The messages of a script in a format. `asks`: a last question without an answer."""
    messages: list[dict[str, Any]] = []
    if system and form in ("openai", "text"):
        messages.append({"role": "system", "content": system, "x_kept": [1]})
    for number, turn in enumerate(turns):
        messages.append({"role": "user", "content": turn.user})
        for place, (tool, path, result, success) in enumerate(turn.steps):
            messages += _step(form, f"call_{number}_{place}", tool, path, result, success)
        messages.append({"role": "assistant", "content": turn.answer})
    if asks:
        messages.append({"role": "user", "content": asks})
    return _session(messages) if form == "claude-code" else messages


def _step(form: str, call: str, tool: str, path: str, result: str, success: bool) -> list[dict[str, Any]]:
    arguments = {"path": path}
    if form == "openai":
        asked = {"id": call, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": call, "content": result, "x_seen": 1.5},
        ]
    if form == "text":
        text = f"<tool_result tool_name='{tool}' success='{str(success).lower()}'>{result}</tool_result>"
        return [
            {"role": "assistant", "content": f"<{tool}><path>{path}</path></{tool}>"},
            {"role": "user", "content": text},
        ]
    used = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
    got = {
        "type": "tool_result",
        "tool_use_id": call,
        "content": [{"type": "text", "text": result}],
        "is_error": not success,
        "cache_control": {"type": "ephemeral"},
    }
    return [
        {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, used]},
        {"role": "user", "content": [got]},
    ]


def _session(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"type": "summary", "summary": "before", "leafUuid": "id-0"}]
    for number, message in enumerate(messages):
        parent = f"id-{number - 1}" if number else None
        lines.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "type": message["role"],
                "message": message,
                "uuid": f"id-{number}",
                "sessionId": "s",
            }
        )
    return lines


def roles(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Roles of what a model is sent."""
    bodies = [message.get("message", message) for message in messages]
    return [body["role"] for body in bodies if "role" in body]
