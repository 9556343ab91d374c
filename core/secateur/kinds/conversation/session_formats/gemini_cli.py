"""Reads sessions of Gemini CLI: records of messages, an answer with its tool calls and their results.

Supported are the two shapes up to version 0.56: a file of one JSON object with `messages` (until 0.40), and one record
a line. There, a message that grew is written again under its id, `$set` changes the facts of the session or, with
`messages`, the whole conversation, and `$rewindTo` takes back a message and all after it. Thoughts and notices reach no
model.
"""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from secateur.kinds.conversation.messages import (
    Message,
    MessagePart,
    PartKind,
    Where,
    call_part,
    canonical,
    make_message,
    media_part,
    put_text_part,
    result_part,
)
from secateur.kinds.conversation.session_formats import base

_ROLES = {"user": "user", "gemini": "assistant"}
_TYPES = frozenset(("user", "gemini", "info", "error", "warning"))
_CALL_KEYS, _RESPONSE_KEYS = ("functionCall", "function_call"), ("functionResponse", "function_response")
_MEDIA_KEYS = ("inlineData", "fileData", "inline_data", "file_data")  # keys in the spelling of JSON and of Python
_FAILED = frozenset(("error", "cancelled"))


class GeminiCli(base.SessionFormat):
    """See the module docstring."""

    name: ClassVar[str] = "gemini-cli"
    agent: ClassVar[str] = "Gemini CLI"

    def owns(self, value: Any) -> bool:
        if not isinstance(value, dict) or "role" in value:
            return False
        if _is_message(value):
            known = base.text_at(value, "type") in _TYPES and "timestamp" in value
            return known and value.keys().isdisjoint(("uuid", "parts"))
        return "$rewindTo" in value or "$set" in value or ("sessionId" in value and "projectHash" in value)

    def list_sent(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> Collection[int]:  # noqa: ARG002
        latest: dict[str, int] = {}  # id -> the last record of a message; in the order of first records
        conversation: list[int] = []  # the last record that holds a whole conversation
        for index, value in enumerate(values):
            if "$rewindTo" in value:
                ids = list(latest)
                name = base.text_at(value, "$rewindTo")
                for message_id in ids[ids.index(name) if name in latest else 0 :]:
                    del latest[message_id]
                conversation = conversation if name in ids else []
            elif _is_message(value):
                latest[value["id"]] = index
            elif _messages_of(value)[1] is not None:
                latest, conversation = {}, [index]
        return [*conversation, *[index for index in latest.values() if base.text_at(values[index], "type") in _ROLES]]

    def parse(self, raw: Any, location: str, calls: dict[str, MessagePart]) -> Message:
        if _is_message(raw):
            return make_message(raw, _ROLES[raw["type"]], location, _parts(raw, ()), calls)
        under, messages = _messages_of(raw)
        parts = (
            part
            for message, where in base.numbered(messages, under)
            if isinstance(message, dict) and base.text_at(message, "type") in _ROLES
            for part in _parts(message, where)
        )
        return make_message(raw, "system", location, parts, calls)

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:
        new_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{like.get('id', '')} summary {index}"))
        kind = "gemini" if role == "assistant" else "user"
        return {"id": new_id, "timestamp": like.get("timestamp", ""), "type": kind, "content": text}

    def heading(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> base.SessionHeading:
        session = folder = title = parent = ""
        for value in ([head] if head else []) + list(values):
            known = value.get("$set", value)
            if not _is_message(value) and isinstance(known, dict):
                session = base.text_at(known, "sessionId") or session
                folder = base.text_at(known, "directories", 0) or folder
                title = base.text_at(known, "summary") or title
                parent = "unknown" if known.get("kind") == "subagent" else parent
        model = next((model_name for value in reversed(values) if (model_name := base.text_at(value, "model"))), "")
        return base.SessionHeading(session, folder, model, "", title, parent)

    def usage(self, value: Mapping[str, Any]) -> base.ReportedUsage | None:
        used = value.get("tokens")
        if not isinstance(used, dict) or not base.count_at(used, "input"):
            return None
        read, cached = base.count_at(used, "input"), base.count_at(used, "cached")
        return base.ReportedUsage(base.text_at(value, "id"), read, cached, 0, base.count_at(used, "output"))

    def compacts(self, value: Mapping[str, Any]) -> bool:
        return "$set" in value and _messages_of(value)[1] is not None

    def unknown_kind(self, value: Mapping[str, Any]) -> str:
        kind = base.text_at(value, "type")
        return kind if _is_message(value) and kind not in _TYPES else ""


# --- messages ---------------------------------------------------------------------------------------------------------


def _is_message(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("id"), str) and isinstance(value.get("type"), str)


def _messages_of(value: Mapping[str, Any]) -> tuple[Where, list[Any] | None]:
    for where in (("$set", "messages"), ("messages",)):
        messages = base.field_of(value, *where)
        if isinstance(messages, list):
            return where, messages
    return (), None


def _parts(message: Mapping[str, Any], under: Where) -> Iterator[MessagePart]:
    yield from content_parts(message.get("content"), (*under, "content"))
    for call, where in base.numbered(message.get("toolCalls"), (*under, "toolCalls")):
        if isinstance(call, dict):
            yield from _call(call, where)


def content_parts(content: Any, where: Where) -> Iterator[MessagePart]:
    """Yields the parts of a text, of a part, or of a list of both."""
    if isinstance(content, str):
        if content:
            yield MessagePart(PartKind.TEXT, content, where)
    elif isinstance(content, list):
        for part, part_path in base.numbered(content, where):
            yield from content_parts(part, part_path)
    elif isinstance(content, dict):
        if isinstance(content.get("text"), str):
            if content["text"]:
                yield MessagePart(PartKind.TEXT, content["text"], (*where, "text"))
        elif key := next((key for key in _CALL_KEYS if isinstance(content.get(key), dict)), ""):
            called, at = content[key], (*where, key, "args")
            yield call_part(
                base.text_at(called, "name") or "unknown", called.get("args"), base.text_at(called, "id"), at
            )
        elif key := next((key for key in _RESPONSE_KEYS if isinstance(content.get(key), dict)), ""):
            tool, call = base.text_at(content, key, "name"), base.text_at(content, key, "id")
            yield replace(_response(content[key], call, None, (*where, key)), tool=tool)
        elif any(isinstance(content.get(key), dict) for key in _MEDIA_KEYS):
            yield media_part(where, put_text_part)
        else:
            yield MessagePart(PartKind.OTHER, canonical(content), where)


def _call(call: Mapping[str, Any], where: Where) -> Iterator[MessagePart]:
    name, tool = base.text_at(call, "id"), base.text_at(call, "name") or "unknown"
    yield call_part(tool, call.get("args"), name, (*where, "args"))
    result, success = call.get("result"), base.text_at(call, "status") not in _FAILED
    if result is None:
        return
    responses = result if isinstance(result, list) else [result]
    if len(responses) == 1 and isinstance(responses[0], dict) and "functionResponse" in responses[0]:
        inside: Where = (*where, "result", 0) if isinstance(result, list) else (*where, "result")
        yield _response(responses[0]["functionResponse"], name, success, (*inside, "functionResponse"))
        return
    parts = list(content_parts(result, (*where, "result")))
    text = "\n".join(part.text for part in parts)
    yield result_part(
        text, name, (*where, "result"), media=[part.media_tokens for part in parts if part.media], success=success
    )


def _response(responded: Mapping[str, Any], call: str, success: bool | None, where: Where) -> MessagePart:
    response = base.field_of(responded, "response")
    for key in ("output", "error", *(response if isinstance(response, dict) and len(response) == 1 else ())):
        text = base.field_of(response, key)
        if isinstance(text, str):
            return result_part(text, call, (*where, "response", key), success=success and key != "error")
    return result_part(response, call, (*where, "response"), lambda _, text: {"output": text}, success=success)
