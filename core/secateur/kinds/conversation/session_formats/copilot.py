"""Reads sessions of Copilot CLI (`events.jsonl`): one event a line, `{"type", "data", "id", "timestamp", "parentId"}`.

Supported are the events of versions 0.0.3xx to 1.0. What a user typed is sent as `transformedContent`. A completed
compaction replaces everything before it by its summary.
"""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from secateur.kinds.conversation.messages import (
    Message,
    MessagePart,
    PartKind,
    call_part,
    make_message,
    malformed,
    result_part,
)
from secateur.kinds.conversation.session_formats import base

_COMPACTED = "session.compaction_complete"
_ROLES = {
    "system.message": "system",
    "user.message": "user",
    "assistant.message": "assistant",
    "tool.execution_complete": "tool",
    _COMPACTED: "system",
}


class CopilotCli(base.SessionFormat):
    """See the module docstring."""

    name: ClassVar[str] = "copilot"
    agent: ClassVar[str] = "Copilot CLI"

    def owns(self, value: Any) -> bool:
        return isinstance(value, dict) and "parentId" in value and isinstance(value.get("data"), dict)

    def list_sent(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> Collection[int]:  # noqa: ARG002
        start = max((index for index, value in enumerate(values) if self.compacts(value)), default=0)
        return [index for index, value in enumerate(values) if base.text_at(value, "type") in _ROLES and index >= start]

    def parse(self, raw: Any, location: str, calls: dict[str, MessagePart]) -> Message:
        if not isinstance(raw.get("data"), dict):
            raise malformed(location, "an event holds an object `data`")
        role = _ROLES.get(base.text_at(raw, "type"), "system")
        return make_message(raw, role, location, _parts(raw["data"], role), calls)

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:
        new_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{like.get('id', '')} summary {index}"))
        data: dict[str, Any] = {"content": text} | ({"toolRequests": []} if role == "assistant" else {})
        return {**like, "id": new_id, "type": f"{role}.message", "data": data}

    def heading(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> base.SessionHeading:  # noqa: ARG002
        start: Any = next((value.get("data") for value in values if value.get("type") == "session.start"), {})
        named = (base.text_at(value, "data", key) for value in reversed(values) for key in ("newModel", "model"))
        model = next(filter(None, named), base.text_at(start, "selectedModel"))
        folder = base.text_at(start, "context", "cwd")
        return base.SessionHeading(
            base.text_at(start, "sessionId"), folder, model, base.text_at(start, "copilotVersion")
        )

    def compacts(self, value: Mapping[str, Any]) -> bool:
        return value.get("type") == _COMPACTED and base.field_of(value, "data", "success") is not False

    def unknown_kind(self, value: Mapping[str, Any]) -> str:
        kind = base.text_at(value, "type")
        return kind if kind.endswith(".message") and kind not in _ROLES else ""


def _parts(data: Mapping[str, Any], role: str) -> Iterator[MessagePart]:
    if role == "tool":
        where = ("error", "message") if base.field_of(data, "result", "content") is None else ("result", "content")
        call, success = base.text_at(data, "toolCallId"), data.get("success") is not False
        yield result_part(base.field_of(data, *where), call, ("data", *where), success=success)
        return
    keys = ("transformedContent", "content", "summaryContent")
    key = next((key for key in keys if isinstance(data.get(key), str) and data[key]), "")
    if key:
        yield MessagePart(PartKind.TEXT, data[key], ("data", key))
    if isinstance(data.get("reasoningText"), str) and data["reasoningText"]:
        yield MessagePart(PartKind.OTHER, data["reasoningText"], ("data", "reasoningText"))
    for asked, at in base.numbered(data.get("toolRequests"), ("data", "toolRequests")):
        tool, name = base.text_at(asked, "name") or "unknown", base.text_at(asked, "toolCallId")
        yield call_part(tool, base.field_of(asked, "arguments"), name, (*at, "arguments"))
