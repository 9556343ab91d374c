"""Selects the lines of a Claude Code session that a model is sent: messages and attachments of the branch that the last
line is on.

A session only grows. A turn that was taken back or tried again leaves its lines in the file and forks from a line
before them: each line names the line it follows (`parentUuid`). What the last line follows, back to the start or to the
last compaction, is the conversation.

Calls made at once fork too, without any being taken back: each block of an answer is a line, each result follows the
line of its call. So the other lines of an answer on the branch, and the results of all its calls, belong to it.

Where the names do not make a tree (two lines of one name, a circle), every line counts: better too much than a
conversation with holes. A line that follows one that is not in the file, or does not say which, follows the one before
it.
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
"""Attachments that are kept for the screen alone."""


def sent(values: Sequence[Mapping[str, Any]]) -> set[int]:
    """Numbers of the lines that reach a model: messages, no side chains, nothing before the last compaction, one
    branch."""
    compacted = max(
        (number for number, value in enumerate(values) if value.get("subtype") == "compact_boundary"), default=-1
    )
    spoken = [number for number in range(compacted + 1, len(values)) if speaks(values[number])]
    if not spoken:  # the session of a subagent, whose file holds nothing else
        return {number for number in range(compacted + 1, len(values)) if _is_message(values[number])}
    reminding = {number for number in range(compacted + 1, len(values)) if reminds(values[number])}
    route = _route(values, max([*spoken, *reminding]), compacted)
    if route is None:
        return {*spoken, *reminding}
    return _whole_answers(values, spoken, route & set(spoken)) | (route & reminding)


def speaks(value: Mapping[str, Any]) -> bool:
    """Tells whether a line is a message of the conversation, on whichever branch."""
    return _is_message(value) and not value.get("isSidechain")


def reminds(value: Mapping[str, Any]) -> bool:
    """Tells whether a line is an attachment that a model is sent."""
    told = value.get("attachment")
    if value.get("type") != ATTACHMENT or not isinstance(told, dict) or value.get("isSidechain"):
        return False
    silent = told.get("type") == "hook_success" and told.get("hookEvent") not in ("SessionStart", "UserPromptSubmit")
    return not silent and told.get("type") not in UNSENT


def _is_message(value: Mapping[str, Any]) -> bool:
    return value.get("type") in SPEAKERS and "message" in value


def _route(values: Sequence[Mapping[str, Any]], end: int, compacted: int) -> set[int] | None:
    """Lines from the last one, `end`, back; None where the names make no tree."""
    named: dict[str, int] = {}
    before: dict[int, int] = {}  # line -> message before it in the file
    last = -1
    for number in range(compacted + 1, len(values)):
        before[number] = last
        name = values[number].get("uuid")
        if isinstance(name, str):
            if name in named:
                return None
            named[name] = number
        if speaks(values[number]):
            last = number
    older = {name for value in values[: compacted + 1] if isinstance(name := value.get("uuid"), str)}
    walked: set[int] = set()
    number = end
    while number >= 0:
        if number in walked:
            return None
        walked.add(number)
        parent = values[number].get("parentUuid", "")
        if parent is None or (isinstance(parent, str) and parent in older):
            break
        number = named.get(parent, before[number]) if isinstance(parent, str) else before[number]
    return walked


def _whole_answers(values: Sequence[Mapping[str, Any]], spoken: Sequence[int], route: set[int]) -> set[int]:
    """The route with the other lines of its answers and the results of its calls that it does not hold itself."""
    answers = {answer for number in route if (answer := _answer(values[number]))}
    whole = route | {number for number in spoken if _answer(values[number]) in answers}
    called = {call for number in whole for call in _ids(values[number], "tool_use", "id")}
    got = {call for number in whole for call in _ids(values[number], "tool_result", "tool_use_id")}
    for number in spoken:
        results = set(_ids(values[number], "tool_result", "tool_use_id"))
        if number not in whole and results and results <= called - got:
            whole.add(number)
            got |= results
    return whole


def _answer(value: Mapping[str, Any]) -> str:
    """The id that the lines of one answer share; "" for other lines."""
    message = value.get("message")
    answer = message.get("id") if value.get("type") == "assistant" and isinstance(message, dict) else None
    return answer if isinstance(answer, str) else ""


def _ids(value: Mapping[str, Any], kind: str, key: str) -> Iterator[str]:
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(key), str):
            yield block[key]
