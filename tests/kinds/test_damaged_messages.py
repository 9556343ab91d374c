"""Messages that cannot be read: named by one warning, carried along as they are, and no other message is lost with
them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from secateur import AgenticConversationPruner, ConversationPruner, PruneContext, SourceCode
from secateur.cli.inspect import bench_of
from secateur.errors import SecateurError
from secateur.kinds.conversation.decisions import Pruned, measure
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.transcripts import read_messages, read_transcript
from secateur.kinds.conversation.unreadable import DAMAGED, NAMED, UNREADABLE
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.cli import secateur
from support.conversations import Said, conversation

COUNTER = get_counter("chars4")
LONG = "value = compute(1)\n" * 40
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Look at it."},
    {"role": "assistant", "content": "I will. " * 20},
    {"role": "user", "content": "And now? " * 20},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "Thanks."},
]

BAD_LINES = {
    "cut off": (b'{"role": "user", "content": "hel', "column 29: is not JSON"),
    "cut off at the front": (b'ser", "content": "hello"}', "column 1: is not JSON"),
    "no JSON": (b"panic: out of memory", "column 1: is not JSON"),
    "a field twice": (b'{"role": "user", "role": "assistant", "content": ""}', "the field 'role' appears twice"),
    "nested too deep": (b'{"role": "user", "x": ' + b"[" * 100_000, "is nested too deep"),
    "no object": (b'["role", "user"]', "is not a JSON object"),
    "nothing": (b"null", "is not a JSON object"),
    "half a character": (b'{"role": "user", "content": "\xe4\xb8"}', "is not UTF-8"),
    "NaN": (b'{"role": "user", "content": "x", "n": NaN}', "NaN"),
    "too large a number": (b'{"role": "user", "content": "x", "n": 1e999}', "out of range"),
    "five megabytes": (b'{"role": "user", "content": "' + b"x " * 2_500_000, "is not JSON"),
}
BAD_OBJECTS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown role": ({"role": "bot", "content": "hello"}, 'role "bot" is not one of'),
    "no role": ({"content": "hello"}, "has no role"),
    "content of another kind": ({"role": "user", "content": 7}, "content is text or a list of blocks"),
    "a conversation of its own": ({"messages": []}, "holds a conversation of its own"),
    "a block without type": ({"role": "user", "content": [{"text": "hello"}]}, "a block has a `type`"),
}


def settings_of(zone: int) -> Settings:
    return with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": zone})


def lines_of(*messages: dict[str, Any]) -> list[bytes]:
    return [json.dumps(message).encode() for message in messages]


def warned(pruned: Pruned) -> str:
    (notice,) = [notice for notice in pruned.warnings if notice.code == UNREADABLE]
    return notice.message


@pytest.mark.parametrize("at", range(len(TALK) + 1))
@pytest.mark.parametrize("name", BAD_LINES)
def test_a_line_that_cannot_be_read_costs_itself(name: str, at: int) -> None:
    bad, said = BAD_LINES[name]
    good = lines_of(*TALK)
    pruned = prune(read_transcript(b"\n".join([*good[:at], bad, *good[at:]])), settings_of(10_000), "truncate")
    assert [item.reason.label == "damaged" for item in pruned.items] == [
        number == at for number in range(len(TALK) + 1)
    ]
    assert (pruned.items[at].before, pruned.items[at].after) == (0, 0)
    assert pruned.report.before == measure(read_messages(TALK), COUNTER).total
    assert pruned.messages == TALK
    message = warned(pruned)
    assert message.startswith("1 message cannot be read and is carried along unchanged")
    assert f"line {at + 1}" in message and said in message and len(message) < 400
    assert pruned.write().encode("utf-8", "surrogateescape") == b"".join(
        line + b"\n" for line in [*good[:at], bad, *good[at:]]
    )


@pytest.mark.parametrize("name", BAD_OBJECTS)
def test_an_object_that_is_no_message_is_charged_as_its_text(name: str) -> None:
    bad, said = BAD_OBJECTS[name]
    charged = COUNTER.count(json.dumps(bad, sort_keys=True, separators=(",", ":")))
    rows = [*TALK[:3], bad, *TALK[3:]]
    whole = {"model": "m", "messages": rows}
    for data, place in (
        ("\n".join(map(json.dumps, rows)), "line 4"),
        (json.dumps(rows), "$[3]"),
        (json.dumps(whole), "$.messages[3]"),
    ):
        pruned = prune(read_transcript(data.encode()), settings_of(0), "truncate")
        assert (pruned.items[3].before, pruned.items[3].after, pruned.items[3].reason.label) == (
            charged,
            charged,
            "damaged",
        )
        assert bad in pruned.messages and pruned.messages[-1] == TALK[-1]
        assert place in warned(pruned) and said in warned(pruned)
        assert measure(read_messages(pruned.messages), COUNTER).total == pruned.report.after


def test_only_the_first_are_named() -> None:
    pruned = prune(read_transcript(b"\n".join([*lines_of(*TALK), *[b"{"] * 40])), settings_of(0))
    assert warned(pruned).startswith("40 messages cannot be read")
    assert warned(pruned).count("is not JSON: ") == NAMED
    assert "; and 37 more" in warned(pruned)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("lost", ["call", "result"])
def test_what_lost_its_other_half_stays_beside_it(strategy: str, lost: str) -> None:
    step: list[dict[str, Any]] = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "a.py"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "short"}]},
    ]
    number = 0 if lost == "call" else 1
    step[number]["content"].append({"type": 7})
    rows = [TALK[0], *step, *TALK[1:]]
    pruned = prune(read_messages(rows), settings_of(0), strategy)
    assert all(message in pruned.messages for message in step)
    if strategy != "tool-results":
        assert pruned.items[2 - number].reason.label == "unpaired"


def test_a_line_between_a_call_and_its_result_parts_nothing() -> None:
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{}"}}],
    }
    result = {"role": "tool", "tool_call_id": "c1", "content": LONG}
    data = b"\n".join([*lines_of(TALK[0], call), b'{"role": "to', *lines_of(result, *TALK[3:])])
    pruned = prune(read_transcript(data), settings_of(0), "truncate")
    assert [item.state.label for item in pruned.items] == ["dropped", "dropped", "kept", "dropped", "dropped", "kept"]
    cleared = prune(read_transcript(data), settings_of(0), "tool-results")
    assert cleared.messages[2]["content"].startswith("[tool result cleared: Read")


@pytest.mark.parametrize("before", ["[\n", '{"model": "m", "messages":\n[\n', "[\n\n\n"])
@pytest.mark.parametrize("more", ["", "\n", ",\n", '\n,{"role": "assistant", "content": "I wi'])
def test_a_list_that_is_cut_off_after_a_message_names_the_line_and_the_column(before: str, more: str) -> None:
    text = before + ",\n".join(map(json.dumps, TALK)) + more
    kept = text.rstrip()
    line = kept.count("\n") + 1
    with pytest.raises(SecateurError, match=rf"^talk\.json, line ({line}|{line + 1}), column \d+: is not JSON") as cut:
        read_transcript(text.encode(), "talk.json")
    assert cut.value.code == "TRANSCRIPT"


def test_a_session_that_is_being_written_to_ends_in_half_a_line() -> None:
    rows = [
        {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "Look."}},
        {
            "type": "assistant",
            "uuid": "2",
            "parentUuid": "1",
            "message": {"role": "assistant", "content": "I do. " * 50},
        },
        {"type": "user", "uuid": "3", "parentUuid": "2", "message": {"role": "user", "content": "And?"}},
    ]
    half = b'{"type": "assistant", "uuid": "4", "parentUuid": "3", "message": {"role": "assis'
    pruned = prune(read_transcript(b"\n".join([*lines_of(*rows), half])), settings_of(0), "truncate")
    assert pruned.transcript.format == "claude-code"
    assert [message.role for message in pruned.transcript.messages] == ["user", "assistant", "user", DAMAGED]
    assert pruned.write().encode().endswith(half + b"\n")


def test_a_session_whose_first_line_is_damaged_is_one() -> None:
    row = {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "Look."}}
    for bad in (b"{", b"[]", b"[7", b"words"):
        transcript = read_transcript(bad + b"\n" + json.dumps(row).encode())
        assert (transcript.format, [message.role for message in transcript.messages][-1]) == ("claude-code", "user")
        assert "line 1" in transcript.notices[0].message


def test_a_bad_message_of_a_session_stays_on_the_branch_among_what_is_summarised() -> None:
    rows = conversation(
        "claude-code", [Said(f"Question {number}?", (), "An answer. " * 30) for number in range(6)], asks="Go on."
    )
    rows[6]["message"]["role"] = "bot"
    pruned = prune(read_transcript(b"\n".join(lines_of(*rows))), settings_of(0), "summarize")
    again = read_transcript(pruned.write().encode())
    assert [message.role for message in again.messages if message.role != "assistant"] == [
        "aside",
        "user",
        DAMAGED,
        "user",
    ]
    assert measure(again, COUNTER).total == pruned.report.after


def test_line_ends_come_back() -> None:
    data = b"".join(line + b"\r\n" for line in [*lines_of(*TALK), b'{"cut'])
    assert prune(read_transcript(data), settings_of(10_000)).write().encode() == data


def test_bytes_that_are_no_utf8_cost_no_message_of_a_list() -> None:
    data = json.dumps(TALK).encode().replace(b"Done.", b"D\xffne.")
    transcript = read_transcript(data)
    assert transcript.messages[3].raw["content"] == "D\ufffdne."
    assert [(notice.code, "line 1" in notice.message) for notice in transcript.notices] == [("invalid_utf8", True)]


def test_bytes_that_are_no_utf8_come_back_in_a_text() -> None:
    data = b"Look \xff\n<tool_result tool_name='Read'>caf\xe9 </tool_result>\nSo?\n"
    transcript = read_transcript(data)
    assert transcript.write([message.raw for message in transcript.messages]).encode("utf-8", "surrogateescape") == data
    assert [notice.code for notice in transcript.notices] == ["invalid_utf8"]


def test_a_picture_in_a_bad_message_is_charged_as_a_picture() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 400_000}}
    pruned = prune(read_messages([*TALK, {"role": "user", "content": [picture, 7]}]), settings_of(0))
    assert 1600 <= pruned.items[-1].before < 1700


def test_it_is_the_same_from_python() -> None:
    rows: list[Any] = [TALK[0], 7, *TALK[1:], {"role": "bot"}]
    for pruner in (ConversationPruner(settings_of(0)), AgenticConversationPruner(settings_of(0))):
        left = pruner.prune_conversations(rows)
        assert left[-1] is rows[-1] and 7 in left
        assert (
            pruner.result is not None
            and "$[1]: a message is an object" in warned(pruner.result)
            and "$[6]: role" in warned(pruner.result)
        )
        with pytest.raises(SecateurError, match=r"\$\[0\]: a message is an object, not a number"):
            pruner.prune_conversations([7, {"role": "bot"}])  # type: ignore[list-item]
    agentic = AgenticConversationPruner(settings_of(0))
    assert agentic.get_cleanup_statistics(rows, agentic.prune_conversations(rows))["total_messages"] == 7
    context = PruneContext(10, settings_of(0))
    context.handle_overflow([SourceCode("a.py", "x = 1\n" * 100)], rows)
    assert context.result is not None and context.result.warnings[0].code == UNREADABLE


def test_the_inspector_opens_a_session_whose_first_line_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\n".join([b'ser", "content": "x"}', *lines_of(*TALK)]))
    assert bench_of(path) == "conversation"


@pytest.mark.parametrize("command", ["conversation", "files"])
def test_every_output_says_it(command: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\n".join([*lines_of(*TALK), b'{"role": "\x1b[2J']))
    (tmp_path / "a.py").write_text("x = 1\n")
    arguments = (
        ("conversation", path) if command == "conversation" else ("files", tmp_path / "a.py", "--conversation", path)
    )
    for form in ("text", "json") if command == "conversation" else ("text", "json", "markdown"):
        ran = secateur(*arguments, "--format", form)
        assert ran.code == 0
        assert "1 message cannot be read" in ran.out + ran.err
        assert "\x1b" not in ran.out + ran.err
