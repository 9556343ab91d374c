"""`secateur sessions`, and the flag `--session` of commands."""

import json

import pytest
from secateur.kinds.conversation.strategies import STRATEGIES
from support import agent_sessions as agents
from support.agent_sessions import SCRIPT
from support.cli import secateur
from support.json_shapes import violations


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_DATA_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_sessions_are_listed_as_text_and_as_json(home):
    agents.write_claude_code(home, SCRIPT)
    agents.write_codex(home, SCRIPT)
    ran = secateur("sessions")
    assert ran.code == 0
    assert agents.CLAUDE in ran.out and agents.CODEX in ran.out and agents.PROJECT in ran.out
    answer = secateur("sessions", "--format", "json").json
    assert violations("sessions", answer) == []
    assert {one["agent"]: one["window"] for one in answer["sessions"]} == {"claude-code": 200_000, "codex": 258_400}
    only = secateur("sessions", "--agent", "codex", "--format", "json").json
    assert [one["agent"] for one in only["sessions"]] == ["codex"]
    assert {one["agent"] for one in only["places"]} == {"codex"}


@pytest.mark.usefixtures("home")
def test_an_empty_answer_names_the_places_that_were_looked_at():
    ran = secateur("sessions")
    assert ran.code == 0
    assert ran.out.startswith("no sessions: searched ")
    for name in (".claude", ".codex", ".gemini", "opencode"):
        assert name in ran.out
    assert secateur("sessions", "--format", "json").json["sessions"] == []


@pytest.mark.usefixtures("home")
def test_a_wrong_agent_or_limit_is_a_wrong_call():
    assert secateur("sessions", "--agent", "codx").code == 2
    assert secateur("sessions", "--limit", "0").code == 2


def test_a_session_is_pruned_by_its_id_and_says_what_fills_its_window(home):
    agents.write_claude_code(home, SCRIPT)
    for id_ in ("latest", agents.CLAUDE, agents.CLAUDE[:6]):
        answer = secateur("conversation", "--session", id_, "--safe-zone", 500, "--format", "json").json
        assert violations("conversation", answer) == []
        session = answer["session"]
        assert (session["tokens"], session["window"]) == (session["reported"]["read"] + 60 + 270, 200_000)
        assert sum(one["tokens"] for one in session["contents"]) == answer["ledger"]["before"]
        assert [one["strategy"] for one in session["strategies"]] == list(STRATEGIES)
        assert session["forecast"]["requests"] > 0 and session["forecast"]["minutes"] > 0
    text = secateur("conversation", "--session", "latest", "--safe-zone", 500).out
    assert "of 200,000 tokens" in text and "full in" in text and "what fills the window" in text


def test_a_session_in_a_database_is_pruned_by_its_id(home):
    path = agents.write_opencode_database(home, SCRIPT)
    by_id = secateur("conversation", "--session", agents.OPENCODE, "--safe-zone", 500, "--format", "json")
    by_path = secateur("conversation", f"{path}#{agents.OPENCODE}", "--safe-zone", 500, "--format", "json")
    assert by_id.out == by_path.out
    assert by_id.json["format"] == "opencode"
    gone = secateur("conversation", f"{path}#ses_nothing")
    assert gone.code == 1 and "holds no session ses_nothing" in gone.err


def test_wrong_calls_say_what_to_do(home):
    assert "name a transcript, or --session latest" in secateur("conversation").err
    path = agents.write_claude_code(home, SCRIPT)
    both = secateur("conversation", path, "--session", "latest")
    assert both.code == 2 and "does not go with a path" in both.err
    none = secateur("conversation", "--session", "nothing")
    assert none.code == 1 and "there is no session nothing" in none.err
    assert secateur("inspect", path, "--session", "latest").code == 2


def test_inspecting_a_session_without_a_terminal_prints_its_report(home):
    agents.write_codex(home, SCRIPT)
    ran = secateur("inspect", "--session", "latest", "--budget", 500)
    assert ran.code == 0
    assert "codex" in ran.out and "what fills the window" in ran.out


def test_texts_of_sessions_reach_the_terminal_harmless(home):
    lines = agents.claude_code(SCRIPT)
    for line in lines:
        line["cwd"] = "/home/\x1b]0;title\x07\u202e"
        line["version"] = "\x1b[2J"
    agents.written(home / ".claude" / "projects" / "p" / "\x1b[31mred.jsonl", agents.as_lines(lines))
    for words in (("sessions",), ("conversation", "--session", "latest"), ("sessions", "--verbose")):
        ran = secateur(*words)
        assert ran.code == 0
        assert not any(bad in ran.out + ran.err for bad in ("\x1b", "\x07", "\u202e"))
    assert json.loads(secateur("sessions", "--format", "json").out)["sessions"]
