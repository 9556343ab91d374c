"""Answers hooks of Claude Code over the connection that it has with the server, so that no process starts.

After a command, the answer replaces its output with the output pruned by `secateur log` for the user's last question.
Before a command, it wraps the command in `secateur run`, because Claude Code lets no hook replace the output of a
failed command. An empty answer changes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from secateur import Progress, Settings, read_file

from secateur_agents.agent_hooks import MOST_OTHER_TOKENS, most_tokens, wrap_command
from secateur_agents.command_output import prune_output
from secateur_agents.mcp.shapes import HookCall
from secateur_agents.savings import SavingsRecord
from secateur_agents.sessions.places import known_places
from secateur_agents.store import OriginalStore

MOST_BYTES = 64 * 1024 * 1024
"""Largest output that is read."""

_TAIL_BYTES = 1 << 20
"""The last bytes of a transcript in which the user's question is searched."""

_QUERY_CHARS = 2_000
_MOST_SETTINGS_BYTES = 1 << 20

_MANAGED = (
    Path("/etc/claude-code/managed-settings.json"),
    Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
    Path("C:/Program Files/ClaudeCode/managed-settings.json"),
)
"""Rules of an administrator."""


def answer_hook(
    call: HookCall,
    settings: Callable[[], Settings],
    store: OriginalStore,
    environ: Mapping[str, str],
    progress: Progress,
) -> str:
    """Returns the answer to a hook as JSON; empty: nothing changes.

    Raises:
        SecateurError, ValueError, OSError: the call or what it names cannot be read; nothing may change.
    """
    if call.event == "PreToolUse":
        return _wrap_command(json.loads(call.input), environ)
    response = json.loads(call.response)
    if most_tokens(call.command) is None:
        return ""
    if not isinstance(response, dict) or not isinstance(response.get("stdout"), str) or response.get("isImage"):
        return ""
    folders = [place.path for place in known_places(environ) if place.agent == "claude-code"]
    data = _read_full_output(response, folders)
    query = f"{call.about}\n{_find_question(call.transcript, folders)}"[:_QUERY_CHARS]
    pruned = prune_output(data, query, MOST_OTHER_TOKENS, settings(), store, progress)
    if pruned is None:
        return ""
    store.savings.add(SavingsRecord("hook", call.session or store.session, pruned.before, pruned.after))
    left = {key: value for key, value in response.items() if not key.startswith("persistedOutput")}
    output = {"hookEventName": "PostToolUse", "updatedToolOutput": {**left, "stdout": pruned.text}}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)


def _wrap_command(tool_input: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Returns an answer that wraps the command in `secateur run`, or an empty one. The hook must allow the rewritten
    command, since the user's rules match only the original; so it rewrites only commands that these rules allow."""
    command = tool_input["command"]
    wrapped = wrap_command(command)
    if wrapped is None or tool_input.get("run_in_background") or not _is_allowed(command, environ):
        return ""
    output = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": "your rules allow the command; secateur run prunes its output",
        "updatedInput": {**tool_input, "command": wrapped},
    }
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)


def _is_allowed(command: str, environ: Mapping[str, str]) -> bool:
    """Tells whether a rule in the settings of Claude Code allows a command, and none denies it or asks.

    Raises:
        SecateurError, ValueError: settings that cannot be read.
    """
    home = environ.get("CLAUDE_CONFIG_DIR") or str(Path(environ.get("HOME") or environ["USERPROFILE"], ".claude"))
    project = Path(environ["CLAUDE_PROJECT_DIR"], ".claude")  # Claude Code sets it for its servers
    files = [Path(home, "settings.json"), project / "settings.json", project / "settings.local.json", *_MANAGED]
    rules: dict[str, list[str]] = {"allow": [], "deny": [], "ask": []}
    for path in files:
        if path.exists():
            permissions = json.loads(read_file(path, _MOST_SETTINGS_BYTES, "settings")).get("permissions", {})
            for name, known in rules.items():
                known += permissions.get(name, [])
    refused = any(_matches(rule, text) for rule in rules["deny"] + rules["ask"] for text in (command, f"{command} "))
    return not refused and any(_matches(rule, command) for rule in rules["allow"])


def _matches(rule: str, command: str) -> bool:
    """Tells whether a rule such as `Bash(npm run test:*)` is about a command."""
    if rule == "Bash":
        return True
    inside = re.fullmatch(r"Bash\((.*)\)", rule, re.DOTALL)
    if inside is None:
        return False
    if inside[1].endswith(":*"):
        return f"{command} ".startswith(f"{inside[1][:-2]} ")
    return re.fullmatch(".*".join(map(re.escape, inside[1].split("*"))), command, re.DOTALL) is not None


def _read_full_output(response: Mapping[str, Any], folders: Sequence[Path]) -> bytes:
    """Returns the full output, if need be from the file of Claude Code: the hook itself gets only the beginning."""
    path = response.get("persistedOutputPath")
    if not isinstance(path, str) or not path:
        return str(response["stdout"]).encode("utf-8", "replace")
    return read_file(_resolve_inside(path, folders), MOST_BYTES, "output")


def _find_question(transcript: str, folders: Sequence[Path]) -> str:
    """Returns what the user said last in a transcript; empty if that is not at its end."""
    if not transcript:
        return ""
    with _resolve_inside(transcript, folders).open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - _TAIL_BYTES))
        lines = file.read().splitlines()
    for line in reversed(lines):
        if b'"type":"user"' not in line:
            continue
        try:
            record = json.loads(line)
            content = record["message"]["content"]
        except (ValueError, KeyError, TypeError, RecursionError):  # its beginning is cut off, or it is damaged
            continue
        if isinstance(content, list):
            content = "\n".join(block["text"] for block in content if block.get("type") == "text")
        if isinstance(content, str) and content and not record.get("isMeta"):
            return content
    return ""


def _resolve_inside(path: str, folders: Sequence[Path]) -> Path:
    """Resolves a path. Raises ValueError if it lies outside the session folders of Claude Code."""
    real = Path(path).resolve()
    if not any(real.is_relative_to(folder.resolve()) for folder in folders):
        raise ValueError("the path is outside the session folders of Claude Code")
    return real
