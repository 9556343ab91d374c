"""The places where coding agents keep their sessions, and the sessions that are there.

    places = known_places(os.environ)
    found = find_sessions(places)                 # the newest first; nothing of a session itself is read
    chosen(found, "latest", places)

Places are those that the agents document, with the variables that move them. Symbolic links are not followed, and
folders are looked through up to a bound.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from secateur.errors import SecateurError, shown
from secateur.kinds.conversation.opencode_store import open_database, session_rows
from secateur.model import Notice
from secateur.sources.growing_file import regular_files, subfolders

MOST_ENTRIES = 50_000
"""Entries of one folder, and sessions of one agent, that are looked at."""

NAMED = 5
"""Sessions that an error names where an id is that of several."""

LATEST = "latest"
"""The id of the newest session."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class AgentPlace:
    """A folder, or a database, where an agent keeps sessions."""

    agent: str  # name of its format: "codex"
    title: str  # "Codex CLI"
    path: Path
    variable: str  # of the environment that moves it; "" for none

    @property
    def exists(self) -> bool:
        """Tells whether there is such a place."""
        return self.path.exists()


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session that was found, before it is read."""

    agent: str
    title: str  # of the agent
    id: str  # the name of its file
    path: str  # as `secateur conversation` takes it
    modified: float  # seconds since 1970
    size: int | None  # bytes of its file; None: it is in a database
    subagent: bool = False  # another session started it

    @property
    def names(self) -> tuple[str, ...]:
        """The texts by which it is known: its id, and the one inside that."""
        inner = _UUID.search(self.id)
        return (self.id, inner[0]) if inner else (self.id,)


def known_places(environ: Mapping[str, str]) -> list[AgentPlace]:
    """Every place that is looked at, whether or not it exists. Without a home there are those that variables name."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""

    def under(variable: str, default: str, *inside: str) -> Path | None:
        chosen = environ.get(variable) or ""
        start = Path(chosen) if chosen else Path(home, default) if home else None
        return start.joinpath(*inside) if start is not None and start.is_absolute() else None

    claude, codex = under("CLAUDE_CONFIG_DIR", ".claude", "projects"), under("CODEX_HOME", ".codex")
    gemini, data = under("GEMINI_CLI_HOME", "", ".gemini", "tmp"), under("XDG_DATA_HOME", ".local/share", "opencode")
    named = environ.get("OPENCODE_DB") or ""
    database = (data / named if data is not None else Path(named)) if named and named != ":memory:" else None
    found = [
        ("claude-code", "Claude Code", claude, "CLAUDE_CONFIG_DIR"),
        ("codex", "Codex CLI", codex / "sessions" if codex else None, "CODEX_HOME"),
        ("codex", "Codex CLI", codex / "archived_sessions" if codex else None, "CODEX_HOME"),
        ("gemini-cli", "Gemini CLI", gemini, "GEMINI_CLI_HOME"),
        ("opencode", "opencode", data, "XDG_DATA_HOME"),
        ("opencode", "opencode", database if database is not None and database.is_absolute() else None, "OPENCODE_DB"),
    ]
    return [AgentPlace(agent, title, path, variable) for agent, title, path, variable in found if path is not None]


Found = FoundSession | Notice
"""A session, or why some could not be found."""


def find_sessions(places: Sequence[AgentPlace]) -> tuple[list[FoundSession], list[Notice]]:
    """All sessions in these places, the newest first, and what could not be read."""
    notices: list[Notice] = []
    found: dict[tuple[str, str], FoundSession] = {}
    for place in places:
        for session in islice(_SEARCHES[place.agent](place), MOST_ENTRIES):
            if isinstance(session, Notice):
                notices.append(session)
                continue
            known = found.get((session.agent, session.id))
            if known is None or known.modified < session.modified:
                found[session.agent, session.id] = session
    return sorted(found.values(), key=lambda one: (-one.modified, one.agent, one.id)), notices


def chosen(sessions: Sequence[FoundSession], id: str, places: Sequence[AgentPlace]) -> FoundSession:
    """The session that an id names: "latest", a whole id, or a part of one alone, first of all its
    beginning.

    Raises:
        SecateurError: `NO_SESSION`: there is none, or several; the hint says what to do.
    """
    if id == LATEST:
        newest = next((one for one in sessions if not one.subagent), None)
        if newest is None:
            raise SecateurError("there is no session of a coding agent", hint=looked_at(places), code="NO_SESSION")
        return newest
    for fits in (
        lambda name: name == id,
        lambda name: name.startswith(id),
        lambda name: id in name,
    ):
        found = [one for one in sessions if id and any(map(fits, one.names))]
        if len(found) > 1:
            named = ", ".join(shown(one.id) for one in found[:NAMED]) + (", ..." if len(found) > NAMED else "")
            said = f"{len(found):,} sessions are named like {shown(id)}: {named}"
            raise SecateurError(said, hint="give more of the id", code="NO_SESSION")
        if found:
            return found[0]
    hint = f"`secateur sessions` lists the {len(sessions):,} that there are" if sessions else looked_at(places)
    raise SecateurError(f"there is no session {shown(id)}", hint=hint, code="NO_SESSION")


def looked_at(places: Sequence[AgentPlace]) -> str:
    """The places that were looked at, in a sentence."""
    told = [f"{shown(one.path)} ({one.title}{'' if one.exists else ', not there'})" for one in places]
    return "looked at " + ", ".join(told) if told else "no home folder is known: set HOME"


# --- each agent -------------------------------------------------------------------------------------------------------


def _claude_code(place: AgentPlace) -> Iterator[Found]:
    for project in subfolders(place.path, MOST_ENTRIES):
        yield from _files(place, project, (".jsonl",))
        for session in subfolders(project, MOST_ENTRIES):
            for one in _files(place, session / "subagents", (".jsonl",), subagent=True):
                if one.id.startswith("agent-"):
                    yield one


def _codex(place: AgentPlace) -> Iterator[Found]:
    folders = [place.path]
    for _ in range(4):  # the place itself, years, months, days
        for folder in folders:
            yield from (one for one in _files(place, folder, (".jsonl",)) if one.id.startswith("rollout-"))
        folders = [inner for folder in folders for inner in subfolders(folder, MOST_ENTRIES)][:MOST_ENTRIES]


def _gemini_cli(place: AgentPlace) -> Iterator[Found]:
    for project in subfolders(place.path, MOST_ENTRIES):
        chats = project / "chats"
        yield from _files(place, chats, (".json", ".jsonl"))
        for session in subfolders(chats, MOST_ENTRIES):
            yield from _files(place, session, (".json", ".jsonl"), subagent=True)


def _opencode(place: AgentPlace) -> Iterator[Found]:
    databases = [place.path]
    if place.variable != "OPENCODE_DB":
        databases = [Path(one.path) for one in regular_files(place.path, (".db",), MOST_ENTRIES)]
        databases = [one for one in databases if one.name.startswith("opencode")]
        for project in subfolders(place.path / "storage" / "session", MOST_ENTRIES):
            yield from (one for one in _files(place, project, (".json",)) if one.id.startswith("ses_"))
    for database in databases:
        if not database.is_file():
            continue
        try:
            with closing(open_database(database)) as connection:
                for row in session_rows(connection):
                    name, changed = row["id"], row.get("time_updated") or row.get("time_created")
                    if isinstance(name, str):
                        seconds = changed / 1000 if isinstance(changed, int | float) else 0.0
                        path, parent = f"{database}#{name}", bool(row.get("parent_id"))
                        yield FoundSession(place.agent, place.title, name, path, seconds, None, parent)
        except (SecateurError, sqlite3.Error) as error:
            said = error.message if isinstance(error, SecateurError) else f"{shown(database)}: {error}"
            yield Notice("unreadable_store", f"{said}.")


def _files(
    place: AgentPlace, folder: Path, endings: tuple[str, ...], *, subagent: bool = False
) -> Iterator[FoundSession]:
    for entry in regular_files(folder, endings, MOST_ENTRIES):
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile
            continue
        name = entry.name.rpartition(".")[0]
        yield FoundSession(place.agent, place.title, name, entry.path, found.st_mtime, found.st_size, subagent)


_SEARCHES: Mapping[str, Callable[[AgentPlace], Iterator[Found]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "opencode": _opencode,
}
AGENTS = tuple(_SEARCHES)
"""The agents whose sessions are known, by the names of their formats."""
