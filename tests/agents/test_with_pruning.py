"""What `secateur with` sends in place of a request with a history; whatever it cannot read leaves as it came."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.settings import with_values
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
    pruner, pruned = RequestPruner(settings(-8_000), None), 0
    for seed in range(12):
        history = api_conversation(form, seed)
        data = json.dumps({**rest, key: history}).encode()
        edited = pruner.edit(path, "", data)
        if edited is None:
            continue
        pruned += 1
        sent = json.loads(edited)
        assert list(sent) == [*rest, key] and {name: sent[name] for name in rest} == rest
        assert sent[key] == Live(settings(-8_000)).step(history).messages
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
    pruner = RequestPruner(settings(-8_000), None)
    for rest in ({}, {key: value for _, key, *_ in INTERFACES}):
        data = json.dumps({**value, **rest} if isinstance(value, dict) else rest or value).encode()
        for sent in (gzip.compress(data) if encoding == "gzip" else data, data + damage):
            edited = pruner.edit(path, encoding, sent)
            assert edited is None or json.loads(edited).keys() == json.loads(data).keys()


def test_an_unknown_shape_of_messages_leaves_as_it_came_and_is_counted() -> None:
    pruner = RequestPruner(settings(-8_000), None)
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


@pytest.mark.parametrize(("limit", "shortened"), [(0, False), (1_000, True), (4_000, True), (1_000_000, False)])
def test_a_setting_moves_the_limit_of_long_results_and_0_turns_it_off(limit: int, shortened: bool) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "make"}}
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": WHOLE}
    messages = [{"role": "user", "content": "Build it."}, {"role": "assistant", "content": [call]}]
    pruner = RequestPruner(with_values(settings(200_000), {"log.max_tokens": limit}), None)
    assert bool(pruner.edit("/v1/messages", "", body([*messages, {"role": "user", "content": [answer]}]))) is shortened


LINES = "".join(f"{at}: compiled part {at % 7} in {at * 3} ms\n" for at in range(4_000))
WHOLE = LINES + "src/money.c:41:9: error: use of undeclared identifier 'rounding'\nmake: *** [all] Error 1\n"


def saved(home: Path, whole: bytes = WHOLE.encode(), name: str = "projects/-src/5f1c/tool-results/toolu_1.txt") -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(whole)
    return path


def persisted(path: Path | str, preview: str = WHOLE[:1_990]) -> bytes:
    """A request after Claude Code 2.1.197 wrote a long output to a file."""
    told = f"<persisted-output>\nOutput too large (120KB). Full output saved to: {path}\n\nPreview (first 2KB):\n"
    told += f"{preview}\n...\n</persisted-output>"
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "make"}}
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": told}
    messages = [{"role": "user", "content": "Build it."}, {"role": "assistant", "content": [call]}]
    return body([*messages, {"role": "user", "content": [answer]}])


def sent_for(home: Path, data: bytes, store: Store | None = None) -> str:
    edited = RequestPruner(settings(100_000), store, home=home).edit("/v1/messages", "", data)
    if edited is None:
        return ""
    text = json.loads(edited)["messages"][2]["content"][0]["content"]
    assert isinstance(text, str)
    return text


def test_the_whole_of_an_output_that_the_agent_cut_is_pruned_in_its_place(tmp_path: Path) -> None:
    home, store = tmp_path / ".claude", Store.at(tmp_path / "originals")
    data = persisted(saved(home))
    text = sent_for(home, data, store)
    assert "error: use of undeclared identifier 'rounding'" in text and len(text) < 9_000
    digest = text.partition("recall ")[2][:12]
    assert store.recall(digest) == WHOLE
    assert sent_for(home, data, store) == text
    assert f"all of it is in {home}/projects" in sent_for(home, data)


def test_credentials_of_the_whole_do_not_leave(tmp_path: Path) -> None:
    key = "AKIA" + "Z7Q4" * 4
    text = sent_for(tmp_path, persisted(saved(tmp_path, WHOLE.replace("Error 1", f"Error 1 {key}").encode())))
    assert "Error 1" in text and key not in text


def test_only_the_agents_own_files_are_read(tmp_path: Path) -> None:
    home, other = tmp_path / ".claude", tmp_path / "other"
    good = saved(home)
    assert sent_for(home, persisted(good)) != ""
    outside = saved(other)
    link = good.with_name("link.txt")
    link.symlink_to(outside)
    (home / "projects" / "linked").symlink_to(other / "projects" / "-src")
    pipe = good.with_name("pipe.txt")
    os.mkfifo(pipe)
    wrong: list[Path | str] = [
        outside,
        link,
        home / "projects" / "linked" / "5f1c" / "tool-results" / "toolu_1.txt",
        f"{good.parent}/../tool-results/toolu_1.txt",
        f"{home}/projects/-src/5f1c/tool-results/../../../../../other/projects/-src/5f1c/tool-results/toolu_1.txt",
        saved(home, name="projects/-src/5f1c/secrets.txt"),
        saved(home, name="settings.json"),
        good.with_name("none.txt"),
        good.parent,
        pipe,
        "toolu_1.txt",
        f"{good}\x00",
        saved(home, WHOLE.encode() + b"\xff\xfe", "projects/-src/5f1c/tool-results/bytes.txt"),
        saved(home, WHOLE.encode() * 100, "projects/-src/5f1c/tool-results/huge.txt"),
        saved(home, b"Another output\n" + WHOLE.encode(), "projects/-src/5f1c/tool-results/another.txt"),
    ]
    for path in wrong:
        assert sent_for(home, persisted(path)) == "", path
    assert sent_for(home, persisted(good).replace(b"<persisted-output>", b"See: <persisted-output>")) == ""


def test_a_file_of_another_user_is_not_read(tmp_path: Path) -> None:
    path = saved(tmp_path)
    try:
        os.chown(path, 12_345, -1)
    except PermissionError:
        pytest.skip("only root can give a file away")
    assert sent_for(tmp_path, persisted(path)) == ""


def test_source_code_that_the_agent_cut_stays_as_it_cut_it(tmp_path: Path) -> None:
    code = "def total(rows):\n    return [round(row) for row in rows]\n\n" * 900
    data = persisted(saved(tmp_path, code.encode()), code[:1_990]).replace(b'"make"', b'"git show HEAD:a.py"')
    assert sent_for(tmp_path, data) == ""
