"""The work of a user in the inspector, remembered for a repository: recent queries, the last bench and knobs, and what
a session that did not end had tuned.

    sessions = SessionStore(config_dir, root, on=settings.ui.remember)
    with sessions.opened() as session:           # a session that dies in here is found by the next one
        session.asked("where is the refund total rounded?")
        session.tuned("search", {"query": ["..."]}, changes(opened, settings))
    sessions.read().queries

Nothing here fails: what cannot be read or written is not remembered, and `problem` says why. Switched off, nothing is
read, and nothing is written.
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
"""Characters of a query that is remembered; a cut one would be another query."""

MOST_UNFINISHED = 5
"""Sessions that did not end which are remembered; of more the oldest go."""

MOST_VALUES = 200
"""Settings, and inputs, that are remembered of a session."""

LOCK = ".lock"

_NOT_TUNED = ("profiles", "kinds", "ui.", "llm.", "embedding.", "index.", "graph_rag.cache_")
"""Keys (prefixes) that nobody tunes in the inspector."""

Inputs = Mapping[str, str | list[str]]


@dataclass(frozen=True, slots=True)
class UnfinishedSession:
    """A session that did not end: what it was on, and what it had tuned."""

    token: str
    bench: str
    inputs: Inputs
    values: Mapping[str, Any]  # dotted key -> value


@dataclass(frozen=True, slots=True)
class RememberedSession:
    """Everything that is remembered for the inspector."""

    queries: tuple[str, ...] = ()  # the latest first
    bench: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)  # of the last session that ended, by dotted key
    unfinished: tuple[UnfinishedSession, ...] = ()  # the latest first; sessions that still run are none


def changes(opened: Settings, settings: Settings) -> dict[str, Any]:
    """The values, by dotted key, in which settings differ from those that the inspector was opened with."""
    names = [name for name in installed_keys() if not name.startswith(_NOT_TUNED)]
    return {
        name: msgspec.to_builtins(lookup(settings, name))
        for name in names
        if lookup(settings, name) != lookup(opened, name)
    }


def with_changes(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with remembered values; a value that is not allowed any more is left out."""
    for name, value in values.items():
        if name not in installed_keys() or name.startswith(_NOT_TUNED):
            continue
        with suppress(SecateurError, TypeError, ValueError):
            settings = with_values(settings, {name: value})
    return settings


class SessionStore:
    """The memory of the inspector for a repository. `problem`: why something is not remembered; "" where all is."""

    def __init__(self, user_dir: Path, root: Path, *, on: bool) -> None:
        self.problem = ""
        self._file = RememberedFile(user_dir, root, FILE_NAME)
        self._on = on

    def read(self) -> RememberedSession:
        """Everything that is remembered; nothing where it is switched off or cannot be read."""
        if not self._on:
            return RememberedSession()
        try:
            fields = self._file.read()
        except RememberedError as error:
            self.problem = error.message
            return RememberedSession()
        unfinished = [
            one
            for token, saved in reversed(_table(fields.get("unfinished")).items())
            if (one := _unfinished(token, saved)) is not None and not is_held(self._lock(token))
        ]
        bench = fields.get("bench")
        return RememberedSession(
            tuple(_queries(fields)),
            bench if isinstance(bench, str) else "",
            _values(fields.get("values")),
            tuple(unfinished[:MOST_UNFINISHED]),
        )

    def first_time(self, what: str) -> bool:
        """True the first time this is asked about the repository, and never again; False where that cannot be kept."""
        first: list[bool] = []

        def noted(fields: dict[str, Any]) -> dict[str, Any]:
            known = [one for one in _list(fields.get("noted")) if isinstance(one, str)]
            first.append(what not in known)
            return fields | {"noted": [*known, what] if first[-1] else known}

        if not self._on or self._noted(what):
            return False
        return self._changed(noted) and first[-1]

    def forget(self, unfinished: UnfinishedSession) -> None:
        """Forgets a session that did not end: it was taken up again, or is not wanted."""

        def forgotten(fields: dict[str, Any]) -> dict[str, Any]:
            saved = _table(fields.get("unfinished"))
            return fields | {"unfinished": {k: v for k, v in saved.items() if k != unfinished.token}}

        self._changed(forgotten)
        with suppress(OSError):
            self._lock(unfinished.token).unlink()

    @contextmanager
    def opened(self, token: str | None = None) -> Iterator[OpenSession]:
        """A session from its start to its end. One that is left by an error, or killed, is found as unfinished."""
        session = OpenSession(self, token or secrets.token_hex(8))
        handle = self._locked(session.token) if self._on else None
        try:
            yield session
            session.ended()
        finally:
            if handle is not None:
                os.close(handle)
        if handle is not None:
            with suppress(OSError):
                self._lock(session.token).unlink()

    def change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
        """Replaces what is remembered; for `OpenSession`."""
        return self._changed(change)

    def _changed(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
        if not self._on:
            return False
        try:
            if self._file.update(change):
                self.problem = f"{self._file.path} could not be read; it was set aside"
        except RememberedError as error:
            self.problem = error.message
            return False
        return True

    def _noted(self, what: str) -> bool:
        """Looks without writing: most runs are not the first."""
        with suppress(RememberedError):
            return what in _list(self._file.read().get("noted"))
        return False

    def _lock(self, token: str) -> Path:
        return self._file.path.with_name(f"{token}{LOCK}")

    def _locked(self, token: str) -> int | None:
        """Holds the lock by which other sessions see that this one still runs: the system lets go of those of a process
        that died."""
        try:
            self._lock(token).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = open_lock(self._lock(token))
        except OSError:
            return None
        with suppress(OSError):  # a file system without locks
            try_lock(handle)
        return handle


class OpenSession:
    """A session that runs; made by `SessionStore.opened`."""

    def __init__(self, store: SessionStore, token: str) -> None:
        self.token = token
        self._store = store
        self._last: tuple[str, dict[str, Any]] | None = None

    def asked(self, query: str) -> None:
        """Remembers a query as the latest."""
        if not query.strip() or len(query) > LONGEST_QUERY:
            return
        query = _without_credentials(query)

        def added(fields: dict[str, Any]) -> dict[str, Any]:
            others = [one for one in _queries(fields) if one != query]
            return fields | {"queries": [query, *others][:MOST_QUERIES]}

        self._store.change(added)

    def tuned(self, bench: str, inputs: Inputs, values: Mapping[str, Any]) -> None:
        """Remembers the state of the session until it ends; the same state again writes nothing."""
        state = {
            "bench": bench,
            "inputs": _without_credentials(dict(list(inputs.items())[:MOST_VALUES])),
            "values": dict(list(values.items())[:MOST_VALUES]),
        }
        if self._last == (bench, state):
            return
        self._last = bench, state

        def saved(fields: dict[str, Any]) -> dict[str, Any]:
            others = {k: v for k, v in _table(fields.get("unfinished")).items() if k != self.token}
            recent = dict(list(others.items())[-(MOST_UNFINISHED - 1) :])
            return fields | {"unfinished": {**recent, self.token: state}}

        self._store.change(saved)

    def cut_off(self) -> None:
        """Leaves the last state to be offered again: the session failed."""
        self._last = None

    def ended(self) -> None:
        """Keeps the last state as that of a session that ended."""
        if self._last is None:
            return
        bench, state = self._last

        def kept(fields: dict[str, Any]) -> dict[str, Any]:
            others = {k: v for k, v in _table(fields.get("unfinished")).items() if k != self.token}
            return fields | {"unfinished": others, "bench": bench, "values": state["values"]}

        self._store.change(kept)


def _without_credentials(value: Any) -> Any:
    """A value as it may be kept: our own rules look, which is enough for what a person types and takes no time."""
    redactor = Redactor(Scanning(full=False))

    def clean(one: Any) -> Any:
        if isinstance(one, dict):
            return {name: clean(item) for name, item in one.items()}
        if isinstance(one, list | tuple):
            return [clean(item) for item in one]
        return redactor.text(one) if isinstance(one, str) else one

    return clean(value)


def _queries(fields: Mapping[str, Any]) -> list[str]:
    found = [one for one in _list(fields.get("queries")) if isinstance(one, str) and 0 < len(one) <= LONGEST_QUERY]
    return list(dict.fromkeys(found))[:MOST_QUERIES]


def _unfinished(token: str, saved: Any) -> UnfinishedSession | None:
    """One entry; None for one that is none, or that had tuned nothing."""
    saved = _table(saved)
    bench, values = saved.get("bench"), _values(saved.get("values"))
    inputs = {
        name: value
        for name, value in _table(saved.get("inputs")).items()
        if isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))
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
