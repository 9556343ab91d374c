"""Finds the sessions of coding agents.

    places = known_places(os.environ)
    found = find_sessions(places)                 # the newest first; sessions are not read
    chosen(found, "latest", places)

Places are those that the agents document, with the variables that move them. Symbolic links are not followed, and the
number of folder entries has a limit.

Lists sessions with what fills them: project, messages, tokens, window, and the share of dead weight.

Tokens in the window are those that the agent's provider reported. If a session reports none, and for the share of dead
weight, they are estimated from characters: counting a hundred sessions would take minutes.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePath
from typing import Annotated, Literal

from msgspec import Meta
from secateur import (
    Count,
    Notice,
    Progress,
    SecateurError,
    Settings,
    Shape,
    Version,
    session_at,
    sessions_in,
    shown,
    unreported,
    with_values,
)

MOST_ENTRIES = 50_000  # most entries of one folder, and most sessions of one agent, that are examined
MOST_NAMED = 5  # most sessions in an error about an ambiguous id

# The supported agents, by the names of their formats.
TITLES = {
    "claude-code": "Claude Code",
    "codex": "Codex CLI",
    "gemini-cli": "Gemini CLI",
    "opencode": "opencode",
    "copilot": "Copilot CLI",
    "cline": "Cline, Roo Code",
}

LATEST = "latest"  # the id of the newest session

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class AgentPlaceShape(Shape, frozen=True):
    """A place that was searched."""

    agent: str
    path: str
    exists: bool


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session before it is read."""

    agent: str
    id: str  # the name of its file
    path: str  # for `secateur conversation`
    modified: float  # seconds since 1970
    size: int | None  # bytes of its file; None: it is in a database
    subagent: bool = False  # another session started it


def known_places(environ: Mapping[str, str]) -> list[AgentPlaceShape]:
    """Returns every place to search, whether or not it exists. Without a home folder, only those in variables."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""

    def under(variable: str, default: str, *inside: str) -> Path | None:
        moved = environ.get(variable) or ""
        start = Path(moved) if moved else Path(home, default) if home else None
        return start.joinpath(*inside) if start is not None and start.is_absolute() else None

    data, named = under("XDG_DATA_HOME", ".local/share", "opencode"), environ.get("OPENCODE_DB") or ""
    database = Path(named) if data is None else data / named
    storage = "Code", "User", "globalStorage"
    candidates = [
        ("claude-code", under("CLAUDE_CONFIG_DIR", ".claude", "projects")),
        ("codex", under("CODEX_HOME", ".codex", "sessions")),
        ("codex", under("CODEX_HOME", ".codex", "archived_sessions")),
        ("gemini-cli", under("GEMINI_CLI_HOME", "", ".gemini", "tmp")),
        ("copilot", under("COPILOT_HOME", ".copilot", "session-state")),
        ("cline", under("XDG_CONFIG_HOME", ".config", *storage)),
        ("cline", under("", "Library/Application Support", *storage)),
        ("opencode", data),
        ("opencode", database if named not in ("", ":memory:") and database.is_absolute() else None),
    ]
    exists = os.path.exists  # of a path behind a locked folder it says no
    return [AgentPlaceShape(agent, str(path), exists(path)) for agent, path in candidates if path is not None]


def find_sessions(places: Sequence[AgentPlaceShape]) -> tuple[list[FoundSession], list[Notice]]:
    """Returns all sessions in these places, the newest first, and notices about unreadable ones."""
    notices: list[Notice] = []
    sessions: dict[tuple[str, str], FoundSession] = {}
    for place in places:
        for session in islice(_sessions(place), MOST_ENTRIES):
            if isinstance(session, Notice):
                notices.append(session)
                continue
            known = sessions.get((session.agent, session.id))
            if known is None or known.modified < session.modified:
                sessions[session.agent, session.id] = session
    return sorted(sessions.values(), key=lambda session: (-session.modified, session.agent, session.id)), notices


def choose_session(sessions: Sequence[FoundSession], id: str, places: Sequence[AgentPlaceShape]) -> FoundSession:
    """Returns the session that an id names: "latest", a whole id, or a unique part of one, preferably its beginning.
    Raises SecateurError: `NO_SESSION`: there is none, or several; the hint says what to do."""
    if id == LATEST:
        newest = next((session for session in sessions if not session.subagent), None)
        if newest is None:
            raise SecateurError("no coding agent's session was found", hint=describe_places(places), code="NO_SESSION")
        return newest
    for fits in (lambda name: name == id, lambda name: name.startswith(id), lambda name: id in name):
        names = ((session, [*_UUID.findall(session.id)[:1], session.id]) for session in sessions if id)
        matches = [session for session, known in names if any(map(fits, known))]
        if len(matches) > 1:
            examples = ", ".join(shown(session.id) for session in matches[:MOST_NAMED])
            more = ", ..." if len(matches) > MOST_NAMED else ""
            message = f"{len(matches):,} sessions match {shown(id)}: {examples}{more}"
            raise SecateurError(message, hint="give more of the id", code="NO_SESSION")
        if matches:
            return matches[0]
    hint = f"`secateur sessions` lists all {len(sessions):,} sessions" if sessions else describe_places(places)
    raise SecateurError(f"there is no session {shown(id)}", hint=hint, code="NO_SESSION")


def describe_places(places: Sequence[AgentPlaceShape]) -> str:
    """Describes the searched places in a sentence."""
    descriptions = [
        f"{shown(place.path)} ({TITLES[place.agent]}{'' if place.exists else ', missing'})" for place in places
    ]
    return "searched " + ", ".join(descriptions) if descriptions else "no home folder is known: set HOME"


# The files of sessions in the place of each agent, and whether they are those of subagents.
_FILES: Mapping[str, Sequence[tuple[str, bool]]] = {
    "claude-code": [("*/*.jsonl", False), ("*/*/subagents/agent-*.jsonl", True)],
    "codex": [("/".join(["*"] * depth + ["rollout-*.jsonl"]), False) for depth in range(4)],  # years, months, days
    "gemini-cli": [
        *(("*/chats/*.json", False), ("*/chats/*.jsonl", False)),
        *(("*/chats/*/*.json", True), ("*/chats/*/*.jsonl", True)),
    ],
    "copilot": [("*/events.jsonl", False), ("*.jsonl", False)],
    "cline": [
        ("saoudrizwan.claude-dev/tasks/*/api_conversation_history.json", False),
        ("rooveterinaryinc.roo-cline/tasks/*/api_conversation_history.json", False),
    ],
    "opencode": [("opencode*.db", False)],
}


def _sessions(place: AgentPlaceShape) -> Iterator[FoundSession | Notice]:
    databases = [Path(place.path)] if place.agent == "opencode" else []  # it may be named as a file
    for pattern, subagent in _FILES[place.agent]:
        for file in _matches(Path(place.path), pattern):
            if file.name.endswith(".db"):
                databases.append(Path(file.path))
                continue
            with suppress(OSError):  # gone meanwhile
                name, status = file.name.rpartition(".")[0], file.stat(follow_symlinks=False)
                name = Path(file.path).parent.name if name in ("events", "api_conversation_history") else name
                yield FoundSession(place.agent, name, file.path, status.st_mtime, status.st_size, subagent)
    for database in filter(os.path.isfile, databases):
        try:
            rows = sessions_in(database)
        except SecateurError as error:
            yield Notice("unreadable_store", f"{error.message}.")
            continue
        for row in rows:
            name, changed = row["id"], row.get("time_updated") or row.get("time_created")
            if isinstance(name, str):
                seconds = changed / 1000 if isinstance(changed, int | float) else 0.0
                path, parent = f"{database}#{name}", bool(row.get("parent_id"))
                yield FoundSession(place.agent, name, path, seconds, None, parent)


def _matches(folder: Path, pattern: str) -> Iterator[os.DirEntry[str]]:
    """Yields the files below a folder that fit a pattern, by name. What is missing or cannot be read holds none."""
    part, _, rest = pattern.partition("/")
    if rest and part != "*":
        yield from _matches(folder / part, rest)
        return
    entries: list[os.DirEntry[str]] = []
    with suppress(OSError, ValueError), os.scandir(folder) as listed:
        entries = sorted(islice(listed, MOST_ENTRIES), key=lambda entry: entry.name)
    for entry in entries:
        with suppress(OSError):
            if rest and entry.is_dir(follow_symlinks=False):
                yield from _matches(Path(entry.path), rest)
            elif not rest and fnmatchcase(entry.name, part) and entry.is_file(follow_symlinks=False):
                yield entry


class ListedSessionShape(Shape, frozen=True):
    """A session of the list; figures are null if it could not be read, and `error` says why."""

    id: str
    agent: str
    path: Annotated[str, Meta(description="For `secateur conversation`.")]
    project: str
    title: str
    model: str
    version: str
    subagent: bool
    modified: str
    bytes: Annotated[int | None, Meta(description="Null: it is in a database.")]
    messages: Count
    requests: Count
    compactions: Count
    tokens: Count | None
    tokens_from: Literal["reported", "estimated"] | None
    window: Count | None
    window_from: Literal["reported", "model", "observed", ""] | None
    dead_share: Annotated[float | None, Meta(description="Of the tokens that are estimated from the session.")]
    warnings: list[str]
    error: str | None


class SessionsOutput(Shape, frozen=True):
    """The output of `secateur sessions --format json`."""

    schema_version: Version
    sessions: Sequence[ListedSessionShape]
    found: Annotated[int, Meta(description="All sessions, including those of subagents.")]
    places: list[AgentPlaceShape]


def list_sessions(
    sessions: Sequence[FoundSession],
    settings: Settings,
    environ: Mapping[str, str],
    *,
    project: Path | None = None,
    limit: int = 20,
    subagents: bool = False,
    progress: Progress = unreported,
) -> list[ListedSessionShape]:
    """Returns the first `limit` sessions, reading one by one until there are as many.

    Args:
        sessions: the newest first.
        project: only those whose agent works in this folder or below it.
        subagents: also those that another session started.
    """
    listed: list[ListedSessionShape] = []
    wanted = [session for session in sessions if subagents or not session.subagent]
    for index, session in enumerate(wanted):
        if len(listed) >= limit:
            break
        progress("reading", index if project is not None else len(listed), min(limit, len(wanted)))
        read = read_session(session, settings, environ)
        inside = project is None or (read.project and PurePath(read.project).is_relative_to(project))
        if inside and (subagents or not read.subagent):
            listed.append(read)
    return listed


def read_session(session: FoundSession, settings: Settings, environ: Mapping[str, str]) -> ListedSessionShape:
    """Reads a session with its facts."""
    facts, messages, warnings, modified = None, 0, list[str](), ""
    with suppress(OverflowError, OSError, ValueError):  # an impossible time
        modified = datetime.fromtimestamp(session.modified, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        estimating = with_values(settings, {"tokens.counter": "estimate"})
        agent = TITLES["cline"] if session.agent == "cline" else ""  # its files hold nothing but messages
        facts, messages, warnings = session_at(session.path, estimating, environ, agent)
        wrong = None if facts else f"is not a session of {TITLES[session.agent]} in a known format"
    except Exception as error:  # a session that cannot be read costs itself, and not the list
        wrong = error.message if isinstance(error, SecateurError) else f"unexpected {type(error).__name__}: {error}"
    return ListedSessionShape(
        id=session.id,
        agent=session.agent,
        path=session.path,
        project=(facts.heading.folder if facts else "") or _project(session),
        title=facts.heading.title if facts else "",
        model=facts.heading.model if facts else "",
        version=facts.heading.version if facts else "",
        subagent=session.subagent or bool(facts and facts.heading.parent),
        modified=modified,
        bytes=session.size,
        messages=messages if facts else 0,
        requests=facts.requests if facts else 0,
        compactions=facts.compactions if facts else 0,
        tokens=facts.filled if facts else None,
        tokens_from=None if facts is None else "reported" if facts.filled_from == "reported" else "estimated",
        window=facts.window if facts else None,
        window_from=facts.window_from if facts else None,
        dead_share=round(facts.dead / facts.counted, 4) if facts and facts.counted else None,
        warnings=list(warnings),
        error=wrong,
    )


def _project(session: FoundSession) -> str:
    path = Path(session.path)
    if session.agent == "gemini-cli":
        for inside in path.parents[1:3]:
            written = inside / ".project_root"
            with suppress(OSError):
                if written.is_file() and not written.is_symlink():
                    with written.open("rb") as file:
                        return file.read(4096).decode("utf-8", "replace").strip()
        return path.parents[1].name
    return path.parent.name if session.agent == "claude-code" else ""
