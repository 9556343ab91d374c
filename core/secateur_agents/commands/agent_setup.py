"""`secateur agent-setup AGENT` adds the MCP server and its hooks to the configuration of a coding agent, and lines on
its use to the agent's instructions. `--remove` takes them out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur import CommandCall, CommandParser, Environment, SecateurError

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

_HOOK = {"type": "mcp_tool", "server": "secateur", "tool": "hook", "timeout": 2}

HOOKS = {
    "PostToolUse": {
        "event": "${hook_event_name}",
        "response": "${tool_response}",
        "about": "${tool_input.description}",
        "transcript": "${transcript_path}",
        "session": "${session_id}",
    },
    "PreToolUse": {"event": "${hook_event_name}", "input": "${tool_input}"},
}
"""The hooks of Claude Code: event -> what it says to the tool. After two seconds Claude Code goes on without it."""

MOST_BYTES = 64 << 20
"""Largest configuration that is read: Claude Code keeps histories in its own."""


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("agent", metavar="AGENT", type=parser.one_of("AGENT", AGENTS), help=", ".join(AGENTS))
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
    from secateur import dumps, redact, refuse_links, shown, visible, write_output

    from secateur_agents.config_edits import remove_entry

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
            write_output(path, new, make_folder=True, own=True)
            options.say(f"{path}: written")
    return 0


def _examine(options: CommandCall) -> int:
    from secateur import dumps, visible

    from secateur_agents.savings import summarize
    from secateur_agents.store import user_store

    if find_spec("mcp") is None:
        raise SecateurError("the server needs the extra mcp", hint="pip install 'secateur[mcp]'", code="EXTRA_MISSING")
    from secateur_agents.doctor import entry_status, examine_server

    files = _files(options.agent, os.environ, Environment().base if options.project else None)
    entries = [(path, entry, entry_status(entry, _read(path))) for path, all_ in files.items() for entry in all_]
    health = examine_server(**SERVER)
    total = summarize(user_store(os.environ).savings.read(), options.load_settings(None).settings, 0).total
    if options.format == "json":
        found = [{"path": str(path), "entry": entry.name, "status": status} for path, entry, status in entries]
        options.emit(dumps({"agent": options.agent, "entries": found, "server": asdict(health), "saved": total}))
    else:
        lines = [f"{path}: {entry.name}: {status}" for path, entry, status in entries]
        if health.error:
            lines.append(f"server: {health.error}")
        else:
            lines.append(
                f"server: answers in {health.seconds:.1f} s; the tools cost {health.tokens:,} tokens a request"
            )
        lines += [f"saved: {total.not_sent:,} of {total.whole:,} tokens, by all agents; secateur saved says more"]
        options.emit("".join(f"{visible(line)}\n" for line in lines))
    return NOT_AS_IT_SHOULD if health.error or any(status == "missing" for _, _, status in entries) else 0


def _files(agent: str, environ: Mapping[str, str], project: Path | None) -> dict[Path, list[ConfigEntry]]:
    """Returns the files of an agent with the entries of each, where the agents document them.

    Args:
        project: the folder of a project; None: the user's own files.
    """
    from secateur_agents.config_edits import InstructionLines, JsonHook, JsonServer, TomlServer

    home = environ.get("HOME") or environ.get("USERPROFILE") or ""

    def under(variable: str, *default: str) -> Path:
        folder = Path(environ.get(variable) or Path(home, *default))
        if not folder.is_absolute():
            raise SecateurError("your home folder is not known", hint=f"set {variable}, or give --project", code="HOME")
        return folder

    entry: ConfigEntry = JsonServer("mcpServers", SERVER)
    more: dict[Path, list[ConfigEntry]] = {}
    if agent == "claude":
        config = project / ".mcp.json" if project else under("CLAUDE_CONFIG_DIR") / ".claude.json"
        lines = (project or under("CLAUDE_CONFIG_DIR", ".claude")) / "CLAUDE.md"
        settings = (project / ".claude" if project else under("CLAUDE_CONFIG_DIR", ".claude")) / "settings.json"
        more = {
            settings: [
                JsonHook(event, {"matcher": "Bash", "hooks": [{**_HOOK, "input": said}]})
                for event, said in HOOKS.items()
            ]
        }
    elif agent == "codex":
        folder = project / ".codex" if project else under("CODEX_HOME", ".codex")
        config, lines = folder / "config.toml", (project or folder) / "AGENTS.md"
        entry = TomlServer("mcp_servers", SERVER)
    elif agent == "gemini":
        folder = (project or under("GEMINI_CLI_HOME")) / ".gemini"
        config, lines = folder / "settings.json", (project or folder) / "GEMINI.md"
    elif agent == "opencode":
        folder = project or under("XDG_CONFIG_HOME", ".config") / "opencode"
        commented = folder / "opencode.jsonc"
        config, lines = commented if commented.exists() else folder / "opencode.json", folder / "AGENTS.md"
        entry = JsonServer("mcp", {"type": "local", "command": ["secateur", "mcp"], "enabled": True})
    else:
        folder = under("COPILOT_HOME", ".copilot") if project is None else project
        config = folder / ("mcp-config.json" if project is None else ".mcp.json")
        lines = folder / ("copilot-instructions.md" if project is None else "AGENTS.md")
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
