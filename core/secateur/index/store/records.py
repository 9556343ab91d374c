"""SQLite in WAL mode as the truth of the index: records by path and content, what each file looked like when it was
last read.

Many readers, one writer at a time; a writer waits for another. Every record carries a checksum, so a flipped byte is
found and the file is read again. A database that SQLite itself cannot read, at once or anywhere in it, is set aside and
begun anew: everything in it can be had again. What has been in use at none of the last runs is forgotten: see `sweep`.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

from secateur.errors import IndexingError
from secateur.index.store.folder import BROKEN, FILE_NAME, discard, file_id, set_aside, tidy, with_logs
from secateur.system.locks import one_at_a_time

BUSY_SECONDS = 30.0
"""The time that a writer waits for another."""

WAL_ATTEMPTS = 100
WAL_PAUSE = 0.02
"""Seconds between attempts: making a database takes a few milliseconds."""

KEPT_VERSIONS = 4
"""Contents remembered per path, so that switching between branches reads nothing again."""

KEPT_RUNS = 100
"""Writing runs after which what none of them used is forgotten: a branch left for longer is read again where it
differs."""

SWEEP_EVERY = 20
"""Writing runs from one forgetting to the next. It notes every path, which single edits of a large repository should
not wait for."""

WAL_LIMIT = 16 << 20
"""Bytes the log keeps on disk once it is written back; the first run of a large repository makes it much longer."""

LAYOUT = 2
"""Changes with the tables: a database of another layout is begun anew."""

_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""Errors that SQLite raises; the second where a damaged name is part of its message."""

_CHECKSUM_BYTES = 8

_LAST_GENERATION = 1 << 53
"""No run gets there: a larger number is a damaged one."""

_TABLES = """
CREATE TABLE record (
  path BLOB NOT NULL, digest BLOB NOT NULL, fingerprint TEXT NOT NULL, used INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (path, digest, fingerprint)) WITHOUT ROWID;
CREATE TABLE seen (
  path BLOB NOT NULL, token TEXT NOT NULL, digest BLOB NOT NULL, used INTEGER NOT NULL,
  PRIMARY KEY (path, token)) WITHOUT ROWID;
CREATE INDEX seen_used ON seen (used);
CREATE TABLE member (
  path BLOB NOT NULL, digest BLOB NOT NULL, fingerprint TEXT NOT NULL, used INTEGER NOT NULL,
  PRIMARY KEY (path, digest, fingerprint)) WITHOUT ROWID;
CREATE TABLE blob (
  kind TEXT NOT NULL, name TEXT NOT NULL, used INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (kind, name)) WITHOUT ROWID;
"""
"""`used` is the run that wrote a row; in `member`, the last sweep that found it in use: renewing it in `record` would
write all data again."""


class Store:
    """The index of one repository on disk, or in memory when `folder` is None.

        with Store.open(folder) as store:
            digests = store.seen()

    Attributes:
        folder: where it is kept; None in memory.
        kept: where what was kept before can be read: `folder`, or the folder that a copy in memory was taken from.

    Raises (any method):
        UnwritableIndex: the folder cannot be written, or the disk is full.
        IndexingError: another process holds the index for too long, or it is damaged.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path | None, kept: Path | None = None) -> None:
        self._db = connection
        self.folder = folder
        self.kept = folder or kept
        self._file = file_id(folder / FILE_NAME) if folder else None

    @classmethod
    def open(cls, folder: Path | None) -> Store:
        """Open or create; a database that SQLite cannot read is renamed to `*.broken` and replaced."""
        if folder is None:
            return cls(_connect(":memory:"), None)
        path = folder / FILE_NAME
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            tidy(folder)
            file = file_id(path)
            try:
                return cls(_connect(str(path)), folder)
            except (_Outdated, *_ERRORS) as error:
                if not _damaged(error):
                    raise
                return cls(_replaced(path, file), folder)
        except (OSError, *_ERRORS) as error:
            raise _failure(error, folder) from error

    @classmethod
    def in_memory(cls, kept: Path | None) -> Store:
        """Reads an index into memory where its folder cannot be written: nothing is kept, nothing in the folder
        changes."""
        db = _connect(":memory:")
        if kept is None:
            return cls(db, None)
        name = quote(os.fsencode(kept / FILE_NAME))
        for mode in ("mode=ro", "immutable=1"):  # the second reads where not even a lock can be taken
            with suppress(OSError, *_ERRORS):
                source = sqlite3.connect(f"file:{name}?{mode}", uri=True)
                try:
                    if _layout(source) == LAYOUT:
                        source.backup(db)
                        break
                finally:
                    source.close()
        return cls(db, None, kept)

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows of a query; nothing, from a new and empty database, where this one turns out to be damaged."""
        try:
            return self._db.execute(statement, values).fetchall()
        except _ERRORS as error:
            if not _damaged(error) or self.folder is None or self._db.in_transaction:
                raise _failure(error, self.folder) from error
            self._begin_anew(self.folder)
            return []

    def _begin_anew(self, folder: Path) -> None:
        self._db.close()
        try:
            self._db = _replaced(folder / FILE_NAME, self._file)
            self._file = file_id(folder / FILE_NAME)
        except (OSError, *_ERRORS) as error:
            raise _failure(error, folder) from error

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction; all or nothing. A damaged database is set aside: the next run begins anew."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not isinstance(error, _ERRORS):
                raise
            if _damaged(error) and self.folder is not None:
                self._begin_anew(self.folder)
            raise _failure(error, self.folder) from error

    # --- files as last seen ------------------------------------------------------------------------------------------

    def seen(self) -> dict[tuple[bytes, str], bytes]:
        """(path, token) -> content digest of every file as it was read before."""
        return {(path, token): digest for path, token, digest in self._rows("SELECT path, token, digest FROM seen")}

    def remember(self, rows: Iterable[tuple[bytes, str, bytes]], generation: int) -> None:
        """Note what files looked like and which content they had; older looks of a path beyond KEPT_VERSIONS go."""
        rows = list(rows)
        self._db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", [(*row, generation) for row in rows])
        self._db.executemany(
            "DELETE FROM seen WHERE path = ?1 AND token NOT IN (SELECT token FROM seen WHERE path = ?1 ORDER BY used"
            " DESC, token LIMIT ?2)",
            [(row[0], KEPT_VERSIONS) for row in rows],
        )

    def overlook(self, paths: Iterable[bytes]) -> None:
        """Forget what these files looked like: they are read again, whatever they look like."""
        self._db.executemany("DELETE FROM seen WHERE path = ?", [(path,) for path in paths])

    # --- records -----------------------------------------------------------------------------------------------------

    def known(self, fingerprint: str) -> set[tuple[bytes, bytes]]:
        """(path, digest) of all records of a fingerprint."""
        return set(self._rows("SELECT path, digest FROM record WHERE fingerprint = ?", (fingerprint,)))

    def put(self, path: bytes, digest: bytes, fingerprint: str, data: bytes, generation: int) -> None:
        """Store one record; contents of a path beyond KEPT_VERSIONS go, those written longest ago first."""
        self._db.execute(
            "INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?, ?)",
            (path, digest, fingerprint, generation, _sealed(data, path, digest, fingerprint)),
        )
        self._db.execute(
            "DELETE FROM record WHERE path = ?1 AND (digest, fingerprint) NOT IN"
            " (SELECT digest, fingerprint FROM record WHERE path = ?1 ORDER BY used DESC, digest LIMIT ?2)",
            (path, KEPT_VERSIONS),
        )

    def records(self, wanted: Sequence[tuple[bytes, bytes]], fingerprint: str) -> Iterator[bytes | None]:
        """Records in the order asked for; None where it is missing or its checksum does not hold."""
        for path, digest in wanted:
            key = (path, digest, fingerprint)
            yield _unsealed(
                self._rows("SELECT data FROM record WHERE path = ? AND digest = ? AND fingerprint = ?", key), *key
            )

    def generation(self) -> int:
        """A number that grows with every writing run; orders what was used when, without a clock."""
        rows = self._rows(
            "SELECT used FROM seen WHERE used < ? AND typeof(used) = 'integer' ORDER BY used DESC LIMIT 1",
            (_LAST_GENERATION,),
        )
        return 1 + rows[0][0] if rows else 1

    def sweep(self, present: Iterable[tuple[bytes, bytes]], fingerprint: str) -> None:
        """Every SWEEP_EVERY-th writing run: forget what none of the last KEPT_RUNS runs wrote and no sweep since then
        found in use.

        Args:
            present: (path, digest) of all files of the state at hand; their records have this `fingerprint`.
        """
        run = self.generation() - 1
        if run % SWEEP_EVERY or run == 0 or self._rows("SELECT 1 FROM member WHERE used = ? LIMIT 1", (run,)):
            return
        old = run - KEPT_RUNS
        with self.writing():
            self._db.executemany(
                "INSERT OR REPLACE INTO member VALUES (?, ?, ?, ?)",
                ((path, digest, fingerprint, run) for path, digest in present),
            )
            self._db.execute("DELETE FROM member WHERE used <= ?", (old,))
            self._db.execute(
                "DELETE FROM record WHERE used <= ? AND NOT EXISTS (SELECT 1 FROM member WHERE member.path ="
                " record.path AND member.digest = record.digest AND member.fingerprint = record.fingerprint)",
                (old,),
            )
            self._db.execute(
                "DELETE FROM seen WHERE used <= ? AND NOT EXISTS (SELECT 1 FROM member WHERE member.path = seen.path"
                " AND member.digest = seen.digest)",
                (old,),
            )
            self._db.execute("PRAGMA incremental_vacuum").fetchall()
        for path in self.folder.glob(f"*{BROKEN}") if self.folder else ():
            discard(path)

    # --- everything else ---------------------------------------------------------------------------------------------

    def get_blob(self, kind: str, name: str) -> bytes | None:
        """A stored value; None if there is none or its checksum does not hold."""
        return _unsealed(self._rows("SELECT data FROM blob WHERE kind = ? AND name = ?", (kind, name)), kind, name)

    def put_blobs(self, kind: str, values: Mapping[str, bytes], *, only: bool = False, most: int = 0) -> None:
        """Store values by name; `only`: nothing else of that kind stays; `most`: no more than so many do, those written
        longest ago go."""
        if only:
            self._db.execute("DELETE FROM blob WHERE kind = ?", (kind,))
        run = self.generation()
        if most:  # several times a run: what is written last is to stay
            written = self._rows(
                "SELECT MAX(used) FROM blob WHERE kind = ? AND used < ? AND typeof(used) = 'integer'",
                (kind, _LAST_GENERATION),
            )
            run = max(run, 1 + (written[0][0] or 0) if written else 1)
        rows = [(kind, name, run, _sealed(data, kind, name)) for name, data in values.items()]
        self._db.executemany("INSERT OR REPLACE INTO blob VALUES (?, ?, ?, ?)", rows)
        if most:
            self._db.execute(
                "DELETE FROM blob WHERE kind = ?1 AND name NOT IN (SELECT name FROM blob WHERE kind = ?1 ORDER BY used"
                " DESC, name LIMIT ?2)",
                (kind, most),
            )


class UnwritableIndex(IndexingError):
    """The index cannot be kept: no room, no permission, no such folder. What was asked can be answered from memory."""

    @classmethod
    def of(cls, place: str, reason: str) -> UnwritableIndex:
        """`place`: what cannot be written, with a colon, or nothing."""
        return cls(
            f"{place}the index cannot be written ({reason})",
            hint="free some space, or set SECATEUR_CACHE_DIR to a folder you can write to",
        )


class _Outdated(Exception):
    """The tables are of another layout."""


def _connect(name: str) -> sqlite3.Connection:
    db = sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.text_factory = lambda data: data.decode("utf-8", "replace")  # a damaged text matches nothing, and stops nobody
    try:
        db.execute(
            "PRAGMA auto_vacuum=INCREMENTAL"
        )  # holds for a new database: pages that are free again go back to the disk
        _write_ahead(db)
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(f"PRAGMA journal_size_limit={WAL_LIMIT}").fetchall()
        if _layout(db) != LAYOUT:
            _lay_out(db)
    except BaseException:
        db.close()
        raise
    return db


def _layout(db: sqlite3.Connection) -> int:
    (layout,) = db.execute("PRAGMA user_version").fetchone()
    return int(layout)


def _lay_out(db: sqlite3.Connection) -> None:
    """Make the tables, where no other process has made them meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    if _layout(db) != LAYOUT:
        if db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
            raise _Outdated
        for statement in _TABLES.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version={LAYOUT}")
    db.execute("COMMIT")


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switch to WAL. Where several processes make a database at once, SQLite refuses all but one without waiting: ask
    again."""
    for attempt in range(WAL_ATTEMPTS):
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if _primary(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or attempt == WAL_ATTEMPTS - 1:
                raise
            time.sleep(WAL_PAUSE)


def _damaged(error: Exception) -> bool:
    """True if the file is not a database of ours, or of another version. Our statements are fixed: an error in one
    means that its tables are not there."""
    return isinstance(error, (UnicodeDecodeError, _Outdated)) or _primary(error) in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
    )


def _primary(error: Exception) -> int:
    """SQLite's code without its extension; 0 for errors that are not SQLite's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _replaced(path: Path, seen: tuple[int, int] | None) -> sqlite3.Connection:
    """A new database in the place of a damaged one, `seen` there; or the one that another process has put there
    since."""
    with one_at_a_time(path.parent):
        if file_id(path) == seen:
            for file in with_logs(path):
                set_aside(file)
        return _connect(str(path))


def _failure(error: Exception, folder: Path | None) -> IndexingError:
    place = f"{folder}: " if folder else ""
    if _primary(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return IndexingError(f"{place}the index is held by another process", hint="wait for it to finish and run again")
    if _damaged(error):
        return IndexingError(f"{place}the index is damaged ({error})", hint="run again: it is begun anew")
    return UnwritableIndex.of(place, str(getattr(error, "strerror", None) or error))


def _sealed(data: bytes, *key: bytes | str) -> bytes:
    """The data behind a checksum of it and of the key it is stored under: a flipped bit in a key must not make it
    another's."""
    seal = blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=_CHECKSUM_BYTES)
    seal.update(data)
    return seal.digest() + data


def _unsealed(rows: Sequence[Sequence[object]], *key: bytes | str) -> bytes | None:
    """The data of the one row there is, if its checksum holds."""
    stored = rows[0][0] if rows else None
    if not isinstance(stored, bytes):  # a flipped bit can change the type too
        return None
    data = stored[_CHECKSUM_BYTES:]
    return data if stored == _sealed(data, *key) else None
