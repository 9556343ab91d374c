"""Reads sessions of Claude Code: one record a line, with an Anthropic message one level down.

Its makers document the location of the files and call the format internal. This module reads features seen in sessions
of versions 1.0 to 2.1: `compact_boundary`, side chains in the file and, since 2.1, in files of their own, and the usage
that each line of an answer repeats.

A session only grows. Each line names its parent (`parentUuid`). A turn that was taken back or tried again leaves its
lines in the file, and the new turn forks from an earlier line. The conversation is the chain of parents from the last
line back to the start or to the last compaction.

Parallel calls fork too, though nothing is taken back: each block of an answer is a line, and each result follows the
line of its call. So the other lines of an answer on the branch, and the results of all its calls, belong to it.

A line that is recorded again, as by a program that writes a session into its own file once more, counts once. A line
with a missing or unknown parent follows the line before it. If the names are not a tree (two lines of one name, a
cycle), every line counts: too much is better than a conversation with holes.
"""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from secateur.kinds.conversation.messages import Message, MessagePart, PartKind, Where, malformed, parse_message
from secateur.kinds.conversation.session_formats.base import (
    ReportedUsage,
    SessionFormat,
    SessionHeading,
    count_at,
    text_at,
)

SPEAKERS = ("user", "assistant")

ATTACHMENT = "attachment"  # the type of a line that Claude Code sends as a reminder: a file, a list of tasks, memory

# Attachments that are only for the screen.
UNSENT = frozenset(
    (
        *("hook_cancelled", "hook_error_during_execution", "hook_non_blocking_error", "hook_system_message"),
        *("hook_permission_decision", "structured_output", "command_permissions", "already_read_image"),
    )
)


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
    if (route := _walk_back(values, lines, max([*spoken, *reminding]), compacted)) is None:
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
    message = value.get("message")
    answer = message.get("id") if value.get("type") == "assistant" and isinstance(message, dict) else None
    return answer if isinstance(answer, str) else ""


def _ids(value: Mapping[str, Any], kind: str, key: str) -> Iterator[str]:
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(key), str):
            yield block[key]


_IDS = ("uuid", "sessionId", "leafUuid", "messageId")
_TITLES = (
    ("custom-title", "customTitle"),
    ("agent-name", "agentName"),
    ("ai-title", "aiTitle"),
    ("summary", "summary"),
)


class ClaudeCode(SessionFormat):
    """See the module docstring."""

    name: ClassVar[str] = "claude-code"
    agent: ClassVar[str] = "Claude Code"
    under: ClassVar[Where] = ("message",)

    def owns(self, value: Any) -> bool:
        if not isinstance(value, dict) or "role" in value or not isinstance(value.get("type"), str):
            return False
        return isinstance(value.get("message"), dict) or any(key in value for key in _IDS)

    def list_sent(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> Collection[int]:  # noqa: ARG002
        return sent_lines(values)

    def parse(self, raw: Any, location: str, calls: dict[str, MessagePart]) -> Message:
        if raw.get("type") != ATTACHMENT:
            return parse_message(raw, location, calls, self.under)
        try:  # it stays like a system message: the agent allows no other text there
            text = "\n".join(_texts(raw[ATTACHMENT]))
            return Message(location, "system", raw, (MessagePart(PartKind.OTHER, text, (ATTACHMENT,)),) if text else ())
        except RecursionError as error:
            raise malformed(location, "is nested too deep") from error

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:
        """Keeps the envelope of the replaced line, with an id derived from it."""
        kept = {key: value for key, value in like.items() if key not in ("message", "toolUseResult", "requestId")}
        new_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{like.get('uuid', '')} summary {index}"))
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        return kept | {"type": role, "uuid": new_id, "message": message}

    def heading(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> SessionHeading:  # noqa: ARG002
        session = folder = parent = ""
        for value in values:
            session = session or text_at(value, "sessionId")
            folder = folder or text_at(value, "cwd")
            if session and folder:
                agent = text_at(value, "agentId")
                session, parent = (f"agent-{agent}", session) if agent and value.get("isSidechain") else (session, "")
                break
        model = version = ""
        for value in reversed(values):
            answered = text_at(value, "message", "model")
            model = model or ("" if answered.startswith("<") else answered)  # a message by Claude Code itself
            version = version or text_at(value, "version")
            if model and version:
                break
        return SessionHeading(session, folder, model, version, _title(values), parent)

    def usage(self, value: Mapping[str, Any]) -> ReportedUsage | None:
        used = value.get("message")
        used = used.get("usage") if isinstance(used, dict) and value.get("type") == "assistant" else None
        if not isinstance(used, dict):
            return None
        cached, written = count_at(used, "cache_read_input_tokens"), count_at(used, "cache_creation_input_tokens")
        read = count_at(used, "input_tokens") + cached + written
        request = text_at(value, "message", "id") or text_at(value, "requestId") or text_at(value, "uuid")
        return ReportedUsage(request, read, cached, written, count_at(used, "output_tokens")) if read else None

    def compacts(self, value: Mapping[str, Any]) -> bool:
        return value.get("subtype") == "compact_boundary"

    def unknown_kind(self, value: Mapping[str, Any]) -> str:
        """The type of a message that is not of a user or assistant."""
        kind = value.get("type")
        return str(kind) if kind not in ("user", "assistant") and isinstance(value.get("message"), dict) else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        inside = (item for key, item in value.items() if key != "type") if isinstance(value, dict) else value
        for item in inside:
            yield from _texts(item)


def _title(values: Sequence[Any]) -> str:
    titles: dict[str, str] = {}
    for value in values:
        for kind, key in _TITLES:
            if isinstance(value, dict) and value.get("type") == kind:
                titles[kind] = text_at(value, key) or titles.get(kind, "")
    return next((titles[kind] for kind, _ in _TITLES if titles.get(kind)), "")
