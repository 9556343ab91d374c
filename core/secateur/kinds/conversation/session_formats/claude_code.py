"""Sessions of Claude Code: a line a record, messages of Anthropic's one level down.

Its makers document the place of the files and call the format internal. What is read here was seen in sessions of
versions 1.0 to 2.1: the branch that the last line is on (`kinds.conversation.branches`), `compact_boundary`, side
chains in the file and, since 2.1, in files of their own, and the usage that each line of an answer repeats.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from secateur.kinds.conversation.branches import ATTACHMENT, sent
from secateur.kinds.conversation.messages import Message, MessagePart, PartKind, Where, malformed, parse_message
from secateur.kinds.conversation.session_formats.base import (
    ReportedUsage,
    SessionFormat,
    SessionHeading,
    count_at,
    text_at,
)

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

    def sent(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> Collection[int]:  # noqa: ARG002
        return sent(values)

    def parse(self, raw: Any, place: str, calls: dict[str, MessagePart]) -> Message:
        if raw.get("type") != ATTACHMENT:
            return parse_message(raw, place, calls, self.under)
        try:  # it stays, as what the system says does: its agent takes no other text there
            text = "\n".join(_texts(raw[ATTACHMENT]))
            return Message(place, "system", raw, (MessagePart(PartKind.OTHER, text, (ATTACHMENT,)),) if text else ())
        except RecursionError as error:
            raise malformed(place, "is nested too deep") from error

    def made(self, like: Mapping[str, Any], role: str, text: str, number: int) -> dict[str, Any]:
        """With the envelope of the line it stands for, and an id made of that line's."""
        kept = {key: value for key, value in like.items() if key not in ("message", "toolUseResult", "requestId")}
        own = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{like.get('uuid', '')} summary {number}"))
        said = {"role": role, "content": [{"type": "text", "text": text}]}
        return kept | {"type": role, "uuid": own, "message": said}

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
            model = model or _model_of(value)
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

    def unknown(self, value: Mapping[str, Any]) -> str:
        """A message under another type than those of users and assistants."""
        kind = value.get("type")
        return str(kind) if kind not in ("user", "assistant") and isinstance(value.get("message"), dict) else ""


def _texts(value: Any) -> Iterator[str]:
    """The texts in an attachment, but for its type."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        inside = (one for key, one in value.items() if key != "type") if isinstance(value, dict) else value
        for one in inside:
            yield from _texts(one)


def _model_of(value: Any) -> str:
    """The model that answered in a line; what Claude Code says itself comes from none."""
    model = text_at(value, "message", "model")
    return "" if model.startswith("<") else model


def _title(values: Sequence[Any]) -> str:
    """The title that people gave, else that of an agent: of each the last."""
    found: dict[str, str] = {}
    for value in values:
        for kind, key in _TITLES:
            if isinstance(value, dict) and value.get("type") == kind:
                found[kind] = text_at(value, key) or found.get(kind, "")
    return next((found[kind] for kind, _ in _TITLES if found.get(kind)), "")
