"""One message of a conversation, in any of the shapes people have, as parts: texts, tool calls, tool results, media.

A part knows where in the message it stands, so that it can be replaced in a copy while every other field stays as it
came. Recognised, in any mix: OpenAI `tool_calls` / `role: tool` (and the older `function_call` / `role: function`),
Anthropic `tool_use` / `tool_result` blocks, `<tool_result tool_name='…' …>` text that opens a message, and Claude Code
lines, whose message is one level down.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.media import MEDIA_KINDS, media_tokens

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
SYSTEM_ROLES = ("system", "developer")
RESULT_ROLES = ("tool", "function")
ASIDE = "aside"
"""Role of a line that no model is sent."""

Where = tuple[str | int, ...]


class PartKind(StrEnum):
    """The kinds of parts of a message."""

    TEXT = "text"
    CALL = "call"
    RESULT = "result"
    OTHER = "other"  # media, and blocks of kinds that are not known here


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A piece of a message that costs tokens; `text` is what a model reads of it."""

    kind: PartKind
    text: str
    where: Where  # keys and positions that lead to it in the message
    span: tuple[int, int] | None = None  # characters of the string at `where`; None: all that stands there
    media: int = 0  # pictures and the like inside
    media_tokens: int = 0  # what they are charged, estimated (kinds.conversation.media)
    tool: str = ""  # of calls and results: the tool's name; "unknown" where nothing names it
    call: str = ""  # of calls and results: the id that joins them; "" in text
    arguments: str = ""  # of calls, and of results whose call is known: JSON with sorted keys, for comparing
    written: str = ""  # of calls: the arguments as they were given, on one line; keys in their order
    success: bool | None = None  # of results: what the tool said; None where the format has no such flag


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it came, and its parts."""

    place: str  # where it stands in the input, for errors: "$.messages[3]", "line 12"
    role: str  # one of ROLES; "aside" for a line of a session that no model is sent, "damaged" for what cannot be read
    raw: Any  # the object; of what cannot be read, whatever stands there
    parts: tuple[MessagePart, ...] = ()

    @property
    def results(self) -> Iterator[tuple[int, MessagePart]]:
        """Number and part of each tool result."""
        return ((number, part) for number, part in enumerate(self.parts) if part.kind is PartKind.RESULT)

    @property
    def calls(self) -> Iterator[MessagePart]:
        """The tool calls."""
        return (part for part in self.parts if part.kind is PartKind.CALL)

    @property
    def from_user(self) -> bool:
        """Tells whether a user said something in it: more than tool results under the user's name."""
        return self.role == "user" and any(part.kind is not PartKind.RESULT for part in self.parts)


def malformed(place: str, wrong: str) -> SecateurError:
    """The error about input that is no transcript."""
    return SecateurError(
        f"{place}: {wrong}",
        hint="known are OpenAI and Anthropic messages, Claude Code sessions, and messages with <tool_result …> text",
        code="TRANSCRIPT",
    )


def parse_message(raw: Any, place: str, calls: dict[str, MessagePart], under: Where = ()) -> Message:
    """The message in `raw`, or, in a session line, in what is at `under`.

    Args:
        place: where it stands in the input.
        calls: the calls made so far by id; those of this message are added, its results are named by them.

    Raises:
        SecateurError: `TRANSCRIPT`, with `place` and the path below it.
    """
    body = raw
    for key in under:
        body = body[key]
    if not isinstance(body, dict):
        raise malformed(_at(place, under), f"a message is an object, not {json_type(body)}")
    role = body.get("role")
    if role not in ROLES:
        wrong = (
            "has no role" if "role" not in body else f"role {json.dumps(role)[:60]} is not one of {', '.join(ROLES)}"
        )
        raise malformed(_at(place, under), wrong)
    try:
        parts = tuple(named_by_call(part, calls) for part in _parts(body, role, place, under))
    except (
        TypeError,
        ValueError,
        RecursionError,
    ) as error:  # from a program, which may hold what no file can: other keys than texts, circles
        raise malformed(_at(place, under), "holds what JSON does not have") from error
    calls.update((part.call, part) for part in parts if part.kind is PartKind.CALL and part.call)
    return Message(place, role, raw, parts)


def assembled(raw: Any, role: str, place: str, parts: Iterable[MessagePart], calls: dict[str, MessagePart]) -> Message:
    """The message of these parts. Calls among them are added to `calls`, and name the results that follow."""
    named = []
    for part in parts:
        named.append(named_by_call(part, calls))
        if part.kind is PartKind.CALL and part.call:
            calls[part.call] = part
    return Message(place, role, raw, tuple(named))


def call_part(tool: str, given: Any, call: str, where: Where) -> MessagePart:
    """The part that a call of a tool is. `given`: its arguments, as JSON text or as a value."""
    written = given if isinstance(given, str) else canonical(given)
    try:
        arguments = canonical(json.loads(written)) if isinstance(given, str) else written
    except (ValueError, RecursionError):  # arguments are what a model wrote: they need not be JSON
        arguments = written
    shown = one_line(given if isinstance(given, str) else _json(given))
    return MessagePart(
        PartKind.CALL, f"{tool}{written}", where, tool=tool, call=call, arguments=arguments, written=shown
    )


def replaced(raw: dict[str, Any], changes: Mapping[MessagePart, str]) -> dict[str, Any]:
    """A copy of a message with the texts of some of its parts replaced; only what leads to them is copied."""
    new = raw
    for part in sorted(
        changes, key=lambda part: part.span or (0, 0), reverse=True
    ):  # spans from the end, so that the earlier ones stay right
        new = _with(new, part.where, part.span, changes[part])
    return new


# --- parts of a message -----------------------------------------------------------------------------------------------


def _parts(body: dict[str, Any], role: str, place: str, under: Where) -> Iterator[MessagePart]:
    content, where = body.get("content"), (*under, "content")
    if content is not None and not isinstance(content, str | list):
        raise malformed(_at(place, where), f"content is text or a list of blocks, not {json_type(content)}")
    if role in RESULT_ROLES:
        text, media = _inside(content, place, where)
        call = _text_of(body, "tool_call_id", place, under)
        yield MessagePart(
            PartKind.RESULT,
            text,
            where,
            media=len(media),
            media_tokens=sum(media),
            call=call,
            tool=_text_of(body, "name", place, under),
        )
    elif isinstance(content, str):
        yield from _text_parts(content, where, role)
    elif content:
        for number, block in enumerate(content):
            yield from _block_parts(block, (*where, number), role, place)
    yield from _openai_calls(body, place, under)
    for key in ("refusal", "reasoning_content"):
        if isinstance(body.get(key), str) and body[key]:
            yield MessagePart(PartKind.OTHER, body[key], (*under, key))


def _openai_calls(body: dict[str, Any], place: str, under: Where) -> Iterator[MessagePart]:
    calls = body.get("tool_calls") or []
    if not isinstance(calls, list):
        raise malformed(_at(place, (*under, "tool_calls")), f"is a list, not {json_type(calls)}")
    for number, call in enumerate(calls):
        where = (*under, "tool_calls", number)
        if not isinstance(call, dict):
            raise malformed(_at(place, where), f"a call is an object, not {json_type(call)}")
        yield _openai_call(call, call.get("function", call.get("custom")), place, where)
    if body.get("function_call") is not None:
        yield _openai_call({}, body["function_call"], place, (*under, "function_call"))


def _openai_call(call: dict[str, Any], function: Any, place: str, where: Where) -> MessagePart:
    if not isinstance(function, dict):
        raise malformed(_at(place, where), "a call has an object `function` with name and arguments")
    tool = _text_of(function, "name", place, where)
    given = function.get("arguments", function.get("input", ""))
    return call_part(tool, given, _text_of(call, "id", place, where), where)


def _block_parts(block: Any, where: Where, role: str, place: str) -> Iterator[MessagePart]:
    if isinstance(block, str):
        yield from _text_parts(block, where, role)
        return
    if not isinstance(block, dict):
        raise malformed(_at(place, where), f"a block is an object, not {json_type(block)}")
    kind = block.get("type")
    if not isinstance(kind, str):
        raise malformed(_at(place, where), "a block has a `type`")
    if kind in ("text", "input_text", "output_text"):
        yield from _text_parts(_text_of(block, "text", place, where), (*where, "text"), role)
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        tool, arguments = _text_of(block, "name", place, where), canonical(block.get("input"))
        call, written = _text_of(block, "id", place, where), _json(block.get("input"))
        yield MessagePart(
            PartKind.CALL, f"{tool}{arguments}", where, tool=tool, call=call, arguments=arguments, written=written
        )
    elif kind == "tool_result":
        text, media = _inside(block.get("content"), place, (*where, "content"))
        call = _text_of(block, "tool_use_id", place, where)
        success = not block.get("is_error")
        yield MessagePart(
            PartKind.RESULT,
            text,
            (*where, "content"),
            media=len(media),
            media_tokens=sum(media),
            call=call,
            success=success,
        )
    elif kind == "thinking":
        yield MessagePart(PartKind.OTHER, _text_of(block, "thinking", place, where), where)
    else:
        text, media = _other(block, kind)
        yield MessagePart(PartKind.OTHER, text, where, media=len(media), media_tokens=sum(media))


def _inside(content: Any, place: str, where: Where) -> tuple[str, list[int]]:
    """(text, tokens of each of its media) of a tool result's content."""
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list):
        raise malformed(
            _at(place, where), f"the content of a result is text or a list of blocks, not {json_type(content)}"
        )
    texts, pictures = [], list[int]()
    for number, block in enumerate(content):
        if not isinstance(block, str | dict):
            raise malformed(_at(place, (*where, number)), f"a block is an object, not {json_type(block)}")
        text, media = (block, []) if isinstance(block, str) else _other(block, block.get("type"))
        texts.append(text)
        pictures += media
    return "\n".join(texts), pictures


def _other(block: dict[str, Any], kind: Any) -> tuple[str, list[int]]:
    """(text, tokens of each of its media) of a block: its text, nothing for media, else the block as JSON."""
    if isinstance(block.get("text"), str):
        return block["text"], []
    source = block.get("source")
    if (
        kind == "document"
        and isinstance(source, dict)
        and source.get("type") == "text"
        and isinstance(source.get("data"), str)
    ):
        return source["data"], []
    if kind in MEDIA_KINDS:
        return "", [media_tokens(block)]
    return canonical(block), []


# --- results written as text ------------------------------------------------------------------------------------------

_OPENING = re.compile(r"<tool_result(?P<attributes>(?:\s+[\w:-]+\s*=\s*(?:'[^']*'|\"[^\"]*\"))*)\s*>")
_FURTHER = re.compile(r"</tool_result>\s*(?=<tool_result[\s>])")
_CLOSING = "</tool_result>"
_NAME = re.compile(r"\stool_name\s*=\s*(?:'([^']*)'|\"([^\"]*)\")")
_SUCCESS = re.compile(r"\ssuccess\s*=\s*['\"](\w+)['\"]")


def tool_name(text: str) -> str:
    """The tool a `<tool_result …>` text names: "" for an empty name, "unknown" where there is none."""
    opening = _OPENING.match(text.lstrip())
    named = opening and _NAME.search(opening["attributes"])
    return (named[1] or named[2] or "") if named else "unknown"


def is_result_text(content: Any) -> bool:
    """Tells whether content is a tool result written as text: it opens with the tag. Prose that only mentions the tag
    is not one, and neither is content that is not text."""
    return isinstance(content, str) and _OPENING.match(content.lstrip()) is not None


def text_results(content: str) -> Iterator[tuple[int, int]]:
    """Spans of the results in a text that opens with one; a result that is not closed runs to the next or to the
    end."""
    start = len(content) - len(content.lstrip())
    starts = [start, *(found.end() for found in _FURTHER.finditer(content, start))]
    for begin, limit in zip(starts, [*starts[1:], len(content)], strict=True):
        closed = content.rfind(_CLOSING, begin, limit)
        yield begin, limit if closed < 0 else closed + len(_CLOSING)


def opening_tag(text: str) -> str:
    """The opening tag of a result written as text."""
    opening = _OPENING.match(text)
    return opening[0] if opening else "<tool_result>"


def _text_parts(text: str, where: Where, role: str) -> Iterator[MessagePart]:
    if role != "user" or not is_result_text(text):
        if text:
            yield MessagePart(PartKind.TEXT, text, where, span=(0, len(text)))
        return
    end = 0
    for begin, stop in text_results(text):
        if text[end:begin].strip():
            yield MessagePart(PartKind.TEXT, text[end:begin], where, span=(end, begin))
        flag = _SUCCESS.search(opening_tag(text[begin:stop]))
        success = flag and {"true": True, "false": False}.get(flag[1].lower())
        yield MessagePart(
            PartKind.RESULT,
            text[begin:stop],
            where,
            span=(begin, stop),
            tool=tool_name(text[begin:stop]),
            success=success,
        )
        end = stop
    if text[end:].strip():
        yield MessagePart(PartKind.TEXT, text[end:], where, span=(end, len(text)))


# --- small things -----------------------------------------------------------------------------------------------------


def named_by_call(part: MessagePart, calls: Mapping[str, MessagePart]) -> MessagePart:
    if part.kind is not PartKind.RESULT:
        return part
    call = calls.get(part.call) if part.call else None
    if call is None:
        return part if part.tool or part.span is not None else replace(part, tool="unknown")
    return replace(part, tool=part.tool or call.tool, arguments=call.arguments)


def _with(value: Any, where: Where, span: tuple[int, int] | None, text: str) -> Any:
    if not where:
        return text if span is None else value[: span[0]] + text + value[span[1] :]
    copy = value.copy()
    copy[where[0]] = _with(value[where[0]], where[1:], span, text)
    return copy


def canonical(value: Any) -> str:
    """JSON by which two values are compared."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _json(value: Any) -> str:
    """JSON with the keys in their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def one_line(written: str) -> str:
    """A text as it is, or where it has several lines, with single blanks between its words."""
    return written if len(written.splitlines()) < 2 else " ".join(written.split())


def _text_of(owner: dict[str, Any], key: str, place: str, where: Where) -> str:
    value = owner.get(key)
    if value is not None and not isinstance(value, str):
        raise malformed(_at(place, (*where, key)), f"is text, not {json_type(value)}")
    return value or ""


def _at(place: str, where: Where) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where)
    return place + path if place.startswith("$") or not path else f"{place}: {path.lstrip('.')}"


def json_type(value: Any) -> str:
    """The type of a JSON value, for people."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
