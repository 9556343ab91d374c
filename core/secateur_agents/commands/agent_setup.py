"""`secateur agent-setup AGENT` adds the MCP server and a hook to the configuration of a coding agent, and lines on
its use to the agent's instructions. `--remove` takes them out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur import CommandCall, CommandParser, Environment, SecateurError, UsageError

if TYPE_CHECKING:
    from secateur_agents.config_edits import ConfigEntry

AGENTS = ("claude", "codex", "gemini", "opencode", "copilot")

LINES = (
    "Find code with the tool `search` of secateur before you grep; `expand` shows a symbol and its calls.",
    "Shorten long logs, diffs and other output with `prune`; `recall` gives back what a placeholder names.",
)
"""The lines in the instructions of an agent, without the marks around them."""

SERVER: dict[str, Any] = {"command": "secateur", "args": ["mcp"]}

NOT_AS_IT_SHOULD = 4

_SERVER_TOOL = {"type": "mcp_tool", "server": "secateur", "tool": "hook", "timeout": 2}

_OUTPUT = {
    "event": "${hook_event_name}",
    "response": "${tool_response}",
    "command": "${tool_input.command}",
    "about": "${tool_input.description}",
    "transcript": "${transcript_path}",
    "session": "${session_id}",
}
_INPUT = {"event": "${hook_event_name}", "input": "${tool_input}"}

_COPILOT = {"bash": "secateur hook copilot || true", "powershell": "secateur hook copilot; exit 0", "timeoutSec": 5}

HOOKS: dict[str, dict[str, dict[str, Any]]] = {
    "claude": {
        "PostToolUse": {"matcher": "Bash", "hooks": [{**_SERVER_TOOL, "input": _OUTPUT}]},
        "PreToolUse": {"matcher": "Bash", "hooks": [{**_SERVER_TOOL, "input": _INPUT}]},
    },
    "codex": {
        "PreToolUse": {
            "matcher": "^Bash$",
            "hooks": [{"type": "command", "command": "secateur hook codex || true", "timeout": 5}],
        },
    },
    "gemini": {
        "BeforeTool": {
            "matcher": "run_shell_command",
            "hooks": [{"type": "command", "command": "secateur hook gemini || true", "timeout": 5_000}],
        },
    },
    "copilot": {"postToolUse": {"type": "command", "matcher": "bash|powershell", **_COPILOT}},
}
"""The hooks of each agent by event; opencode has a plugin. After the time-out the agent goes on without an answer; a
program that ends with exit code 2, as one without this command does, would refuse what the agent wants to do."""

NOTES = {
    "codex": "Codex runs a new hook after you trust it with /hooks. In its sandbox, outputs are pruned if {store} is"
    " among sandbox_workspace_write.writable_roots.",
    "gemini": "Gemini CLI prunes a build whose command your rules allow both as it is and behind `secateur run --`.",
}
"""Steps that a user still takes before the hook of an agent has an effect."""

MOST_NEW_FOLDERS = 3
"""Most folders that are made for a file: `opencode/plugins` in a user's folder of configurations."""

MOST_BYTES = 64 << 20
"""Largest configuration that is read: Claude Code keeps histories in its own."""


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "agent",
        metavar="AGENT",
        nargs="?",
        type=parser.one_of("AGENT", AGENTS),
        help=f"{', '.join(AGENTS)}; with --doctor all of them by default",
    )
    parser.add_argument("--remove", action="store_true", help="take out what this command added")
    parser.add_argument("--dry-run", action="store_true", help="show the change, and write nothing")
    parser.add_argument("--project", action="store_true", help="change files of the current folder, not your own")
    parser.add_argument(
        "--doctor",
        action="store_true",
        help="change nothing; say what is registered, whether it answers, costs and saves",
    )
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Shows the change of each file as a diff, then writes all files; with `--doctor` exit code 4 where something is
    missing or does not answer."""
    if options.doctor:
        return _examine(options)
    from secateur import dumps, redact, refuse_links, shown, state_dir, visible, write_output

    from secateur_agents.config_edits import remove_entry

    if options.agent is None:
        raise UsageError("AGENT is missing", hint=f"name one of {', '.join(AGENTS)}")
    changes = []
    for path, entries in _files(options.agent, os.environ, Environment().base if options.project else None).items():
        new = old = _read(path)
        try:
            for entry in reversed(entries) if options.remove else entries:
                new = remove_entry(entry, new) if options.remove else entry.add(new)
        except ValueError as error:
            raise _refusal(f"{shown(path)}:{error}") from error
        if new != old:
            refuse_links(path)
        changes.append((path, old, new))
    settings = options.load_settings(None).settings
    diffs = [redact(_diff(path, old, new), settings)[0] for path, old, new in changes]
    if options.format == "json":
        files = [
            {"path": str(path), "changed": new != old, "diff": diff}
            for (path, old, new), diff in zip(changes, diffs, strict=True)
        ]
        options.emit(dumps({"agent": options.agent, "files": files}))
    else:
        options.emit("".join(f"{visible(line)}\n" for diff in diffs for line in diff.splitlines()))
    for path, old, new in changes:
        if new == old:
            options.say(f"{path}: nothing to {'remove' if options.remove else 'add'}")
        elif options.dry_run:
            options.say(f"{path}: not written")
        elif new is None:
            path.unlink()
            options.say(f"{path}: removed")
        else:
            write_output(path, new, make_folder=MOST_NEW_FOLDERS, own=True)
            options.say(f"{path}: written")
    if options.agent in NOTES and not options.remove:
        options.say(NOTES[options.agent].format(store=state_dir(os.environ)))
    return 0


def _examine(options: CommandCall) -> int:
    from secateur import dumps, visible

    from secateur_agents.config_edits import entry_status, examine_server
    from secateur_agents.savings import summarize
    from secateur_agents.store import user_store

    base = Environment().base if options.project else None
    entries = [
        (agent, path, entry, entry_status(entry, _read(path)))
        for agent in ((options.agent,) if options.agent else AGENTS)
        for path, all_ in _files(agent, os.environ, base).items()
        for entry in all_
    ]
    health = examine_server(**SERVER)
    total = summarize(user_store(os.environ).savings.read(), options.load_settings(None).settings, 0).total
    used = {agent for agent, _, _, status in entries if status != "missing"} | {options.agent}
    if options.format == "json":
        found = [
            {"agent": agent, "path": str(path), "entry": entry.name, "status": status}
            for agent, path, entry, status in entries
        ]
        options.emit(dumps({"agent": options.agent, "entries": found, "server": asdict(health), "saved": total}))
    else:
        lines = [f"{path}: {entry.name}: {status}" for agent, path, entry, status in entries if agent in used]
        lines += [f"{agent}: not set up" for agent in AGENTS if not options.agent and agent not in used]
        if health.error:
            lines.append(f"server: {health.error}")
        else:
            lines.append(
                f"server: answers in {health.seconds:.1f} s; the tools cost {health.tokens:,} tokens a request"
            )
        lines += [f"saved: {total.not_sent:,} of {total.whole:,} tokens, by all agents; secateur saved says more"]
        options.emit("".join(f"{visible(line)}\n" for line in lines))
    incomplete = any(status == "missing" and agent in used for agent, _, _, status in entries)
    return NOT_AS_IT_SHOULD if health.error or incomplete else 0


def _files(agent: str, environ: Mapping[str, str], project: Path | None) -> dict[Path, list[ConfigEntry]]:
    """Returns the files of an agent with the entries of each, where the agents document them. `project`: the folder of
    a project; None: the user's own files."""
    from secateur_agents.config_edits import InstructionLines, JsonHook, JsonServer, OwnFile, TomlServer

    home = environ.get("HOME") or environ.get("USERPROFILE") or ""

    def under(variable: str, *default: str) -> Path:
        folder = Path(environ.get(variable) or Path(home, *default))
        if not folder.is_absolute():
            raise SecateurError("your home folder is not known", hint=f"set {variable}, or give --project", code="HOME")
        return folder

    entry: ConfigEntry = JsonServer("mcpServers", SERVER)
    more: dict[Path, list[ConfigEntry]] = {}
    hooks = [JsonHook(event, value) for event, value in HOOKS.get(agent, {}).items()]
    if agent == "claude":
        config = project / ".mcp.json" if project else under("CLAUDE_CONFIG_DIR") / ".claude.json"
        lines = (project or under("CLAUDE_CONFIG_DIR", ".claude")) / "CLAUDE.md"
        settings = (project / ".claude" if project else under("CLAUDE_CONFIG_DIR", ".claude")) / "settings.json"
        more = {settings: [*hooks]}
    elif agent == "codex":
        folder = project / ".codex" if project else under("CODEX_HOME", ".codex")
        config, lines = folder / "config.toml", (project or folder) / "AGENTS.md"
        entry = TomlServer("mcp_servers", SERVER)
        more = {folder / "hooks.json": [*hooks]}
    elif agent == "gemini":
        folder = (project or under("GEMINI_CLI_HOME")) / ".gemini"
        config, lines = folder / "settings.json", (project or folder) / "GEMINI.md"
        more = {config: [entry, *hooks]}
    elif agent == "opencode":
        folder = project or under("XDG_CONFIG_HOME", ".config") / "opencode"
        commented = folder / "opencode.jsonc"
        config, lines = commented if commented.exists() else folder / "opencode.json", folder / "AGENTS.md"
        plugin = Path(__file__).parents[1] / "opencode_plugin.js"
        plugins = (project / ".opencode" if project else folder) / "plugins"
        more = {plugins / "secateur.js": [OwnFile("plugin", plugin.read_text("utf-8"))]}
        entry = JsonServer("mcp", {"type": "local", "command": ["secateur", "mcp"], "enabled": True})
    else:
        folder = under("COPILOT_HOME", ".copilot") if project is None else project
        config = folder / ("mcp-config.json" if project is None else ".mcp.json")
        lines = folder / ("copilot-instructions.md" if project is None else "AGENTS.md")
        text = json.dumps({"version": 1, "hooks": {event: [hook] for event, hook in HOOKS[agent].items()}}, indent=2)
        more = {
            (project / ".github" if project else folder) / "hooks" / "secateur.json": [OwnFile("hook", f"{text}\n")]
        }
        entry = entry if project else JsonServer("mcpServers", {"type": "local", **SERVER, "tools": ["*"]})
    return {config: [entry], lines: [InstructionLines(LINES)], **more}


def _read(path: Path) -> str | None:
    """Reads a file, or None."""
    from secateur import read_file, shown

    if not os.path.lexists(path):
        return None
    try:
        return read_file(path, MOST_BYTES, "configuration").decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal(f"{shown(path)}: byte {error.start:,} is not UTF-8") from error


def _refusal(why: str) -> SecateurError:
    return SecateurError(
        f"cannot change {why}; nothing was written",
        hint="mend the file, or add the server by hand",
        code="AGENT_CONFIG",
    )


def _diff(path: Path, old: str | None, new: str | None) -> str:
    import difflib

    if old == new:
        return ""
    before, after = ((text or "").splitlines() for text in (old, new))
    names = (str(path) if old is not None else "/dev/null"), (str(path) if new is not None else "/dev/null")
    return "".join(f"{line}\n" for line in difflib.unified_diff(before, after, *names, n=1, lineterm=""))
