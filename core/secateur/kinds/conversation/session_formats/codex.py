"""Reads rollouts of Codex CLI: one record a line, `{"timestamp", "type", "payload"}`; a `response_item` is sent to the
model.

Supported are the records of versions 0.32 to 0.169 (`session_meta`, `turn_context`, `response_item`, `event_msg`,
`token_usage_record`, `compacted`, `world_state`), and the bare items of older versions. A `compacted` record replaces
everything before it; `thread_rolled_back` takes back turns. Encrypted content is not counted: its size is unknown.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from secateur.kinds.conversation.media import MEDIA_KINDS, media_tokens
from secateur.kinds.conversation.messages import (
    Message,
    MessagePart,
    PartKind,
    Where,
    call_part,
    canonical,
    make_message,
    parse_message,
    result_part,
)
from secateur.kinds.conversation.session_formats.base import (
    ReportedUsage,
    SessionFormat,
    SessionHeading,
    count_at,
    field_of,
    numbered,
    objects_in,
    text_at,
)

_RECORDS = frozenset(
    ("session_meta", "turn_context", "response_item", "event_msg", "token_usage_record", "compacted", "world_state")
)
_TEXT_RESULTS = (
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "apply_patch_call_output",
)
_CALLS = frozenset(
    (
        *("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"),
        *("mcp_approval_request", "tool_search_call"),
    )
)
_RESULTS = frozenset(
    (*_TEXT_RESULTS, "shell_call_output", "computer_call_output", "mcp_approval_response", "tool_search_output")
)
_OTHERS = frozenset(  # a server's calls, which hold their results
    (
        *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"),
        *("mcp_call", "mcp_list_tools"),
    )
)
ITEMS = frozenset(("message", "reasoning", *_CALLS, *_RESULTS, *_OTHERS))
# Items without countable tokens.
SILENT = frozenset(("ghost_snapshot", "compaction", "compaction_summary", "item_reference", "other"))
_EXITED = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_EXIT_CHARS = 400  # characters of a result that are searched for its exit code
_FIRST_TEXT: Where = ("content", 0, "text")
# The start of a text that Codex adds under the user's name.
_SET_UP = re.compile(r"\s*<(?:environment_context|user_instructions|permissions instructions|[a-z_]+_context)>")


class CodexCli(SessionFormat):
    """See the module docstring."""

    name: ClassVar[str] = "codex"
    agent: ClassVar[str] = "Codex CLI"
    tells_usage_aside: ClassVar[bool] = True

    def owns(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        record = text_at(value, "type") in _RECORDS and isinstance(value.get("payload"), dict)
        if record or ("record_type" in value and len(value) == 1):
            return True
        return _is_bare_head(value) or (text_at(value, "type") in ITEMS - {"message"} and "payload" not in value)

    def proves(self, value: Any) -> bool:
        return self.owns(value) and ("payload" in value or "record_type" in value or _is_bare_head(value))

    def list_sent(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> Collection[int]:  # noqa: ARG002
        reached: list[int] = []
        turns: list[int] = []  # positions in `reached` where a user begins to speak
        for index, value in enumerate(values):
            kind, item = text_at(value, "type"), _item(value)
            if kind == "compacted":
                prompt = [first for first in reached[:1] if values[first].get("type") == "session_meta"]
                reached, turns = [*prompt, index], []
            elif (kind == "session_meta" and _instructions(value) and not reached) or item:
                body = _body(value)
                if item == "message" and body.get("role") == "user" and not _SET_UP.match(text_at(body, *_FIRST_TEXT)):
                    turns.append(len(reached))
                reached.append(index)
            elif kind == "event_msg" and field_of(value, "payload", "type") == "thread_rolled_back":
                back = min(count_at(value, "payload", "num_turns"), len(turns))
                if back:
                    del reached[turns[-back] :], turns[-back:]
        return reached

    def parse(self, raw: Any, location: str, calls: dict[str, MessagePart]) -> Message:
        if raw.get("type") == "session_meta":
            text = MessagePart(PartKind.TEXT, _instructions(raw), ("payload", "base_instructions", "text"))
            return make_message(raw, "system", location, (text,), calls)
        if raw.get("type") == "compacted":
            return make_message(raw, "system", location, _replacement(raw), calls)
        under: Where = ("payload",) if "payload" in raw else ()
        item = _body(raw)
        if item.get("type") == "message":
            return parse_message(raw, location, calls, under)
        return make_message(raw, role_of(item), location, item_parts(item, under), calls)

    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:  # noqa: ARG002
        block = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
        item = {"type": "message", "role": role, "content": [block]}
        return {"timestamp": like["timestamp"], "type": "response_item", "payload": item} if "payload" in like else item

    def heading(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> SessionHeading:  # noqa: ARG002
        records = (value for value in values if isinstance(value, dict))
        metas = (one for one in records if one.get("type") == "session_meta" or ("type" not in one and "id" in one))
        meta: Any = next((one.get("payload", one) for one in metas), {})
        heading = SessionHeading(text_at(meta, "id"), text_at(meta, "cwd"), "", text_at(meta, "cli_version"))
        spawned = text_at(meta, "source", "subagent", "thread_spawn", "parent_thread_id")
        if spawned or isinstance(field_of(meta, "source", "subagent"), dict | str):
            heading = replace(heading, parent=spawned or "unknown")
        for value in reversed(values):
            if isinstance(value, dict) and value.get("type") == "turn_context":
                folder = text_at(value, "payload", "cwd") or heading.folder
                return replace(heading, model=text_at(value, "payload", "model"), folder=folder)
        return heading

    def usage(self, value: Mapping[str, Any]) -> ReportedUsage | None:
        told = field_of(value, "payload")
        if value.get("type") == "token_usage_record":
            used, total = field_of(told, "usage"), field_of(told, "thread_token_usage")
        elif value.get("type") == "event_msg" and text_at(told, "type") == "token_count":
            told = field_of(told, "info")
            used, total = field_of(told, "last_token_usage"), field_of(told, "total_token_usage")
        else:
            return None
        if not isinstance(used, dict) or not count_at(used, "input_tokens"):
            return None
        return ReportedUsage(
            # the same sum: the same request again, or only its limits
            str(count_at(total, "total_tokens") or text_at(told, "response_id")),
            count_at(used, "input_tokens"),
            count_at(used, "cached_input_tokens"),
            count_at(used, "cache_write_input_tokens"),
            count_at(used, "output_tokens"),
            count_at(told, "model_context_window"),
        )

    def compacts(self, value: Mapping[str, Any]) -> bool:
        return value.get("type") == "compacted"

    def unknown_kind(self, value: Mapping[str, Any]) -> str:
        kind = text_at(value, "type")
        if kind == "response_item":
            item = text_at(value, "payload", "type")
            return "" if item in ITEMS | SILENT else f"response_item {item}"
        return kind if kind and "payload" in value and kind not in _RECORDS else ""


# --- items ------------------------------------------------------------------------------------------------------------


def _is_bare_head(value: Mapping[str, Any]) -> bool:
    return "git" in value and "instructions" in value and "id" in value and "type" not in value


def _body(value: Mapping[str, Any]) -> Mapping[str, Any]:
    body = value.get("payload", value)
    return body if isinstance(body, dict) else {}


def _item(value: Mapping[str, Any]) -> str:
    if text_at(value, "type") not in ("response_item", *ITEMS):
        return ""
    kind = text_at(_body(value), "type")
    return kind if kind in ITEMS else ""


def _instructions(value: Mapping[str, Any]) -> str:
    text = field_of(value, "payload", "base_instructions", "text")
    return text if isinstance(text, str) else ""


def role_of(item: Mapping[str, Any]) -> str:
    """The role of an item without one. Items that replace others count as the system's, which stay."""
    kind = text_at(item, "type")
    return "tool" if kind in _RESULTS else "system" if kind in SILENT else "assistant"


def item_parts(item: Mapping[str, Any], under: Where) -> Iterator[MessagePart]:
    """Yields the parts of an item that is not a message."""
    kind = text_at(item, "type")
    call = item.get("call_id") or item.get("approval_request_id") or item.get("id")
    call = call if isinstance(call, str) else ""
    if kind.startswith("tool_search") and not item.get("call_id"):  # a server's call, which is not paired
        call = ""
    if kind in _CALLS:
        tool = item.get("name", kind.removesuffix("_call"))
        key = next((key for key in ("arguments", "input", "action", "operation") if item.get(key) is not None), "")
        made_part = call_part(tool if isinstance(tool, str) else "unknown", item.get(key, ""), call, (*under, key))
        yield made_part if key in ("arguments", "input", "operation") else replace(made_part, put=None)
    elif kind in _RESULTS:
        made_part = _result(item, call, under)
        yield made_part if kind in _TEXT_RESULTS else replace(made_part, put=None)
    elif kind in SILENT:
        return
    elif kind == "reasoning":
        texts = [part.get("text") for key in ("summary", "content") for part in objects_in(item.get(key))]
        if text := "\n".join(text for text in texts if isinstance(text, str)):
            yield MessagePart(PartKind.OTHER, text, under)
    else:
        shown = {key: value for key, value in item.items() if key not in ("id", "result", "status")}
        yield MessagePart(PartKind.OTHER, canonical(shown), under)


def _result(item: Mapping[str, Any], call: str, under: Where) -> MessagePart:
    where, output, success = (*under, "output"), item.get("output"), None
    if isinstance(output, dict):  # versions before 0.60
        success = output.get("success") if isinstance(output.get("success"), bool) else None
        if isinstance(output.get("content"), str):
            where, output = (*where, "content"), output["content"]
    media: list[int] = []
    if isinstance(output, list):
        media = [media_tokens(block) for block in objects_in(output) if text_at(block, "type") in MEDIA_KINDS]
        output = "\n".join(block["text"] for block in objects_in(output) if isinstance(block.get("text"), str))
    text = output if isinstance(output, str) else "" if output is None else canonical(output)
    exited = _EXITED.search(text, 0, _EXIT_CHARS)
    if success is None and exited:
        success = exited[1] == "0"
    return result_part(text, call, where, media=media, success=success)


def _replacement(value: Mapping[str, Any]) -> Iterator[MessagePart]:
    items = field_of(value, "payload", "replacement_history")
    if not isinstance(items, list):
        text = field_of(value, "payload", "message")
        if isinstance(text, str) and text:
            yield MessagePart(PartKind.TEXT, text, ("payload", "message"))
        return
    for item, where in numbered(items, ("payload", "replacement_history")):
        if not isinstance(item, dict) or text_at(item, "type") in SILENT:
            continue
        if item.get("type") != "message":
            yield MessagePart(PartKind.OTHER, canonical(item), where)
        elif isinstance(item.get("content"), str):
            yield MessagePart(PartKind.TEXT, item["content"], (*where, "content"))
        else:
            for block_index, block in enumerate(objects_in(item.get("content"))):
                if isinstance(block.get("text"), str) and block["text"]:
                    yield MessagePart(PartKind.TEXT, block["text"], (*where, "content", block_index, "text"))
