"""Pruners of other projects behind one pipe: a line of JSON in, a line of JSON out.

    PYTHON tests/benchmarks/peer_pruners.py langchain|litellm|pydantic-clear|pydantic-tiered|pydantic-window

Run by the Python that has the package; `agent_replays.py` starts it. In: {"messages": [...], "zone": tokens}, the
messages as OpenAI's, above the zone already. Out: the messages that are left. Each pruner runs as its documentation
shows it, with its own defaults for all but the zone.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

Chat = list[dict[str, Any]]
Pruner = Callable[[Chat, int], Chat]


def langchain() -> Pruner:
    """`ClearToolUsesEdit`: all results but the last three."""
    from langchain.agents.middleware.context_editing import ClearToolUsesEdit
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages

    def prune(chat: Chat, zone: int) -> Chat:
        messages = convert_to_messages(chat)
        ClearToolUsesEdit(trigger=zone).apply(messages, count_tokens=lambda _messages: zone + 1)
        out = convert_to_openai_messages(messages)
        assert isinstance(out, list)
        return out

    return prune


def litellm() -> Pruner:
    """`compress`: words of the last user message against each message, to 70 % of the zone."""
    import os

    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from litellm.compression.compress import compress

    def prune(chat: Chat, zone: int) -> Chat:
        return list(
            compress(chat, model="gpt-4o", compression_trigger=1, compression_target=zone * 7 // 10)["messages"]
        )

    return prune


def pydantic(name: str) -> Pruner:
    """Of pydantic-ai's harness what needs no model."""
    from pydantic_ai import RunContext
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage
    from pydantic_ai_harness.compaction import (
        ClearToolResults,
        DeduplicateFileReads,
        SlidingWindowCompaction,
        TieredCompaction,
    )

    def taken(chat: Chat) -> list[ModelMessage]:
        names: dict[str, str] = {}
        out: list[ModelMessage] = []
        for message in chat:
            text = message.get("content") or ""
            if message["role"] == "assistant":
                parts: list[Any] = [TextPart(text)] if text else []
                for call in message.get("tool_calls", ()):
                    names[call["id"]] = call["function"]["name"]
                    parts.append(ToolCallPart(call["function"]["name"], call["function"]["arguments"], call["id"]))
                out.append(ModelResponse(parts))
                continue
            if message["role"] == "tool":
                part: Any = ToolReturnPart(names.get(message["tool_call_id"], ""), text, message["tool_call_id"])
            else:
                part = (SystemPromptPart if message["role"] == "system" else UserPromptPart)(text)
            if out and isinstance(out[-1], ModelRequest):
                out[-1].parts = [*out[-1].parts, part]
            else:
                out.append(ModelRequest([part]))
        return out

    def given(messages: list[ModelMessage]) -> Chat:
        out: Chat = []
        for message in messages:
            if isinstance(message, ModelResponse):
                calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
                text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
                out.append({"role": "assistant", "content": text})
                if calls:
                    out[-1]["tool_calls"] = [
                        {
                            "id": call.tool_call_id,
                            "type": "function",
                            "function": {"name": call.tool_name, "arguments": call.args_as_json_str()},
                        }
                        for call in calls
                    ]
                continue
            for part in message.parts:
                if isinstance(part, ToolReturnPart):
                    out.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": str(part.content)})
                else:
                    role = "system" if isinstance(part, SystemPromptPart) else "user"
                    out.append({"role": role, "content": str(part.content)})
        return out

    def file_key(call: ToolCallPart) -> str | None:
        arguments = call.args_as_dict()
        path = arguments.get("file_path", arguments.get("path"))
        return str(path) if path and call.tool_name.lower() in ("read", "read_file", "view") else None

    def strategy(zone: int) -> Any:
        if name == "pydantic-clear":
            return ClearToolResults(max_tokens=zone)
        if name == "pydantic-window":
            return SlidingWindowCompaction(max_tokens=zone)
        tiers = [DeduplicateFileReads(file_key=file_key), ClearToolResults(max_tokens=1)]
        return TieredCompaction(tiers=tiers, target_tokens=zone)

    context = RunContext[None](deps=None, model=TestModel(), usage=RunUsage())

    def prune(chat: Chat, zone: int) -> Chat:
        return given(asyncio.run(strategy(zone).compact(taken(chat), context)))

    return prune


def main() -> int:
    name = sys.argv[1]
    prune = {"langchain": langchain, "litellm": litellm}.get(name, lambda: pydantic(name))()
    out, sys.stdout = sys.stdout, sys.stderr  # what the packages print is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        out.write(json.dumps(prune(asked["messages"], asked["zone"])) + "\n")
        out.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
