"""`secateur agent-setup`: the server in the configuration of an agent, and out of it again."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
import tomli
from secateur_agents.savings import SavingsRecord
from secateur_agents.store import user_store
from support.cli import secateur
from support.systems import posix

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME", "USERPROFILE")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home, work = tmp_path / "home", tmp_path / "work"
    (home / ".config").mkdir(parents=True)
    work.mkdir()
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    return home


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


OWN = {
    "claude": {".claude.json", ".claude/CLAUDE.md", ".claude/settings.json"},
    "codex": {".codex/config.toml", ".codex/AGENTS.md", ".codex/hooks.json"},
    "gemini": {".gemini/settings.json", ".gemini/GEMINI.md"},
    "opencode": {
        ".config/opencode/opencode.json",
        ".config/opencode/AGENTS.md",
        ".config/opencode/plugins/secateur.js",
    },
    "copilot": {".copilot/mcp-config.json", ".copilot/copilot-instructions.md", ".copilot/hooks/secateur.json"},
}
PROJECT = {
    "claude": {".mcp.json", "CLAUDE.md", ".claude/settings.json"},
    "codex": {".codex/config.toml", "AGENTS.md", ".codex/hooks.json"},
    "gemini": {".gemini/settings.json", "GEMINI.md"},
    "opencode": {"opencode.json", "AGENTS.md", ".opencode/plugins/secateur.js"},
    "copilot": {".mcp.json", "AGENTS.md", ".github/hooks/secateur.json"},
}


@pytest.mark.parametrize("agent", OWN)
@pytest.mark.parametrize("project", [False, True])
def test_files_are_made_where_the_agent_reads_them_and_removed(agent: str, project: bool, home: Path) -> None:
    folder, names = (Path.cwd(), PROJECT[agent]) if project else (home, OWN[agent])
    flags = ["--project"] if project else []
    shown = secateur("agent-setup", agent, "--dry-run", *flags)
    assert shown.code == 0 and "+++" in shown.out and "secateur" in shown.out
    assert files(home) == files(Path.cwd()) == {}
    done = secateur("agent-setup", agent, *flags)
    assert done.out == shown.out and set(files(folder)) == names
    again = secateur("agent-setup", agent, *flags)
    assert again.out == "" and "nothing to add" in again.err
    removed = secateur("agent-setup", agent, "--remove", *flags)
    assert removed.code == 0 and files(home) == files(Path.cwd()) == {}


@pytest.mark.usefixtures("home")
def test_what_the_user_has_stays_with_its_credentials_and_the_diff_shows_none(home: Path) -> None:
    settings = f'{{\n  "env": {{"GITHUB": "{TOKEN}"}},\n  "hooks": {{}}, // mine\n  "token": "{TOKEN}"\n}}\n'
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(settings)
    (home / ".gemini" / "GEMINI.md").write_bytes(b"# Rules\r\nBe brief.")
    before = files(home)
    done = secateur("agent-setup", "gemini")
    assert TOKEN not in done.out + done.err and "mcpServers" in done.out
    after = files(home)
    assert after[".gemini/settings.json"].count(TOKEN.encode()) == 2
    secateur("agent-setup", "gemini", "--remove")
    assert files(home) == before


def test_what_is_written_is_what_the_agent_reads(home: Path) -> None:
    for agent in OWN:
        secateur("agent-setup", agent)
    server = {"command": "secateur", "args": ["mcp"]}
    assert json.loads((home / ".claude.json").read_text()) == {"mcpServers": {"secateur": server}}
    assert tomli.loads((home / ".codex/config.toml").read_text()) == {"mcp_servers": {"secateur": server}}
    opencode = json.loads((home / ".config/opencode/opencode.json").read_text())["mcp"]["secateur"]
    assert opencode == {"type": "local", "command": ["secateur", "mcp"], "enabled": True}
    hooks = {"hooks.json": ".codex", "settings.json": ".gemini", "secateur.json": ".copilot/hooks"}
    for name, agent in zip(hooks, ("codex", "gemini", "copilot"), strict=True):
        ((event, (hook,)),) = json.loads((home / hooks[name] / name).read_text())["hooks"].items()
        command = hook["bash"] if agent == "copilot" else hook["hooks"][0]["command"]
        assert command == f"secateur hook {agent} || true"  # an exit code of 2 would refuse the command
        assert re.fullmatch(
            hook["matcher"], {"PreToolUse": "Bash", "BeforeTool": "run_shell_command"}.get(event, "bash")
        )
    assert len((home / ".claude/CLAUDE.md").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{\n  "a": 1\n  "b": 2\n}', ".claude.json:2:8: it is not valid JSON"),
        (b'{"mcpServers": []}', ".claude.json:1:2: its value is not a JSON object"),
        (b'{"a": "\xff"}', ".claude.json: byte 7 is not UTF-8"),
    ],
)
@pytest.mark.parametrize("flags", [(), ("--remove",), ("--dry-run",)])
def test_a_broken_configuration_is_refused_and_nothing_is_written(
    data: bytes, said: str, flags: tuple[str, ...], home: Path
) -> None:
    (home / ".claude.json").write_bytes(data)
    refused = secateur("agent-setup", "claude", *flags)
    assert refused.code == 1 and said in refused.err and refused.out == ""
    assert files(home) == {".claude.json": data}


def test_links_folders_and_unknown_agents_are_refused(home: Path) -> None:
    unknown = secateur("agent-setup", "claud")
    assert unknown.code == 2 and "claude" in unknown.err
    (home / "elsewhere").write_text("{}")
    (home / ".claude.json").symlink_to(home / "elsewhere")
    assert "symbolic link" in secateur("agent-setup", "claude").err
    (home / ".codex" / "config.toml").mkdir(parents=True)
    assert secateur("agent-setup", "codex").code == 1
    assert files(home) == {"elsewhere": b"{}", ".claude.json": b"{}"}


def test_a_program_gets_the_files_and_their_diffs(home: Path) -> None:
    answer = secateur("agent-setup", "codex", "--format", "json").json
    assert answer["agent"] == "codex" and [one["changed"] for one in answer["files"]] == [True] * 3
    assert "+[mcp_servers.secateur]" in answer["files"][0]["diff"]
    assert answer["files"][0]["path"] == str(home / ".codex" / "config.toml")


def test_variables_move_the_files_and_without_a_home_folder_it_says_so(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    secateur("agent-setup", "claude")
    assert set(files(tmp_path / "moved")) == {".claude.json", "CLAUDE.md", "settings.json"} and files(home) == {}
    monkeypatch.setenv("HOME", "")
    lost = secateur("agent-setup", "codex")
    assert lost.code == 1 and "home folder is not known" in lost.err and "--project" in lost.err


@posix
def test_the_doctor_says_what_is_registered_whether_it_answers_and_what_it_saved(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    secateur("agent-setup", "claude")
    path = home / ".claude" / "settings.json"
    path.write_text(path.read_text().replace('"timeout": 2', '"timeout": 5', 1))
    (home / ".claude" / "CLAUDE.md").unlink()
    before = files(home)
    sick = secateur("agent-setup", "claude", "--doctor")
    assert sick.code == 4 and "server: [Errno 2]" in sick.out
    lines = sick.out.splitlines()
    assert lines[:2] == [f"{home}/.claude.json: server: registered", f"{home}/.claude/CLAUDE.md: instructions: missing"]
    assert lines[2:4] == [f"{path}: hook PostToolUse: your own", f"{path}: hook PreToolUse: registered"]

    program = tmp_path / "bin" / "secateur"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m secateur "$@"\n')
    program.chmod(0o755)
    secateur("agent-setup", "claude")
    user_store(os.environ).keep({"0123456789ab": "text"})
    user_store(os.environ).savings.add(SavingsRecord("hook", whole=900, sent=100))
    well = secateur("agent-setup", "claude", "--doctor", "--format", "json")
    assert well.code == 0, well.out
    assert well.json["server"]["tools"] == 6 and 500 < well.json["server"]["tokens"] < 1_500
    assert well.json["saved"]["not_sent"] == 800
    assert files(home).keys() == before.keys() | {".claude/CLAUDE.md"}


USERS_HOOK = {"matcher": "Edit", "hooks": [{"type": "command", "command": "format"}]}


@pytest.mark.parametrize(
    "settings",
    [
        '{"hooks": {}, "theme": "dark"}',
        '{\n  "hooks": {\n    "PostToolUse": []\n  }\n}\n',
        '{\n\t"hooks": {\n\t\t"PostToolUse": [\n\t\t\t' + json.dumps(USERS_HOOK) + "\n\t\t]\n\t}\n}",
        '{"hooks": {"PreToolUse": [' + json.dumps(USERS_HOOK) + '], "Stop": []}}',
        '{"permissions": {"allow": ["Bash(pytest:*)"]}}\r\n',
    ],
)
def test_hooks_stand_beside_those_of_the_user_and_go_byte_for_byte(settings: str, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(settings.encode())
    before = json.loads(settings).get("hooks", {})
    assert secateur("agent-setup", "claude").code == 0
    hooks = json.loads(path.read_bytes())["hooks"]
    for event in ("PostToolUse", "PreToolUse"):
        *own, ours = hooks[event]
        assert own == before.get(event, []) and ours["matcher"] == "Bash"
        assert ours["hooks"][0].items() >= {"type": "mcp_tool", "server": "secateur", "timeout": 2}.items()
    assert "nothing to add" in secateur("agent-setup", "claude").err
    secateur("agent-setup", "claude", "--remove")
    assert path.read_bytes() == settings.encode()


@pytest.mark.parametrize(("agent", "name"), [("codex", ".codex/hooks.json"), ("gemini", ".gemini/settings.json")])
@pytest.mark.parametrize("event", ["PreToolUse", "BeforeTool", "Stop"])
@pytest.mark.parametrize("indent", [None, 2])
def test_hooks_of_codex_and_gemini_stand_beside_those_of_the_user(
    agent: str, name: str, event: str, indent: int | None, home: Path
) -> None:
    path = home / name
    path.parent.mkdir()
    before = {"hooks": {event: [USERS_HOOK]}, "other": [1]}
    path.write_text(json.dumps(before, indent=indent))
    old = files(home)
    assert secateur("agent-setup", agent).code == 0
    new = json.loads(path.read_text())
    own = "PreToolUse" if agent == "codex" else "BeforeTool"
    (*kept, ours) = new["hooks"][own]
    assert kept == (before["hooks"][event] if event == own else []) and new["other"] == [1]
    assert f"secateur hook {agent}" in ours["hooks"][0]["command"]
    assert "nothing to add" in secateur("agent-setup", agent).err
    secateur("agent-setup", agent, "--remove")
    assert files(home) == old


def test_a_plugin_of_another_text_is_the_users(home: Path) -> None:
    plugin = home / ".config" / "opencode" / "plugins" / "secateur.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("export default 1\n")
    before = files(home)
    secateur("agent-setup", "opencode")
    assert f"{plugin}: plugin: your own" in secateur("agent-setup", "opencode", "--doctor").out
    secateur("agent-setup", "opencode", "--remove")
    assert files(home) == before


def test_setup_says_what_is_left_to_do(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(home / "state"))
    said = secateur("agent-setup", "codex").err
    assert "with /hooks" in said and str(home / "state") in said
    assert "with /hooks" not in secateur("agent-setup", "codex", "--remove").err
    assert "secateur run --" in secateur("agent-setup", "gemini").err
    assert secateur("agent-setup").code == 2


@posix
def test_the_doctor_of_all_agents_needs_no_server(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("PATH", str(home))
    secateur("agent-setup", "codex")
    monkeypatch.setitem(sys.modules, "mcp", None)
    doctor = secateur("agent-setup", "--doctor")
    assert doctor.code == 4 and doctor.err == ""
    *lines, server, _saved = doctor.out.splitlines()
    assert lines[:3] == [
        f"{home}/.codex/config.toml: server: registered",
        f"{home}/.codex/AGENTS.md: instructions: registered",
        f"{home}/.codex/hooks.json: hook PreToolUse: registered",
    ]
    assert lines[3:] == [f"{agent}: not set up" for agent in ("claude", "gemini", "opencode", "copilot")]
    assert server == "server: the extra mcp is missing: pip install 'secateur[mcp]'"
    entries = secateur("agent-setup", "--doctor", "--format", "json").json["entries"]
    assert {entry["agent"] for entry in entries} == set(OWN)


def test_a_hook_that_the_user_changed_is_theirs(home: Path) -> None:
    secateur("agent-setup", "claude")
    path = home / ".claude" / "settings.json"
    path.write_text(path.read_text().replace('"timeout": 2', '"timeout": 5'))
    before = path.read_bytes()
    secateur("agent-setup", "claude")
    secateur("agent-setup", "claude", "--remove")
    assert path.read_bytes() == before


def test_hooks_of_another_shape_are_refused(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"PostToolUse": {}}}')
    refused = secateur("agent-setup", "claude")
    assert refused.code == 1 and "settings.json:1:12: its value is not a JSON array" in refused.err
    assert set(files(home)) == {".claude/settings.json"}
