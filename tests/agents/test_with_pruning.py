"""What `secateur with` sends in place of a request with a history; whatever it cannot read leaves as it came."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur_agents import Live, Store
from secateur_agents.proxy import pruning
from secateur_agents.proxy.pruning import RequestPruner
from support.agent_requests import body, reads, settings
from support.api_conversations import api_conversation, refused

KEYS = st.sampled_from(
    ("role", "content", "type", "text", "id", "tool_use", "tool_use_id", "name", "input", "parts", "functionResponse")
)

# Path at the provider, key of the history, format of the histories, and the rest of the body.
INTERFACES = [
    ("/v1/messages", "messages", "anthropic", {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "Be brief."}),
    ("/v1/chat/completions", "messages", "openai", {"model": "gpt-5", "stream": True, "temperature": 0.10}),
    ("/v1/responses", "input", "openai-responses", {"model": "gpt-5", "instructions": "Be brief.", "store": False}),
    ("/v1beta/models/gemini-2.5-pro:streamGenerateContent", "contents", "gemini", {"generationConfig": {"topP": 1}}),
]


@pytest.mark.parametrize(("path", "key", "form", "rest"), INTERFACES)
def test_histories_of_each_interface_are_pruned_and_stay_valid(
    path: str, key: str, form: str, rest: dict[str, Any]
) -> None:
    pruner, pruned = RequestPruner(settings(300), None), 0
    for seed in range(12):
        history = api_conversation(form, seed)
        data = json.dumps({**rest, key: history}).encode()
        edited = pruner.edit(path, "", data)
        if edited is None:
            continue
        pruned += 1
        sent = json.loads(edited)
        assert list(sent) == [*rest, key] and {name: sent[name] for name in rest} == rest
        assert sent[key] == Live(settings(300)).step(history).messages
        assert refused(sent[key]) == [] or refused(history)
        assert len(edited) < len(data) and pruner.edit(path, "", data) == edited
    assert pruned > 3 and not pruner.whole


def test_what_fits_and_what_holds_no_history_leaves_as_it_came() -> None:
    pruner = RequestPruner(settings(2_000), None)
    assert pruner.edit("/v1/messages", "", body(reads(2))) is None
    for path in ("/v1/messages/count_tokens", "/v1/models", "/v1/embeddings", "/v1beta/models/g:countTokens"):
        assert pruner.edit(path, "", body(reads(20))) is None
    assert not pruner.whole and [record.cut for record in pruner.records] == [False]


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_a_compressed_body_is_read(compress: Any) -> None:
    pruner, data = RequestPruner(settings(2_000), None), body(reads(20))
    encoding = "gzip" if compress is gzip.compress else "Deflate"
    assert pruner.edit("/v1/messages", encoding, compress(data)) == pruner.edit("/v1/messages", "", data)


WRONG = [
    (b"", "", "the body cannot be read (JSONDecodeError)"),
    (b'{"messages": "\xff"}', "", "the body cannot be read (UnicodeDecodeError)"),
    (b"[1, 2]", "", "the body cannot be read (AttributeError)"),
    (b"[" * 200_000, "", "the body cannot be read (RecursionError)"),
    (b'{"messages": "a text"}', "", "messages is not a list"),
    (body(reads(20), previous_response_id="r"), "", "the provider keeps a part of the history"),
    (body(reads(20), temperature=float("inf")), "", "the body cannot be read (ValueError)"),
    (body(reads(20)), "gzip", "the body cannot be read (error)"),
    (body(reads(20)), "zstd", "its compression 'zstd' is not read"),
    (gzip.compress(body(reads(20)))[:-9], "gzip", "its body is cut off or larger than 134,217,728 bytes"),
]


@pytest.mark.parametrize(("data", "encoding", "reason"), WRONG)
def test_what_cannot_be_read_leaves_as_it_came_and_is_counted(data: bytes, encoding: str, reason: str) -> None:
    pruner = RequestPruner(settings(2_000), None)
    assert pruner.edit("/v1/messages", encoding, data) is None
    assert pruner.whole == {reason: 1}


def test_a_compressed_body_may_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "MOST_BYTES", 10_000)
    pruner = RequestPruner(settings(2_000), None)
    assert pruner.edit("/v1/messages", "gzip", gzip.compress(body("x" * 100_000))) is None
    assert pruner.whole == {"its body is cut off or larger than 10,000 bytes": 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(st.sampled_from([path for path, *_ in INTERFACES]), JSON, st.sampled_from(("", "gzip", "br")), st.binary())
def test_no_body_costs_more_than_itself(path: str, value: Any, encoding: str, damage: bytes) -> None:
    pruner = RequestPruner(settings(3), None)
    for rest in ({}, {key: value for _, key, *_ in INTERFACES}):
        data = json.dumps({**value, **rest} if isinstance(value, dict) else rest or value).encode()
        for sent in (gzip.compress(data) if encoding == "gzip" else data, data + damage):
            edited = pruner.edit(path, encoding, sent)
            assert edited is None or json.loads(edited).keys() == json.loads(data).keys()


def test_an_unknown_shape_of_messages_leaves_as_it_came_and_is_counted() -> None:
    pruner = RequestPruner(settings(10), None)
    assert pruner.edit("/v1/messages", "", body([{"turn": "x" * 100}, {"turn": "y"}])) is None
    assert sum(pruner.whole.values()) == 1


def test_marks_of_a_prompt_cache_move_and_nothing_else_changes() -> None:
    """Agents mark the last message of each request: what leaves has the marks of that request alone."""

    def marked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        *rest, last = messages
        block = {**last["content"][0], "cache_control": {"type": "ephemeral"}}
        return [*rest, {**last, "content": [block]}]

    pruner, fresh, before = RequestPruner(settings(2_000), None), settings(2_000), ""
    breaks = 0
    for count in range(1, 30):
        data = body(marked(reads(count)))
        sent = pruner.edit("/v1/messages", "", data) or data
        assert sent == (RequestPruner(fresh, None).edit("/v1/messages", "", data) or data)
        assert sent.count(b"cache_control") == 1
        plain = sent.replace(b', "cache_control": {"type": "ephemeral"}', b"").replace(
            b',"cache_control":{"type":"ephemeral"}', b""
        )
        text = json.dumps(json.loads(plain)["messages"])[:-1]
        breaks += not text.startswith(before)
        before = text
    assert breaks == sum(record.cut for record in pruner.records) > 1


def test_with_a_store_placeholders_name_what_recall_gives_back(tmp_path: Path) -> None:
    store = Store.at(tmp_path)
    sent = RequestPruner(settings(2_000), store).edit("/v1/messages", "", body(reads(20)))
    assert sent is not None and b"gives it back" in sent
    without = RequestPruner(settings(2_000), None).edit("/v1/messages", "", body(reads(20)))
    assert without is not None and b"recall" not in without


def test_only_so_many_models_are_remembered() -> None:
    pruner = RequestPruner(settings(2_000), None)
    for number in range(100):
        pruner.edit("/v1/messages", "", json.dumps({"model": f"m{number}", "messages": reads(1)}).encode())
    assert len(pruner._lives) == pruning._MOST_MODELS
