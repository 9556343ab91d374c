"""Transcripts as files and lists: the format is detected, the messages are read, and what is left of them is written in the same shape.

    transcript = read_transcript(Path("session.jsonl").read_bytes())
    transcript.format          # "openai" | "anthropic" | "claude-code" | "text"
    transcript.write(messages) # JSON stays JSON, a line stays byte for byte the line it was unless its message changed

Shapes: a JSON list of messages, a request body with `messages` (and `system`, `tools`), one message a line, the session lines of Claude Code,
and a text of `<tool_result …>` blocks with prose between. A session's side chains, notices, turns that were taken back or tried again, and what
stands before its last compaction reach no model: such lines are carried along, cost nothing and keep their texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from secateur.reporting import dumps
from secateur.trimming.conversations.branches import sent
from secateur.trimming.conversations.messages import Message, Part, PartKind, is_result_text, malformed, parse_message
from secateur.trimming.fields import DoubledField, unique

FORMATS = ("openai", "anthropic", "claude-code", "text")
ASIDE = "aside"
"""Role of a line that no model is sent."""

_UNDER = ("message",)
_TAG = "<tool_result"
_CLOSED = re.compile(r"</tool_result>(?=[ \t]*\r?(?:\n|\Z))")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as it came: its format, its messages in order, and what is needed to write it back."""

    format: str  # one of FORMATS
    messages: tuple[Message, ...]
    container: Mapping[str, Any] | None = None  # the request body around `messages`
    lines: tuple[str, ...] | None = None  # per message, the line it came in
    plain: bool = False  # a text file, no JSON
    head: Message | None = None  # system prompt and tools of the request body

    def write(self, messages: Sequence[dict[str, Any]]) -> str:
        """The file that holds `messages`, which are this transcript's own or changed copies of them, in the shape it came in."""
        if self.plain:
            return "".join(message["content"] for message in messages)
        if self.lines is None:
            return dumps(messages if self.container is None else {**self.container, "messages": list(messages)})
        known = {id(message.raw): line for message, line in zip(self.messages, self.lines, strict=True)}
        return "".join((known.get(id(message)) or _line(message)) + "\n" for message in messages)


def read_transcript(data: bytes, name: str = "transcript") -> Transcript:
    """The transcript in a file's bytes.

    Raises:
        SecateurError: `TRANSCRIPT`: not UTF-8, malformed JSON, or no transcript; with line or JSON path.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise malformed(f"{name}, byte {error.start}", "is not UTF-8") from error
    start = text.lstrip()[:1]
    if not start:
        raise malformed(name, "is empty")
    if start == "[":
        return read_messages(_json(text, name))
    if start == "{":
        return _objects(text, name)
    if any(line.startswith(_TAG) and is_result_text(line) for line in text.split("\n")):
        return _plain(text)
    raise malformed(name, "is neither JSON nor text with <tool_result …> blocks")


def read_messages(messages: Any, *, container: Mapping[str, Any] | None = None) -> Transcript:
    """The transcript in a list of messages, as `json.loads` gives it or a program holds it.

    Raises:
        SecateurError: `TRANSCRIPT`, with the JSON path.
    """
    at = "$" if container is None else "$.messages"
    if not isinstance(messages, list | tuple):
        raise malformed(at, "the messages are a list")
    if container is None and messages and all(_is_session_line(message) for message in messages):
        return _session(messages, [f"$[{number}]" for number in range(len(messages))], None)
    head = None if container is None else _head(container)
    parsed = _parsed(messages, [f"{at}[{number}]" for number in range(len(messages))])
    return Transcript(_format(parsed, container), parsed, container=container, head=head)


# --- shapes ------------------------------------------------------------------------------------------------------------


def _objects(text: str, name: str) -> Transcript:
    """One JSON object over the whole file, or one a line."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        first = json.loads(lines[0][1])
    except (ValueError, RecursionError):
        first = None
    if len(lines) == 1 or first is None:  # a message or a body on one line, a body over many, or nothing of the kind: the error says where
        body = _json(text, name)
        if isinstance(body, dict) and "messages" in body:
            return read_messages(body["messages"], container=body)
        if isinstance(body, dict) and "role" not in body and not _is_session_line(body):
            other = " (`input` is another interface's: give its items as a list)" if "input" in body else ""
            raise malformed("$", f"the object holds no `messages`{other}")
    objects = [_json(line, f"{name}, line {number}", of_line=True) for number, line in lines]
    places = [f"line {number}" for number, _ in lines]
    written = tuple(line.removesuffix("\r") for _, line in lines)
    for place, value in zip(places, objects, strict=True):
        if isinstance(value, dict) and "messages" in value and "role" not in value:
            raise malformed(place, "holds a conversation of its own; give one conversation a file")
    if any(_is_session_line(value) for value in objects):
        return _session(objects, places, written)
    parsed = _parsed(objects, places)
    return Transcript(_format(parsed, None), parsed, lines=written)


def _is_session_line(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value or not isinstance(value.get("type"), str):
        return False
    return isinstance(value.get("message"), dict) or any(key in value for key in ("uuid", "sessionId", "leafUuid", "messageId"))


def _session(values: Sequence[Any], places: Sequence[str], lines: tuple[str, ...] | None) -> Transcript:
    for place, value in zip(places, values, strict=True):
        if not isinstance(value, dict):
            raise malformed(place, "a line of a session is an object")
    reached = sent(values)
    calls: dict[str, Part] = {}
    messages = [
        parse_message(value, place, calls, _UNDER) if number in reached else Message(place, ASIDE, value)
        for number, (place, value) in enumerate(zip(places, values, strict=True))
    ]
    return Transcript("claude-code", tuple(messages), lines=lines)


def _plain(text: str) -> Transcript:
    """Blocks of results as messages of their own, and the prose between them; together they are the text."""
    pieces: list[str] = []
    start = 0
    for line in _line_starts(text):
        if line >= start and text.startswith(_TAG, line):
            end = _end_of_result(text, line)
            if is_result_text(text[line:end]):
                pieces += [piece for piece in (text[start:line], text[line:end]) if piece]
                start = end
    if text[start:]:
        pieces.append(text[start:])
    messages = [{"role": "user", "content": piece} for piece in pieces]
    return Transcript("text", _parsed(messages, [f"part {number}" for number, _ in enumerate(messages, 1)]), plain=True)


def _end_of_result(text: str, start: int) -> int:
    """Where the result that opens at `start` ends: at a closing tag that ends its line, or with the text."""
    closed = _CLOSED.search(text, start)
    return closed.end() if closed else len(text)


def _line_starts(text: str) -> Iterator[int]:
    place = 0
    while place >= 0:
        yield place
        place = text.find("\n", place) + 1 or -1


def _head(container: Mapping[str, Any]) -> Message | None:
    """What a request body sends before the messages, as one message of the system's."""
    parts: list[Part] = []
    system = container.get("system")
    if system is not None and not isinstance(system, str | list):
        raise malformed("$.system", "the system prompt is text or a list of blocks")
    if system is not None:
        parts += parse_message({"role": "system", "content": system}, "$.system", {}).parts
    for key in ("tools", "functions"):
        if container.get(key):
            parts.append(Part(PartKind.OTHER, json.dumps(container[key], ensure_ascii=False, separators=(",", ":")), (key,)))
    return Message("$", "system", {}, tuple(parts)) if parts else None


def _parsed(messages: Sequence[Any], places: Sequence[str]) -> tuple[Message, ...]:
    calls: dict[str, Part] = {}
    return tuple(parse_message(message, place, calls) for message, place in zip(messages, places, strict=True))


# --- formats -----------------------------------------------------------------------------------------------------------

_ANTHROPIC_BLOCKS = frozenset(("tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking", "image", "document"))


def _format(messages: Sequence[Message], container: Mapping[str, Any] | None) -> str:
    """Which of FORMATS: what only one of them has decides; messages that any could hold are OpenAI's."""
    anthropic = container is not None and ("system" in container or "anthropic_version" in container)
    written = False
    for message in messages:
        raw = message.raw
        if raw["role"] in ("tool", "function", "developer") or raw.get("tool_calls") or raw.get("function_call"):
            return "openai"
        content = raw.get("content")
        if isinstance(content, list):
            anthropic |= any(isinstance(block, dict) and block.get("type") in _ANTHROPIC_BLOCKS for block in content)
        elif message.role == "user":
            written |= is_result_text(content)
    return "anthropic" if anthropic else "text" if written else "openai"


# --- JSON --------------------------------------------------------------------------------------------------------------


def _json(text: str, name: str, *, of_line: bool = False) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if of_line else f"line {error.lineno}, column {error.colno}"
        raise malformed(f"{name}, {place}", f"is not JSON: {error.msg}") from error
    except RecursionError as error:
        raise malformed(name, "is nested too deep") from error
    except DoubledField as error:
        raise malformed(name, error.said("" if of_line else text)) from error
    except ValueError as error:  # a number of thousands of digits, NaN, Infinity
        raise malformed(name, str(error)) from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is out of range")
    return value


def _line(message: dict[str, Any]) -> str:
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, which only an escape can carry
        return json.dumps(message, separators=(",", ":"))
    return text
