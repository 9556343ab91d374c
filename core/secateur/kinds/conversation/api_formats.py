"""Reads the message formats of model APIs and frameworks: items of OpenAI's Responses API, contents of Gemini and
Bedrock, messages of the Vercel AI SDK, and dumps of LangChain and pydantic-ai.

Supported are the shapes of openai 2, google-genai 1 and 2, boto3's Converse, ai 4 to 6 (`UIMessage`; its `ModelMessage`
is read with the messages that have roles), langchain-core 0.3 and 1 (`messages_to_dict`, `dumpd`, `model_dump`), and
pydantic-ai 1 (`ModelMessagesTypeAdapter`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from secateur.kinds.conversation.media import MEDIA_TOKENS
from secateur.kinds.conversation.messages import (
    Message,
    MessagePart,
    PartKind,
    Where,
    block_parts,
    call_part,
    canonical,
    make_message,
    malformed,
    parse_message,
    result_content,
    result_part,
)
from secateur.kinds.conversation.session_formats.base import MessageFormat, field_of, text_at
from secateur.kinds.conversation.session_formats.codex import ITEMS, SILENT, item_parts, role_of
from secateur.kinds.conversation.session_formats.gemini_cli import content_parts


class ApiFormat(MessageFormat):
    """A format without a session around it."""

    def parse(self, raw: Any, location: str, calls: dict[str, MessagePart]) -> Message:
        if not self.owns(raw):
            raise malformed(location, f"is not a message of the format {self.name}")
        try:
            role, parts = self.read(raw, location)
            return make_message(raw, role, location, parts, calls)
        except (TypeError, ValueError, RecursionError) as error:
            raise malformed(location, "contains a value that JSON cannot represent") from error

    @abstractmethod
    def read(self, raw: Mapping[str, Any], location: str) -> tuple[str, Iterable[MessagePart]]:
        """Returns the role of a message and its parts."""


class ResponsesItems(ApiFormat):
    """Items of OpenAI's Responses API."""

    name: ClassVar[str] = "openai-responses"

    def owns(self, value: Any) -> bool:
        if not isinstance(value, dict) or "payload" in value:
            return False
        kinds = {text_at(block, "type") for block in _dict_items(value.get("content"))}
        has_item_type = text_at(value, "type") in ITEMS | SILENT and (value.get("type") != "message" or "role" in value)
        return has_item_type or any(kind.startswith(("input_", "output_")) for kind in kinds)

    def parse(self, raw: Any, location: str, calls: dict[str, MessagePart]) -> Message:
        if not isinstance(raw, dict) or "role" in raw or not self.owns(raw):  # plain Responses messages have no type
            return parse_message(raw, location, calls)
        return super().parse(raw, location, calls)

    def read(self, raw: Mapping[str, Any], location: str) -> tuple[str, Iterable[MessagePart]]:  # noqa: ARG002
        return role_of(raw), item_parts(raw, ())

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:  # noqa: ARG002
        return {"role": role, "content": text}


class GeminiContents(ApiFormat):
    """Contents of Gemini's API, in the spelling of JSON or of Python."""

    name: ClassVar[str] = "gemini"

    def owns(self, value: Any) -> bool:
        parts = value.get("parts") if isinstance(value, dict) else None
        known = isinstance(parts, list) and value.get("role") in ("user", "model", "function", "tool", None)
        if not known or "kind" in value:
            return False
        return all(isinstance(part, dict) and "type" not in part for part in parts or ())

    def read(self, raw: Mapping[str, Any], location: str) -> tuple[str, Iterable[MessagePart]]:  # noqa: ARG002
        return "assistant" if raw.get("role") == "model" else "user", content_parts(raw["parts"], ("parts",))

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:  # noqa: ARG002
        return {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}


class BedrockMessages(ApiFormat):
    """Messages of Bedrock's Converse API."""

    name: ClassVar[str] = "bedrock"

    def owns(self, value: Any) -> bool:
        if not isinstance(value, dict) or value.get("role") not in ("user", "assistant", "system"):
            return False
        blocks = value.get("content")
        if not isinstance(blocks, list) or not blocks:
            return False
        return all(isinstance(block, dict) and "type" not in block and len(block) == 1 for block in blocks)

    def read(self, raw: Mapping[str, Any], location: str) -> tuple[str, Iterable[MessagePart]]:  # noqa: ARG002
        paths = ((block, ("content", index)) for index, block in enumerate(raw["content"]))
        return raw["role"], (part for block, where in paths for part in _bedrock_parts(block, where))

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:  # noqa: ARG002
        return {"role": role, "content": [{"text": text}]}


def _bedrock_parts(block: Mapping[str, Any], where: Where) -> Iterator[MessagePart]:
    kind, content = next(iter(block.items()))
    if kind == "text" and isinstance(content, str):
        if content:
            yield MessagePart(PartKind.TEXT, content, (*where, "text"))
    elif kind == "toolUse":
        at = (*where, "toolUse", "input")
        tool = text_at(content, "name") or "unknown"
        yield call_part(tool, field_of(content, "input"), _id(content, "toolUseId"), at)
    elif kind == "toolResult":
        items = _dict_items(field_of(content, "content"))
        texts = [
            item["text"] if isinstance(item.get("text"), str) else canonical(item["json"])
            for item in items
            if isinstance(item.get("text"), str) or "json" in item
        ]
        media = len(items) - len(texts)
        yield result_part(
            "\n".join(texts),
            _id(content, "toolUseId"),
            (*where, "toolResult", "content"),
            lambda old, text: [{"text": text}],  # noqa: ARG005
            success=field_of(content, "status") != "error",
            media=media,
            media_tokens=media * MEDIA_TOKENS,
        )
    elif kind in ("image", "document", "video"):
        yield MessagePart(PartKind.OTHER, "", where, media=1, media_tokens=MEDIA_TOKENS)
    elif kind != "cachePoint":
        yield MessagePart(PartKind.OTHER, canonical(content), where)


class AiSdkUiMessages(ApiFormat):
    """Messages of the AI SDK as a chat page holds them: a call and its result are in one part."""

    name: ClassVar[str] = "ai-sdk-ui"

    def owns(self, value: Any) -> bool:
        parts = value.get("parts") if isinstance(value, dict) else None
        typed = isinstance(parts, list) and all(isinstance(part, dict) and "type" in part for part in parts)
        return typed and value.get("role") in ("system", "user", "assistant") and ("id" in value or bool(parts))

    def read(self, raw: Mapping[str, Any], location: str) -> tuple[str, Iterable[MessagePart]]:  # noqa: ARG002
        paths = ((part, ("parts", index)) for index, part in enumerate(raw["parts"]))
        return raw["role"], (part for raw_part, where in paths for part in _ui_parts(raw_part, where))

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:
        message = {
            "id": f"{text_at(like, 'id')}-summary-{index}",
            "role": role,
            "parts": [{"type": "text", "text": text}],
        }
        return {**message, "content": text} if "content" in like else message  # version 4 has the text twice


def _ui_parts(part: Mapping[str, Any], where: Where) -> Iterator[MessagePart]:
    kind = text_at(part, "type")
    if kind in ("text", "reasoning"):
        text = part.get("text", part.get("reasoning"))
        if isinstance(text, str) and text:
            part_kind = PartKind.TEXT if kind == "text" else PartKind.OTHER
            yield MessagePart(part_kind, text, (*where, "text" if "text" in part else "reasoning"))
    elif kind == "file":
        yield MessagePart(PartKind.OTHER, "", where, media=1, media_tokens=MEDIA_TOKENS)
    elif kind.startswith("tool-") or kind == "dynamic-tool":
        if kind == "tool-invocation" and isinstance(part.get("toolInvocation"), dict):
            part, where = part["toolInvocation"], (*where, "toolInvocation")
        tool = text_at(part, "toolName") or kind.removeprefix("tool-")
        input_key, result_key = ("input", "output") if "input" in part or "toolName" not in part else ("args", "result")
        call = _id(part, "toolCallId")
        yield call_part(tool, part.get(input_key), call, (*where, input_key))
        if isinstance(part.get("errorText"), str):
            yield result_part(part["errorText"], call, (*where, "errorText"), success=False)
        elif result_key in part:
            yield result_part(part[result_key], call, (*where, result_key), success=True)


class LangChainMessages(ApiFormat):
    """Messages of LangChain: from `messages_to_dict`, `dumpd`, or as plain fields."""

    name: ClassVar[str] = "langchain"
    _ROLES: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
    )

    def owns(self, value: Any) -> bool:
        return _langchain_body(value)[1] in self._ROLES

    def read(self, raw: Mapping[str, Any], location: str) -> tuple[str, Iterable[MessagePart]]:
        under, kind = _langchain_body(raw)
        body = field_of(raw, *under) if under else raw
        return self._ROLES[kind], self._parts(body, self._ROLES[kind], location, under)

    def _parts(self, body: Any, role: str, location: str, under: Where) -> Iterator[MessagePart]:
        content, at = body.get("content"), (*under, "content")
        if role in ("tool", "function"):
            text, media = result_content(content, location, at)
            figures: dict[str, Any] = {"media": len(media), "media_tokens": sum(media)}
            failed = body.get("status") == "error"
            tool, call = text_at(body, "name"), _id(body, "tool_call_id")
            yield result_part(text, call, at, tool=tool, success=not failed, **figures)
            return
        parts: list[MessagePart] = []
        for block, where in [(content, at)] if isinstance(content, str) else _enumerate_paths(content, at):
            if isinstance(block, dict) and block.get("type") == "tool_call":  # repeated in `tool_calls`
                continue
            parts += block_parts(block, where, role, location)
        calls = [
            call_part(text_at(call, "name") or "unknown", call.get("args"), _id(call, "id"), (*where, "args"))
            for call, where in _enumerate_paths(body.get("tool_calls"), (*under, "tool_calls"))
            if isinstance(call, dict)
        ]
        # The same id in `content` and in `tool_calls` is one call. Copies are not edited: they would then differ.
        listed_ids = {call.call for call in calls}
        repeated = {part.call for part in parts if part.call} or field_of(body, "additional_kwargs", "tool_calls")
        yield from (part for part in parts if part.kind is not PartKind.CALL or part.call not in listed_ids)
        yield from (replace(call, put=None) if repeated else call for call in calls)

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:  # noqa: ARG002
        kind = "ai" if role == "assistant" else "human"
        if "data" in like:
            return {"type": kind, "data": {"content": text, "type": kind}}
        if "kwargs" in like:
            names = [*like["id"][:-1], "AIMessage" if kind == "ai" else "HumanMessage"]
            return {"lc": 1, "type": "constructor", "id": names, "kwargs": {"content": text, "type": kind}}
        return {"type": kind, "content": text}


def _langchain_body(value: Any) -> tuple[Where, str]:
    """Returns the path to the fields of a message, and its type; "" if it is not a message."""
    if not isinstance(value, dict) or "role" in value:
        return (), ""
    name = field_of(value, "id", -1)
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), dict) and isinstance(name, str):
        return ("kwargs",), name.removesuffix("Chunk").removesuffix("Message").lower()
    if isinstance(value.get("data"), dict) and "content" in value["data"]:
        return ("data",), text_at(value, "type")
    return (), text_at(value, "type") if "content" in value else ""


class PydanticAiMessages(ApiFormat):
    """Messages of pydantic-ai. A request with the system prompt counts as a system message, which always stays."""

    name: ClassVar[str] = "pydantic-ai"

    def owns(self, value: Any) -> bool:
        return (
            isinstance(value, dict)
            and value.get("kind") in ("request", "response")
            and isinstance(value.get("parts"), list)
        )

    def read(self, raw: Mapping[str, Any], location: str) -> tuple[str, Iterable[MessagePart]]:  # noqa: ARG002
        kinds = {text_at(part, "part_kind") for part in _dict_items(raw["parts"])}
        role = "assistant" if raw["kind"] == "response" else "system" if "system-prompt" in kinds else "user"
        paths = _enumerate_paths(raw["parts"], ("parts",))
        return role, (part for raw_part, where in paths for part in _pydantic_parts(raw_part, where))

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:  # noqa: ARG002
        kind, part = ("response", "text") if role == "assistant" else ("request", "user-prompt")
        return {"kind": kind, "parts": [{"part_kind": part, "content": text}]}


def _pydantic_parts(part: Any, where: Where) -> Iterator[MessagePart]:
    kind, content, at = text_at(part, "part_kind"), field_of(part, "content"), (*where, "content")
    call, tool = _id(part, "tool_call_id"), text_at(part, "tool_name")
    if kind.endswith("tool-call"):
        made_part = call_part(tool or "unknown", part.get("args"), call, (*where, "args"))
        yield made_part if kind == "tool-call" else replace(made_part, put=None)
    elif kind.endswith("tool-return") or (kind == "retry-prompt" and tool):
        is_editable = kind in ("tool-return", "retry-prompt")
        success = kind != "retry-prompt" and part.get("outcome", "success") == "success"
        made_part = result_part(content, call, at, tool=tool, success=success)
        yield made_part if is_editable else replace(made_part, put=None)
    elif isinstance(content, list) and kind == "user-prompt":
        for item, part_path in _enumerate_paths(content, at):
            if isinstance(item, str):
                yield MessagePart(PartKind.TEXT, item, part_path)
            else:
                yield MessagePart(PartKind.OTHER, "", part_path, media=1, media_tokens=MEDIA_TOKENS)
    elif content is not None:
        text = content if isinstance(content, str) else canonical(content)
        yield MessagePart(PartKind.OTHER if kind == "thinking" else PartKind.TEXT, text, at)


_FORMATS = (
    ResponsesItems(),
    GeminiContents(),
    BedrockMessages(),
    AiSdkUiMessages(),
    LangChainMessages(),
    PydanticAiMessages(),
)
API_FORMATS: Mapping[str, ApiFormat] = MappingProxyType({form.name: form for form in _FORMATS})
"""Formats by name."""


def api_format_of(values: Sequence[Any]) -> ApiFormat | None:
    """Returns the format of most of these messages. One item of the Responses API is enough, because plain Responses
    messages have no type."""
    for form in API_FORMATS.values():
        owned = sum(map(form.owns, values))
        if owned * 2 > len(values) or (owned and isinstance(form, ResponsesItems)):
            return form
    return None


# --- helpers ----------------------------------------------------------------------------------------------------------


def _dict_items(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _enumerate_paths(value: Any, where: Where) -> list[tuple[Any, Where]]:
    return [(item, (*where, index)) for index, item in enumerate(value)] if isinstance(value, list) else []


def _id(value: Any, key: str) -> str:
    """Returns the id, or ""."""
    name = field_of(value, key)
    return name if isinstance(name, str) else ""
