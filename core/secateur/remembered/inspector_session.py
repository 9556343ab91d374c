"""Remembers a user's work in the inspector for each repository: recent queries, the last bench and knobs, and the tuned
settings of sessions that did not end.

    sessions = SessionStore(config_dir, root, on=settings.ui.remember)
    with sessions.opened() as session:           # if this process dies here, the next session finds this one
        session.asked("where is the refund total rounded?")
        session.tuned("search", {"query": ["..."]}, changes(opened, settings))
    sessions.read().queries

No call raises an error: if a file cannot be read or written, nothing is remembered, and `problem` says why. If
remembering is switched off, nothing is read or written.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from secateur.errors import SecateurError
from secateur.redaction import Redactor, Scanning
from secateur.remembered.store import RememberedError, RememberedFile
from secateur.settings import Settings, installed_keys, lookup, with_values
from secateur.system.locks import is_held, open_lock, try_lock

FILE_NAME = "session.json"

MOST_QUERIES = 20

LONGEST_QUERY = 16_000
"""The most characters of a query that is remembered. A longer one is not cut, because that would be another query."""

MOST_UNFINISHED = 5
"""The most sessions that did not end; the oldest are forgotten."""

MOST_VALUES = 200
"""The most settings, and the most inputs, that are remembered of a session."""

LOCK = ".lock"

_NOT_TUNED = ("profiles", "kinds", "ui.", "llm.", "embedding.", "index.", "graph_rag.cache_")
"""Prefixes of keys that cannot be tuned in the inspector."""

Inputs = Mapping[str, str | list[str]]


@dataclass(frozen=True, slots=True)
class UnfinishedSession:
    """A session that did not end: its bench, its inputs and its tuned settings."""

    token: str
    bench: str
    inputs: Inputs
    values: Mapping[str, Any]  # dotted key -> value


@dataclass(frozen=True, slots=True)
class RememberedSession:
    """Everything that is remembered for the inspector."""

    queries: tuple[str, ...] = ()  # the newest first
    bench: str = ""
    values: Mapping[str, Any] = field(
        default_factory=dict
    )  # the settings of the last session that ended, by dotted key
    unfinished: tuple[UnfinishedSession, ...] = ()  # the newest first, without sessions that still run


def changes(opened: Settings, settings: Settings) -> dict[str, Any]:
    """Returns the settings, by dotted key, that differ from those that the inspector was opened with."""
    names = [name for name in installed_keys() if not name.startswith(_NOT_TUNED)]
    return {
        name: msgspec.to_builtins(lookup(settings, name))
        for name in names
        if lookup(settings, name) != lookup(opened, name)
    }


def with_changes(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Returns the settings with remembered values. A value that is not valid any more is ignored."""
    for name, value in values.items():
        if name not in installed_keys() or name.startswith(_NOT_TUNED):
            continue
        with suppress(SecateurError, TypeError, ValueError):
            settings = with_values(settings, {name: value})
    return settings


class SessionStore:
    """The memory of the inspector for a repository. `problem`: why something could not be remembered; "" if all was."""

    def __init__(self, user_dir: Path, root: Path, *, on: bool) -> None:
        self.problem = ""
        self._file = RememberedFile(user_dir, root, FILE_NAME)
        self._on = on

    def read(self) -> RememberedSession:
        """Reads everything that is remembered; nothing if it is switched off or cannot be read."""
        if not self._on:
            return RememberedSession()
        try:
            fields = self._file.read()
        except RememberedError as error:
            self.problem = error.message
            return RememberedSession()
        unfinished = [
            session
            for token, saved in reversed(_table(fields.get("unfinished")).items())
            if (session := _parse_unfinished(token, saved)) is not None and not is_held(self._lock_path(token))
        ]
        bench = fields.get("bench")
        return RememberedSession(
            tuple(_queries(fields)),
            bench if isinstance(bench, str) else "",
            _values(fields.get("values")),
            tuple(unfinished[:MOST_UNFINISHED]),
        )

    def first_time(self, what: str) -> bool:
        """Returns True the first time this is asked about the repository, then False; False if it cannot be saved."""
        first: list[bool] = []

        def note(fields: dict[str, Any]) -> dict[str, Any]:
            known = [noted for noted in _list(fields.get("noted")) if isinstance(noted, str)]
            first.append(what not in known)
            return fields | {"noted": [*known, what] if first[-1] else known}

        if not self._on or self._is_noted(what):
            return False
        return self.change(note) and first[-1]

    def forget(self, unfinished: UnfinishedSession) -> None:
        """Forgets a session that did not end, because it was resumed or is not wanted."""

        def forget(fields: dict[str, Any]) -> dict[str, Any]:
            saved = _table(fields.get("unfinished"))
            return fields | {"unfinished": {k: v for k, v in saved.items() if k != unfinished.token}}

        self.change(forget)
        with suppress(OSError):
            self._lock_path(unfinished.token).unlink()

    @contextmanager
    def opened(self, token: str | None = None) -> Iterator[OpenSession]:
        """Opens a session, and ends it. A session that an error or a signal cut off stays as unfinished."""
        session = OpenSession(self, token or secrets.token_hex(8))
        handle = self._hold_lock(session.token) if self._on else None
        try:
            yield session
            session.ended()
        finally:
            if handle is not None:
                os.close(handle)
        if handle is not None:
            with suppress(OSError):
                self._lock_path(session.token).unlink()

    def change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
        """Changes the remembered fields. Returns False if that is switched off or fails."""
        if not self._on:
            return False
        try:
            if self._file.update(change):
                self.problem = f"{self._file.path} could not be read; it was set aside"
        except RememberedError as error:
            self.problem = error.message
            return False
        return True

    def _is_noted(self, what: str) -> bool:
        """Reads without writing, because most calls are not the first."""
        with suppress(RememberedError):
            return what in _list(self._file.read().get("noted"))
        return False

    def _lock_path(self, token: str) -> Path:
        return self._file.path.with_name(f"{token}{LOCK}")

    def _hold_lock(self, token: str) -> int | None:
        """Holds the lock that tells other sessions that this one still runs. The system releases it if the process
        dies."""
        try:
            self._lock_path(token).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = open_lock(self._lock_path(token))
        except OSError:
            return None
        with suppress(OSError):  # some file systems have no locks
            try_lock(handle)
        return handle


class OpenSession:
    """A running session, which `SessionStore.opened` makes."""

    def __init__(self, store: SessionStore, token: str) -> None:
        self.token = token
        self._store = store
        self._last: tuple[str, dict[str, Any]] | None = None

    def asked(self, query: str) -> None:
        """Remembers a query as the newest one."""
        if not query.strip() or len(query) > LONGEST_QUERY:
            return
        query = _remove_credentials(query)

        def add(fields: dict[str, Any]) -> dict[str, Any]:
            others = [other for other in _queries(fields) if other != query]
            return fields | {"queries": [query, *others][:MOST_QUERIES]}

        self._store.change(add)

    def tuned(self, bench: str, inputs: Inputs, values: Mapping[str, Any]) -> None:
        """Remembers the state of the session until it ends. An unchanged state is not written again."""
        state = {
            "bench": bench,
            "inputs": _remove_credentials(dict(list(inputs.items())[:MOST_VALUES])),
            "values": dict(list(values.items())[:MOST_VALUES]),
        }
        if self._last == (bench, state):
            return
        self._last = bench, state

        def save(fields: dict[str, Any]) -> dict[str, Any]:
            others = {k: v for k, v in _table(fields.get("unfinished")).items() if k != self.token}
            recent = dict(list(others.items())[-(MOST_UNFINISHED - 1) :])
            return fields | {"unfinished": {**recent, self.token: state}}

        self._store.change(save)

    def cut_off(self) -> None:
        """Leaves the session as unfinished, because it failed."""
        self._last = None

    def ended(self) -> None:
        """Keeps the last state as that of a session that ended."""
        if self._last is None:
            return
        bench, state = self._last

        def keep(fields: dict[str, Any]) -> dict[str, Any]:
            others = {k: v for k, v in _table(fields.get("unfinished")).items() if k != self.token}
            return fields | {"unfinished": others, "bench": bench, "values": state["values"]}

        self._store.change(keep)


def _remove_credentials(value: Any) -> Any:
    """Replaces credentials by markers. Only our own rules are used: they take no time, and find what a person types."""
    redactor = Redactor(Scanning(full=False))

    def clean(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: clean(item) for name, item in part.items()}
        if isinstance(part, list | tuple):
            return [clean(item) for item in part]
        return redactor.text(part) if isinstance(part, str) else part

    return clean(value)


def _queries(fields: Mapping[str, Any]) -> list[str]:
    entries = _list(fields.get("queries"))
    queries = [query for query in entries if isinstance(query, str) and 0 < len(query) <= LONGEST_QUERY]
    return list(dict.fromkeys(queries))[:MOST_QUERIES]


def _parse_unfinished(token: str, saved: Any) -> UnfinishedSession | None:
    """Parses one entry; None if it is invalid or has no tuned settings."""
    saved = _table(saved)
    bench, values = saved.get("bench"), _values(saved.get("values"))
    inputs = {
        name: value
        for name, value in _table(saved.get("inputs")).items()
        if isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))
    }
    if not isinstance(bench, str) or not values or not token.isalnum():
        return None
    return UnfinishedSession(token, bench, inputs, values)


def _values(value: Any) -> dict[str, Any]:
    return dict(list(_table(value).items())[:MOST_VALUES])


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
