"""Reads sessions of Claude Code: one record a line, with an Anthropic message one level down.

Its makers document the location of the files and call the format internal. This module reads features seen in sessions
of versions 1.0 to 2.1: the branch of the last line (`kinds.conversation.branches`), `compact_boundary`, side
chains in the file and, since 2.1, in files of their own, and the usage that each line of an answer repeats.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from secateur.kinds.conversation.branches import ATTACHMENT, sent_lines
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
    """The last title given by people, else the last one given by an agent."""
    titles: dict[str, str] = {}
    for value in values:
        for kind, key in _TITLES:
            if isinstance(value, dict) and value.get("type") == kind:
                titles[kind] = text_at(value, key) or titles.get(kind, "")
    return next((titles[kind] for kind, _ in _TITLES if titles.get(kind)), "")
