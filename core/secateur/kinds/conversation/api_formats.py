"""Reads the message formats of model APIs and frameworks: items of OpenAI's Responses API, contents of Gemini and
Bedrock, messages of the Vercel AI SDK, and dumps of LangChain and pydantic-ai.

Supported are the shapes of openai 2, google-genai 1 and 2, boto3's Converse, ai 4 to 6 (`UIMessage`; its `ModelMessage`
is read with the messages that have roles), langchain-core 0.3 and 1 (`messages_to_dict`, `dumpd`, `model_dump`), and
pydantic-ai 1 (`ModelMessagesTypeAdapter`). Beside them stand the formats of agents' sessions (`session_formats`), and
what reads a message in any format.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from secateur.kinds.conversation import messages
from secateur.kinds.conversation.media import MEDIA_TOKENS
from secateur.kinds.conversation.session_formats.base import SessionFormat, field_of, numbered, objects_in, text_at
from secateur.kinds.conversation.session_formats.claude_code import ClaudeCode
from secateur.kinds.conversation.session_formats.codex import ITEMS, SILENT, CodexCli, item_parts, role_of
from secateur.kinds.conversation.session_formats.copilot import CopilotCli
from secateur.kinds.conversation.session_formats.gemini_cli import GeminiCli, content_parts
from secateur.kinds.conversation.session_formats.opencode import OpenCode

Parts = Iterable[messages.MessagePart]


@dataclass(frozen=True, slots=True)
class ApiFormat:
    """The shape of messages without a session around them.

    Attributes:
        owns_object: tells by its fields whether an object has this format. Cheap and certain.
        read: returns the role of a message and its parts; receives its location for errors.
        make: makes a message that replaces another, with a role, "user" or "assistant", a text, and its number among
            those that do.
        mixed: plain messages with a role are among the others.
    """

    name: str
    owns_object: Callable[[dict[str, Any]], bool]
    read: Callable[[Mapping[str, Any], str], tuple[str, Parts]]
    make: Callable[[Mapping[str, Any], str, str, int], dict[str, Any]]
    mixed: bool = False

    def owns(self, value: Any) -> bool:
        """Tells whether a value has this format."""
        return isinstance(value, dict) and self.owns_object(value)

    def parse(self, raw: Any, location: str, calls: dict[str, messages.MessagePart]) -> messages.Message:
        """Parses a message; see `messages.parse_message`, also for errors."""
        if self.mixed and (not self.owns(raw) or "role" in raw):
            return messages.parse_message(raw, location, calls)
        if not self.owns(raw):
            raise messages.malformed(location, f"is not a message of the format {self.name}")
        role, parts = self.read(raw, location)
        return messages.make_message(raw, role, location, parts, calls)


def _is_responses_item(value: dict[str, Any]) -> bool:
    if "payload" in value:
        return False
    kinds = {text_at(block, "type") for block in objects_in(value.get("content"))}
    has_item_type = text_at(value, "type") in ITEMS | SILENT and (value.get("type") != "message" or "role" in value)
    return has_item_type or any(kind.startswith(("input_", "output_")) for kind in kinds)


def _is_gemini(value: dict[str, Any]) -> bool:
    known = isinstance(value.get("parts"), list) and value.get("role") in ("user", "model", "function", "tool", None)
    return (
        known and "kind" not in value and all(isinstance(part, dict) and "type" not in part for part in value["parts"])
    )


def _is_bedrock(value: dict[str, Any]) -> bool:
    blocks = value.get("content")
    if value.get("role") not in ("user", "assistant", "system") or not isinstance(blocks, list) or not blocks:
        return False
    return all(isinstance(block, dict) and "type" not in block and len(block) == 1 for block in blocks)


def _bedrock_parts(block: Mapping[str, Any], where: messages.Where) -> Iterator[messages.MessagePart]:
    kind, content = next(iter(block.items()))
    if kind == "text" and isinstance(content, str):
        if content:
            yield messages.MessagePart(messages.PartKind.TEXT, content, (*where, "text"))
    elif kind == "toolUse":
        at = (*where, "toolUse", "input")
        yield messages.call_part(
            text_at(content, "name") or "unknown", field_of(content, "input"), _id(content, "toolUseId"), at
        )
    elif kind == "toolResult":
        items = objects_in(field_of(content, "content"))
        texts = [
            item["text"] if isinstance(item.get("text"), str) else messages.canonical(item["json"])
            for item in items
            if isinstance(item.get("text"), str) or "json" in item
        ]
        media, at = [MEDIA_TOKENS] * (len(items) - len(texts)), (*where, "toolResult", "content")
        success = field_of(content, "status") != "error"
        yield messages.result_part(
            "\n".join(texts), _id(content, "toolUseId"), at, _put_text_block, media=media, success=success
        )
    elif kind in ("image", "document", "video"):
        yield messages.media_part(where, messages.put_text_part)
    elif kind != "cachePoint":
        yield messages.MessagePart(messages.PartKind.OTHER, messages.canonical(content), where)


def _put_text_block(old: Any, text: str) -> Any:  # noqa: ARG001
    return [{"text": text}]


def _is_ai_sdk_ui(value: dict[str, Any]) -> bool:
    """Tells whether a message is one that a chat page of the AI SDK holds: a call and its result are in one part."""
    parts = value.get("parts")
    typed = isinstance(parts, list) and all(isinstance(part, dict) and "type" in part for part in parts)
    return typed and value.get("role") in ("system", "user", "assistant") and ("id" in value or bool(parts))


def _make_ai_sdk_ui(like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:
    new_id = f"{text_at(like, 'id')}-summary-{index}"
    message = {"id": new_id, "role": role, "parts": [{"type": "text", "text": text}]}
    return {**message, "content": text} if "content" in like else message  # version 4 has the text twice


def _ui_parts(part: Mapping[str, Any], where: messages.Where) -> Iterator[messages.MessagePart]:
    kind = text_at(part, "type")
    if kind in ("text", "reasoning"):
        text = part.get("text", part.get("reasoning"))
        if isinstance(text, str) and text:
            part_kind = messages.PartKind.TEXT if kind == "text" else messages.PartKind.OTHER
            yield messages.MessagePart(part_kind, text, (*where, "text" if "text" in part else "reasoning"))
    elif kind == "file":
        yield messages.media_part(where, messages.put_text_block)
    elif kind.startswith("tool-") or kind == "dynamic-tool":
        if kind == "tool-invocation" and isinstance(part.get("toolInvocation"), dict):
            part, where = part["toolInvocation"], (*where, "toolInvocation")
        tool = text_at(part, "toolName") or kind.removeprefix("tool-")
        input_key, result_key = ("input", "output") if "input" in part or "toolName" not in part else ("args", "result")
        call = _id(part, "toolCallId")
        yield messages.call_part(tool, part.get(input_key), call, (*where, input_key))
        if isinstance(part.get("errorText"), str):
            yield messages.result_part(part["errorText"], call, (*where, "errorText"), success=False)
        elif result_key in part:
            yield messages.result_part(part[result_key], call, (*where, result_key), success=True)


_LANGCHAIN_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}


def _read_langchain(raw: Mapping[str, Any], location: str) -> tuple[str, Parts]:
    under, kind = _langchain_body(raw)
    body = field_of(raw, *under) if under else raw
    return _LANGCHAIN_ROLES[kind], _langchain_parts(body, _LANGCHAIN_ROLES[kind], location, under)


def _langchain_parts(body: Any, role: str, location: str, under: messages.Where) -> Iterator[messages.MessagePart]:
    content, at = body.get("content"), (*under, "content")
    if role in ("tool", "function"):
        text, media = messages.result_content(content, location, at)
        tool, call, success = text_at(body, "name"), _id(body, "tool_call_id"), body.get("status") != "error"
        yield messages.result_part(text, call, at, media=media, tool=tool, success=success)
        return
    parts: list[messages.MessagePart] = []
    for block, where in [(content, at)] if isinstance(content, str) else numbered(content, at):
        if not (isinstance(block, dict) and block.get("type") == "tool_call"):  # repeated in `tool_calls`
            parts += messages.block_parts(block, where, role, location)
    calls = [
        messages.call_part(text_at(call, "name") or "unknown", call.get("args"), _id(call, "id"), (*where, "args"))
        for call, where in numbered(body.get("tool_calls"), (*under, "tool_calls"))
        if isinstance(call, dict)
    ]
    # The same id in `content` and in `tool_calls` is one call. Copies are not edited: they would then differ.
    listed_ids = {call.call for call in calls}
    repeated = {part.call for part in parts if part.call} or field_of(body, "additional_kwargs", "tool_calls")
    yield from (part for part in parts if part.kind is not messages.PartKind.CALL or part.call not in listed_ids)
    yield from (replace(call, put=None) if repeated else call for call in calls)


def _make_langchain(like: Mapping[str, Any], role: str, text: str, _index: int) -> dict[str, Any]:
    kind = "ai" if role == "assistant" else "human"
    if "data" in like:
        return {"type": kind, "data": {"content": text, "type": kind}}
    if "kwargs" in like:
        names = [*like["id"][:-1], "AIMessage" if kind == "ai" else "HumanMessage"]
        return {"lc": 1, "type": "constructor", "id": names, "kwargs": {"content": text, "type": kind}}
    return {"type": kind, "content": text}


def _langchain_body(value: Mapping[str, Any]) -> tuple[messages.Where, str]:
    if "role" in value:
        return (), ""
    name = field_of(value, "id", -1)
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), dict) and isinstance(name, str):
        return ("kwargs",), name.removesuffix("Chunk").removesuffix("Message").lower()
    if isinstance(value.get("data"), dict) and "content" in value["data"]:
        return ("data",), text_at(value, "type")
    return (), text_at(value, "type") if "content" in value else ""


def _read_pydantic(raw: Mapping[str, Any], _location: str) -> tuple[str, Parts]:
    """A request with the system prompt counts as a system message, which always stays."""
    is_system = any(text_at(part, "part_kind") == "system-prompt" for part in raw["parts"])
    asks = "system" if is_system else "user"
    return "assistant" if raw["kind"] == "response" else asks, _each(_pydantic_parts, raw["parts"], "parts")


def _make_pydantic(_like: Mapping[str, Any], role: str, text: str, _index: int) -> dict[str, Any]:
    kind, part = ("response", "text") if role == "assistant" else ("request", "user-prompt")
    return {"kind": kind, "parts": [{"part_kind": part, "content": text}]}


def _pydantic_parts(part: Any, where: messages.Where) -> Iterator[messages.MessagePart]:
    kind, content, at = text_at(part, "part_kind"), field_of(part, "content"), (*where, "content")
    call, tool = _id(part, "tool_call_id"), text_at(part, "tool_name")
    if kind.endswith("tool-call"):
        made_part = messages.call_part(tool or "unknown", part.get("args"), call, (*where, "args"))
        yield made_part if kind == "tool-call" else replace(made_part, put=None)
    elif kind.endswith("tool-return") or (kind == "retry-prompt" and tool):
        is_editable = kind in ("tool-return", "retry-prompt")
        success = kind != "retry-prompt" and part.get("outcome", "success") == "success"
        made_part = messages.result_part(content, call, at, tool=tool, success=success)
        yield made_part if is_editable else replace(made_part, put=None)
    elif isinstance(content, list) and kind == "user-prompt":
        for item, part_path in numbered(content, at):
            if isinstance(item, str):
                yield messages.MessagePart(messages.PartKind.TEXT, item, part_path)
            else:
                yield messages.media_part(part_path, messages.put_text)
    elif content is not None:
        text = content if isinstance(content, str) else messages.canonical(content)
        yield messages.MessagePart(messages.PartKind.OTHER if kind == "thinking" else messages.PartKind.TEXT, text, at)


_FORMATS = (
    ApiFormat(
        "openai-responses",
        _is_responses_item,
        lambda raw, _: (role_of(raw), item_parts(raw, ())),
        lambda _like, role, text, _index: {"role": role, "content": text},
        mixed=True,
    ),
    ApiFormat(
        "gemini",
        _is_gemini,
        lambda raw, _: ("assistant" if raw.get("role") == "model" else "user", content_parts(raw["parts"], ("parts",))),
        lambda _like, role, text, _index: {
            "role": "model" if role == "assistant" else "user",
            "parts": [{"text": text}],
        },
    ),
    ApiFormat(
        "bedrock",
        _is_bedrock,
        lambda raw, _: (raw["role"], _each(_bedrock_parts, raw["content"], "content")),
        lambda _like, role, text, _index: {"role": role, "content": [{"text": text}]},
    ),
    ApiFormat(
        "ai-sdk-ui",
        _is_ai_sdk_ui,
        lambda raw, _: (raw["role"], _each(_ui_parts, raw["parts"], "parts")),
        _make_ai_sdk_ui,
    ),
    ApiFormat(
        "langchain", lambda value: _langchain_body(value)[1] in _LANGCHAIN_ROLES, _read_langchain, _make_langchain
    ),
    ApiFormat(
        "pydantic-ai",
        lambda value: value.get("kind") in ("request", "response") and isinstance(value.get("parts"), list),
        _read_pydantic,
        _make_pydantic,
    ),
)
API_FORMATS: Mapping[str, ApiFormat] = MappingProxyType({form.name: form for form in _FORMATS})  # formats by name


def api_format_of(values: Sequence[Any]) -> ApiFormat | None:
    """Returns the format of most of these messages. One item of the Responses API is enough, because plain Responses
    messages have no type."""
    for form in API_FORMATS.values():
        owned = sum(map(form.owns, values))
        if owned * 2 > len(values) or (owned and form.mixed):
            return form
    return None


# --- helpers ----------------------------------------------------------------------------------------------------------


def _each(
    read: Callable[[Any, messages.Where], Iterator[messages.MessagePart]], blocks: Sequence[Any], key: str
) -> Parts:
    return (part for block, where in numbered(blocks, (key,)) for part in read(block, where))


def _id(value: Any, key: str) -> str:
    name = field_of(value, key)
    return name if isinstance(name, str) else ""


# The formats of sessions by their names in the kind.
SESSION_FORMATS: Mapping[str, SessionFormat] = MappingProxyType(
    {form.name: form for form in (ClaudeCode(), CodexCli(), GeminiCli(), OpenCode(), CopilotCli())}
)

# All formats, except plain messages with a role, which `parse_message` reads.
MESSAGE_FORMATS: Mapping[str, ApiFormat | SessionFormat] = MappingProxyType({**API_FORMATS, **SESSION_FORMATS})


def session_format_of(values: Sequence[Any]) -> SessionFormat | None:
    """Detects the format of a session: more values have it than have a role of their own. None if it is not a
    session."""
    owned = {name: sum(map(form.owns, values)) for name, form in SESSION_FORMATS.items()}
    name = max(owned, key=lambda format_name: owned[format_name])
    with_role = sum(isinstance(value, dict) and "role" in value for value in values)
    form = SESSION_FORMATS[name]
    return form if owned[name] > with_role and any(map(form.proves, values)) else None


def parse_value(raw: Any, location: str, calls: dict[str, messages.MessagePart], form: str) -> messages.Message:
    """Parses the message in `raw`, given the name of its format; see `messages.parse_message`."""
    known = MESSAGE_FORMATS.get(form)
    return known.parse(raw, location, calls) if known is not None else messages.parse_message(raw, location, calls)
