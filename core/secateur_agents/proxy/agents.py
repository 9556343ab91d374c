"""Says how each agent is told where its model provider is: by variables, flags and private files of one process.

    plan = plan_for("claude", os.environ)
    plan.upstreams, plan.refusal            # base URLs by name, as the user has set them; why it cannot work
    plan.prepare(launch)                    # adds flags and variables to a `Launch`

What the user has set is read in variables and in the user's own files, never in a repository. No file is written but
those in the private folder of the launch.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomli
from secateur import UsageError, shown, toml_value

ANTHROPIC, OPENAI = "https://api.anthropic.com", "https://api.openai.com/v1"
GEMINI, CHATGPT = "https://generativelanguage.googleapis.com", "https://chatgpt.com/backend-api/codex"

_MOST_BYTES = 1 << 20  # of a configuration file
_TOKEN_VARIABLE = "SECATEUR_WITH_TOKEN"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")

# Variables that decide where `secateur mcp` keeps and finds originals; Codex starts servers with few others.
_STATE_VARIABLES = (
    *("SECATEUR_STATE_DIR", "SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR"),
    *("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"),
)

# Strings, or comments, or commas before a closing bracket, of JSON with comments.
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*+[}\]])', re.DOTALL)


@dataclass(slots=True)
class Launch:
    """The start of an agent, while it is made.

    Attributes:
        address: returns the base URL of an upstream by its name; without the token if told so.
        token: of the run, for an agent that sends it in a header.
        folder: private, for files of this run; gone when it ends.
        mcp: the command of the MCP server; empty: the agent gets none.
        words: the user's words for the agent.
        flags: stand before these.
        variables: are added to the environment.
    """

    address: Callable[..., str]
    token: str
    token_header: str
    folder: Path
    mcp: list[str]
    words: list[str]
    flags: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, value: Any) -> Path:
        """Writes a private file of this run."""
        path = self.folder / name
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(value, file)
        return path


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """See the module docstring.

    Attributes:
        title: of the agent.
        upstreams: base URLs by name.
        prepare: adds flags and variables.
        sets: what `prepare` sets, for people.
        takes_mcp: it takes a server for one run.
        refusal: why it cannot work; "" if it can.
        asides: what else the user should know.
        outputs: the agent's own folder, where it keeps outputs that are too long to be sent.
    """

    title: str
    upstreams: Mapping[str, str]
    prepare: Callable[[Launch], None]
    sets: tuple[str, ...]
    takes_mcp: bool = False
    refusal: str = ""
    asides: tuple[str, ...] = ()
    outputs: Path | None = None


def plan_for(program: str, environ: Mapping[str, str]) -> LaunchPlan:
    """Returns the plan of the agent whose program this is, by the last part of its path; of any other program that of
    the three usual variables. Raises UsageError: a base URL of the user is not an address."""
    home = Path(environ.get("HOME") or os.sep)
    plan = _PLANS.get(Path(program).name, _plan_other)(environ, home)
    for name, url in plan.upstreams.items():
        valid = False
        with suppress(ValueError):
            parts = urlsplit(url)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            valid = valid and not (parts.query or parts.fragment or "@" in parts.netloc)
        if not valid:
            raise UsageError(
                f"the base URL of {name} is not an address without a name, a password or a query",
                hint="see secateur with --check",
            )
    return plan


def _plan_claude(environ: Mapping[str, str], home: Path) -> LaunchPlan:
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    own = _json_at(folder / "settings.json").get("env")
    own = own if isinstance(own, dict) else {}
    known = {**environ, **{name: value for name, value in own.items() if isinstance(value, str)}}
    elsewhere = {
        "CLAUDE_CODE_USE_BEDROCK": "Bedrock",
        "CLAUDE_CODE_USE_VERTEX": "Vertex",
        "CLAUDE_CODE_USE_FOUNDRY": "Foundry",
        "CLAUDE_CODE_USE_MANTLE": "Bedrock",
        "CLAUDE_CODE_USE_ANTHROPIC_AWS": "AWS",
    }
    found = next((name for name in elsewhere if known.get(name, "") not in ("", "0", "false")), None)
    refusal = f"{found} is set: requests to {elsewhere[found]} are signed and do not pass" if found else ""
    upstream = known.get("ANTHROPIC_BASE_URL") or ANTHROPIC
    # To an address that is not its maker's, Claude Code sends the definitions of all tools, unless told to search them.
    searches = upstream.rstrip("/") == ANTHROPIC and "ENABLE_TOOL_SEARCH" not in known

    def prepare(launch: Launch) -> None:
        variables = {"ANTHROPIC_BASE_URL": launch.address("anthropic")}
        if searches:
            variables["ENABLE_TOOL_SEARCH"] = "true"
        launch.variables |= variables
        if not any(word.split("=")[0] == "--settings" for word in launch.words):
            # A file of settings wins over the variable, and this one over those of the user and of a repository.
            launch.flags.append(f"--settings={launch.write('settings.json', {'env': variables})}")
        if launch.mcp:
            server = {"command": launch.mcp[0], "args": launch.mcp[1:]}
            launch.flags.append(f"--mcp-config={json.dumps({'mcpServers': {'secateur': server}})}")

    names = "ANTHROPIC_BASE_URL" + (" and ENABLE_TOOL_SEARCH=true" if searches else "")
    sets = (names, "--settings FILE, a private file with the same")
    return LaunchPlan("Claude Code", {"anthropic": upstream}, prepare, sets, True, refusal, outputs=folder)


def _plan_codex(environ: Mapping[str, str], home: Path) -> LaunchPlan:
    folder = Path(environ.get("CODEX_HOME") or home / ".codex")
    own = _toml_at(folder / "config.toml")
    profile = _table(_table(own, "profiles"), str(own.get("profile", "")))
    name = str(profile.get("model_provider") or own.get("model_provider") or "openai")
    provider, refusal = _table(_table(own, "model_providers"), name), ""
    if name == "openai":
        name, upstream = "secateur", own.get("openai_base_url") or OPENAI
        if "tokens" in (login := _json_at(folder / "auth.json")) and not login.get("OPENAI_API_KEY"):
            upstream = CHATGPT
        fields = {"name": "OpenAI", "wire_api": "responses", "requires_openai_auth": True}
    else:
        upstream, fields = provider.get("base_url") or "", {}
        if not upstream or not _NAME.fullmatch(name):
            refusal = f"the provider {shown(name)} has no base_url in {shown(folder / 'config.toml')}"

    def prepare(launch: Launch) -> None:
        # Everybody on the machine sees a command line, so the token is in a variable.
        launch.variables[_TOKEN_VARIABLE] = launch.token
        table = f"model_providers.{name}"
        values: dict[str, Any] = {"model_provider": name} | {f"{table}.{key}": fields[key] for key in fields}
        values |= {
            f"{table}.base_url": launch.address("openai", with_token=False),
            f"{table}.env_http_headers.{launch.token_header}": _TOKEN_VARIABLE,
            f"{table}.supports_websockets": False,
            "features.enable_request_compression": False,  # by zstd, which is not read
        }
        if launch.mcp:
            values["mcp_servers.secateur.command"], *values["mcp_servers.secateur.args"] = launch.mcp
            values["mcp_servers.secateur.env_vars"] = [one for one in _STATE_VARIABLES if one in environ]
        launch.flags += [part for key, value in values.items() for part in ("-c", f"{key}={toml_value(value)}")]

    sets = (f"-c model_provider={name}, with a base_url and no WebSockets", _TOKEN_VARIABLE)
    upstreams = {} if refusal else {"openai": str(upstream)}
    return LaunchPlan("Codex", upstreams, prepare, sets, takes_mcp=True, refusal=refusal)


def _plan_gemini(environ: Mapping[str, str], home: Path) -> LaunchPlan:
    folder = Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini"
    chosen = _table(_table(_json_at(folder / "settings.json"), "security"), "auth").get("selectedType")
    if not chosen:
        by_variable = {"GOOGLE_GENAI_USE_GCA": "oauth-personal", "GOOGLE_GENAI_USE_VERTEXAI": "vertex-ai"}
        chosen = next((kind for name, kind in by_variable.items() if environ.get(name) == "true"), "gemini-api-key")
    refusal = ""
    if chosen == "vertex-ai":
        refusal = "it is set to Vertex, whose requests do not pass"
    elif chosen not in ("gemini-api-key", "gateway"):
        refusal = "it is logged in with an account, which takes no base URL; choose an API key in /auth"

    def prepare(launch: Launch) -> None:
        launch.variables["GOOGLE_GEMINI_BASE_URL"] = launch.address("gemini")

    files = (folder / ".env", home / ".env")
    own = environ.get("GOOGLE_GEMINI_BASE_URL") or next(filter(None, map(_dotenv_base_url, files)), None)
    return LaunchPlan("Gemini CLI", {"gemini": own or GEMINI}, prepare, ("GOOGLE_GEMINI_BASE_URL",), refusal=refusal)


def _plan_opencode(environ: Mapping[str, str], home: Path) -> LaunchPlan:
    upstreams = {"anthropic": f"{ANTHROPIC}/v1", "openai": OPENAI, "google": f"{GEMINI}/v1beta"}
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "opencode")
    names = ("config.json", "opencode.json", "opencode.jsonc")
    inline = _json_of(environ.get("OPENCODE_CONFIG_CONTENT", ""))
    given = [_json_at(config / name) for name in names]
    given += [_json_at(Path(environ["OPENCODE_CONFIG"]))] if environ.get("OPENCODE_CONFIG") else []
    for values in (*given, inline):
        for name, provider in _table(values, "provider").items():
            url = _table(provider, "options").get("baseURL")
            if isinstance(url, str) and _NAME.fullmatch(name) and "{" not in url:
                upstreams[name] = url
    logins = _json_at(Path(environ.get("XDG_DATA_HOME") or home / ".local/share", "opencode", "auth.json"))
    accounts = [name for name in upstreams if _table(logins, name).get("type") == "oauth"]
    for name in accounts:
        del upstreams[name]

    def prepare(launch: Launch) -> None:
        merged: dict[str, Any] = dict(inline)
        providers = merged["provider"] = dict(_table(inline, "provider"))
        for name in upstreams:
            options = {**_table(_table(providers, name), "options"), "baseURL": launch.address(name)}
            providers[name] = {**_table(providers, name), "options": options}
        if launch.mcp:
            server = {"type": "local", "command": launch.mcp, "enabled": True}
            merged["mcp"] = {**_table(inline, "mcp"), "secateur": server}
        launch.variables["OPENCODE_CONFIG_CONTENT"] = json.dumps(merged)

    asides = [f"{name} is logged in with an account: its requests do not pass" for name in accounts]
    asides.append(f"only requests to {', '.join(upstreams) or 'no provider'} pass; other providers are asked directly")
    refusal = "" if upstreams else "every login is with an account, which takes no base URL"
    return LaunchPlan("opencode", upstreams, prepare, ("OPENCODE_CONFIG_CONTENT",), True, refusal, tuple(asides))


def _plan_other(environ: Mapping[str, str], home: Path) -> LaunchPlan:  # noqa: ARG001 - one signature
    variables = {
        "ANTHROPIC_BASE_URL": ("anthropic", ANTHROPIC),
        "OPENAI_BASE_URL": ("openai", OPENAI),
        "GOOGLE_GEMINI_BASE_URL": ("gemini", GEMINI),
    }
    upstreams = {name: environ.get(variable) or default for variable, (name, default) in variables.items()}

    def prepare(launch: Launch) -> None:
        launch.variables |= {variable: launch.address(name) for variable, (name, _) in variables.items()}

    return LaunchPlan("the program", upstreams, prepare, tuple(variables))


_PLANS = {"claude": _plan_claude, "codex": _plan_codex, "gemini": _plan_gemini, "opencode": _plan_opencode}
AGENTS = tuple(_PLANS)  # the programs that are known by name


# --- the user's own files ---------------------------------------------------------------------------------------------


def _text_at(path: Path) -> str:
    """Returns the text of a regular file; "" if there is none, or it is too large."""
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= _MOST_BYTES:
            return path.read_text("utf-8")
    return ""


def _json_at(path: Path) -> dict[str, Any]:
    return _json_of(_text_at(path))


def _json_of(text: str) -> dict[str, Any]:
    """Reads an object, with comments and last commas; {} if it is not one."""
    text = _LAST_COMMA.sub(lambda match: match[1] or "", _COMMENT.sub(lambda match: match[1] or "", text))
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        return value if isinstance(value, dict) else {}
    return {}


def _toml_at(path: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        return tomli.loads(_text_at(path))
    return {}


def _dotenv_base_url(path: Path) -> str | None:
    found = re.search(r"(?m)^[ \t]*+(?:export[ \t]++)?GOOGLE_GEMINI_BASE_URL[ \t]*+=[ \t]*+([^\s#]++)", _text_at(path))
    return found[1].strip("\"'") if found else None


def _table(value: Any, key: str) -> dict[str, Any]:
    inside = value.get(key) if isinstance(value, dict) else None
    return inside if isinstance(inside, dict) else {}
