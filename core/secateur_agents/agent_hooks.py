"""Answers hooks of Codex, Gemini CLI, Copilot CLI and opencode, which start `secateur hook AGENT` for each command.

Codex and Gemini CLI let a hook rewrite a command, so a build or test runs in `secateur run`. Both check their rules on
the rewritten command alone; therefore nothing is rewritten on which a rule would decide otherwise. Copilot CLI and
opencode let a hook replace the output of a command, also of one that failed. None changes nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur import read_file

from secateur_agents.command_output import MOST_TOKENS, prune_output
from secateur_agents.savings import SavingsRecord

if TYPE_CHECKING:
    from secateur import Settings

    from secateur_agents.store import OriginalStore

MOST_OTHER_TOKENS = 4_000
"""Tokens of an output that a hook leaves whole: more than of a build, because a command may print source."""

_WRAPPED_PROGRAMS = re.compile(
    "cargo|ctest|dotnet|go|gradlew?|jest|make|mvnw?|ninja|npm|npx|pip|pnpm|pytest|ruff|tox|tsc|uv|yarn"
)
"""Programs that build or test: their output is long, and what they need is in it."""

_PLAIN_COMMAND = re.compile(r"[\w./:=@%+, '\"\[\]*-]+")
"""Characters of a command that a shell runs as one program, without pipes, substitutions or variables."""

_PLAIN_PATH = re.compile(r"/[\w./+@-]+")
"""A whole path that every shell reads as it stands; those of Windows are not."""

_OWN_OUTPUT = re.compile(r"\bsecateur (run|recall)\b")
"""Commands whose output is as long as it was asked for."""

_COPILOT_FOOT = re.compile(r"\n?<shellId: [^\n]*>\s*\Z")
_COPILOT_FILE = re.compile(r"Output too large [^\n]* Saved to: ([^\n]*[\\/]\d+-copilot-tool-output-[\w-]+\.txt)\n")

MOST_BYTES = 64 * 1024 * 1024
"""Largest output that is read."""

_MOST_RULES_BYTES = 1 << 20

_SYSTEM_FOLDERS = {
    "codex": (Path("/etc/codex"),),
    "gemini": (
        Path("/etc/gemini-cli"),
        Path("/Library/Application Support/GeminiCli"),
        Path("C:/ProgramData/gemini-cli"),
    ),
}
"""Folders with the rules of an administrator."""

AGENTS = "codex", "gemini", "copilot", "opencode"

Prune = Callable[[str, str], "str | None"]
"""Prunes the output of a command: command, output -> what stands in its place, or None."""


def answer_hook(
    agent: str,
    call: Mapping[str, Any],
    settings: Callable[[], Settings],
    store: OriginalStore,
    environ: Mapping[str, str],
) -> Any:
    """Returns the answer to a hook, for JSON; None: nothing changes. Raises Exception: the call or what it depends on
    cannot be read; nothing may change."""

    def prune(command: str, output: str) -> str | None:
        most, data = most_tokens(command), output.encode("utf-8", "replace")
        if most is None or len(data) <= most:  # a token is a byte or more
            return None
        pruned = prune_output(data, "", most, settings(), store)
        if pruned is None:
            return None
        session = str(call.get("sessionId") or store.session)
        store.savings.add(SavingsRecord("hook", session, pruned.before, pruned.after))
        return pruned.text

    if agent in ("codex", "gemini"):
        return (_rewrite_for_codex if agent == "codex" else _rewrite_for_gemini)(call, environ)
    return (_replace_for_copilot if agent == "copilot" else _replace_for_opencode)(call, prune)


def wrap_command(command: str) -> str | None:
    """Returns the command in `secateur run`, or None: it is not one plain command that builds or tests."""
    program = command.split(" ", 1)[0].rpartition("/")[2]
    if not _WRAPPED_PROGRAMS.fullmatch(program) or not _PLAIN_COMMAND.fullmatch(command):
        return None
    return f"secateur run -- {command}"


def most_tokens(command: str) -> int | None:
    """Returns how many tokens of a command's output stay, or None: all, because they were asked for."""
    if _OWN_OUTPUT.search(command):
        return None
    return MOST_OTHER_TOKENS if wrap_command(command) is None else MOST_TOKENS


def _rewrite_for_codex(call: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
    """Wraps a command unless a rule names its program: Codex would match that rule with the rewritten command.

    Codex starts a login shell, which may have another PATH, so the path to `secateur` is absolute.
    """
    wrapped, program = wrap_command(call["tool_input"]["command"]), shutil.which("secateur", path=environ.get("PATH"))
    if wrapped is None or not _PLAIN_PATH.fullmatch(program or "") or call["permission_mode"] == "plan":
        return None
    own = Path(environ["CODEX_HOME"]) if environ.get("CODEX_HOME") else _home(environ) / ".codex"
    cwd = Path(call["cwd"])
    folders = [own, *_SYSTEM_FOLDERS["codex"], *(folder / ".codex" for folder in (cwd, *cwd.parents))]
    names = "secateur", wrapped.split(" ")[3].rpartition("/")[2]
    for text in _texts(folders, "rules/*.rules", "requirements.toml"):
        if any(name in text for name in names):
            return None
    rewritten = {"command": f"{program}{wrapped.removeprefix('secateur')}"}
    output = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": rewritten}
    return {"hookSpecificOutput": output}


def _rewrite_for_gemini(call: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
    """Wraps a command where the user's rules allow both it and the rewritten one, and none refuses it."""
    tool_input = call["tool_input"]
    wrapped = wrap_command(tool_input["command"])
    if wrapped is None or tool_input.get("is_background"):
        return None
    own = Path(environ.get("GEMINI_CLI_HOME") or _home(environ)) / ".gemini"
    trusted = own, *_SYSTEM_FOLDERS["gemini"]
    refused = _gemini_rules((*trusted, Path(call["cwd"], ".gemini")), "exclude", {"deny", "ask_user"})
    if any(rule.match(text) for rule in refused for text in (tool_input["command"], wrapped)):
        return None
    allowed = list(_gemini_rules(trusted, "allowed", {"allow"}))
    if not all(any(rule.match(text) for rule in allowed) for text in (tool_input["command"], wrapped)):
        return None
    return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {**tool_input, "command": wrapped}}}


def _gemini_rules(folders: tuple[Path, ...], setting: str, decisions: set[str]) -> Iterator[re.Pattern[str]]:
    """Yields what the rules on commands match. A rule that cannot be read refuses every command, and allows none."""
    import tomli

    refusing = "allow" not in decisions
    for text in _texts(folders, "settings.json"):
        settings = json.loads(text)
        tools = settings.get("tools", {})
        if refusing and (tools.get("core") or settings.get("policyPaths") or settings.get("adminPolicyPaths")):
            yield re.compile("")
        for name in tools.get(setting, []):
            command = re.fullmatch(r"(?:run_shell_command|ShellTool)(?:\((.*)\))?", name, re.DOTALL)
            if command:
                yield _prefix(command[1] or "")
    for text in _texts(folders, "policies/*.toml"):
        for rule in tomli.loads(text).get("rule", []):
            names = rule.get("toolName", "*" if refusing else "run_shell_command")
            if rule.get("decision") not in decisions or "mcpName" in rule:
                continue
            if not {"run_shell_command", "*"} & set([names] if isinstance(names, str) else names):
                continue
            limits = rule.keys() & {"argsPattern", "subagent", "interactive", "toolAnnotations"}
            if limits or (rule.get("modes") and "default" not in rule["modes"]):
                if refusing:
                    yield re.compile("")
            elif "commandRegex" in rule:
                yield re.compile(rule["commandRegex"])
            else:
                prefixes = rule.get("commandPrefix", "")
                yield from map(_prefix, [prefixes] if isinstance(prefixes, str) else prefixes)


def _prefix(command: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(command)}(?![\w-])" if command else "")


def _replace_for_copilot(call: Mapping[str, Any], prune: Prune) -> Any:
    """Prunes the output of a command; the line with its exit code stays. Of a long output Copilot CLI shows the first
    500 characters and a file: those of a build are replaced too."""
    command, result = call["toolArgs"]["command"], call["toolResult"]
    text = result["textResultForLlm"]
    foot = _COPILOT_FOOT.search(text)
    end = foot.start() if foot else len(text)
    output, kept = text[:end], _COPILOT_FILE.match(text)
    if kept and wrap_command(command) and Path(kept[1]).parent == Path(tempfile.gettempdir()):
        output = read_file(Path(kept[1]), MOST_BYTES, "output").decode("utf-8", "replace")
    pruned = prune(command, output)
    return pruned and {"modifiedResult": {**result, "textResultForLlm": pruned + text[end:].lstrip("\n")}}


def _replace_for_opencode(call: Mapping[str, Any], prune: Prune) -> Any:
    """Prunes the output of a command, which our plugin reads."""
    pruned = prune(call["command"], call["output"])
    return pruned and {"output": pruned}


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or environ["USERPROFILE"])


def _texts(folders: Iterable[Path], *patterns: str) -> Iterator[str]:
    """Reads the files that match patterns. Raises SecateurError: one cannot be read; what it rules is not known."""
    for folder in folders:
        for pattern in patterns:
            for path in sorted(folder.glob(pattern)):
                yield read_file(path, _MOST_RULES_BYTES, "rules").decode("utf-8")
