"""Finds the sessions of coding agents.

    places = known_places(os.environ)
    found = find_sessions(places)                 # the newest first; sessions are not read
    chosen(found, "latest", places)

Places are those that the agents document, with the variables that move them. Symbolic links are not followed, and the
number of folder entries has a limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from secateur import Notice, SecateurError, sessions_in, shown

MOST_ENTRIES = 50_000  # most entries of one folder, and most sessions of one agent, that are examined
MOST_NAMED = 5  # most sessions in an error about an ambiguous id

TITLES = {"claude-code": "Claude Code", "codex": "Codex CLI", "gemini-cli": "Gemini CLI", "opencode": "opencode"}
"""The supported agents, by the names of their formats."""

LATEST = "latest"  # the id of the newest session

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class AgentPlace:
    """A folder, or a database, where an agent keeps sessions."""

    agent: str  # name of its format: "codex"
    path: Path
    variable: str  # environment variable that moves it, or ""

    @property
    def exists(self) -> bool:
        """Tells whether there is such a place."""
        return self.path.exists()


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session before it is read."""

    agent: str
    id: str  # the name of its file
    path: str  # for `secateur conversation`
    modified: float  # seconds since 1970
    size: int | None  # bytes of its file; None: it is in a database
    subagent: bool = False  # another session started it

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the session: its id, and the UUID inside it."""
        inner = _UUID.search(self.id)
        return (self.id, inner[0]) if inner else (self.id,)


def known_places(environ: Mapping[str, str]) -> list[AgentPlace]:
    """Returns every place to search, whether or not it exists. Without a home folder, only those in variables."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""

    def under(variable: str, default: str, *inside: str) -> Path | None:
        moved = environ.get(variable) or ""
        start = Path(moved) if moved else Path(home, default) if home else None
        return start.joinpath(*inside) if start is not None and start.is_absolute() else None

    claude, codex = under("CLAUDE_CONFIG_DIR", ".claude", "projects"), under("CODEX_HOME", ".codex")
    gemini, data = under("GEMINI_CLI_HOME", "", ".gemini", "tmp"), under("XDG_DATA_HOME", ".local/share", "opencode")
    named = environ.get("OPENCODE_DB") or ""
    database = (data / named if data is not None else Path(named)) if named and named != ":memory:" else None
    candidates = [
        ("claude-code", claude, "CLAUDE_CONFIG_DIR"),
        ("codex", codex / "sessions" if codex else None, "CODEX_HOME"),
        ("codex", codex / "archived_sessions" if codex else None, "CODEX_HOME"),
        ("gemini-cli", gemini, "GEMINI_CLI_HOME"),
        ("opencode", data, "XDG_DATA_HOME"),
        ("opencode", database if database is not None and database.is_absolute() else None, "OPENCODE_DB"),
    ]
    return [AgentPlace(agent, path, variable) for agent, path, variable in candidates if path is not None]


SearchResult = FoundSession | Notice  # a session, or a notice about sessions that could not be found


def find_sessions(places: Sequence[AgentPlace]) -> tuple[list[FoundSession], list[Notice]]:
    """Returns all sessions in these places, the newest first, and notices about unreadable ones."""
    notices: list[Notice] = []
    sessions: dict[tuple[str, str], FoundSession] = {}
    for place in places:
        for session in islice(_SEARCHES[place.agent](place), MOST_ENTRIES):
            if isinstance(session, Notice):
                notices.append(session)
                continue
            known = sessions.get((session.agent, session.id))
            if known is None or known.modified < session.modified:
                sessions[session.agent, session.id] = session
    return sorted(sessions.values(), key=lambda session: (-session.modified, session.agent, session.id)), notices


def choose_session(sessions: Sequence[FoundSession], id: str, places: Sequence[AgentPlace]) -> FoundSession:
    """Returns the session that an id names: "latest", a whole id, or a unique part of one, preferably its beginning.
    Raises SecateurError: `NO_SESSION`: there is none, or several; the hint says what to do."""
    if id == LATEST:
        newest = next((session for session in sessions if not session.subagent), None)
        if newest is None:
            raise SecateurError("no coding agent's session was found", hint=describe_places(places), code="NO_SESSION")
        return newest
    for fits in (lambda name: name == id, lambda name: name.startswith(id), lambda name: id in name):
        matches = [session for session in sessions if id and any(map(fits, session.names))]
        if len(matches) > 1:
            examples = [
                *(shown(session.id) for session in matches[:MOST_NAMED]),
                *(["..."] * (len(matches) > MOST_NAMED)),
            ]
            message = f"{len(matches):,} sessions match {shown(id)}: {', '.join(examples)}"
            raise SecateurError(message, hint="give more of the id", code="NO_SESSION")
        if matches:
            return matches[0]
    hint = f"`secateur sessions` lists all {len(sessions):,} sessions" if sessions else describe_places(places)
    raise SecateurError(f"there is no session {shown(id)}", hint=hint, code="NO_SESSION")


def describe_places(places: Sequence[AgentPlace]) -> str:
    """Describes the searched places in a sentence."""
    descriptions = [
        f"{shown(place.path)} ({TITLES[place.agent]}{'' if place.exists else ', missing'})" for place in places
    ]
    return "searched " + ", ".join(descriptions) if descriptions else "no home folder is known: set HOME"


# --- each agent -------------------------------------------------------------------------------------------------------


def _claude_code(place: AgentPlace) -> Iterator[SearchResult]:
    for project in _subfolders(place.path):
        yield from _files(place, project, (".jsonl",))
        for session in _subfolders(project):
            for found_session in _files(place, session / "subagents", (".jsonl",), subagent=True):
                if found_session.id.startswith("agent-"):
                    yield found_session


def _codex(place: AgentPlace) -> Iterator[SearchResult]:
    folders = [place.path]
    for _ in range(4):  # the place itself, years, months, days
        for folder in folders:
            yield from (session for session in _files(place, folder, (".jsonl",)) if session.id.startswith("rollout-"))
        folders = [inner for folder in folders for inner in _subfolders(folder)][:MOST_ENTRIES]


def _gemini_cli(place: AgentPlace) -> Iterator[SearchResult]:
    for project in _subfolders(place.path):
        chats = project / "chats"
        yield from _files(place, chats, (".json", ".jsonl"))
        for session in _subfolders(chats):
            yield from _files(place, session, (".json", ".jsonl"), subagent=True)


def _opencode(place: AgentPlace) -> Iterator[SearchResult]:
    databases = [place.path]
    if place.variable != "OPENCODE_DB":
        databases = [Path(file.path) for file in _files(place, place.path, (".db",)) if file.id.startswith("opencode")]
        for project in _subfolders(place.path / "storage" / "session"):
            yield from (file for file in _files(place, project, (".json",)) if file.id.startswith("ses_"))
    for database in databases:
        if not database.is_file():
            continue
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


def _files(
    place: AgentPlace, folder: Path, endings: tuple[str, ...], *, subagent: bool = False
) -> Iterator[FoundSession]:
    for entry in _entries(folder):
        with suppress(OSError):  # gone meanwhile
            if entry.name.endswith(endings) and entry.is_file(follow_symlinks=False):
                name, status = entry.name.rpartition(".")[0], entry.stat(follow_symlinks=False)
                yield FoundSession(place.agent, name, entry.path, status.st_mtime, status.st_size, subagent)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Returns the entries of a folder by name; none if it is missing or unreadable."""
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        return sorted(islice(entries, MOST_ENTRIES), key=lambda entry: entry.name)
    return []


def _subfolders(folder: Path) -> Iterator[Path]:
    for entry in _entries(folder):
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


_SEARCHES: Mapping[str, Callable[[AgentPlace], Iterator[SearchResult]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "opencode": _opencode,
}
