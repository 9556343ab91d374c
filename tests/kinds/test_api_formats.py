"""Messages in the formats of model APIs and libraries: which format they are, what of them counts, what a request holds
before them, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from secateur.errors import SecateurError
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.strategies import prune
from secateur.kinds.conversation.transcripts import read_messages, read_transcript
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.api_conversations import API_FORMATS, api_conversation

LONG = "value = 1\n" * 300
REQUESTS: dict[str, dict[str, Any]] = {
    "openai": {
        "messages": [{"role": "user", "content": "Hi."}],
        "tools": [{"type": "function", "function": {"name": "t"}}],
    },
    "anthropic": {
        "system": [{"type": "text", "text": "S"}],
        "messages": [{"role": "user", "content": "Hi."}],
        "tools": [{"name": "t"}],
    },
    "openai-responses": {
        "instructions": "S",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi."}]}],
        "tools": [{"type": "function", "name": "t"}],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "S"}]},
        "contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
        "tools": [{"functionDeclarations": [{"name": "t"}]}],
    },
    "bedrock": {
        "system": [{"text": "S"}],
        "messages": [{"role": "user", "content": [{"text": "Hi."}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "t"}}]},
    },
}


@pytest.mark.parametrize("form", API_FORMATS)
@pytest.mark.parametrize("seed", [0, 5, 6])
def test_a_file_of_each_format_is_read_and_written_as_it_was(form: str, seed: int) -> None:
    messages = api_conversation(form, seed)
    for text in (json.dumps(messages), "".join(json.dumps(message) + "\n" for message in messages)):
        transcript = read_transcript(text.encode())
        assert (transcript.format, transcript.notices) == (form, ())
        assert json.loads(json.dumps([message.raw for message in transcript.messages])) == messages
        if text.endswith("\n"):
            assert transcript.write([message.raw for message in transcript.messages]) == text


@pytest.mark.parametrize("form", REQUESTS)
def test_a_request_has_an_entry_for_its_prompt_and_for_each_tool(form: str) -> None:
    body = REQUESTS[form]
    transcript = read_transcript(json.dumps(body).encode())
    assert transcript.format == form
    result = prune(transcript, Settings())
    ids = [entry.id for entry in result.ledger.entries]
    assert ids == [*(["system prompt"] if form != "openai" else []), "tool t", "messages[0]", "wrapper"]
    assert sum(entry.after for entry in result.ledger.entries) == result.ledger.after
    assert json.loads(result.write()) == body


def test_tools_of_all_kinds_have_names() -> None:
    tools = [
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "mcp", "server_label": "shop"},
        {"type": "file_search"},
        {"googleSearch": {}},
        {"type": "custom", "custom": {"name": "patch"}},
        "odd",
    ]
    head = read_messages([{"role": "user", "content": "Hi."}], container={"tools": tools}).head
    assert head is not None
    assert [part.tool for part in head.parts] == [
        "web_search",
        "shop",
        "file_search",
        "googleSearch",
        "patch",
        "unknown",
    ]
    by_name = read_messages([{"role": "user", "content": "Hi."}], container={"tools": {"a": {}, "b": {}}}).head
    assert by_name is not None and [part.tool for part in by_name.parts] == ["a", "b"]


def test_items_of_the_responses_api_need_no_type_and_keep_their_reasoning() -> None:
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "Why?"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": '{"path":"a.py"}'},
        {"type": "function_call_output", "call_id": "c1", "output": LONG},
        {"type": "computer_call", "call_id": "c2", "action": {"type": "screenshot"}},
        {"type": "computer_call_output", "call_id": "c2", "output": {"type": "computer_screenshot", "image_url": LONG}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Mend it."}]},
    ]
    measured = measure(read_messages(items), get_counter("chars4"))
    assert measured.transcript.format == "openai-responses"
    assert measured.tokens[0] > 0 and measured.tokens[-1] > 0
    values = {"conversation_prune.safe_zone_tokens": 0}
    cleared = prune(measured.transcript, with_values(Settings(), values)).messages
    assert cleared[3]["output"].startswith("[tool result cleared") and cleared[5] == items[5]
    values["conversation_prune.group_size"] = 1
    assert prune(measured.transcript, with_values(Settings(), values), "truncate").messages == items[-1:]
    body = {"input": items, "tools": [], "model": "m"}
    assert json.loads(prune(read_transcript(json.dumps(body).encode()), Settings()).write()) == body


def test_a_response_and_a_single_text_are_read() -> None:
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]}]
    assert read_transcript(json.dumps({"object": "response", "output": output}).encode()).format == "openai-responses"
    (message,) = read_transcript(json.dumps({"model": "m", "input": "Hi."}).encode()).messages
    assert message.role == "user"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"choices": [{"message": {"role": "assistant", "content": "x"}}]}, "give `choices[0].message`"),
        ({"candidates": [{"content": {}}]}, "give `candidates[0].content`"),
        ({"mapping": {}}, "exported from ChatGPT"),
        ({"anything": 1}, "holds no `messages`, `contents` or `input`"),
        ({"output": "x"}, "holds no `messages`, `contents` or `input`"),
    ],
)
def test_what_is_not_read_is_refused_with_what_it_looks_like_and_what_is_read(body: Any, said: str) -> None:
    with pytest.raises(SecateurError) as refused:
        read_transcript(json.dumps(body).encode())
    assert said in refused.value.message
    assert all(name in (refused.value.hint or "") for name in ("Vercel AI SDK", "LangChain", "Bedrock", "Gemini"))


def test_one_damaged_message_of_a_format_costs_itself() -> None:
    messages: list[Any] = api_conversation("gemini", 1)
    transcript = read_messages([*messages, {"role": "model", "parts": "x"}, 5])
    assert transcript.format == "gemini"
    (notice,) = transcript.notices
    assert notice.code == "unreadable_messages" and f"$[{len(messages)}]" in notice.message
