"""The hooks of Claude Code, answered over the protocol: the shapes are those that version 2.1.197 sends and takes.

An empty answer changes nothing. What Claude Code does with an error, with text that is not JSON, with an output of
another shape, after two seconds, and when the server is gone, was tried with it: the output of the command stays.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import mcp
import pytest
from secateur_agents.store import user_store
from support.agent_servers import NOON, server, text

LINES = [f"INFO step {number} of the build took {number % 7} s" for number in range(3_000)]
LINES[1_500] = "ERROR frobnicator.c:12: the gear is missing"
OUTPUT = "\n".join(LINES)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "claude"
    (home / "projects").mkdir(parents=True)
    (tmp_path / "work" / ".claude").mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "work"))
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path / "state"))
    return home


def bash(stdout: str, **more: Any) -> dict[str, str]:
    response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, **more}
    return {"event": "PostToolUse", "response": json.dumps(response)}


async def answer(tmp_path: Path, arguments: dict[str, str]) -> str:
    async with mcp.Client(server(tmp_path / "work")) as client:
        return text(await client.call_tool("hook", arguments))


def written(folder: Path, **permissions: list[str]) -> None:
    (folder / "settings.json").write_text(json.dumps({"permissions": permissions}))


async def test_the_output_is_what_log_leaves_and_the_whole_is_kept(tmp_path: Path, home: Path) -> None:
    whole = home / "projects" / "output.txt"
    whole.write_text(OUTPUT)
    given = bash(
        OUTPUT[:30_000], persistedOutputPath=str(whole), persistedOutputSize=len(OUTPUT), noOutputExpected=False
    )
    changed = json.loads(await answer(tmp_path, given))["hookSpecificOutput"]
    assert changed["hookEventName"] == "PostToolUse"
    output = changed["updatedToolOutput"]
    assert output.keys() == {"stdout", "stderr", "interrupted", "isImage", "noOutputExpected"}
    assert LINES[1_500] in output["stdout"]
    (digest,) = re.findall(r"secateur recall ([0-9a-f]{12}) gives the whole", output["stdout"])
    assert user_store(os.environ, lambda: NOON).recall(digest) == OUTPUT
    assert await answer(tmp_path, bash(output["stdout"])) == ""  # it fits now


async def test_lines_about_the_question_at_hand_are_kept(tmp_path: Path, home: Path) -> None:
    words = [
        f"{number} {hash_ % 97} {'abcdef'[number % 6] * (number % 40)}" for number, hash_ in enumerate(range(7, 9_007))
    ]
    words[5_000] = "the gasket of the zeppelin is worn"
    transcript = home / "projects" / "session.jsonl"
    lines: list[dict[str, Any]] = [
        {"type": "user", "message": {"content": "Look at the zeppelin gasket."}},
        {"type": "assistant", "message": {"content": []}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "of no interest"}]}},
    ]
    transcript.write_text(
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines) + '{"type":"user", cut'
    )
    output = bash("\n".join(words))
    assert words[5_000] not in await answer(tmp_path, output)
    assert words[5_000] in await answer(tmp_path, {**output, "transcript": str(transcript)})


@pytest.mark.parametrize(
    "arguments",
    [
        bash("short"),
        bash("x" * 50_000, isImage=True),
        bash(OUTPUT, persistedOutputPath="/etc/hostname"),
        {**bash(OUTPUT), "transcript": "/etc/hostname"},
        {"event": "PostToolUse", "response": "garbage {"},
        {"event": "PostToolUse", "response": "[]"},
        {"event": "PreToolUse", "input": "null"},
    ],
)
async def test_short_output_garbage_and_other_files_change_nothing(tmp_path: Path, arguments: dict[str, str]) -> None:
    assert await answer(tmp_path, arguments) == ""


async def test_where_nothing_can_be_kept_nothing_is_taken_out(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    assert await answer(tmp_path, bash(OUTPUT)) == ""


async def test_what_was_asked_back_stays_whole(tmp_path: Path) -> None:
    given = bash(OUTPUT)
    assert await answer(tmp_path, given | {"command": "cat build.log"}) != ""
    assert await answer(tmp_path, given | {"command": "secateur recall 550ccfe33fea"}) == ""


async def test_hooks_cost_the_model_nothing(tmp_path: Path) -> None:
    async with mcp.Client(server(tmp_path / "work")) as client:
        assert "hook" not in {tool.name for tool in (await client.list_tools()).tools}


async def test_a_command_that_a_rule_allows_runs_in_secateur_run(tmp_path: Path, home: Path) -> None:
    written(home, allow=["Bash(pytest:*)", "Bash(npm run *)", "Read"])
    given = {"command": "pytest -x 'tests/a b.py'", "description": "Test", "timeout": 5}
    changed = json.loads(await answer(tmp_path, {"event": "PreToolUse", "input": json.dumps(given)}))
    assert changed["hookSpecificOutput"]["permissionDecision"] == "allow"
    wrapped = {**given, "command": "secateur run -- pytest -x 'tests/a b.py'"}
    assert changed["hookSpecificOutput"]["updatedInput"] == wrapped


@pytest.mark.parametrize(
    "command",
    [
        "make all",  # no rule allows it
        "pytests",
        "pytest; rm -rf /",
        "pytest $(cat x)",
        "pytest > out.txt",
        "pytest\nrm x",
        "CI=1 pytest",
        "secateur run -- pytest",
        "npm run deploy",  # a rule of the project denies it
        "npm run",
        "npm run release now",  # a rule asks
    ],
)
async def test_no_other_command_is_touched(tmp_path: Path, home: Path, command: str) -> None:
    written(home, allow=["Bash(pytest:*)", "Bash(npm run *)"], ask=["Bash(npm run release:*)"])
    written(tmp_path / "work" / ".claude", deny=["Bash(npm run deploy)", "Bash(npm run )"])
    assert await answer(tmp_path, {"event": "PreToolUse", "input": json.dumps({"command": command})}) == ""


async def test_settings_that_cannot_be_read_allow_nothing(tmp_path: Path, home: Path) -> None:
    written(home, allow=["Bash"])
    given = {"event": "PreToolUse", "input": json.dumps({"command": "pytest"})}
    assert await answer(tmp_path, given) != ""
    (tmp_path / "work" / ".claude" / "settings.json").write_text("{broken")
    assert await answer(tmp_path, given) == ""
    background = json.dumps({"command": "pytest", "run_in_background": True})
    assert await answer(tmp_path, {**given, "input": background}) == ""
