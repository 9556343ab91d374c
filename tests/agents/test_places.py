"""Where sessions are found: documented places, the variables that move them, hostile folders, ids."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from secateur.errors import SecateurError
from secateur.kinds.conversation.opencode_store import stored_session
from secateur.settings import Settings
from secateur_agents.sessions.places import (
    choose_session,
    describe_places,
    find_sessions,
    known_places,
    list_sessions,
    read_session,
)
from support import agent_sessions as agents
from support.agent_sessions import PROJECT, SCRIPT

ALL = (agents.write_claude_code, agents.write_codex, agents.write_gemini_cli, agents.write_copilot)


@pytest.fixture
def home(tmp_path):
    for write in ALL:
        write(tmp_path, SCRIPT)
    agents.write_opencode_database(tmp_path, SCRIPT)
    return tmp_path


def found_in(home, **more):
    return find_sessions(known_places({"HOME": str(home), **more}))[0]


def test_every_agent_s_sessions_are_found_the_newest_first(home):
    for age, write in enumerate(ALL):
        path = write(home, SCRIPT)
        os.utime(path, (2_000_000_000 - age, 2_000_000_000 - age))
    found = found_in(home)
    assert [one.agent for one in found] == ["claude-code", "codex", "gemini-cli", "copilot", "opencode"]
    assert (found[0].id, found[3].id) == (agents.CLAUDE, "cop")
    assert found[4].path.endswith(f"opencode.db#{agents.OPENCODE}")


def test_variables_move_the_places(home, tmp_path):
    moved = tmp_path / "moved"
    variables = {"CLAUDE_CONFIG_DIR": moved / ".claude", "CODEX_HOME": moved / ".codex", "GEMINI_CLI_HOME": moved}
    variables |= {"XDG_DATA_HOME": moved / ".local" / "share", "COPILOT_HOME": moved / ".copilot"}
    environ = {name: str(path) for name, path in variables.items()}
    assert found_in(home, **environ) == []
    for write in ALL:
        write(moved, SCRIPT)
    agents.write_opencode_database(moved, SCRIPT)
    found = found_in(home, **environ)
    assert {one.agent for one in found} == {"claude-code", "codex", "gemini-cli", "copilot", "opencode"}
    assert all(str(moved) in one.path for one in found)


def test_a_database_that_is_named_is_read_and_a_relative_folder_is_not(tmp_path):
    other = agents.write_opencode_database(tmp_path / "elsewhere", SCRIPT, second=True)
    found = found_in(tmp_path / "nobody", OPENCODE_DB=str(other))
    assert [one.path for one in found] == [f"{other}#{agents.OPENCODE}"]
    assert known_places({"CLAUDE_CONFIG_DIR": "claude"}) == []
    assert "HOME" in describe_places(known_places({}))


@pytest.mark.parametrize("second", [False, True])
def test_the_database_of_opencode_holds_the_session(tmp_path, second):
    agents.write_opencode_database(tmp_path, SCRIPT, second=second)
    row = read_session(found_in(tmp_path)[0], Settings(), {})
    assert (row.tokens, row.project) == (18_250, PROJECT)
    assert row.dead_share > 0


@pytest.mark.parametrize("beside", [(), ("-wal", "-shm"), ("-wal",)])
def test_reading_writes_nothing_beside_a_database(tmp_path, beside):
    path = agents.write_opencode_database(tmp_path, SCRIPT[:2] if beside else SCRIPT)
    with closing(sqlite3.connect(path)) as writer:  # what a writer has beside a database is gone when it closes
        if beside:
            writer.execute("PRAGMA journal_mode = WAL")
            writer.execute("SELECT count(*) FROM message").fetchone()
            agents.add_to_database(path, SCRIPT)
        copy = agents.written(tmp_path / "copy" / ".local" / "share" / "opencode" / path.name, "")
        for end in ("", *beside):
            shutil.copy(f"{path}{end}", f"{copy}{end}")
    before = {one: one.read_bytes() for one in copy.parent.iterdir()}
    if beside == ("-wal",):  # SQLite would have to make the index of the log
        with pytest.raises(SecateurError, match="cannot be read as a database"):
            stored_session(f"{copy}#{agents.OPENCODE}")
    else:
        stored = stored_session(f"{copy}#{agents.OPENCODE}")
        assert stored is not None
        assert len(stored["messages"]) == len(agents.opencode(SCRIPT)["messages"])
    assert {one: one.read_bytes() for one in copy.parent.iterdir()} == before


def test_a_list_has_the_figures_of_each(home):
    rows = {one.agent: one for one in list_sessions(found_in(home), Settings(), {})}
    assert {row.project for row in rows.values()} == {PROJECT}
    assert {agent for agent, row in rows.items() if row.tokens_from != "reported"} == {"copilot"}  # it notes none
    assert rows["codex"].window == 258_400
    assert all(0.3 < row.dead_share < 0.6 for row in rows.values())


def test_projects_and_limits_choose(home, tmp_path):
    agents.write_codex(home, SCRIPT, session="019a2d7a-41c4-78b1-b7cc-000000000000")
    found = found_in(home)
    assert len(list_sessions(found, Settings(), {}, limit=2)) == 2
    inside = list_sessions(found, Settings(), {}, project=tmp_path.__class__(PROJECT).parent)
    assert len(inside) == 6
    assert list_sessions(found, Settings(), {}, project=tmp_path) == []


@pytest.mark.parametrize("storage", [".config", "Library/Application Support"])
def test_tasks_of_cline_and_roo_are_listed(tmp_path, storage):
    where = f"# Current Working Directory ({PROJECT}) Files\na.py"
    read = [{"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.py"}}]
    came = [{"type": "tool_result", "tool_use_id": "t1", "content": "def total(order): return 7\n" * 40}]
    task = {
        "role": "user",
        "content": [{"type": "text", "text": "<task>Mend it.</task>"}, {"type": "text", "text": where}],
    }
    whole = [task, {"role": "assistant", "content": read}, {"role": "user", "content": came}]
    heading = "[read_file for 'a.py'] Result:\ndef total(order): return 7"
    texts = [task, {"role": "assistant", "content": "<read_file>"}, {"role": "user", "content": heading}]
    for extension, messages in (("saoudrizwan.claude-dev", whole), ("rooveterinaryinc.roo-cline", texts)):
        folder = tmp_path / storage / "Code" / "User" / "globalStorage" / extension / "tasks" / f"17{extension[:3]}"
        agents.written(folder / "api_conversation_history.json", json.dumps(messages))
        agents.written(folder / "ui_messages.json", "[]")
    rows = {row.id: row for row in list_sessions(found_in(tmp_path), Settings(), {}, project=Path(PROJECT))}
    assert rows.keys() == {"17sao", "17roo"}
    for row in rows.values():
        assert (row.agent, row.error, row.messages, row.requests) == ("cline", None, 3, 1)
        assert row.tokens_from == "estimated" and row.tokens > 20
    assert rows["17sao"].tokens > 200


def test_subagents_are_listed_only_when_they_are_asked_for(home):
    folder = home / ".claude" / "projects" / "-home-ada-shop" / agents.CLAUDE / "subagents"
    lines = [line | {"isSidechain": True, "agentId": "a1"} for line in agents.claude_code(SCRIPT)]
    agents.written(folder / "agent-a1.jsonl", agents.as_lines(lines))
    agents.written(folder / "journal.jsonl", "{}\n")
    found = found_in(home)
    assert [one.id for one in found if one.subagent] == ["agent-a1"]
    assert len(list_sessions(found, Settings(), {})) == 5
    assert len(list_sessions(found, Settings(), {}, subagents=True)) == 6
    assert choose_session(found, "latest", ()).subagent is False
    assert choose_session(found, "agent-a1", ()).subagent


def test_an_id_may_be_a_part_that_is_that_of_one_alone(home):
    found, places = found_in(home), known_places({"HOME": str(home)})
    for part in (agents.CLAUDE, agents.CLAUDE[:6], "019a2d7a", "24e7203e", agents.OPENCODE):
        assert part in choose_session(found, part, places).id
    with pytest.raises(SecateurError, match="no session") as none:
        choose_session(found, "nothing-like-it", places)
    assert "secateur sessions" in none.value.hint
    agents.write_claude_code(home, SCRIPT, session=agents.CLAUDE[:-1] + "2")
    with pytest.raises(SecateurError, match="2 sessions match"):
        choose_session(found_in(home), agents.CLAUDE[:6], places)


def test_where_there_are_none_the_places_are_named(tmp_path):
    places = known_places({"HOME": str(tmp_path)})
    with pytest.raises(SecateurError) as none:
        choose_session([], "latest", places)
    for name in (".claude", ".codex", ".gemini", "opencode"):
        assert name in none.value.hint
    assert "missing" in none.value.hint


def test_symbolic_links_are_not_followed(tmp_path):
    secret = agents.write_claude_code(tmp_path / "other", SCRIPT)
    project = tmp_path / "home" / ".claude" / "projects"
    project.mkdir(parents=True)
    (project / "linked").symlink_to(secret.parent)
    (project / "real").mkdir()
    (project / "real" / "x.jsonl").symlink_to(secret)
    (tmp_path / "home" / ".codex").symlink_to(tmp_path / "other")
    assert found_in(tmp_path / "home") == []


def test_what_cannot_be_read_costs_itself(home):
    project = home / ".claude" / "projects" / "-home-ada-shop"
    (project / "empty.jsonl").write_bytes(b"")
    (project / "binary.jsonl").write_bytes(bytes(range(256)) * 40)
    (project / "other.jsonl").write_text('{"role": "user", "content": "hi"}\n{"role": "user", "content": "ho"}\n')
    os.mkfifo(project / "pipe.jsonl")
    (home / ".local" / "share" / "opencode" / "opencode-dev.db").write_bytes(b"no database at all" * 99)
    found, notices = find_sessions(known_places({"HOME": str(home)}))
    rows = {one.id: one for one in list_sessions(found, Settings(), {})}
    assert "pipe" not in rows
    assert "is empty" in rows["empty"].error
    assert rows["binary"].error
    assert "is not a session of Claude Code" in rows["other"].error
    assert rows[agents.CLAUDE].tokens is not None
    (notice,) = notices
    assert "cannot be read as a database" in notice.message
