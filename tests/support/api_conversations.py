"""Random conversations in the formats of model APIs and libraries, with calls at once, programs that call and servers
that call; and what a provider would refuse of them, looked up without the reader under test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

API_FORMATS = (
    *("openai", "openai-responses", "anthropic", "gemini", "bedrock", "ai-sdk", "ai-sdk-ui", "langchain"),
    "pydantic-ai",
)

Call = tuple[str, str, dict[str, Any], str]  # id, tool, arguments, result


def api_conversation(form: str, seed: int) -> list[dict[str, Any]]:
    """Messages of a format; equal seeds, equal messages."""
    random = Random(seed)
    messages: list[dict[str, Any]] = []
    number = 0
    for turn in range(random.randint(1, 5)):
        messages += says(form, "user", f"Question {turn}. " + "why " * random.randint(1, 40))
        for _ in range(random.randint(0, 4)):
            calls: list[Call] = []
            for _ in range(random.randint(1, 3)):
                number += 1
                tool = random.choice(("read_file", "write_file", "run_tests"))
                given = {"path": random.choice("ab") + ".py"}
                given |= {"content": f"line {number}\n" * random.randint(1, 80)} if tool == "write_file" else {}
                calls.append((f"call_{number}", tool, given, "printed \n" * random.randint(1, 120)))
            messages += step(form, calls, random)
        messages += says(form, "assistant", f"Answer {turn}. " + "because " * random.randint(1, 40))
    return messages + (says(form, "user", "And now?") if random.random() < 0.7 else [])


def says(form: str, role: str, text: str) -> list[dict[str, Any]]:
    """Words of one side."""
    if form == "gemini":
        return [{"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}]
    if form == "bedrock":
        return [{"role": role, "content": [{"text": text}]}]
    if form == "ai-sdk-ui":
        return [{"id": text[:12], "role": role, "parts": [{"type": "text", "text": text}]}]
    if form == "langchain":
        kind = "ai" if role == "assistant" else "human"
        return [{"type": kind, "data": {"content": text, "type": kind, "tool_calls": []}}]
    if form == "pydantic-ai":
        if role == "assistant":
            return [{"kind": "response", "parts": [{"part_kind": "text", "content": text}]}]
        return [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}]
    if form == "openai-responses" and role == "assistant":
        block = {"type": "output_text", "text": text, "annotations": []}
        said = {"type": "message", "id": "m", "role": role, "status": "completed", "content": [block]}
        return [{"type": "reasoning", "id": f"rs_{text[:9]}", "summary": []}, said]
    return [{"role": role, "content": text}]


def step(form: str, calls: Sequence[Call], random: Random) -> list[dict[str, Any]]:
    """Calls at once and their results."""
    return list(_STEPS[form](calls, random))


def _openai(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    made = [
        {"id": id_, "type": "function", "function": {"name": tool, "arguments": json.dumps(given)}}
        for id_, tool, given, _ in calls
    ]
    yield {"role": "assistant", "content": None, "tool_calls": made}
    yield from ({"role": "tool", "tool_call_id": id_, "content": told} for id_, _, _, told in calls)


def _responses(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:
    yield {"type": "reasoning", "id": f"rs_{calls[0][0]}", "summary": []}
    if random.random() < 0.3:
        search = {"type": "search", "query": "x"}
        yield {"type": "web_search_call", "id": f"ws_{calls[0][0]}", "status": "completed", "action": search}
    for id_, tool, given, _ in calls:
        yield {"type": "function_call", "call_id": id_, "name": tool, "arguments": json.dumps(given)}
    for id_, _, _, told in random.sample(list(calls), len(calls)):
        yield {"type": "function_call_output", "call_id": id_, "output": told}


def _anthropic(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:
    """By chance a server's own calls, and a program on the server that makes the calls one by one."""
    first = calls[0][0]
    kind = random.choice(("plain", "plain", "server", "mcp", "program"))
    used = [{"type": "tool_use", "id": id_, "name": tool, "input": given} for id_, tool, given, _ in calls]
    got = [{"type": "tool_result", "tool_use_id": id_, "content": told} for id_, _, _, told in calls]
    if kind == "program":
        program = {"type": "server_tool_use", "id": f"srv_{first}", "name": "code_execution", "input": {"code": "x"}}
        before = [program]
        for one, result in zip(used, got, strict=True):
            caller = {"type": "code_execution_20250825", "tool_id": program["id"]}
            yield {"role": "assistant", "content": [*before, {**one, "caller": caller}]}
            yield {"role": "user", "content": [result]}
            before = []
        ran = {"type": "code_execution_result", "stdout": "12 " * random.randint(1, 60), "return_code": 0}
        yield {
            "role": "assistant",
            "content": [{"type": "code_execution_tool_result", "tool_use_id": program["id"], "content": ran}],
        }
        return
    own: list[dict[str, Any]] = []
    if kind != "plain":
        name = "mcp" if kind == "mcp" else random.choice(("web_search", "web_fetch", "bash_code_execution"))
        asked = "mcp_tool_use" if kind == "mcp" else "server_tool_use"
        own = [
            {"type": asked, "id": f"srv_{first}", "name": name, "input": {}},
            {
                "type": f"{name}_tool_result",
                "tool_use_id": f"srv_{first}",
                "content": [{"type": "text", "text": "y " * 50}],
            },
        ]
        if random.random() < 0.5:  # the result comes after that of the client
            yield {"role": "assistant", "content": [own[0], *used]}
            yield {"role": "user", "content": got}
            yield {"role": "assistant", "content": [own[1]]}
            return
    yield {"role": "assistant", "content": [*own, *used]}
    yield {"role": "user", "content": got}


def _gemini(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:
    ids = random.random() < 0.7
    yield {
        "role": "model",
        "parts": [
            {"functionCall": {"name": tool, "args": given, **({"id": id_} if ids else {})}}
            for id_, tool, given, _ in calls
        ],
    }
    yield {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "name": tool,
                    "response": {random.choice(("output", "result")): told},
                    **({"id": id_} if ids else {}),
                }
            }
            for id_, tool, _, told in calls
        ],
    }


def _bedrock(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    yield {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": id_, "name": tool, "input": given}} for id_, tool, given, _ in calls],
    }
    yield {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": id_, "content": [{"text": told}], "status": "success"}}
            for id_, _, _, told in calls
        ],
    }


def _ai_sdk(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:
    yield {
        "role": "assistant",
        "content": [
            {"type": "tool-call", "toolCallId": id_, "toolName": tool, "input": given} for id_, tool, given, _ in calls
        ],
    }
    results: list[dict[str, Any]] = []
    for id_, tool, _, told in calls:
        kind = random.choice(("text", "json", "content", "error-text"))
        value = {"json": {"told": told}, "content": [{"type": "text", "text": told}]}.get(kind, told)
        results.append(
            {"type": "tool-result", "toolCallId": id_, "toolName": tool, "output": {"type": kind, "value": value}}
        )
    if random.random() < 0.5:
        yield {"role": "tool", "content": results}
    else:
        yield from ({"role": "tool", "content": [result]} for result in results)


def _ui(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    yield {
        "id": calls[0][0],
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            *(
                {"type": f"tool-{tool}", "toolCallId": id_, "state": "output-available", "input": given, "output": told}
                for id_, tool, given, told in calls
            ),
        ],
    }


def _langchain(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    made = [{"name": tool, "args": given, "id": id_, "type": "tool_call"} for id_, tool, given, _ in calls]
    yield {"type": "ai", "data": {"content": "", "type": "ai", "tool_calls": made}}
    for id_, tool, _, told in calls:
        yield {"type": "tool", "data": {"content": told, "type": "tool", "name": tool, "tool_call_id": id_}}


def _pydantic(calls: Sequence[Call], random: Random) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    yield {
        "kind": "response",
        "parts": [
            {"part_kind": "tool-call", "tool_name": tool, "args": given, "tool_call_id": id_}
            for id_, tool, given, _ in calls
        ],
    }
    yield {
        "kind": "request",
        "parts": [
            {"part_kind": "tool-return", "tool_name": tool, "content": told, "tool_call_id": id_}
            for id_, tool, _, told in calls
        ],
    }


_STEPS = {
    "openai": _openai,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ai-sdk": _ai_sdk,
    "ai-sdk-ui": _ui,
    "langchain": _langchain,
    "pydantic-ai": _pydantic,
}


# --- what a provider would refuse -------------------------------------------------------------------------------------


def refused(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Calls without a result, results and callers without a call, reasoning without what it led to, and contents of
    another shape than that of their format."""
    wrong: list[str] = []
    called, waiting = set[str](), set[str]()
    for message in messages:
        wrong += [
            f"caller {name}"
            for block in _objects(message)
            if (name := (block.get("caller") or {}).get("tool_id"))
            and name not in called
            and name not in _made(message)
        ]
        for id_ in _made(message):
            called.add(id_)
            waiting.add(id_)
        for id_ in _answered(message):
            wrong += [] if id_ in called else [f"result {id_}"]
            waiting.discard(id_)
        wrong += _shapes(message)
    for message, after in zip(messages, [*messages[1:], {}], strict=True):
        if message.get("type") == "reasoning" and after.get("type") in (None, "function_call_output", "reasoning"):
            wrong.append(f"reasoning {message['id']}")
    counts = [
        sum(key in block for message in messages for block in _objects(message))
        for key in ("functionCall", "functionResponse")
    ]
    return [*wrong, *(f"call {id_}" for id_ in waiting), *([] if counts[0] == counts[1] else ["calls by order"])]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inside)


def _made(message: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for block in _objects(message):
        kind = str(block.get("type") or block.get("part_kind") or "")
        if kind.endswith("tool_use") or kind == "tool_call" or (kind == "function" and "function" in block):
            found.append(block["id"])
        elif kind == "function_call":
            found.append(block["call_id"])
        elif kind == "tool-call":
            found.append(block.get("toolCallId") or block["tool_call_id"])
        for key, name in (("functionCall", "id"), ("toolUse", "toolUseId")):
            if key in block and name in block[key]:
                found.append(block[key][name])
    return found


def _answered(message: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for block in _objects(message):
        kind = str(block.get("type") or block.get("part_kind") or "")
        if kind.endswith("tool_result"):
            found.append(block["tool_use_id"])
        elif kind == "function_call_output":
            found.append(block["call_id"])
        elif kind in ("tool-result", "tool-return"):
            found.append(block.get("toolCallId") or block["tool_call_id"])
        elif "tool_call_id" in block and kind != "tool-call":
            found.append(block["tool_call_id"])
        for key, name in (("functionResponse", "id"), ("toolResult", "toolUseId")):
            if key in block and name in block[key]:
                found.append(block[key][name])
    return found


def _shapes(message: dict[str, Any]) -> Iterator[str]:
    """What stands in a place where its owner wants something else."""
    for block in _objects(message):
        for key, holds in (("functionResponse", "response"), ("functionCall", "args"), ("toolUse", "input")):
            if key in block and not isinstance(block[key].get(holds), dict):
                yield f"{key}.{holds}"
        if "toolResult" in block and not all(isinstance(one, dict) for one in block["toolResult"]["content"]):
            yield "toolResult.content"
        kind = str(block.get("type"))
        if kind.endswith("_tool_result") and kind != "mcp_tool_result" and isinstance(block["content"], str):
            yield kind
        if kind.endswith("tool_use") and not isinstance(block["input"], dict):
            yield f"{kind}.input"
        if kind == "tool-result":
            value, wanted = block["output"]["value"], block["output"]["type"]
            if (wanted == "content") != isinstance(value, list) or (
                wanted.endswith("text") and not isinstance(value, str)
            ):
                yield f"tool-result {wanted}"
        if (
            kind == "function"
            and "function" in block
            and not isinstance(json.loads(block["function"]["arguments"]), dict)
        ):
            yield "function.arguments"
        if kind == "function_call" and not isinstance(json.loads(block["arguments"]), dict):
            yield "function_call.arguments"
    if (
        message.get("role") in ("user", "model")
        and "parts" in message
        and not all(
            "text" in p or "functionCall" in p or "functionResponse" in p or "type" in p for p in message["parts"]
        )
    ):
        yield "parts"
