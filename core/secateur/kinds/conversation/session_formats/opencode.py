"""Reads sessions of opencode: messages with their parts, as `opencode export` prints them and its stores hold them.

Supported are the messages of versions 0.6 to 1.18 (`{"info", "parts"}`), and of 2.0, which have a `type` and hold
texts, reasoning and tools in `content`. A result that opencode itself has cleared is charged as its replacement. A
compaction replaces everything before it; reverted messages are not sent.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from secateur.kinds.conversation import messages
from secateur.kinds.conversation.media import MEDIA_TOKENS
from secateur.kinds.conversation.session_formats import base

CLEARED = "[Old tool result content cleared]"  # the text that opencode sends in place of a result that it cleared

_ROLES = {"user": "user", "synthetic": "user", "shell": "user", "assistant": "assistant", "system": "system"}
_ROLES |= {"compaction": "system"}
_NOTES = frozenset(("agent-switched", "model-switched", "location-switched", "idle"))
_MIME_OF_MEDIA = ("image/", "application/pdf", "audio/", "video/")


class OpenCode(base.SessionFormat):
    """See the module docstring."""

    name: ClassVar[str] = "opencode"
    agent: ClassVar[str] = "opencode"

    def owns(self, value: Any) -> bool:
        if not isinstance(value, dict) or "role" in value:
            return False
        if isinstance(value.get("info"), dict):
            return isinstance(value.get("parts"), list) and _kind(value) in ("user", "assistant")
        return (_kind(value) in _ROLES or _kind(value) in _NOTES) and isinstance(value.get("time"), dict)

    def list_sent(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> Collection[int]:
        reverted = base.text_at(head, "info", "revert", "messageID")
        stop = next((index for index, value in enumerate(values) if reverted and _id(value) == reverted), len(values))
        start = 0
        for index in range(stop):
            value = values[index]
            if value.get("type") == "compaction":
                start = index
            elif _kind(value) == "assistant" and base.field_of(value, "info", "summary") is True:
                asked = base.text_at(value, "info", "parentID")
                start = next((earlier for earlier in range(index - 1, -1, -1) if _id(values[earlier]) == asked), index)
        return [index for index in range(start, stop) if _kind(values[index]) in _ROLES]

    def parse(self, raw: Any, location: str, calls: dict[str, messages.MessagePart]) -> messages.Message:
        return messages.make_message(raw, _ROLES[_kind(raw)], location, _parts(raw), calls)

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:
        new_id = f"{_id(like)}_summary{index}"
        if "info" not in like:
            content = {"text": text} if role == "user" else {"content": [{"type": "text", "text": text}]}
            return {"id": new_id, "type": role, "time": like.get("time", {}), **content}
        info = {key: like["info"][key] for key in ("sessionID", "time") if key in like["info"]}
        return {"info": {"id": new_id, "role": role, **info}, "parts": [{"type": "text", "text": text}]}

    def heading(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> base.SessionHeading:
        known = base.field_of(head, "info") or {}
        names = (
            base.text_at(value, "info", "modelID") or base.text_at(value, "model", "id") for value in reversed(values)
        )
        model = base.text_at(known, "model", "id") or next(filter(None, names), "")
        first, folder = base.text_at(known, "id"), base.text_at(known, "directory")
        facts = (base.text_at(known, key) for key in ("version", "title", "parentID"))
        return base.SessionHeading(first, folder, model, *facts)

    def usage(self, value: Mapping[str, Any]) -> base.ReportedUsage | None:
        used = base.field_of(value, "info", "tokens") or value.get("tokens")
        cached, written = base.count_at(used, "cache", "read"), base.count_at(used, "cache", "write")
        read = base.count_at(used, "input") + cached + written
        return base.ReportedUsage(_id(value), read, cached, written, base.count_at(used, "output")) if read else None

    def seconds(self, value: Mapping[str, Any]) -> float | None:
        times = base.field_of(value, "info", "time") or value.get("time")
        return base.seconds_of(base.field_of(times, "completed")) or base.seconds_of(base.field_of(times, "created"))

    def compacts(self, value: Mapping[str, Any]) -> bool:
        return value.get("type") == "compaction" or base.field_of(value, "info", "summary") is True

    def unknown_kind(self, value: Mapping[str, Any]) -> str:
        kind = _kind(value)
        return "" if kind in _ROLES or kind in _NOTES else kind


def _kind(value: Mapping[str, Any]) -> str:
    return base.text_at(value, "info", "role") if "info" in value else base.text_at(value, "type")


def _id(value: Mapping[str, Any]) -> str:
    return base.text_at(value, "info", "id") or base.text_at(value, "id")


def _parts(value: Mapping[str, Any]) -> Iterator[messages.MessagePart]:
    key = "parts" if "info" in value else "content"
    for part, where in base.numbered(value.get(key), (key,)):
        kind = base.text_at(part, "type")
        if kind in ("text", "reasoning"):
            text = part.get("text")
            if isinstance(text, str) and text and not part.get("ignored"):
                yield messages.MessagePart(
                    messages.PartKind.TEXT if kind == "text" else messages.PartKind.OTHER, text, (*where, "text")
                )
        elif kind == "file":
            yield from _file(part, where)
        elif kind == "tool":
            yield from _tool(part, where)
    if "info" not in value:
        for field in ("command", "text", "output", "summary"):
            if isinstance(value.get(field), str) and value[field]:
                yield messages.MessagePart(messages.PartKind.TEXT, value[field], (field,))
        for file, where in base.numbered(value.get("files"), ("files",)):
            yield from _file(file, where)


def _file(file: Any, where: messages.Where) -> Iterator[messages.MessagePart]:
    if base.text_at(file, "mime").startswith(_MIME_OF_MEDIA):
        yield messages.media_part(where, None)


def _tool(part: Mapping[str, Any], where: messages.Where) -> Iterator[messages.MessagePart]:
    tool = base.text_at(part, "tool") or base.text_at(part, "name") or "unknown"
    call, state = base.text_at(part, "callID") or base.text_at(part, "id"), part.get("state")
    where = (*where, "state")
    yield messages.call_part(tool, base.field_of(state, "input"), call, (*where, "input"))
    status = base.field_of(state, "status")
    if status not in ("completed", "error"):
        return
    key, success = ("output", True) if status == "completed" else ("error", False)
    output, content = base.field_of(state, key), base.field_of(state, "content")
    error_text, media = base.field_of(output, "message"), list[int]()
    if base.field_of(state, "time", "compacted") or base.field_of(part, "time", "pruned"):
        output = CLEARED
    elif isinstance(output, str):
        where = (*where, key)
    elif not content and isinstance(error_text, str):
        output, where = error_text, (*where, key, "message")
    elif isinstance(content, list):
        texts = [block["text"] for block in base.objects_in(content) if isinstance(block.get("text"), str)]
        texts += [error_text] if isinstance(error_text, str) else []
        media = [MEDIA_TOKENS for block in base.objects_in(content) if block.get("type") == "file"]
        output = "\n".join(filter(None, texts))
        where = (*where, "content", 0, "text") if len(content) == len(texts) == 1 else (*where, "content")
    else:
        output, where = (output, (*where, key)) if content is None else (content, (*where, "content"))
    yield messages.result_part(output, call, where, media=media, success=success)
