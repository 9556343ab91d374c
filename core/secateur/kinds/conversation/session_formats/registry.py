"""Lists the formats of agents' sessions, and parses a message in any format of the kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from secateur.kinds.conversation.api_formats import API_FORMATS, ApiFormat
from secateur.kinds.conversation.messages import Message, MessagePart, parse_message
from secateur.kinds.conversation.session_formats.base import SessionFormat
from secateur.kinds.conversation.session_formats.claude_code import ClaudeCode
from secateur.kinds.conversation.session_formats.codex import CodexCli
from secateur.kinds.conversation.session_formats.gemini_cli import GeminiCli
from secateur.kinds.conversation.session_formats.opencode import OpenCode

SESSION_FORMATS: Mapping[str, SessionFormat] = MappingProxyType(
    {form.name: form for form in (ClaudeCode(), CodexCli(), GeminiCli(), OpenCode())}
)
"""The formats of sessions by their names in the kind."""

MESSAGE_FORMATS: Mapping[str, ApiFormat | SessionFormat] = MappingProxyType({**API_FORMATS, **SESSION_FORMATS})
"""All formats, except plain messages with a role, which `parse_message` reads."""


def session_format_of(values: Sequence[Any]) -> SessionFormat | None:
    """Detects the format of a session: more values have it than have a role of their own. None if it is not a
    session."""
    owned = {name: sum(map(form.owns, values)) for name, form in SESSION_FORMATS.items()}
    name = max(owned, key=lambda format_name: owned[format_name])
    with_role = sum(isinstance(value, dict) and "role" in value for value in values)
    form = SESSION_FORMATS[name]
    return form if owned[name] > with_role and any(map(form.proves, values)) else None


def parse_value(raw: Any, location: str, calls: dict[str, MessagePart], form: str) -> Message:
    """Parses the message in `raw`, given the name of its format; see `messages.parse_message`."""
    known = MESSAGE_FORMATS.get(form)
    return known.parse(raw, location, calls) if known is not None else parse_message(raw, location, calls)
