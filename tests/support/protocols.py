"""What providers refuse, told independently of the pruners: the rules of message lists, checked on plain dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Messages = Sequence[dict[str, Any]]


def faults(form: str, messages: Messages) -> list[str]:
    """Why a provider would refuse what leaves; [] if it would not."""
    return {"openai": _openai, "anthropic": _anthropic, "claude-code": _session, "text": _text}[form](messages)


def _openai(messages: Messages) -> list[str]:
    found = []
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") in open_calls:
                open_calls.remove(message["tool_call_id"])
            else:
                found.append(f"{number}: a result without its call before it")
            continue
        if open_calls:
            found.append(f"{number}: calls {open_calls} have no result")
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        if role == "assistant" and message.get("content") is None and not open_calls:
            found.append(f"{number}: the assistant says nothing")
    if open_calls:
        found.append(f"at the end calls {open_calls} have no result")
    return found


def _anthropic(messages: Messages) -> list[str]:
    found = []
    before: dict[str, Any] | None = None
    for number, message in enumerate(messages):
        if message["role"] not in ("user", "assistant"):
            found.append(f"{number}: role {message['role']}")
        if message["role"] == (before["role"] if before else "assistant"):
            found.append(f"{number}: {message['role']} speaks twice, or the assistant first")
        blocks = _blocks(message)
        if not blocks or any(block["type"] == "text" and not block["text"] for block in blocks):
            found.append(f"{number}: an empty message or text")
        called = [block["id"] for block in _blocks(before or {}) if block["type"] == "tool_use"]
        got = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(called) != sorted(got):
            found.append(f"{number}: calls {called}, results {got}")
        if got and any(block["type"] != "tool_result" for block in blocks[: len(got)]):
            found.append(f"{number}: something stands before the results")
        before = message
    if any(block["type"] == "tool_use" for block in _blocks(before or {})):
        found.append("at the end a call has no result")
    return found


def _session(messages: Messages) -> list[str]:
    """The lines of the last one's branch, put together as they are sent."""
    lines = {line["uuid"]: line for line in messages if "uuid" in line}
    found = [
        f"{line['uuid']}: follows {line['parentUuid']}, which is not there"
        for line in lines.values()
        if line["parentUuid"] not in (None, *lines)
    ]
    spoken = [line for line in messages if line.get("type") in ("user", "assistant")]
    branch = []
    line = spoken[-1] if spoken else None
    while line is not None and line["uuid"] not in branch:
        branch.append(line["uuid"])
        line = lines.get(line["parentUuid"])
    answers = {lines[name]["message"].get("id") for name in branch} - {None}
    calls = {
        block["id"]
        for row in spoken
        if row["uuid"] in branch or row["message"].get("id") in answers
        for block in _blocks(row["message"])
        if block["type"] == "tool_use"
    }
    sent: list[dict[str, Any]] = []
    for row in spoken:
        blocks = _blocks(row["message"])
        belongs = row["message"].get("id") in answers or any(
            block["type"] == "tool_result" and block["tool_use_id"] in calls for block in blocks
        )
        if row["uuid"] in branch or belongs:
            if sent and sent[-1]["role"] == row["message"]["role"]:
                sent[-1]["content"] += blocks
            else:
                sent.append({"role": row["message"]["role"], "content": list(blocks)})
    for message in sent:  # as a client does: results first
        message["content"].sort(key=lambda block: block["type"] != "tool_result")
    return found + _anthropic(sent)


def _text(messages: Messages) -> list[str]:
    spoken = [message["role"] for message in messages if message["role"] != "system"]
    return [
        f"{number}: {role} speaks twice" for number, role in enumerate(spoken) if number and role == spoken[number - 1]
    ]


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or ())
