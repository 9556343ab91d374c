"""Reads a message of any common shape into parts: texts, tool calls, tool results, media.

A part knows its location in the message, so that its text can be replaced in a copy with all other fields unchanged.
 Recognised, in any mix: OpenAI `tool_calls` / `role: tool` (and the older `function_call` / `role: function`),
Anthropic `tool_use` / `tool_result` blocks and those of server tools, `tool-call` / `tool-result` parts of the AI SDK,
`<tool_result tool_name='…' …>` text that opens a message, and Claude Code lines, whose message is one level down.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.media import MEDIA_KINDS, MEDIA_TOKENS, media_tokens

_OPENING = re.compile(r"<tool_result(?P<attributes>(?:\s+[\w:-]+\s*=\s*(?:'[^']*'|\"[^\"]*\"))*)\s*>")
_FURTHER = re.compile(r"</tool_result>\s*(?=<tool_result[\s>])")
_CLOSING = "</tool_result>"
_NAME = re.compile(r"\stool_name\s*=\s*(?:'([^']*)'|\"([^\"]*)\")")
_SUCCESS = re.compile(r"\ssuccess\s*=\s*['\"](\w+)['\"]")


def tool_name(text: str) -> str:
    """The tool that a `<tool_result …>` text names; "unknown" if it names none."""
    opening = _OPENING.match(text.lstrip())
    named = opening and _NAME.search(opening["attributes"])
    return (named[1] or named[2] or "") if named else "unknown"


def is_result_text(content: Any) -> bool:
    """Tells whether content is a text that opens with the tag of a tool result; mentioning the tag later is not
    enough."""
    return isinstance(content, str) and _OPENING.match(content.lstrip()) is not None


def text_results(content: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of the results in a text that opens with one. An unclosed result ends at the next, or at the
    end."""
    start = len(content) - len(content.lstrip())
    starts = [start, *(match.end() for match in _FURTHER.finditer(content, start))]
    for begin, limit in zip(starts, [*starts[1:], len(content)], strict=True):
        closed = content.rfind(_CLOSING, begin, limit)
        yield begin, limit if closed < 0 else closed + len(_CLOSING)


def opening_tag(text: str) -> str:
    """The opening tag of a result written as text."""
    opening = _OPENING.match(text)
    return opening[0] if opening else "<tool_result>"


def success_of(text: str) -> bool | None:
    """Tells whether a result written as text succeeded; None if it does not say."""
    flag = _SUCCESS.search(opening_tag(text))
    return {"true": True, "false": False}.get(flag[1].lower()) if flag else None


ROLES = ("system", "developer", "user", "assistant", "tool", "function")
SYSTEM_ROLES = ("system", "developer")
RESULT_ROLES = ("tool", "function")
ASIDE = "aside"  # role of a line that is not sent to a model

Where = tuple[str | int, ...]
Put = Callable[[Any, str], Any]  # converts a text to the shape of the value that it replaces, as the format requires


def put_text(old: Any, text: str) -> Any:  # noqa: ARG001
    """Returns the text itself."""
    return text


def put_text_part(old: Any, text: str) -> Any:  # noqa: ARG001
    """Returns a part with the text, in the shape of Gemini and Bedrock."""
    return {"text": text}


def put_text_block(old: Any, text: str) -> Any:
    """Returns a block with the text in place of another block."""
    return {"type": "input_text" if str(old.get("type")).startswith("input_") else "text", "text": text}


def put_arguments(old: Any, text: str) -> Any:
    """Returns the arguments in the JSON of `text`, in the old type (text or object) and key order."""
    if isinstance(old, str):
        return text
    new = json.loads(text)
    return {key: new[key] for key in old} if isinstance(old, dict) else new


class PartKind(StrEnum):
    """The kinds of parts of a message."""

    TEXT = "text"
    CALL = "call"
    RESULT = "result"
    OTHER = "other"  # media, and blocks of unknown kinds


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A piece of a message that costs tokens; `text` is the text that a model reads."""

    kind: PartKind
    text: str
    where: Where  # the path to it in the message; for a call, to its arguments
    span: tuple[int, int] | None = None  # characters of the string at `where`; None: all of it
    media: int = 0  # number of pictures and other media in it
    media_tokens: int = 0  # their estimated tokens (kinds.conversation.media)
    tool: str = ""  # of calls and results: the tool's name; "unknown" if nothing names it
    call: str = ""  # of calls and results: the id that pairs them; "" in text
    arguments: str = ""  # of calls, and of results with a known call: JSON with sorted keys, to compare
    written: str = ""  # of calls: the arguments as given, on one line
    success: bool | None = None  # of results: whether the tool succeeded; None if the format has no such flag
    caller: str = ""  # the id of the call whose program made this one
    put: Put | None = put_text  # converts a replacement for `where`; None: the format allows none

    def with_text(self, text: str) -> MessagePart:
        """Returns the part with another text: of a result its text, of a call its arguments as JSON."""
        if self.kind is PartKind.CALL:
            return replace(self, text=f"{self.tool}{text}", arguments=text, written=text)
        return replace(self, text=text, media=0, media_tokens=0)


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it came, and its parts."""

    location: str  # its location in the input, for errors: "$.messages[3]", "line 12"
    role: str  # one of ROLES; "aside" for an unsent line of a session, "damaged" for an unreadable message
    raw: Any  # the object as it came; if unreadable, any value
    parts: tuple[MessagePart, ...] = ()

    @property
    def results(self) -> Iterator[tuple[int, MessagePart]]:
        """Index and part of each tool result."""
        return ((index, part) for index, part in enumerate(self.parts) if part.kind is PartKind.RESULT)

    @property
    def calls(self) -> Iterator[MessagePart]:
        """The tool calls."""
        return (part for part in self.parts if part.kind is PartKind.CALL)

    @property
    def from_user(self) -> bool:
        """Tells whether a user speaks in it: it holds more than tool results."""
        return self.role == "user" and any(not part.tool and part.kind is not PartKind.RESULT for part in self.parts)


# The supported formats, for messages.
READ = (
    "messages of OpenAI (chat and Responses), Anthropic, Gemini, Bedrock, the Vercel AI SDK, LangChain and pydantic-ai,"
    " sessions of Claude Code, Codex CLI, Gemini CLI, opencode, Copilot CLI and Cline, and <tool_result …> text"
)


def malformed(location: str, wrong: str) -> SecateurError:
    """Makes the error about input that is not a transcript."""
    return SecateurError(f"{location}: {wrong}", hint=f"known are {READ}", code="TRANSCRIPT")


def parse_message(raw: Any, location: str, calls: dict[str, MessagePart], under: Where = ()) -> Message:
    """Parses the message in `raw`, or in its value at `under` for a line of a session.

    Args:
        location: its location in the input, for errors.
        calls: the calls so far by id, which name the results; the calls of this message are added.

    Raises:
        SecateurError: `TRANSCRIPT`, with `location` and the path below it.
    """
    body = raw
    for key in under:
        body = body[key]
    if not isinstance(body, dict):
        raise malformed(_path_text(location, under), f"a message is an object, not {json_type(body)}")
    role = body.get("role")
    if role not in ROLES:
        wrong = f"role {json.dumps(role)[:60]} is not one of {', '.join(ROLES)}" if "role" in body else "has no role"
        raise malformed(_path_text(location, under), wrong)
    own: dict[str, MessagePart] = {}
    parts = _name_all(_parts(body, role, location, under), calls, own, _path_text(location, under))
    calls.update(own)
    return Message(location, role, raw, parts)


def make_message(
    raw: Any, role: str, location: str, parts: Iterable[MessagePart], calls: dict[str, MessagePart]
) -> Message:
    """Makes a message of parts. Its calls are added to `calls`, and name the results that follow. Raises SecateurError:
    `TRANSCRIPT`, with `location`."""
    return Message(location, role, raw, _name_all(parts, calls, calls, location))


def _name_all(
    parts: Iterable[MessagePart], calls: Mapping[str, MessagePart], own: dict[str, MessagePart], location: str
) -> tuple[MessagePart, ...]:
    named = []
    try:
        for part in parts:
            call = calls.get(part.call) if part.call else None
            if part.kind is not PartKind.RESULT:
                named.append(part)
            elif call is not None:
                named.append(replace(part, tool=part.tool or call.tool, arguments=call.arguments))
            else:
                named.append(part if part.tool or part.span is not None else replace(part, tool="unknown"))
            if part.kind is PartKind.CALL and part.call:
                own[part.call] = part
    except (TypeError, ValueError, RecursionError) as error:  # a program's values: keys that are not texts, circles
        raise malformed(location, "contains a value that JSON cannot represent") from error
    return tuple(named)


def call_part(tool: str, given: Any, call: str, where: Where) -> MessagePart:
    """Makes the part for a call of a tool. `given`: its arguments, as JSON text or as a value."""
    written = given if isinstance(given, str) else canonical(given)
    try:
        arguments = canonical(json.loads(written)) if isinstance(given, str) else written
    except (ValueError, RecursionError):  # a model wrote the arguments: they need not be JSON
        arguments = written
    line = one_line(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, separators=(",", ":")))
    text, put = f"{tool}{written}", put_arguments
    return MessagePart(PartKind.CALL, text, where, tool=tool, call=call, arguments=arguments, written=line, put=put)


def media_part(where: Where, put: Put | None) -> MessagePart:
    """Makes the part for a picture or other media of unknown size; `put`: how a text stands in its place."""
    return MessagePart(PartKind.OTHER, "", where, media=1, media_tokens=MEDIA_TOKENS, put=put)


def result_part(
    output: Any, call: str, where: Where, put: Put | None = put_text, *, media: Sequence[int] = (), **further: Any
) -> MessagePart:
    """Makes the part for a result. `output`: the value that the tool returned, often a text. `media`: the tokens of
    each of its media."""
    text = output if isinstance(output, str) else "" if output is None else canonical(output)
    further |= {"media": len(media), "media_tokens": sum(media)}
    return MessagePart(PartKind.RESULT, text, where, call=call, put=put, **further)


def replace_texts(raw: dict[str, Any], changes: Mapping[MessagePart, str]) -> dict[str, Any]:
    """Copies a message with the texts of some parts replaced; only the objects on the way to them are copied."""
    new = raw
    # spans from the end, so that the earlier ones stay right
    for part in sorted(changes, key=lambda part: part.span or (0, 0), reverse=True):
        new = _replace_at(new, part.where, part, changes[part])
    return new


# --- parts of a message -----------------------------------------------------------------------------------------------


def _parts(body: dict[str, Any], role: str, location: str, under: Where) -> Iterator[MessagePart]:
    content, where = body.get("content"), (*under, "content")
    if content is not None and not isinstance(content, str | list):
        raise malformed(_path_text(location, where), f"content is text or a list of blocks, not {json_type(content)}")
    blocks = content if isinstance(content, list) else ()
    kinds = {block.get("type") for block in blocks if isinstance(block, dict) and isinstance(block.get("type"), str)}
    # The AI SDK's tool messages hold the results of several calls.
    if role in RESULT_ROLES and kinds.isdisjoint(("tool-result", "tool-approval-response")):
        text, media = result_content(content, location, where)
        call, tool = (_text_field(body, key, location, under) for key in ("tool_call_id", "name"))
        yield result_part(text, call, where, media=media, tool=tool)
    elif isinstance(content, str):
        yield from _text_parts(content, where, role)
    elif content:
        answered: MessagePart | None = None  # the call that the next texts answer
        for index, block in enumerate(content):
            for part in block_parts(block, (*where, index), role, location):
                parts, answered = _written_result(part, answered) if role == "user" else ((part,), None)
                yield from parts
    yield from _openai_calls(body, location, under)
    for key in ("refusal", "reasoning_content"):
        if isinstance(body.get(key), str) and body[key]:
            yield MessagePart(PartKind.OTHER, body[key], (*under, key))


def _openai_calls(body: dict[str, Any], location: str, under: Where) -> Iterator[MessagePart]:
    calls = body.get("tool_calls") or []
    if not isinstance(calls, list):
        raise malformed(_path_text(location, (*under, "tool_calls")), f"is a list, not {json_type(calls)}")
    for index, call in enumerate(calls):
        where = (*under, "tool_calls", index)
        if not isinstance(call, dict):
            raise malformed(_path_text(location, where), f"a call is an object, not {json_type(call)}")
        yield _openai_call(call, call.get("function", call.get("custom")), location, where)
    if body.get("function_call") is not None:
        yield _openai_call({}, body["function_call"], location, (*under, "function_call"))


def _openai_call(call: dict[str, Any], function: Any, location: str, where: Where) -> MessagePart:
    if not isinstance(function, dict):
        raise malformed(_path_text(location, where), "a call has an object `function` with name and arguments")
    tool = _text_field(function, "name", location, where)
    inside = next((key for key in ("function", "custom") if call.get(key) is function), "")
    given = "arguments" if "arguments" in function else "input"
    at = (*where, inside, given) if inside else (*where, given)
    return call_part(tool, function.get(given, ""), _text_field(call, "id", location, where), at)


def _sdk_part(block: dict[str, Any], kind: str, where: Where, location: str) -> MessagePart:
    call, tool = _text_field(block, "toolCallId", location, where), _text_field(block, "toolName", location, where)
    if kind == "tool-call":
        key = "input" if "input" in block else "args"
        return call_part(tool, block.get(key), call, (*where, key))
    output = block.get("output")
    if not isinstance(output, dict) or "value" not in output:  # also of version 4, whose results have no type
        key = "output" if "output" in block else "result"
        failed = bool(block.get("isError"))
        return result_part(block.get(key), call, (*where, key), tool=tool, success=not failed)
    value, at, failed = output["value"], (*where, "output", "value"), str(output.get("type")).startswith("error")
    if output.get("type") == "content" and isinstance(value, list):
        text, media = result_content(value, location, at)
        put = lambda _, new: [{"type": "text", "text": new}]  # noqa: E731
        return result_part(text, call, at, put, media=media, tool=tool, success=True)
    return result_part(value, call, at, tool=tool, success=not failed)


def block_parts(block: Any, where: Where, role: str, location: str) -> Iterator[MessagePart]:
    """Yields the parts of a block in a message's content."""
    if isinstance(block, str):
        yield from _text_parts(block, where, role)
        return
    if not isinstance(block, dict):
        raise malformed(_path_text(location, where), f"a block is an object, not {json_type(block)}")
    kind = block.get("type")
    if not isinstance(kind, str):
        raise malformed(_path_text(location, where), "a block has a `type`")
    if kind in ("text", "input_text", "output_text"):
        yield from _text_parts(_text_field(block, "text", location, where), (*where, "text"), role)
    elif kind.endswith("tool_use"):  # the client's, a server's, or an MCP connector's
        tool, call = _text_field(block, "name", location, where), _text_field(block, "id", location, where)
        part = call_part(tool, block.get("input"), call, (*where, "input"))
        yield replace(part, caller=_caller(block), put=put_arguments if kind == "tool_use" else None)
    elif kind.endswith("tool_result"):
        yield _result_block(block, kind, where, location)
    elif kind in ("tool-call", "tool-result"):
        yield _sdk_part(block, kind, where, location)
    elif kind == "thinking":
        yield MessagePart(PartKind.OTHER, _text_field(block, "thinking", location, where), where)
    else:
        text, media = _block_text(block, kind)
        yield MessagePart(
            PartKind.OTHER,
            text,
            where,
            media=len(media),
            media_tokens=sum(media),
            put=put_text_block if media else None,
        )


def _result_block(block: dict[str, Any], kind: str, where: Where, location: str) -> MessagePart:
    """Makes the part for a result block of Anthropic. The result of a server tool keeps its shape: no text may replace
    it."""
    content, at = block.get("content"), (*where, "content")
    text, media = (canonical(content), []) if isinstance(content, dict) else result_content(content, location, at)
    failed = block.get("is_error") or (isinstance(content, dict) and "error_code" in content)
    call = _text_field(block, "tool_use_id", location, where)
    put = put_text if kind in ("tool_result", "mcp_tool_result") else None
    return result_part(text, call, at, put, media=media, success=not failed, caller=_caller(block))


def _caller(block: dict[str, Any]) -> str:
    caller = block.get("caller")
    name = caller.get("tool_id") if isinstance(caller, dict) else None
    return name if isinstance(name, str) else ""


def result_content(content: Any, location: str, where: Where) -> tuple[str, list[int]]:
    """(text, tokens of each of its media) of a tool result's content."""
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list):
        wrong = f"the content of a result is text or a list of blocks, not {json_type(content)}"
        raise malformed(_path_text(location, where), wrong)
    texts, pictures = [], list[int]()
    for index, block in enumerate(content):
        if not isinstance(block, str | dict):
            raise malformed(_path_text(location, (*where, index)), f"a block is an object, not {json_type(block)}")
        text, media = (block, []) if isinstance(block, str) else _block_text(block, block.get("type"))
        texts.append(text)
        pictures += media
    return "\n".join(texts), pictures


def _block_text(block: dict[str, Any], kind: Any) -> tuple[str, list[int]]:
    """(text, tokens of each of its media) of a block: its text, nothing for media, else the block as JSON."""
    if isinstance(block.get("text"), str):
        return block["text"], []
    source = block.get("source") if kind == "document" else None
    if isinstance(source, dict) and source.get("type") == "text" and isinstance(source.get("data"), str):
        return source["data"], []
    return ("", [media_tokens(block)]) if kind in MEDIA_KINDS else (canonical(block), [])


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
        result, end = text[begin:stop], stop
        tool, success = tool_name(result), success_of(result)
        yield MessagePart(PartKind.RESULT, result, where, span=(begin, stop), tool=tool, success=success)
    if text[end:].strip():
        yield MessagePart(PartKind.TEXT, text[end:], where, span=(end, len(text)))


_HEADING = re.compile(r"\[(\w{1,80})(?: for '([^'\n]{1,1024})')?([^\]\n]{0,1024})\] Result:(?:\r?\n|\Z)")
"""The line with which Cline and Roo Code begin the result of a call that was written as text."""
_SAID = re.compile(r"<(?:feedback|user_message|answer|task)>")  # begins what the user said in such a result
ENVIRONMENT = "<environment_details>"  # begins the state of the editor, which these agents add to each message


def _written_result(
    part: MessagePart, answered: MessagePart | None
) -> tuple[tuple[MessagePart, ...], MessagePart | None]:
    """Reads a part of a user's message as a result that is written as text. `answered`: the result under the heading
    above it; returned for the part after it."""
    if part.kind is not PartKind.TEXT:
        return (part,), answered
    if part.text.startswith(ENVIRONMENT):
        return (replace(part, kind=PartKind.OTHER, tool="environment_details"),), None
    heading = _HEADING.match(part.text)
    text, above = part.text, tuple[MessagePart, ...]()
    if heading is not None:
        tool, name, more = heading.groups()
        given = {"command" if "command" in tool else "path": name} if name else {}
        given |= {"more": more} if more else {}
        answered = replace(
            part, kind=PartKind.RESULT, span=None, tool=tool, arguments=canonical(given), put=_put_below_heading
        )
        text, above = text[heading.end() :], (replace(part, kind=PartKind.OTHER, text=heading[0], tool=tool),)
    if answered is None or _SAID.search(text):
        return (part,), answered
    return (*above, *((replace(answered, text=text, where=part.where),) if text else ())), answered


def _put_below_heading(old: Any, text: str) -> Any:
    heading = _HEADING.match(old)
    return (heading[0] if heading else "") + text


# --- small things -----------------------------------------------------------------------------------------------------


def _replace_at(value: Any, where: Where, part: MessagePart, text: str) -> Any:
    if not where:
        if part.span is not None:
            return value[: part.span[0]] + text + value[part.span[1] :]
        return (part.put or put_text)(value, text)
    copy = value.copy()
    copy[where[0]] = _replace_at(value[where[0]], where[1:], part, text)
    return copy


def canonical(value: Any) -> str:
    """Writes JSON in one canonical form, to compare values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def one_line(written: str) -> str:
    """Returns the text unchanged, or with single spaces between words if it has several lines."""
    return written if len(written.splitlines()) < 2 else " ".join(written.split())


def _text_field(owner: dict[str, Any], key: str, location: str, where: Where) -> str:
    if (value := owner.get(key)) is not None and not isinstance(value, str):
        raise malformed(_path_text(location, (*where, key)), f"is text, not {json_type(value)}")
    return value or ""


def _path_text(location: str, where: Where) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where)
    return location + path if location.startswith("$") or not path else f"{location}: {path.lstrip('.')}"


def json_type(value: Any) -> str:
    """Names the type of a JSON value for error messages."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
