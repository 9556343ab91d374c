"""Transcripts that are broken, or meant to break something: a clear error with its place, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from secateur.errors import SecateurError
from secateur.kinds.conversation.transcripts import read_messages
from support.cli import secateur

GOOD = {"role": "user", "content": "hello"}
NO_NAMES = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": 7}}]}

BROKEN = {
    "empty": (b"", "is empty"),
    "prose": (b"just words", "neither JSON"),
    "not utf-8": (b'{"role": "user", "content": "\xff"', "is not UTF-8"),
    "every line not utf-8": (
        b'{"role": "user", "content": "\xff"}\n{"role": "user", "content": "\xff"}\n',
        "line 1: is not UTF-8",
    ),
    "cut off": (b'[{"role": "user",\n "content": "hel', "line 2, column"),
    "every line cut off": (b'{"role": "user", "content": "a\n{"role": "us', "line 1, column 31"),
    "every line no object": (b'{"a": 1}\n7\n', "line 1: has no role"),
    "a body over lines that is damaged": (
        b'{"messages": [\n{"role": "user", "content": "a"}\n{"role": "user", "content": "b"}\n]}\n',
        "line 3, column 1",
    ),
    "no list": (b'{"messages": 7}', "$.messages"),
    "no object": (b"[7]", "$[0]"),
    "no role": (b'[{"content": "x"}]', "has no role"),
    "a role of another kind": (b'[{"role": ["user"]}]', "$[0]"),
    "content of another kind": (b'{"messages": [{"role": "user", "content": 7}]}', "$.messages[0].content"),
    "a block of another kind": (b'[{"role": "user", "content": [7]}]', "$[0].content[0]"),
    "a block without type": (b'[{"role": "user", "content": [{}]}]', "$[0].content[0]"),
    "a call of another kind": (json.dumps([NO_NAMES]).encode(), "$[0].tool_calls[0].name"),
    "an id of another kind": (b'[{"role": "tool", "tool_call_id": {}, "content": ""}]', "$[0].tool_call_id"),
    "a request without messages": (b'{"model": "m"}', "$: the object holds no `messages`"),
    "another interface": (b'{"model": "m",\n "prompt": "x"}', "looks like a request of a completion"),
    "a system prompt of another kind": (b'{"system": 7, "messages": []}', "$.system: "),
    "a picture's block of another kind": (
        b'[{"role": "user", "content": [{"type": "tool_result", "content": 7}]}]',
        "$[0].content[0].content",
    ),
    "thinking of another kind": (
        b'[{"role": "assistant", "content": [{"type": "thinking", "thinking": 7}]}]',
        "$[0].content[0].thinking",
    ),
    "a session's message without role": (
        b'{"type": "user", "uuid": "1", "message": {"content": "x"}}',
        "line 1: message: has no role",
    ),
    "packed": (b"\x1f\x8b\x08\x00", "byte 1: is not UTF-8"),
    "two conversations": (b'{"messages": []}\n{"messages": []}', "line 1"),
    "a session's message of another kind": (b'{"type": "user", "uuid": "1", "message": []}', "line 1: message"),
    "nested without end": (b"[" * 100_000, "nested too deep"),
    "no number": (b'[{"role": "user", "content": "x", "n": NaN}]', "NaN"),
    "too large a number": (b'[{"role": "user", "content": "x", "n": 1e999}]', "out of range"),
    "a field twice": (
        b'[{"role": "user",\n "content": "x",\n "content": "y"}]',
        "'content' appears twice in one object; fields of that name are on lines 2",
    ),
    "a field twice in the only line": (b'{"role": "user", "role": "assistant"}', "the field 'role' appears twice"),
    "too long a number": (b'[{"role": "user", "n": ' + b"9" * 5000 + b"}]", "digits"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_transcript_is_an_error_with_its_place(name: str, tmp_path: Path) -> None:
    data, said = BROKEN[name]
    ran = secateur("conversation", "-", "--out", tmp_path / "out", "--format", "json", stdin=data)
    assert ran.code == 1
    assert ran.json["error"]["code"] == "TRANSCRIPT"
    assert said in ran.json["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_said() -> None:
    ran = secateur("conversation", "no/such\x1bfile.json")
    assert (ran.code, ran.out) == (1, "")
    assert "no/such␛file.json" in ran.err


def test_nothing_in_a_transcript_reaches_the_terminal() -> None:
    call = {"id": "1", "function": {"name": "\x1b[2J\u202e", "arguments": "{}"}}
    rows = [
        GOOD,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "x\x1b]0;y\x07 " * 500},
        {"role": "assistant", "content": "\x9b"},
    ]
    data = json.dumps([*rows, GOOD]).encode()
    for form in ("text", "json"):
        out = secateur("conversation", "-", "--safe-zone", 0, "--format", form, stdin=data).out
        assert not set(out) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_half_characters_unknown_fields_and_blocks_come_back(tmp_path: Path) -> None:
    rows = [
        {"role": "user", "content": "\ud800", "x": [None, 1.0]},
        {"role": "assistant", "content": [{"type": "of the future", "y": 1}]},
        GOOD,
    ]
    for data in (
        json.dumps({"model": "m", "messages": rows, "z": {}}).encode(),
        "\n".join(map(json.dumps, rows)).encode(),
    ):
        ran = secateur("conversation", "-", "--out", tmp_path / "out", "--quiet", stdin=data)
        assert ran.code == 0
        written = (tmp_path / "out").read_bytes()
        assert written == data + b"\n" if b"model" not in data else json.loads(written) == json.loads(data)


def test_a_text_of_results_is_pruned_as_text(tmp_path: Path) -> None:
    long = "value = 1\n" * 400
    text = (
        f"Find it.\n<tool_result tool_name='read_file' success='true'>{long}</tool_result>\nmore\n<tool_result"
        f" tool_name='b'>{long}x</tool_result>\nSo?\n"
    )
    ran = secateur(
        "conversation", "-", "--safe-zone", 100, "--out", tmp_path / "out", "--format", "json", stdin=text.encode()
    )
    assert ran.json["format"] == "text"
    written = (tmp_path / "out").read_text("utf-8")
    assert written.startswith(
        "Find it.\n<tool_result tool_name='read_file' success='true'>[tool result cleared: read_file"
    )
    assert written.endswith("</tool_result>\nSo?\n")


@pytest.mark.parametrize("held", [{3: 1, "a": 2}, {"a": {1, 2}}, b"bytes", "circle"])
def test_what_only_a_program_can_hold_is_an_error_with_its_place(held: Any) -> None:
    block: dict[str, Any] = {"type": "tool_use", "id": "c", "name": "x", "input": held}
    if held == "circle":
        block["input"] = block
    with pytest.raises(SecateurError, match=r"\$\[1\]: contains a value that JSON cannot represent"):
        read_messages([GOOD, {"role": "assistant", "content": [block]}])
