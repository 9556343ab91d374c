"""For any transcript or diff and any damage to one line or file of it: the others are decided, and the damaged one is
accounted for once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from secateur.errors import SecateurError
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.messages import PartKind
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.transcripts import read_transcript
from secateur.kinds.conversation.unreadable import UNREADABLE
from secateur.kinds.diff.chunks import chunk_diff
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.conversation_strategies import TEXT, TURNS
from support.conversations import FORMATS, Said, conversation
from support.diffs import line_diff

COUNTER = get_counter("chars4")
LINE_DAMAGE = st.sampled_from(["cut", "front", "words", "twice", "number", "bytes", "list", "role"])


def damaged_line(message: dict[str, Any], kind: str, cut: int) -> bytes:
    """The line of a message with one kind of damage."""
    line = json.dumps(message).encode()
    body = message.get("message", message)
    bad = {**body, "role": "bot"}
    return {
        "cut": line[: 1 + cut % (len(line) - 1)],
        "front": line[1 + cut % (len(line) - 1) :],
        "words": b"panic: " + line,
        "twice": b'{"x": 1, "x": 2, ' + line[1:],
        "number": b'{"x": NaN, ' + line[1:],
        "bytes": line[:-1] + b', "x": "\xff"}',
        "list": b"[" + line + b"]",
        "role": json.dumps({**message, "message": bad} if "message" in message else bad).encode(),
    }[kind]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@budgeted(max_examples=6, deadline=None)
@given(turns=TURNS, zone=st.integers(0, 600), at=st.integers(0, 100), kind=LINE_DAMAGE, cut=st.integers(0, 10_000))
def test_a_damaged_line_of_a_transcript_costs_itself(
    form: str, strategy: str, turns: list[Said], zone: int, at: int, kind: str, cut: int
) -> None:
    messages = conversation(form, turns, asks="Go on.")
    spoken = [number for number, message in enumerate(messages) if "role" in message.get("message", message)]
    at = spoken[at % len(spoken)]
    lines = [json.dumps(message).encode() for message in messages]
    lines[at] = damaged_line(messages[at], kind, cut)
    values = {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": zone}
    pruned = prune(read_transcript(b"\n".join(lines)), with_values(Settings(), values), strategy)

    assert sorted(item.number for item in pruned.items if item.number >= 0) == list(range(len(messages)))
    assert [item.number for item in pruned.items if item.reason.label == "damaged"] == [at]
    (notice,) = [notice for notice in pruned.warnings if notice.code == UNREADABLE]
    assert notice.message.startswith("1 message cannot be read") and f"line {at + 1}" in notice.message

    written = pruned.write().encode("utf-8", "surrogateescape")
    if form != "claude-code" or kind != "role":  # a session's line names the one it follows, which may be another now
        assert written.count(b"\n" + lines[at] + b"\n") + written.startswith(lines[at] + b"\n") == 1
    again = read_transcript(written)
    assert measure(again, COUNTER).total == pruned.report.after <= pruned.report.before
    assert sum(action.after for action in pruned.report.actions) == pruned.report.after

    parts = [part for message in again.messages for part in message.parts if part.call]
    calls, results = ({part.call for part in parts if part.kind is kind} for kind in (PartKind.CALL, PartKind.RESULT))
    assert all(name in json.dumps(messages[at]) for name in calls ^ results), "a call and its result are parted"
    assert (
        "Go on." in [part.text for message in again.messages for part in message.parts]
        or messages[at].get("message", messages[at])["content"] == "Go on."
    )


@pytest.mark.parametrize("form", ["openai", "anthropic", "text"])
@budgeted(max_examples=6, deadline=None)
@given(
    turns=TURNS,
    asks=TEXT,
    zone=st.integers(0, 600),
    at=st.integers(0, 100),
    bad=st.sampled_from([7, "text", None, [], {}, {"role": "bot"}]),
)
def test_a_bad_message_of_a_list_costs_itself(
    form: str, turns: list[Said], asks: str, zone: int, at: int, bad: Any
) -> None:
    messages: list[Any] = conversation(form, turns, asks=asks)
    at %= len(messages) + 1
    messages.insert(at, bad)
    values = {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": zone}
    pruned = prune(
        read_transcript(json.dumps({"messages": messages}).encode()), with_values(Settings(), values), "truncate"
    )
    assert [item.number for item in pruned.items if item.reason.label == "damaged"] == [at]
    assert pruned.messages.count(bad) == 1 and f"$.messages[{at}]" in pruned.warnings[0].message
    assert measure(read_transcript(pruned.write().encode()), COUNTER).total == pruned.report.after


SOURCE = st.lists(
    st.sampled_from(["def f(a):", "    return a", "}", "-- a", "++ b", "@@ -1 +1 @@", "diff --git a/x b/x"]),
    min_size=1,
    max_size=20,
)
FILES = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "pkg/c d.py", "pkg/订.go", "x.md"]),
    st.tuples(SOURCE, SOURCE),
    min_size=1,
    max_size=5,
)
FILE_DAMAGE = st.sampled_from(["head", "short", "long", "foreign", "no hunk"])


def damaged_patch(patch: str, kind: str, at: int) -> str:
    """A patch with one kind of damage to one of its hunks."""
    lines = patch.split("\n")[:-1]
    heads = [number for number, line in enumerate(lines) if line.startswith("@@ -")]
    head = heads[at % len(heads)]
    if kind == "no hunk":
        return "\n".join(lines[: heads[0]]) + "\n"
    if kind == "head":
        lines[head] = "@@ " + lines[head]
    elif kind == "foreign":
        lines.insert(head + 1, "?")
    elif kind == "short":
        del lines[head + 1]
    else:
        lines.insert(head + 1, "+one more")
    return "\n".join(lines) + "\n"


@budgeted(max_examples=12, deadline=None)
@given(files=FILES, which=st.integers(0, 4), kind=FILE_DAMAGE, at=st.integers(0, 9))
@example(files={"a.py": (["def f(a):"], ["++ b"])}, which=0, kind="long", at=0)
@example(files={"a.py": (["def f(a):"], ["++ b"]), "b.py": (["def f(a):"], ["}"])}, which=0, kind="long", at=0)
def test_a_damaged_file_of_a_diff_costs_itself(
    files: dict[str, tuple[list[str], list[str]]], which: int, kind: str, at: int
) -> None:
    patches = {
        path: line_diff(path, old, new, newline=True) for path, (old, new) in sorted(files.items()) if old != new
    }
    if not patches:
        return
    bad = list(patches)[which % len(patches)]
    damaged = damaged_patch(patches[bad].replace("\n---", "\nindex 1111111..2222222 100644\n---", 1), kind, at)
    diff = "".join(damaged if path == bad else patch for path, patch in patches.items())
    if len(patches) == 1:
        with pytest.raises(SecateurError) as error:
            parse_diff(diff)
        assert error.value.code == "MALFORMED_DIFF"
        return
    chunks = chunk_diff(diff, 300, counter="chars4")
    assert [entry.path for entry in chunks.coverage] == list(patches)
    assert {entry.path for entry in chunks.coverage if entry.verdict and entry.verdict.rule.label == "damaged"} == {bad}
    assert all(
        entry.file.change.text == (damaged if entry.path == bad else patches[entry.path]) for entry in chunks.coverage
    )
    assert not any(file.path == bad for chunk in chunks for file in chunk.files)
