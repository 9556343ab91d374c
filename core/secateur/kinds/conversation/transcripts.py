"""Reads transcripts from files and lists in any known format, and writes pruned messages in the same shape.

    transcript = read_transcript(Path("session.jsonl").read_bytes())
    transcript.format          # "openai" | "anthropic" | "text", or a format of an agent: "claude-code"
    transcript.write(messages) # JSON stays JSON; a line with an unchanged message stays byte for byte

Shapes: a JSON list of messages, a request body with `messages` (and `system`, `tools`), one message a line, the
sessions of coding agents (`session_formats`), and a text of `<tool_result …>` blocks with prose between. A session's
side chains, notices, turns that were taken back or tried again, and everything before its last compaction reach no
model: such lines are kept, cost nothing and do not change. An unreadable message is kept unchanged too, and a notice
names it (`unreadable`); it is an error only if no message can be read.
"""

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from secateur.errors import SecateurError
from secateur.kinds.conversation.api_formats import MESSAGE_FORMATS, ApiFormat, api_format_of, session_format_of
from secateur.kinds.conversation.messages import (
    ROLES,
    Message,
    MessagePart,
    PartKind,
    canonical,
    is_result_text,
    json_type,
    malformed,
    parse_message,
)
from secateur.kinds.conversation.session_formats.base import SessionFormat, objects_in, text_at
from secateur.kinds.conversation.unreadable import (
    DAMAGED,
    INVALID_UTF8,
    SessionMessages,
    UnreadValue,
    damage_notices,
    message_in,
    refuse_foreign,
    refuse_misread,
    warn_of_unpaired,
)
from secateur.kinds.environment import DuplicateField, unique
from secateur.model import Notice
from secateur.shape import dumps

FORMATS = ("openai", "anthropic", "ai-sdk", "cline", "text", *MESSAGE_FORMATS)

_ESCAPED = re.compile("[\udc80-\udcff]")
_BRACKETS = frozenset("]}, \t\r")
_TAG = "<tool_result"
_OPENED = re.compile(rf"(?:(?<=\n)|\A){_TAG}")
_CLOSED = re.compile(r"</tool_result>(?=[ \t]*\r?(?:\n|\Z))")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as it came: its format, its messages in order, and the data to write it back."""

    format: str  # one of FORMATS
    messages: tuple[Message, ...]
    container: Mapping[str, Any] | None = None  # the request body around the messages
    key: str = "messages"  # the key of the messages in the container
    lines: tuple[str, ...] | None = None  # the line of each message, if the input has lines
    plain: bool = False  # a text file, not JSON
    head: Message | None = None  # system prompt and tools of the request body
    notices: tuple[Notice, ...] = ()  # about unreadable parts

    def write(self, messages: Sequence[Any]) -> str:
        """Writes `messages`, which are this transcript's own or changed copies of them, in the shape it came in.

        Bytes of the file that were not UTF-8 are lone surrogates: encode with `surrogateescape`.
        """
        if self.plain:
            return "".join(message["content"] for message in messages)
        if self.lines is None:
            return dumps(messages if self.container is None else {**self.container, self.key: list(messages)})
        known = {id(message.raw): line for message, line in zip(self.messages, self.lines, strict=True)}
        return "".join((known.get(id(message)) or _write_line(message)) + "\n" for message in messages)


def read_transcript(data: bytes, name: str = "transcript") -> Transcript:
    """Reads the transcript in a file's bytes. Raises SecateurError: `TRANSCRIPT`: not a transcript, or no message of it
    can be read; with line or JSON path."""
    try:
        text, invalid = data.decode("utf-8-sig"), -1
    except UnicodeDecodeError as error:
        text, invalid = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape"), error.start
    if not (start := text.lstrip()[:1]):
        raise malformed(name, "is empty")
    lines = [(index, line) for index, line in enumerate(text.split("\n"), 1) if line.strip()]
    several = len(lines) > 1
    if start == "{" and several and _loaded(lines[0][1]) is not None:
        return _read_lines(lines, name)
    if start in "[{":
        try:
            value = _parse_json(text if invalid < 0 else _ESCAPED.sub("\ufffd", text), name)
        except SecateurError as error:
            if _is_cut_off(text, error.__cause__) or not (several and _has_message_lines(lines)):
                _refuse_bytes(invalid, name)
                raise
        else:
            transcript = _read_value(value, lines, name, _invalid_notices(text, invalid, "are read as U+FFFD"))
            refuse_misread(transcript.messages, name)
            return transcript
    elif any(line.startswith(_TAG) and is_result_text(line) for _, line in lines):
        return _read_text(text, _invalid_notices(text, invalid, "are kept as they are"))
    if several and _has_message_lines(lines):
        return _read_lines(lines, name)
    _refuse_bytes(invalid, name)
    raise malformed(name, "is neither JSON nor text with <tool_result …> blocks")


def read_messages(
    messages: Any,
    *,
    container: Mapping[str, Any] | None = None,
    key: str = "messages",
    notices: tuple[Notice, ...] = (),
) -> Transcript:
    """Reads the transcript in a list of messages, from `json.loads` or from a program.

    Args:
        container: the request body that holds them under `key`.
        notices: about faults of the file they are from.

    Raises:
        SecateurError: `TRANSCRIPT`, with the JSON path: not a list, or no message in it can be read.
    """
    path = "$" if container is None else f"$.{key}"
    if not isinstance(messages, list | tuple):
        raise malformed(path, f"must be a list, is {json_type(messages)}")
    locations = [f"{path}[{index}]" for index in range(len(messages))]
    transcript = _make_transcript(messages, locations, session_format_of(messages), container)
    return replace(transcript, key=key, notices=(*notices, *transcript.notices))


# --- shapes -----------------------------------------------------------------------------------------------------------


def _read_value(value: Any, lines: Sequence[tuple[int, str]], name: str, notices: tuple[Notice, ...]) -> Transcript:
    if not isinstance(value, dict):
        if isinstance(value, list):
            refuse_foreign(value, name)
        return read_messages(value, notices=notices)
    key = next((key for key in _LISTS if key in value), "")
    if key and (key != "output" or value.get("object") == "response"):
        given = value[key]
        given = [{"role": "user", "content": given}] if key == "input" and isinstance(given, str) else given
        if isinstance(given, list):
            refuse_foreign(given, name)
        return read_messages(given, container=value, key=key, notices=notices)
    if "role" not in value and session_format_of([value]) is None and api_format_of([value]) is None:
        looks = next((f": it looks like {description}" for key, description in _ELSEWHERE.items() if key in value), "")
        raise malformed("$", f"the object holds no `messages`, `contents` or `input`{looks}")
    return read_messages([value], notices=notices) if len(lines) > 1 else _read_lines(lines, name)


# Keys of the messages in a request, then in an older session of Copilot CLI and in a response of OpenAI's.
_LISTS = ("messages", "contents", "input", "chatMessages", "output")

# Keys of objects that look like a conversation in an unsupported shape, with a description for the error.
_ELSEWHERE = {
    "choices": "a response of OpenAI's chat completions: give `choices[0].message` as one of a list of messages",
    "candidates": "a response of Gemini: give `candidates[0].content` as one of a list of `contents`",
    "prompt": "a request of a completion, which has no messages",
    "inputText": "a request to a model of Bedrock without messages",
    "turns": "a conversation by `turns`, which is not read",
    "requests": "a session of Copilot Chat, which is not read",
    "mapping": "a conversation exported from ChatGPT, which is not read",
    "chat_messages": "a conversation exported from claude.ai, which is not read",
}


def _read_lines(lines: Sequence[tuple[int, str]], name: str) -> Transcript:
    locations = [f"line {index}" for index, _ in lines]
    values = [parse_line(line, location) for location, (_, line) in zip(locations, lines, strict=True)]
    refuse_foreign(values, name)
    try:
        form = session_format_of(values)
        transcript = _make_transcript(values, locations, form)
    except SecateurError as error:
        raise SecateurError(f"{name}, {error.message}", hint=error.hint, code=error.code) from error
    if form is None:
        refuse_misread(transcript.messages, name)
    return replace(transcript, lines=tuple(line for _, line in lines))


def _make_transcript(
    values: Sequence[Any],
    locations: Sequence[str],
    form: SessionFormat | None,
    container: Mapping[str, Any] | None = None,
) -> Transcript:
    if form is not None:
        messages, warnings = SessionMessages(form).read(values, locations, container)
        return Transcript(form.name, messages, container=container, notices=warnings)
    head = None if container is None else request_head(container)
    faults: list[SecateurError] = []
    api = api_format_of(values)
    parsed = _parse_messages(values, locations, faults, api)
    name = api.name if api is not None else _detect_format(parsed, container)
    warnings = (*damage_notices(parsed, faults), *warn_of_unpaired(parsed))
    return Transcript(name, parsed, container=container, head=head, notices=warnings)


def parse_line(line: str, location: str) -> dict[str, Any] | UnreadValue:
    """Parses the JSON object in a line; returns an UnreadValue if the line is not one."""
    if not line.isascii() and _ESCAPED.search(line):
        return UnreadValue(line, malformed(location, "is not UTF-8"))
    try:
        value = _parse_json(line, location, of_line=True)
    except SecateurError as error:
        return UnreadValue(line, error)
    return value if isinstance(value, dict) else UnreadValue(line, malformed(location, "is not a JSON object"))


def _is_cut_off(text: str, error: BaseException | None) -> bool:
    """Tells whether JSON is at fault where the text ends: its last line may hold a message, and the others do too."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")  # a line break has another message


def _has_message_lines(lines: Sequence[tuple[int, str]]) -> bool:
    """Tells whether a text that is not one JSON value holds a message in one of its lines. A last line of brackets ends
    a value over many lines."""
    return bool(set(lines[-1][1]) - _BRACKETS) and any(map(_is_message_line, (line for _, line in lines)))


def _is_message_line(line: str) -> bool:
    value = _loaded(line) if line.lstrip().startswith("{") else None
    if session_format_of([value]) is not None or api_format_of([value]) is not None:
        return True
    return isinstance(value, dict) and value.get("role") in ROLES


def _loaded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _read_text(text: str, notices: tuple[Notice, ...]) -> Transcript:
    pieces: list[str] = []
    start = 0
    for opened in _OPENED.finditer(text):
        if opened.start() >= start:
            closed = _CLOSED.search(text, opened.start())  # at the end of a line, else the text ends it
            end = closed.end() if closed else len(text)
            if is_result_text(text[opened.start() : end]):
                pieces += text[start : opened.start()], text[opened.start() : end]
                start = end
    messages = [{"role": "user", "content": piece} for piece in (*pieces, text[start:]) if piece]
    parsed = _parse_messages(messages, [f"part {index}" for index, _ in enumerate(messages, 1)], [], None)
    return Transcript("text", parsed, plain=True, notices=notices)


_SYSTEM_KEYS = ("system", "instructions", "systemInstruction", "system_instruction")
_TOOL_KEYS = ("tools", "functions", "toolConfig", "tool_config", "mcp_servers")


def request_head(container: Mapping[str, Any]) -> Message | None:
    """Reads the part of a request body before the messages as one system message: the prompt, and each tool's
    definition under its name."""
    parts: list[MessagePart] = []
    for key in _SYSTEM_KEYS:
        if key == "system" and not isinstance(container.get(key), str | list | dict | None):
            raise malformed("$.system", "the system prompt is text or a list of blocks")
        parts += (MessagePart(PartKind.TEXT, text, (key,)) for text in _system_texts(container.get(key)) if text)
    for key in _TOOL_KEYS:
        for tool, defined in _definitions(container.get(key)):
            written = json.dumps(defined, ensure_ascii=False, separators=(",", ":"))
            parts.append(MessagePart(PartKind.OTHER, written, (key,), tool=tool))
    return Message("$", "system", {}, tuple(parts)) if parts else None


def _system_texts(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, list):
        for block in given:
            yield from _system_texts(block)
    elif isinstance(given, dict):
        inside = given.get("text", given.get("parts"))
        yield from _system_texts(inside) if inside is not None else [canonical(given)]


def _definitions(given: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(given, dict) and isinstance(given.get("tools"), list):  # Bedrock's
        given = given["tools"]
    if isinstance(given, dict):
        yield from given.items()
    for defined in given if isinstance(given, list) else ():
        inside = next((defined[key] for key in _DECLARED if isinstance(defined, dict) and key in defined), None)
        if isinstance(inside, list):  # Gemini's
            yield from _definitions(inside)
        else:
            named = [inside, defined] if isinstance(inside, dict) else [defined]
            names = (owner[key] for owner in named if isinstance(owner, dict) for key in _NAME_KEYS if key in owner)
            other = next(iter(defined), "") if isinstance(defined, dict) else ""
            yield next((name for name in names if isinstance(name, str) and name), str(other) or "unknown"), defined


_DECLARED = ("function", "custom", "toolSpec", "functionDeclarations", "function_declarations")
_NAME_KEYS = ("name", "server_label", "type")


def _parse_messages(
    values: Sequence[Any], locations: Sequence[str], faults: list[SecateurError], api: ApiFormat | None
) -> tuple[Message, ...]:
    calls: dict[str, MessagePart] = {}

    def parse(value: Any, location: str) -> Message:
        if isinstance(value, dict) and "messages" in value and "role" not in value:
            raise malformed(location, "holds a conversation of its own; give one conversation a file")
        return parse_message(value, location, calls) if api is None else api.parse(value, location, calls)

    return tuple(message_in(value, location, parse, faults) for value, location in zip(values, locations, strict=True))


# --- formats ----------------------------------------------------------------------------------------------------------

_ANTHROPIC_BLOCKS = frozenset(
    ("tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking", "image", "document")
)


def _detect_format(messages: Sequence[Message], container: Mapping[str, Any] | None) -> str:
    """Chooses one of FORMATS by a trait that only one of them has; messages without such a trait are OpenAI's."""
    anthropic = container is not None and ("system" in container or "anthropic_version" in container)
    written = False
    for message in messages:
        if message.role == DAMAGED:
            continue
        if any(part.kind is PartKind.OTHER and part.tool for part in message.parts):
            return "cline"
        raw, content = message.raw, message.raw.get("content")
        kinds = {text_at(block, "type") for block in objects_in(content)}
        if kinds & {"tool-call", "tool-result"}:
            return "ai-sdk"
        if raw["role"] in ("tool", "function", "developer") or raw.get("tool_calls") or raw.get("function_call"):
            return "openai"
        anthropic |= not kinds.isdisjoint(_ANTHROPIC_BLOCKS)
        written |= message.role == "user" and not isinstance(content, list) and is_result_text(content)
    return "anthropic" if anthropic else "text" if written else "openai"


# --- JSON -------------------------------------------------------------------------------------------------------------


def _parse_json(text: str, name: str, *, of_line: bool = False) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=_no_constant, parse_float=_parse_finite)
    except json.JSONDecodeError as error:
        position = f"column {error.colno}" if of_line else f"line {error.lineno}, column {error.colno}"
        raise malformed(f"{name}, {position}", f"is not JSON: {error.msg}") from error
    except RecursionError as error:
        raise malformed(name, "is nested too deep") from error
    except DuplicateField as error:
        raise malformed(name, error.message("" if of_line else text)) from error
    except ValueError as error:  # a number of thousands of digits, NaN, Infinity
        raise malformed(name, str(error)) from error


def _refuse_bytes(invalid: int, name: str) -> None:
    """Raises an error if a byte is not UTF-8, which explains more than that a text is not JSON."""
    if invalid >= 0:
        raise malformed(f"{name}, byte {invalid}", "is not UTF-8")


def _invalid_notices(text: str, invalid: int, kept: str) -> tuple[Notice, ...]:
    escaped = _ESCAPED.search(text) if invalid >= 0 else None
    if escaped is None:
        return ()
    line = text.count("\n", 0, escaped.start()) + 1
    return (Notice(INVALID_UTF8, f"Bytes that are not UTF-8 {kept}; the first is on line {line:,}."),)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parse_finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is out of range")
    return value


def _write_line(message: dict[str, Any]) -> str:
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, which only an escape can carry
        return json.dumps(message, separators=(",", ":"))
    return text
