"""The formats of agents' sessions, and the reading of one message in any format of the kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from secateur.kinds.conversation.api_formats import API_FORMATS
from secateur.kinds.conversation.messages import Message, MessagePart, parse_message
from secateur.kinds.conversation.session_formats.base import MessageFormat, SessionFormat
from secateur.kinds.conversation.session_formats.claude_code import ClaudeCode
from secateur.kinds.conversation.session_formats.codex import CodexCli
from secateur.kinds.conversation.session_formats.gemini_cli import GeminiCli
from secateur.kinds.conversation.session_formats.opencode import OpenCode

SESSION_FORMATS: Mapping[str, SessionFormat] = MappingProxyType(
    {form.name: form for form in (ClaudeCode(), CodexCli(), GeminiCli(), OpenCode())}
)
"""By name, as the kind calls the format."""

MESSAGE_FORMATS: Mapping[str, MessageFormat] = MappingProxyType({**API_FORMATS, **SESSION_FORMATS})
"""All formats but those whose messages have roles and need no more (`parse_message`)."""


def session_format_of(values: Sequence[Any]) -> SessionFormat | None:
    """The format of a session: most of its values are of one format, and more than there are messages with a role of
    their own. None: it is no session."""
    found = {name: sum(map(form.owns, values)) for name, form in SESSION_FORMATS.items()}
    name = max(found, key=lambda one: found[one])
    said = sum(isinstance(value, dict) and "role" in value for value in values)
    form = SESSION_FORMATS[name]
    return form if found[name] > said and any(map(form.proves, values)) else None


def parse_value(raw: Any, place: str, calls: dict[str, MessagePart], form: str) -> Message:
    """The message in `raw`, in a format of the kind by its name; see `messages.parse_message`."""
    known = MESSAGE_FORMATS.get(form)
    return known.parse(raw, place, calls) if known is not None else parse_message(raw, place, calls)
