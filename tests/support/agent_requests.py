"""Requests that an agent sends, each with the whole history, and settings under which they are cut."""

from __future__ import annotations

import json
from typing import Any

from secateur.settings import Settings, with_values

TASK = "Mend the rounding." + " Rules" * 5_333  # 8,000 tokens, which make a cut of the rest cheap


def settings(zone: int) -> Settings:
    """`zone`: tokens beside the task."""
    values = {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 8_000 + zone}
    return with_values(Settings(profile="recommended"), values)


def reads(count: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    for number in range(count):
        call = {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {"file_path": f"{number}.py"}}
        told = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"value = {number}\n" * 100}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [told]}]
    return messages


def body(messages: Any, **more: Any) -> bytes:
    return json.dumps({"model": "claude-sonnet-4-5", "messages": messages, **more}).encode()
