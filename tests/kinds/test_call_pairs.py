"""Calls of servers, connectors and programs stay with what belongs to them; a warning names what came unpaired."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.transcripts import read_messages
from secateur.kinds.conversation.unreadable import UNPAIRED
from secateur.settings import Settings, with_values

LONG = "value = 1\n" * 300
SERVER_RESULTS = {
    "web_search_tool_result": [{"type": "web_search_result", "url": "u", "title": LONG, "encrypted_content": "x"}],
    "web_fetch_tool_result": {"type": "web_fetch_result", "url": "u", "content": {"type": "document", "title": LONG}},
    "code_execution_tool_result": {"type": "code_execution_result", "stdout": LONG, "return_code": 0},
    "bash_code_execution_tool_result": {"type": "bash_code_execution_result", "stdout": LONG, "return_code": 0},
    "text_editor_code_execution_tool_result": {"type": "text_editor_code_execution_view_result", "content": LONG},
    "tool_search_tool_result": {"type": "tool_search_tool_search_result", "tool_references": [LONG]},
    "mcp_tool_result": [{"type": "text", "text": LONG}],
}


def user(text: str = "Go on.") -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": [*blocks]}


def text(words: str = "Done.") -> dict[str, Any]:
    return {"type": "text", "text": words}


def used(kind: str, call: str, **further: Any) -> dict[str, Any]:
    return {"type": kind, "id": call, "name": "f", "input": {}, **further}


def got(kind: str, call: str, content: Any = LONG, **further: Any) -> dict[str, Any]:
    return {"type": kind, "tool_use_id": call, "content": content, **further}


def unpaired(messages: list[dict[str, Any]]) -> list[str]:
    """What a provider would refuse: a block that names a call which no earlier block makes, and calls without a
    result."""
    called, wrong, waiting = set[str](), list[str](), set[str]()
    for message in messages:
        for block in message["content"] if isinstance(message["content"], list) else ():
            program = block.get("caller", {}).get("tool_id")
            if program and program not in called:
                wrong.append(program)
            if block["type"].endswith("tool_use"):
                called.add(block["id"])
                waiting.add(block["id"])
            if block["type"].endswith("tool_result"):
                if block["tool_use_id"] not in called:
                    wrong.append(block["tool_use_id"])
                waiting.discard(block["tool_use_id"])
    return [*wrong, *waiting]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", SERVER_RESULTS)
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("zone", [0, 1500])
def test_a_servers_call_keeps_its_result_and_the_result_its_shape(
    kind: str, strategy: str, apart: bool, zone: int
) -> None:
    call = "mcp_tool_use" if kind == "mcp_tool_result" else "server_tool_use"
    messages = [user()]
    for number in range(3):
        blocks = [used(call, f"s{number}"), got(kind, f"s{number}", SERVER_RESULTS[kind]), text()]
        if apart:  # the server paused for a result of the client's
            messages += [says(blocks[0], used("tool_use", f"c{number}"))]
            messages += [{"role": "user", "content": [got("tool_result", f"c{number}")]}, says(*blocks[1:]), user()]
        else:
            messages += [says(*blocks), user()]
    before = copy.deepcopy(messages)
    result = prune(
        read_messages(messages),
        with_values(Settings(), {"conversation_prune.safe_zone_tokens": zone, "conversation_prune.group_size": 1}),
        strategy,
    )
    assert (
        messages == before and not unpaired(result.messages) and not [n for n in result.warnings if n.code == UNPAIRED]
    )
    kept = [block for message in result.messages for block in message["content"] if isinstance(block, dict)]
    if kind != "mcp_tool_result":
        assert all(block["content"] == SERVER_RESULTS[kind] for block in kept if block["type"] == kind)
    spoken = [message["role"] for message in result.messages]
    assert all(left != right for left, right in pairwise(spoken))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("zone", [0, 200, 600, 1200])
def test_a_programs_calls_stay_with_the_program(strategy: str, zone: int) -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "program"}
    messages = [user(), says(used("server_tool_use", "program"), used("tool_use", "a", caller=caller))]
    for number in range(4):
        messages.append({"role": "user", "content": [got("tool_result", "a" if not number else f"b{number}")]})
        if number < 3:
            messages.append(says(used("tool_use", f"b{number + 1}", caller=caller)))
    messages += [
        says(got("code_execution_tool_result", "program", {"stdout": "12"}), text()),
        user("And?"),
        says(text()),
    ]
    values = {"conversation_prune.safe_zone_tokens": zone, "conversation_prune.group_size": 1}
    result = prune(read_messages([*messages, user("Thanks.")]), with_values(Settings(), values), strategy)
    assert not unpaired(result.messages) and not [notice for notice in result.warnings if notice.code == UNPAIRED]


@pytest.mark.parametrize(
    ("messages", "named"),
    [
        ([user(), {"role": "user", "content": [got("tool_result", "lost")]}, user()], "$[1] (result lost has no call)"),
        ([user(), says(used("tool_use", "open")), user()], "$[1] (call open has no result)"),
        ([user(), says(used("tool_use", "open")), says(text()), user()], "$[1] (call open has no result)"),
        (
            [user(), says(used("tool_use", "c", caller={"tool_id": "gone"})), user()],
            "$[1] (call c has no result), $[1] (its program gone is not there)",
        ),
        ([user(), {"role": "tool", "tool_call_id": "x", "content": "y"}], "$[1] (result x has no call)"),
    ],
)
def test_a_warning_names_what_came_unpaired(messages: list[dict[str, Any]], named: str) -> None:
    (notice,) = read_messages(messages).notices
    assert notice.code == UNPAIRED and notice.message.endswith(f"no counterpart in the input: {named}.")


def test_a_call_that_waits_for_its_result_is_no_fault() -> None:
    waiting = [user(), says(text("Looking."), used("tool_use", "a"), used("tool_use", "b"))]
    assert read_messages(waiting).notices == ()
    assert read_messages([*waiting, {"role": "user", "content": [got("tool_result", "b")]}]).notices == ()
