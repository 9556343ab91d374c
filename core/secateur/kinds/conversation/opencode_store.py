"""Reads sessions in the database of opencode. Writes nothing.

place = "/home/me/.local/share/opencode/opencode.db#ses_4f2a"     # a session in a database
stored_session(place)      # as `opencode export` prints it; None: not a store
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from secateur.errors import SecateurError, shown, too_large, unreadable
from secateur.kinds.environment import LARGEST

MOST_ROWS = 200_000  # most messages, and most parts of messages, that are read of one session
WAIT = 2.0  # seconds to wait for a database that is being written to

# Columns of a session that are read if they exist.
_KNOWN = ("id", "directory", "title", "version", "parent_id", "model", "revert", "time_created", "time_updated")


def database_and_session(location: str) -> tuple[Path, str] | None:
    """Splits `DATABASE.db#SESSION`; None if it does not have this form, or a file has that name."""
    path, sign, session = location.rpartition("#")
    if not sign or not session or not path.endswith(".db") or Path(location).exists():
        return None
    return Path(path), session


def stored_session(location: str) -> dict[str, Any] | None:
    """Reads the session at a location as `{"info", "messages"}`; None if there is no store. Raises SecateurError:
    `UNREADABLE`, `TOO_LARGE`: the store cannot be read, or does not hold the session."""
    database = database_and_session(location)
    return _read_database(*database) if database is not None else None


def stamp_of(location: str) -> tuple[int, ...] | None:
    """A stamp that changes when the session is written to; None if there is no store."""
    if (database := database_and_session(location)) is None:
        return None
    return tuple(part for file in (database[0], Path(f"{database[0]}-wal")) for part in _stamp(file))


def open_database(path: Path) -> sqlite3.Connection:
    """Opens a connection that writes nothing, not even the files that SQLite keeps beside a database. Raises
    SecateurError: `UNREADABLE`."""
    live = Path(f"{path}-wal").exists()  # without a log beside it nobody is writing: it can be read as immutable
    # `mode=ro` alone still writes the index of the log, which SQLite shares between processes
    uri = f"file:{quote(str(path.absolute()))}?mode=ro&{'readonly_shm' if live else 'immutable'}=1"
    try:
        if not path.is_file():
            raise unreadable(path, FileNotFoundError("there is no such file") if not path.exists() else "not a file")
        connection = sqlite3.connect(uri, uri=True, timeout=WAIT, check_same_thread=False)
        connection.execute("PRAGMA query_only = 1")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except (sqlite3.Error, OSError) as error:
        raise _database_error(path, error) from error
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def columns_of(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of one of opencode's tables; empty if there is no such table."""
    return frozenset(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))


def session_rows(connection: sqlite3.Connection, session: str | None = None) -> Iterator[dict[str, Any]]:
    """Yields the rows about all sessions or one; a session in two tables counts in the newer table."""
    seen = set[Any]()
    for table in ("session_v2", "session"):
        there = columns_of(connection, table)
        wanted = [name for name in _KNOWN if name in there]
        if "id" not in wanted:
            continue
        where, given = (" WHERE id = ?", (session,)) if session is not None else ("", ())
        for row in connection.execute(f"SELECT {', '.join(wanted)} FROM {table}{where} LIMIT {MOST_ROWS}", given):
            known = dict(zip(wanted, row, strict=True))
            if known["id"] not in seen:
                seen.add(known["id"])
                yield known


def sessions_in(path: Path) -> list[dict[str, Any]]:
    """The rows of a database about its sessions. Raises SecateurError: `UNREADABLE`."""
    try:
        with closing(open_database(path)) as connection:
            return list(session_rows(connection))
    except sqlite3.Error as error:
        raise _database_error(path, error) from error


def _read_database(path: Path, session: str) -> dict[str, Any]:
    try:
        with closing(open_database(path)) as connection:
            if (known := next(session_rows(connection, session), None)) is None:
                raise SecateurError(
                    f"{shown(path)} holds no session {shown(session)}",
                    hint="`secateur sessions --agent opencode` lists its sessions",
                    code="NO_SESSION",
                )
            names = ("id", "id"), ("directory",) * 2, ("title",) * 2, ("version",) * 2, ("parent_id", "parentID")
            info = {name: known[column] for column, name in names if known.get(column) is not None}
            info |= {name: value for name in ("model", "revert") if (value := _json(known.get(name))) is not None}
            return {"info": info, "messages": _messages(connection, session, path)}
    except sqlite3.Error as error:
        raise _database_error(path, error) from error


def _messages(connection: sqlite3.Connection, session: str, path: Path) -> list[Any]:
    size = 0

    def rows(sql: str) -> Iterator[tuple[Any, ...]]:
        nonlocal size
        for row in connection.execute(f"{sql} LIMIT {MOST_ROWS}", (session,)):
            size += len(row[-1] or "")
            if size > LARGEST:
                raise too_large(path, LARGEST, "session")
            yield row

    if there := columns_of(connection, "session_message"):
        order = "seq" if "seq" in there else "time_created, id"
        found = rows(f"SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY {order}")
        if newer := [_value(data, {"id": name, "type": kind}) for name, kind, data in found]:
            return newer
    if not columns_of(connection, "message"):
        return []
    parts: defaultdict[str, list[Any]] = defaultdict(list)
    if columns_of(connection, "part"):
        for message, name, data in rows("SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id"):
            parts[message].append(_value(data, {"id": name}))
    message_rows = rows("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id")
    return [_message(_value(data, {"id": name}), parts.get(name, [])) for name, data in message_rows]


def _value(data: Any, known: dict[str, Any]) -> Any:
    value = _json(data)
    return {**value, **known} if isinstance(value, dict) else data


def _message(info: Any, parts: list[Any]) -> Any:
    if not isinstance(info, dict):
        return info
    texts = ({"type": "text", "text": part} if isinstance(part, str) else part for part in parts)
    return {"info": info, "parts": list(texts)}


def _json(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return 0, -1
    return status.st_mtime_ns, status.st_size


def _database_error(path: Path, error: Exception) -> SecateurError:
    hint = "close opencode and try again, or export the session: opencode export ID > FILE"
    return SecateurError(f"{shown(path)} cannot be read as a database: {error}", hint=hint, code="UNREADABLE")
