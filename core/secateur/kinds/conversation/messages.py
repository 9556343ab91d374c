"""One message of a conversation, in any of the shapes people have, as parts: texts, tool calls, tool results, media.

A part knows where in the message it stands, so that it can be replaced in a copy while every other field stays as it
came. Recognised, in any mix: OpenAI `tool_calls` / `role: tool` (and the older `function_call` / `role: function`),
Anthropic `tool_use` / `tool_result` blocks and those of server tools, `tool-call` / `tool-result` parts of the AI SDK,
`<tool_result tool_name='…' …>` text that opens a message, and Claude Code lines, whose message is one level down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.media import MEDIA_KINDS, media_tokens
from secateur.kinds.conversation.text_results import is_result_text, success_of, text_results, tool_name

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
SYSTEM_ROLES = ("system", "developer")
RESULT_ROLES = ("tool", "function")
ASIDE = "aside"
"""Role of a line that no model is sent."""

Where = tuple[str | int, ...]
Put = Callable[[Any, str], Any]
"""Returns what stands in place of a value that gives way to a text, in the shape that the owner of the format takes."""


def put_text(old: Any, text: str) -> Any:  # noqa: ARG001
    """Returns the text itself."""
    return text


def put_arguments(old: Any, text: str) -> Any:
    """Returns the arguments in the JSON of `text`, as a text or an object as they were, their keys in the old order."""
    if isinstance(old, str):
        return text
    new = json.loads(text)
    return {key: new[key] for key in old} if isinstance(old, dict) else new


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
    where: Where  # keys and positions that lead to it in the message; of a call to its arguments
    span: tuple[int, int] | None = None  # characters of the string at `where`; None: all that stands there
    media: int = 0  # pictures and the like inside
    media_tokens: int = 0  # what they are charged, estimated (kinds.conversation.media)
    tool: str = ""  # of calls and results: the tool's name; "unknown" where nothing names it
    call: str = ""  # of calls and results: the id that joins them; "" in text
    arguments: str = ""  # of calls, and of results whose call is known: JSON with sorted keys, for comparing
    written: str = ""  # of calls: the arguments as they were given, on one line; keys in their order
    success: bool | None = None  # of results: what the tool said; None where the format has no such flag
    caller: str = ""  # the id of the call whose program made this one
    put: Put | None = put_text  # how another text goes to `where`; None: the owner of the format takes no other there

    def cleared(self, text: str) -> MessagePart:
        """Returns the part with another text: that of a result, or the arguments of a call as JSON."""
        if self.kind is PartKind.CALL:
            return replace(self, text=f"{self.tool}{text}", arguments=text, written=text)
        return replace(self, text=text, media=0, media_tokens=0)


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


READ = (
    "messages of OpenAI (chat and Responses), Anthropic, Gemini, Bedrock, the Vercel AI SDK, LangChain and pydantic-ai,"
    " sessions of Claude Code, Codex CLI, Gemini CLI and opencode, and <tool_result …> text"
)
"""The formats that are read, for people."""


def malformed(place: str, wrong: str) -> SecateurError:
    """The error about input that is no transcript."""
    return SecateurError(
        f"{place}: {wrong}",
        hint=f"known are {READ}",
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
        PartKind.CALL,
        f"{tool}{written}",
        where,
        tool=tool,
        call=call,
        arguments=arguments,
        written=shown,
        put=put_arguments,
    )


def result_part(told: Any, call: str, where: Where, put: Put | None = put_text, **further: Any) -> MessagePart:
    """Returns the part that a result is. `told`: what the tool returned, a text or any other value."""
    text = told if isinstance(told, str) else "" if told is None else canonical(told)
    return MessagePart(PartKind.RESULT, text, where, call=call, put=put, **further)


def replaced(raw: dict[str, Any], changes: Mapping[MessagePart, str]) -> dict[str, Any]:
    """A copy of a message with the texts of some of its parts replaced; only what leads to them is copied."""
    new = raw
    for part in sorted(
        changes, key=lambda part: part.span or (0, 0), reverse=True
    ):  # spans from the end, so that the earlier ones stay right
        new = _with(new, part.where, part, changes[part])
    return new


# --- parts of a message -----------------------------------------------------------------------------------------------


def _parts(body: dict[str, Any], role: str, place: str, under: Where) -> Iterator[MessagePart]:
    content, where = body.get("content"), (*under, "content")
    if content is not None and not isinstance(content, str | list):
        raise malformed(_at(place, where), f"content is text or a list of blocks, not {json_type(content)}")
    if role in RESULT_ROLES and not _holds_sdk_results(content):
        text, media = result_content(content, place, where)
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
            yield from block_parts(block, (*where, number), role, place)
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
    inside = next((key for key in ("function", "custom") if call.get(key) is function), "")
    given = "arguments" if "arguments" in function else "input"
    at = (*where, inside, given) if inside else (*where, given)
    return call_part(tool, function.get(given, ""), _text_of(call, "id", place, where), at)


def _holds_sdk_results(content: Any) -> bool:
    """Tells whether the content of a message holds the results of several calls, as the AI SDK's tool messages do."""
    kinds = ("tool-result", "tool-approval-response")
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") in kinds for block in content
    )


def _sdk_parts(block: dict[str, Any], kind: str, where: Where, place: str) -> MessagePart:
    """Returns the call or the result in a part of the AI SDK: of version 5 and later, or as version 4 writes it."""
    call, tool = _text_of(block, "toolCallId", place, where), _text_of(block, "toolName", place, where)
    if kind == "tool-call":
        key = "input" if "input" in block else "args"
        return call_part(tool, block.get(key), call, (*where, key))
    output = block.get("output")
    if not isinstance(output, dict) or "value" not in output:  # also of version 4, whose results have no type
        key = "output" if "output" in block else "result"
        failed = bool(block.get("isError"))
        return result_part(block.get(key), call, (*where, key), tool=tool, success=not failed)
    told, at, failed = output["value"], (*where, "output", "value"), str(output.get("type")).startswith("error")
    if output.get("type") == "content" and isinstance(told, list):
        text, media = result_content(told, place, at)
        figures = {"media": len(media), "media_tokens": sum(media)}
        return result_part(text, call, at, _put_block, tool=tool, success=True, **figures)
    return result_part(told, call, at, tool=tool, success=not failed)


def _put_block(old: Any, text: str) -> Any:  # noqa: ARG001
    return [{"type": "text", "text": text}]


def block_parts(block: Any, where: Where, role: str, place: str) -> Iterator[MessagePart]:
    """The parts in a block of a message's content."""
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
    elif kind.endswith("tool_use"):  # the client's, a server's, or an MCP connector's
        tool, call = _text_of(block, "name", place, where), _text_of(block, "id", place, where)
        part = call_part(tool, block.get("input"), call, (*where, "input"))
        yield replace(part, caller=_caller(block), put=put_arguments if kind == "tool_use" else None)
    elif kind.endswith("tool_result"):
        yield _result_block(block, kind, where, place)
    elif kind in ("tool-call", "tool-result"):
        yield _sdk_parts(block, kind, where, place)
    elif kind == "thinking":
        yield MessagePart(PartKind.OTHER, _text_of(block, "thinking", place, where), where)
    else:
        text, media = _other(block, kind)
        yield MessagePart(PartKind.OTHER, text, where, media=len(media), media_tokens=sum(media))


def _result_block(block: dict[str, Any], kind: str, where: Where, place: str) -> MessagePart:
    """Returns the result in a block of Anthropic's. The result of a server tool keeps its shape: no text may stand for
    it."""
    content, at = block.get("content"), (*where, "content")
    text, media = (canonical(content), []) if isinstance(content, dict) else result_content(content, place, at)
    failed = block.get("is_error") or (isinstance(content, dict) and "error_code" in content)
    return MessagePart(
        PartKind.RESULT,
        text,
        at,
        media=len(media),
        media_tokens=sum(media),
        call=_text_of(block, "tool_use_id", place, where),
        success=not failed,
        caller=_caller(block),
        put=put_text if kind in ("tool_result", "mcp_tool_result") else None,
    )


def _caller(block: dict[str, Any]) -> str:
    """The id of the call whose program made this one; "" for none."""
    caller = block.get("caller")
    name = caller.get("tool_id") if isinstance(caller, dict) else None
    return name if isinstance(name, str) else ""


def result_content(content: Any, place: str, where: Where) -> tuple[str, list[int]]:
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


def _text_parts(text: str, where: Where, role: str) -> Iterator[MessagePart]:
    if role != "user" or not is_result_text(text):
        if text:
            yield MessagePart(PartKind.TEXT, text, where, span=(0, len(text)))
        return
    end = 0
    for begin, stop in text_results(text):
        if text[end:begin].strip():
            yield MessagePart(PartKind.TEXT, text[end:begin], where, span=(end, begin))
        yield MessagePart(
            PartKind.RESULT,
            text[begin:stop],
            where,
            span=(begin, stop),
            tool=tool_name(text[begin:stop]),
            success=success_of(text[begin:stop]),
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


def _with(value: Any, where: Where, part: MessagePart, text: str) -> Any:
    if not where:
        if part.span is not None:
            return value[: part.span[0]] + text + value[part.span[1] :]
        return (part.put or put_text)(value, text)
    copy = value.copy()
    copy[where[0]] = _with(value[where[0]], where[1:], part, text)
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
