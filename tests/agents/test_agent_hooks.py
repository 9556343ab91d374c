"""Hooks that start `secateur hook AGENT`: the shapes are those that Codex 0.169, Gemini CLI 0.61, Copilot CLI 1.0.102
and opencode 1.18.33 send and take. No answer changes nothing, and so does whatever is not understood.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import secateur_agents
from hypothesis import given
from hypothesis import strategies as st
from secateur_agents.agent_hooks import AGENTS
from secateur_agents.commands import hook
from secateur_agents.store import user_store
from support.cli import secateur
from support.systems import posix

LINES = [f"INFO step {number} of the build took {number % 7} s" for number in range(3_000)]
LINES[1_500] = "ERROR frobnicator.c:12: the gear is missing"
OUTPUT = "\n".join(LINES) + "\n"
FOOT = "<shellId: 0 completed with exit code 2>"


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """A hook that takes too long would end this process."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hook, "MOST_SECONDS", 3_600.0)
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CODEX_HOME", "GEMINI_CLI_HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    (home / ".codex" / "rules").mkdir(parents=True)
    (home / ".gemini" / "policies").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    program = tmp_path / "bin" / "secateur"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path / "state"))
    return home


def answer(agent: str, call: Any) -> Any:
    done = secateur("hook", agent, stdin=json.dumps(call).encode())
    assert done.code == 0 and done.err == "", done.err
    return done.json if done.out else None


def codex(command: str, tmp_path: Path, mode: str = "default") -> Any:
    call = {"tool_input": {"command": command}, "permission_mode": mode, "cwd": str(tmp_path / "work")}
    changed = answer("codex", call)
    return changed and changed["hookSpecificOutput"]


def gemini(command: str, tmp_path: Path, **more: Any) -> Any:
    call = {"tool_input": {"command": command, **more}, "cwd": str(tmp_path / "work")}
    changed = answer("gemini", call)
    return changed and changed["hookSpecificOutput"]["tool_input"]


@posix
@pytest.mark.usefixtures("home")
def test_codex_runs_a_build_in_secateur_run_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = codex("make -j 4 all", tmp_path)
    assert changed == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": f"{tmp_path}/bin/secateur run -- make -j 4 all"},
    }
    for command in ("make; rm x", "make > out", "cat x", "secateur run -- make", "CI=1 make", "make\nrm x", ""):
        assert codex(command, tmp_path) is None
    assert codex("make", tmp_path, mode="plan") is None
    (tmp_path / "bin").rename(tmp_path / "my bin")
    monkeypatch.setenv("PATH", str(tmp_path / "my bin"))
    assert codex("make", tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert codex("make", tmp_path) is None


@posix
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("folder", ["home/.codex/rules", "work/.codex/rules", ".codex/rules"])
def test_codex_keeps_a_command_whose_program_a_rule_names(folder: str, tmp_path: Path) -> None:
    rules = tmp_path / folder / "own.rules"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text('prefix_rule(pattern=["git", "push"], decision="forbidden")\n')
    assert codex("build/gradlew test", tmp_path) is not None
    rules.write_text('prefix_rule(pattern=[["gradlew", "make"]], decision="prompt")\n')
    assert codex("build/gradlew test", tmp_path) is None
    rules.write_bytes(b"\xff")
    assert codex("build/gradlew test", tmp_path) is None


BOTH = ["run_shell_command(make)", "run_shell_command(secateur run -- make)"]


def test_gemini_rewrites_what_both_rules_allow(home: Path, tmp_path: Path) -> None:
    settings = home / ".gemini" / "settings.json"
    assert gemini("make", tmp_path) is None
    for allowed in (BOTH, ["run_shell_command"], ["ShellTool"]):
        settings.write_text(json.dumps({"tools": {"allowed": allowed}}))
        changed = gemini("make all", tmp_path, description="Build")
        assert changed == {"command": "secateur run -- make all", "description": "Build"}
    settings.write_text(json.dumps({"tools": {"allowed": BOTH}}))
    for command in ("makefile", "make && rm x", "ninja", "make 2> x"):
        assert gemini(command, tmp_path) is None
    assert gemini("make", tmp_path, is_background=True) is None


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        ({"tools": {"allowed": BOTH[:1]}}, False),
        ({"tools": {"allowed": BOTH[1:]}}, False),
        ({"tools": {"allowed": BOTH, "exclude": ["run_shell_command(make all)"]}}, False),
        ({"tools": {"allowed": BOTH, "exclude": ["run_shell_command(rm)"]}}, True),
        ({"tools": {"allowed": BOTH, "core": ["run_shell_command(make)"]}}, False),
        ({"tools": {"allowed": BOTH}, "policyPaths": ["/elsewhere"]}, False),
        ("{broken", False),
        ({"tools": 5}, False),
    ],
)
def test_gemini_settings_decide(settings: Any, changes: bool, home: Path, tmp_path: Path) -> None:
    text = settings if isinstance(settings, str) else json.dumps(settings)
    (home / ".gemini" / "settings.json").write_text(text)
    assert (gemini("make all", tmp_path) is not None) is changes


@pytest.mark.parametrize(
    ("policy", "changes"),
    [
        ('commandPrefix = ["make", "secateur run -- make"]\ndecision = "allow"', True),
        ('commandRegex = "(secateur run -- )?make"\ndecision = "allow"', True),
        ('commandPrefix = "make"\ndecision = "allow"', False),
        ('decision = "allow"', True),
        ('decision = "allow"\nmodes = ["yolo"]', False),
        ('decision = "allow"\nargsPattern = "x"', False),
        ('decision = "allow"\n[[rule]]\ntoolName = "*"\ndecision = "deny"\nargsPattern = "x"', False),
        ('decision = "allow"\n[[rule]]\ndecision = "ask_user"', False),
        (
            'decision = "allow"\n[[rule]]\ntoolName = "run_shell_command"\ncommandRegex = ".*all"\ndecision = "deny"',
            False,
        ),
        ('decision = "allow"\n[[rule]]\ntoolName = ["read_file"]\ndecision = "deny"', True),
        ('decision = "allow"\n[[rule]]\nmcpName = "x"\ndecision = "deny"', True),
        ('decision = "allow"\nbroken', False),
    ],
)
def test_gemini_policies_decide(policy: str, changes: bool, home: Path, tmp_path: Path) -> None:
    own = home / ".gemini" / "policies" / "own.toml"
    own.write_text(f'[[rule]]\ntoolName = "run_shell_command"\n{policy}\n')
    assert (gemini("make all", tmp_path) is not None) is changes


def test_a_project_refuses_and_allows_nothing_in_gemini(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "work" / ".gemini" / "settings.json"
    project.parent.mkdir()
    project.write_text(json.dumps({"tools": {"allowed": BOTH}}))
    assert gemini("make", tmp_path) is None
    (home / ".gemini" / "settings.json").write_text(project.read_text())
    assert gemini("make", tmp_path) is not None
    project.write_text(json.dumps({"tools": {"exclude": ["run_shell_command(make)"]}}))
    assert gemini("make", tmp_path) is None


def copilot(command: str, text: str) -> Any:
    result = {"resultType": "success", "textResultForLlm": text, "more": 1}
    changed = answer("copilot", {"sessionId": "s", "toolArgs": {"command": command}, "toolResult": result})
    return changed and changed["modifiedResult"]


def opencode(command: str, text: str) -> Any:
    changed = answer("opencode", {"sessionId": "s", "command": command, "output": text})
    return changed and changed["output"]


def recalled(text: str) -> str:
    (digest,) = re.findall(r"secateur recall ([0-9a-f]{12}) gives the whole", text)
    return user_store(os.environ).recall(digest)


@pytest.mark.usefixtures("home")
def test_copilot_and_opencode_get_what_log_leaves_and_the_whole_is_kept() -> None:
    changed = copilot("make", f"{OUTPUT}{FOOT}")
    text = changed["textResultForLlm"]
    assert changed == {"resultType": "success", "textResultForLlm": text, "more": 1}
    assert LINES[1_500] in text and text.splitlines()[-1] == FOOT and len(text) < 2_000
    assert recalled(text) == OUTPUT.rstrip("\n")
    output = opencode("make", OUTPUT)
    assert LINES[1_500] in output and len(output) < 2_000 and recalled(output) == OUTPUT
    assert opencode("make", output) is None and copilot("make", text) is None  # it fits now
    assert "s" in {session["session"] for session in secateur("saved", "--format", "json").json["sessions"]}


@posix
@pytest.mark.usefixtures("home")
def test_copilot_gets_a_build_pruned_whose_output_lies_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    whole = tmp_path / "1795-copilot-tool-output-2049-83e2.txt"
    whole.write_text(OUTPUT)
    shown = f"Output too large to read at once (107.4 KB). Saved to: {{}}\n\n{OUTPUT[:500]}\n{FOOT}"
    text = copilot("make", shown.format(whole))["textResultForLlm"]
    assert LINES[1_500] in text and text.splitlines()[-1] == FOOT and recalled(text) == OUTPUT
    assert copilot("cat x", shown.format(whole)) is None
    (tmp_path / "other.txt").write_text(OUTPUT)
    for path in (tmp_path / "other.txt", tmp_path / "deep" / whole.name, tmp_path / f"1{whole.name}"):
        assert copilot("make", shown.format(path)) is None


@pytest.mark.usefixtures("home")
def test_a_build_keeps_less_than_a_command_that_may_print_source_and_recall_keeps_all() -> None:
    output = "\n".join(LINES[:100])  # some 1,200 tokens
    assert opencode("make", output) is not None
    assert opencode("cat x", output) is None and opencode("cat x", OUTPUT) is not None
    assert opencode("secateur recall 0123456789ab", OUTPUT) is None
    assert opencode("/usr/bin/secateur run -- cat x", OUTPUT) is None


@pytest.mark.usefixtures("home")
def test_where_nothing_can_be_kept_nothing_is_taken_out(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    assert opencode("make", OUTPUT) is None and copilot("make", OUTPUT) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_CALLS = st.fixed_dictionaries(
    {},
    optional={
        "tool_input": _JSON | st.fixed_dictionaries({"command": _JSON}),
        "permission_mode": _JSON,
        "cwd": _JSON,
        "toolArgs": _JSON | st.fixed_dictionaries({"command": _JSON}),
        "toolResult": _JSON | st.fixed_dictionaries({"textResultForLlm": _JSON}),
        "command": _JSON,
        "output": _JSON,
        "sessionId": _JSON,
    },
)


@given(agent=st.sampled_from(AGENTS), data=st.binary(max_size=40) | (_JSON | _CALLS).map(json.dumps).map(str.encode))
def test_whatever_comes_in_the_agent_loses_nothing(agent: str, data: bytes) -> None:
    done = secateur("hook", agent, stdin=data)
    assert (done.code, done.out, done.err) == (0, "", "")


@posix
@pytest.mark.skipif(shutil.which("node") is None, reason="needs a program that runs JavaScript")
@pytest.mark.parametrize(
    ("script", "shown"),
    [
        ("""grep -q '"command":"make"' && echo '{"output": "pruned"}'""", "pruned"),
        ("exit 1", OUTPUT),
        ("echo 'garbage {'", OUTPUT),
        ("echo '[1]'", OUTPUT),
        ("""echo '{"output": 5}'""", OUTPUT),
        ("exec <&-; exit 0", OUTPUT),
        (None, OUTPUT),
    ],
)
@pytest.mark.parametrize("kept", [False, True])
def test_the_plugin_of_opencode_changes_an_output_or_nothing(
    script: str | None, shown: str, kept: bool, tmp_path: Path
) -> None:
    node = shutil.which("node") or ""
    shutil.copy(Path(secateur_agents.__file__).with_name("opencode_plugin.js"), tmp_path / "plugin.mjs")
    if script is not None:
        (tmp_path / "secateur").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "secateur").chmod(0o755)
    result: dict[str, Any] = {"output": OUTPUT, "metadata": {}}
    if kept:
        (tmp_path / "whole").write_text(OUTPUT)
        result["metadata"]["outputPath"] = str(tmp_path / "whole")
    (tmp_path / "run.mjs").write_text(
        'import { Secateur } from "./plugin.mjs"\n'
        f"const result = {json.dumps(result)}\n"
        'await (await Secateur())["tool.execute.after"]({ tool: "bash", args: { command: "make" } }, result)\n'
        "process.stdout.write(result.output)\n"
    )
    path = f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin"
    done = subprocess.run([node, tmp_path / "run.mjs"], env={"PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout == shown


def test_a_hook_that_hangs_ends_by_itself() -> None:
    words = sys.executable, "-m", "secateur", "hook", "codex"
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"" and process.wait() == 0  # nothing ever comes on its standard input
