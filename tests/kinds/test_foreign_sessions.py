"""Sessions of agents that are not read are refused by name; a line that Claude Code recorded twice counts once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from secateur.errors import SecateurError
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.placeholders import MARK
from secateur.kinds.conversation.session_formats.claude_code import sent_lines
from secateur.kinds.conversation.strategies import prune
from secateur.kinds.conversation.transcripts import read_transcript
from secateur.model import Reason
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support import agent_sessions as agents
from support.agent_sessions import SCRIPT
from support.cli import secateur

TEXT = [{"type": "text", "text": "Look."}]

FOREIGN: dict[str, list[dict[str, Any]]] = {
    "Qwen Code": [
        {"uuid": "a", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"role": "user", "parts": TEXT}},
        {
            "uuid": "b",
            "parentUuid": "a",
            "sessionId": "s",
            "type": "assistant",
            "message": {"role": "model", "parts": TEXT},
        },
    ],
    "pi, OpenClaw or Droid": [
        {"type": "session", "version": 3, "id": "x", "cwd": "/p"},
        {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": TEXT}},
        {"type": "message", "id": "b", "parentId": "a", "message": {"role": "toolResult", "content": TEXT}},
    ],
    "Cursor": [{"role": role, "message": {"content": TEXT}} for role in ("user", "assistant")],
    "a context of Kimi": [
        {"role": "_system_prompt", "content": "Be brief."},
        {"role": "user", "content": "Look."},
        {"role": "_usage", "token_count": 100},
    ],
    "a session of Kimi": [{"timestamp": 1.5, "message": {"type": "TurnBegin", "payload": {"user_input": "Look."}}}],
    "a session of Grok,": [{"method": "session/update", "params": {"update": {"sessionUpdate": "tool_call"}}}],
    "Grok CLI": [{"type": "user", "content": "Look."}, {"type": "assistant", "content": "Done."}],
}


@pytest.mark.parametrize("agent", FOREIGN)
@pytest.mark.parametrize("form", ["lines", "list", "request"])
def test_a_session_of_another_agent_is_refused_with_its_name(agent: str, form: str) -> None:
    values = FOREIGN[agent] * 3
    text = {"lines": agents.as_lines(values), "list": json.dumps(values), "request": json.dumps({"messages": values})}
    with pytest.raises(SecateurError, match=agent) as refused:
        read_transcript(text[form].encode(), "file.jsonl")
    assert refused.value.code == "TRANSCRIPT" and "which is not read" in refused.value.message


def test_a_few_records_of_another_agent_cost_themselves() -> None:
    values = [{"role": "user", "content": "Look."}] * 9 + [{"role": "_usage", "token_count": 1}]
    transcript = read_transcript(agents.as_lines(values).encode())
    assert len(transcript.messages) == 10 and [notice.code for notice in transcript.notices] == ["unreadable_messages"]


def cline(reads: Sequence[str], *, apart: bool) -> list[dict[str, Any]]:
    """A task of Cline, whose calls and results are texts; `apart`: a heading and its result are two blocks."""
    environment = {"type": "text", "text": "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>"}
    task = {"type": "text", "text": "<task>\nMend the rounding.\n</task>"}
    messages: list[dict[str, Any]] = [{"role": "user", "content": [task, environment], "ts": 1}]
    for number, path in enumerate(reads):
        call = f"<read_file>\n<path>{path}</path>\n</read_file>"
        heading, text = f"[read_file for '{path}'] Result:", f"def {path[:1]}(cents): return cents * 7\n" * 40
        texts = [heading, text] if apart else [f"{heading}\n{text}"]
        result = [*({"type": "text", "text": one} for one in texts), environment]
        messages.append({"role": "assistant", "content": [{"type": "text", "text": call}], "ts": 2 + 2 * number})
        messages.append({"role": "user", "content": result, "ts": 3 + 2 * number})
    feedback = "[attempt_completion] Result:\n<feedback>\nNow the tests.\n</feedback>"
    done = {"type": "text", "text": "<attempt_completion>\n<result>Done.</result>\n</attempt_completion>"}
    last = [{"type": "text", "text": feedback}, environment]
    return [*messages, {"role": "assistant", "content": [done], "ts": 98}, {"role": "user", "content": last, "ts": 99}]


@pytest.mark.parametrize("apart", [True, False])
def test_results_of_cline_and_roo_are_cleared_and_reads_that_come_again_go_first(apart: bool) -> None:
    messages = cline(["a.py", "b.py", "a.py", "b.py", "c.py"], apart=apart)
    before = read_transcript(json.dumps(messages).encode())
    assert before.format == "cline" and [message.from_user for message in before.messages].count(True) == 2
    counted = measure(before, get_counter())
    texts = {part.text for message in before.messages for part in message.parts}
    whole = {block["text"] for message in messages for block in message["content"]}
    assert sum(map(len, texts)) == sum(map(len, whole)), "all that is sent is counted"
    zone = counted.total - 2 * 400
    cut = prune(before, with_values(Settings(), {"conversation_prune.safe_zone_tokens": zone}), "tool-results")
    assert [(item.number, item.reason) for item in cut.items if item.cleaned] == [
        (2, Reason.REPEATED),
        (4, Reason.REPEATED),
    ]
    first = cut.messages[2]["content"]
    assert first[0]["text"].startswith("[read_file for 'a.py'] Result:") and MARK in first[1 if apart else 0]["text"]
    assert first[-1] == messages[2]["content"][-1] and cut.messages[-1] == messages[-1]
    again = read_transcript(json.dumps(cut.messages).encode())
    assert (again.format, measure(again, get_counter()).total) == ("cline", cut.ledger.after)


def test_ui_messages_of_the_ai_sdk_are_read() -> None:
    values = [{"id": "1", "role": "user", "parts": TEXT}, {"id": "2", "role": "assistant", "parts": TEXT}]
    assert read_transcript(json.dumps(values).encode()).format == "ai-sdk-ui"


def test_a_session_that_is_recorded_again_counts_once() -> None:
    once = agents.claude_code(SCRIPT)
    sent = sent_lines(once)
    assert sent_lines([*once, *once]) == sent
    other = [{**line, "sessionId": "other", "timestamp": "2026-10-02T10:00:00Z"} for line in once]
    assert sent_lines([*once, *other]) == sent
    changed = [
        {**line, "message": {"role": "user", "content": "Another."}} if "message" in line else line for line in once
    ]
    assert len(sent_lines([*once, *changed])) > len(sent)  # names that mean two things are no tree


def test_one_bad_session_costs_itself_and_not_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_DATA_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    good = agents.write_claude_code(tmp_path, SCRIPT)
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    texts = {
        "nothing-sent": agents.as_lines([snapshot]),
        "foreign": agents.as_lines(FOREIGN["Qwen Code"]),
        "binary": "\0\ud800",
        "empty": "",
        "deep": "[" * 100_000,
    }
    for name, text in texts.items():
        (good.parent / f"{name}.jsonl").write_bytes(text.encode("utf-8", "surrogatepass"))
    (good.parent / "folder.jsonl").mkdir()
    ran = secateur("sessions", "--format", "json")
    assert ran.code == 0 and ran.err == ""
    listed = {one["id"]: one["error"] for one in ran.json["sessions"]}
    assert listed[agents.CLAUDE] is None and listed["nothing-sent"] is None
    assert "looks like a session of Qwen Code" in listed["foreign"]
    assert all(listed[name] for name in ("binary", "empty", "deep"))


def test_a_file_whose_records_are_mostly_no_messages_is_refused_and_damage_is_not() -> None:
    said, other = {"role": "user", "content": "Go."}, {"speaker": "ada", "line": "Go."}
    for records in ([said, *[other] * 9], [*[said] * 7, *[other] * 3]):
        for data in (json.dumps(records), "\n".join(map(json.dumps, records))):
            with pytest.raises(SecateurError, match=r'records are not messages.*with the keys "speaker", "line"'):
                read_transcript(data.encode(), "talk.json")
    few = [said, other, other]  # too few to tell another format from damage
    assert len(read_transcript(json.dumps(few).encode()).messages) == 3
    broken = [json.dumps(said), *['{"role": "us'] * 9, json.dumps(said)]
    assert len(read_transcript("\n".join(broken).encode()).messages) == 11
