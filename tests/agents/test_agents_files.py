"""No command for agents writes a file of an agent, in a home and in a project that have files of every agent."""

from __future__ import annotations

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from secateur_agents import commands
from support import agent_sessions as agents
from support.agent_servers import process
from support.cli import secateur

HOOKS = '{"hooks": {"PreToolUse": []}, "mcpServers": {}}\n'
CONFIGURATIONS = (
    *(".claude.json", ".claude/settings.json", ".claude/CLAUDE.md", ".mcp.json", "CLAUDE.md"),
    *(".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md", "AGENTS.md"),
    *(".gemini/settings.json", ".gemini/GEMINI.md", ".copilot/mcp-config.json", ".github/hooks/own.json"),
    *(".config/opencode/opencode.json", ".config/opencode/AGENTS.md", ".opencode/plugins/own.js", "opencode.json"),
)
BUILD = "for n in range(2000): print('line', n, 'of build')"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    for name in CONFIGURATIONS:
        for folder in (home, home / "shop"):
            agents.written(folder / name, HOOKS if name.endswith(".json") else "# mine\n")
    agents.written(home / "shop" / "cart.py", "def total(cart):\n    return sum(cart)\n")
    for write in (agents.write_claude_code, agents.write_codex, agents.write_gemini_cli):
        write(home, agents.SCRIPT)
    agents.write_opencode_database(home, agents.SCRIPT)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(home / "shop")
    return home


def tree(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


async def test_no_command_writes_a_file_of_an_agent(home: Path) -> None:
    mcp = pytest.importorskip("mcp")
    before = tree(home)
    outputs = {
        "hook": secateur("hook", "claude"),
        "saved": secateur("saved"),
        "sessions": secateur("sessions"),
        "conversation": secateur("conversation", "--session", "latest", "--safe-zone", 500),
    }
    words = [sys.executable, "-m", "secateur", "run", "--max-tokens", "100", "--", sys.executable, "-c", BUILD]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (digest,) = re.findall("secateur recall ([0-9a-f]{12}) gives", printed)
    outputs["recall"] = secateur("recall", digest)
    assert {name: ran.err for name, ran in outputs.items() if ran.code} == {}
    for agent in ("claude", "codex", "gemini", "opencode"):
        program = agents.written(home.parent / "bin" / agent, "#!/bin/sh\nexit 0\n")
        program.chmod(0o700)
        environ = os.environ | {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
        subprocess.run([*words[:3], "with", agent], env=environ, capture_output=True, check=True)
    calls = {
        "search": {"query": "where is the total?"},
        "expand": {"symbol": "total"},
        "explain": {"item": "total", "query": "where is the total?"},
        "prune": {"text": BUILD * 100, "kind": "log"},
        "review": {},
        "recall": {"digest": digest},
    }
    async with mcp.Client(process()) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == calls.keys()
        answers = {name: await client.call_tool(name, call) for name, call in calls.items()}
    assert {name for name, answer in answers.items() if answer.is_error} == {"review"}, "the folder is no repository"
    assert tree(home) == before
    ours = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    assert ours == (outputs.keys() | {"mcp", "run", "with_agent"}) - {"hook", "conversation"}, (
        "a new command runs here too"
    )


@pytest.mark.parametrize("words", [(), ("codex",), ("opencode", "--help"), ("any", "--flag", "-")])
def test_a_hook_that_an_old_configuration_calls_changes_nothing(words: tuple[str, ...]) -> None:
    ran = secateur("hook", *words, stdin=b'{"tool_input": {"command": "make"}}')
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert not re.search(r"\bhook\b", secateur("--help").out)
