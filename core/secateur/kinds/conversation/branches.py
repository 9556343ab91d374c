"""Selects the lines of a Claude Code session that are sent to a model: messages and attachments on the branch of the
last line.

A session only grows. Each line names its parent (`parentUuid`). A turn that was taken back or tried again leaves its
lines in the file, and the new turn forks from an earlier line. The conversation is the chain of parents from the last
line back to the start or to the last compaction.

Parallel calls fork too, though nothing is taken back: each block of an answer is a line, and each result follows the
line of its call. So the other lines of an answer on the branch, and the results of all its calls, belong to it.

A line that is recorded again, as by a program that writes a session into its own file once more, counts once. A line
with a missing or unknown parent follows the line before it. If the names are not a tree (two lines of one name, a
cycle), every line counts: too much is better than a conversation with holes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SPEAKERS = ("user", "assistant")

ATTACHMENT = "attachment"
"""The type of a line that Claude Code sends as a reminder: a file, a list of tasks, memory."""

UNSENT = frozenset(
    (
        *("hook_cancelled", "hook_error_during_execution", "hook_non_blocking_error", "hook_system_message"),
        *("hook_permission_decision", "structured_output", "command_permissions", "already_read_image"),
    )
)
"""Attachments that are only for the screen."""


def sent_lines(values: Sequence[Mapping[str, Any]]) -> set[int]:
    """Indices of the lines that reach a model: messages of one branch after the last compaction, without side
    chains."""
    compacted = max(
        (index for index, value in enumerate(values) if value.get("subtype") == "compact_boundary"), default=-1
    )
    lines = _first_records(values, compacted + 1)
    spoken = [index for index in lines if speaks(values[index])]
    if not spoken:  # the session of a subagent, whose file holds nothing else
        return {index for index in lines if _is_message(values[index])}
    reminding = {index for index in lines if reminds(values[index])}
    route = _walk_back(values, lines, max([*spoken, *reminding]), compacted)
    if route is None:
        return {*spoken, *reminding}
    return _complete_answers(values, spoken, route & set(spoken)) | (route & reminding)


def speaks(value: Mapping[str, Any]) -> bool:
    """Tells whether a line is a message of the conversation, on any branch."""
    return _is_message(value) and not value.get("isSidechain")


def reminds(value: Mapping[str, Any]) -> bool:
    """Tells whether a line is an attachment that is sent to a model."""
    attachment = value.get("attachment")
    if value.get("type") != ATTACHMENT or not isinstance(attachment, dict) or value.get("isSidechain"):
        return False
    silent = attachment.get("type") == "hook_success" and attachment.get("hookEvent") not in (
        "SessionStart",
        "UserPromptSubmit",
    )
    return not silent and attachment.get("type") not in UNSENT


def _is_message(value: Mapping[str, Any]) -> bool:
    return value.get("type") in SPEAKERS and "message" in value


def _first_records(values: Sequence[Mapping[str, Any]], start: int) -> list[int]:
    """Lists the lines from `start` on, without those that say again what a line of the same name said."""
    named: dict[str, Mapping[str, Any]] = {}
    lines = []
    for index in range(start, len(values)):
        value = values[index]
        name = value.get("uuid")
        known = named.get(name) if isinstance(name, str) else None
        if known is None or any(known.get(key) != value.get(key) for key in ("type", "message", ATTACHMENT)):
            lines.append(index)
        if isinstance(name, str):
            named.setdefault(name, value)
    return lines


def _walk_back(values: Sequence[Mapping[str, Any]], lines: Sequence[int], end: int, compacted: int) -> set[int] | None:
    """Follows the parents from line `end` back; None if the names are not a tree."""
    named: dict[str, int] = {}
    before: dict[int, int] = {}  # line -> message before it in the file
    last = -1
    for index in lines:
        before[index] = last
        name = values[index].get("uuid")
        if isinstance(name, str):
            if name in named:
                return None
            named[name] = index
        if speaks(values[index]):
            last = index
    older = {name for value in values[: compacted + 1] if isinstance(name := value.get("uuid"), str)}
    walked: set[int] = set()
    index = end
    while index >= 0:
        if index in walked:
            return None
        walked.add(index)
        parent = values[index].get("parentUuid", "")
        if parent is None or (isinstance(parent, str) and parent in older):
            break
        index = named.get(parent, before[index]) if isinstance(parent, str) else before[index]
    return walked


def _complete_answers(values: Sequence[Mapping[str, Any]], spoken: Sequence[int], route: set[int]) -> set[int]:
    answers = {answer for index in route if (answer := _answer(values[index]))}
    whole = route | {index for index in spoken if _answer(values[index]) in answers}
    called = {call for index in whole for call in _ids(values[index], "tool_use", "id")}
    got = {call for index in whole for call in _ids(values[index], "tool_result", "tool_use_id")}
    for index in spoken:
        results = set(_ids(values[index], "tool_result", "tool_use_id"))
        if index not in whole and results and results <= called - got:
            whole.add(index)
            got |= results
    return whole


def _answer(value: Mapping[str, Any]) -> str:
    """The id shared by the lines of one answer; "" for other lines."""
    message = value.get("message")
    answer = message.get("id") if value.get("type") == "assistant" and isinstance(message, dict) else None
    return answer if isinstance(answer, str) else ""


def _ids(value: Mapping[str, Any], kind: str, key: str) -> Iterator[str]:
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(key), str):
            yield block[key]
