"""Stores the records of an index in SQLite (WAL mode): a record for each path and content, and the *look* of each file
(size, date) when it was read.

There may be many readers and one writer at a time; a second writer waits. Every record has a checksum, so a flipped
byte is detected and the file is read again. A database that SQLite cannot read is set aside and begun again, because
all of it can be made from the files. Records that were not used for many runs are deleted: see `sweep`.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from secateur.errors import IndexingError
from secateur.index.store.folder import BROKEN, FILE_NAME, discard, file_id, set_aside, tidy, with_logs
from secateur.system.files import one_at_a_time

BUSY_SECONDS = 30.0  # the time that a writer waits for another

# Attempts to switch to WAL, and seconds between them: another process makes a database in a few milliseconds.
WAL_ATTEMPTS = 100
WAL_PAUSE = 0.02

KEPT_VERSIONS = 4  # contents that are kept for each path, so that switching between branches reads nothing again

# Writing runs after which unused records are deleted. The differing files of a branch that was left for longer are read
# again.
KEPT_RUNS = 100

# Writing runs between two sweeps. A sweep touches every path, and not every single edit of a large repository should
# wait for that.
SWEEP_EVERY = 20

# Bytes of the log that stay on disk after it is written back. The first run on a large repository makes it much longer.
WAL_LIMIT = 16 << 20

LAYOUT = 2  # Raise it when the tables change. A database of another layout is begun again.

# Errors that SQLite raises; UnicodeDecodeError if a damaged name is a part of its message.
_ERRORS = (sqlite3.Error, UnicodeDecodeError)

_CHECKSUM_BYTES = 8

_LAST_GENERATION = 1 << 53  # more runs than there can be: a larger number is damaged

# `used` is the run that wrote a row. `member` holds the last sweep that found a record in use: a column in `record`
# would have to be updated, which writes all data again.
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


class RecordStore(Protocol):
    """The records that a snapshot is made of, and the folder that keeps it; see `Store`."""

    folder: Path | None
    kept: Path | None

    def records(self, wanted: Sequence[tuple[bytes, bytes]], fingerprint: str) -> Iterator[bytes | None]:
        """Yields the wanted records in order; None for one that is missing or damaged."""


class Store:
    """The index of one repository on disk, or in memory when `folder` is None.

        with Store.open(folder) as store:
            digests = store.load_looks()

    Attributes:
        folder: the folder of the index; None in memory.
        kept: the folder that saved data can be read from: `folder`, or the one that a copy in memory was made of.

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
        """Opens or creates a database. One that SQLite cannot read is renamed to `*.broken` and replaced."""
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
                if not _is_damaged(error):
                    raise
                return cls(_replace(path, file), folder)
        except (OSError, *_ERRORS) as error:
            raise _failure(error, folder) from error

    @classmethod
    def in_memory(cls, kept: Path | None) -> Store:
        """Copies an index whose folder cannot be written into memory. Nothing is saved, and the folder does not
        change."""
        db = _connect(":memory:")
        if kept is None:
            return cls(db, None)
        name = quote(os.fsencode(kept / FILE_NAME))
        for mode in ("mode=ro", "immutable=1"):  # the second one works without a lock
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
        """Returns the rows of a query. A damaged database is replaced by an empty one, and no rows are returned."""
        try:
            return self._db.execute(statement, values).fetchall()
        except _ERRORS as error:
            if not _is_damaged(error) or self.folder is None or self._db.in_transaction:
                raise _failure(error, self.folder) from error
            self._begin_anew(self.folder)
            return []

    def _begin_anew(self, folder: Path) -> None:
        self._db.close()
        try:
            self._db = _replace(folder / FILE_NAME, self._file)
            self._file = file_id(folder / FILE_NAME)
        except (OSError, *_ERRORS) as error:
            raise _failure(error, folder) from error

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Opens a transaction, which is committed or rolled back. A damaged database is replaced, and the error
        raised."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not isinstance(error, _ERRORS):
                raise
            if _is_damaged(error) and self.folder is not None:
                self._begin_anew(self.folder)
            raise _failure(error, self.folder) from error

    # --- files as last seen ------------------------------------------------------------------------------------------

    def load_looks(self) -> dict[tuple[bytes, str], bytes]:
        """Returns (path, token of the look) -> content digest for every file that was read."""
        return {(path, token): digest for path, token, digest in self._rows("SELECT path, token, digest FROM seen")}

    def remember(self, rows: Iterable[tuple[bytes, str, bytes]], generation: int) -> None:
        """Stores the looks of files and their contents, and deletes the oldest beyond KEPT_VERSIONS of each path."""
        rows = list(rows)
        self._db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", [(*row, generation) for row in rows])
        self._db.executemany(
            "DELETE FROM seen WHERE path = ?1 AND token NOT IN (SELECT token FROM seen WHERE path = ?1 ORDER BY used"
            " DESC, token LIMIT ?2)",
            [(row[0], KEPT_VERSIONS) for row in rows],
        )

    def overlook(self, paths: Iterable[bytes]) -> None:
        """Forgets the looks of these files, so that they are read again in any case."""
        self._db.executemany("DELETE FROM seen WHERE path = ?", [(path,) for path in paths])

    # --- records -----------------------------------------------------------------------------------------------------

    def list_known(self, fingerprint: str) -> set[tuple[bytes, bytes]]:
        """Returns (path, digest) for all records of a fingerprint."""
        return set(self._rows("SELECT path, digest FROM record WHERE fingerprint = ?", (fingerprint,)))

    def put(self, path: bytes, digest: bytes, fingerprint: str, data: bytes, generation: int) -> None:
        """Stores one record, and deletes the oldest beyond KEPT_VERSIONS of its path."""
        self._db.execute(
            "INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?, ?)",
            (path, digest, fingerprint, generation, _seal(data, path, digest, fingerprint)),
        )
        self._db.execute(
            "DELETE FROM record WHERE path = ?1 AND (digest, fingerprint) NOT IN"
            " (SELECT digest, fingerprint FROM record WHERE path = ?1 ORDER BY used DESC, digest LIMIT ?2)",
            (path, KEPT_VERSIONS),
        )

    def records(self, wanted: Sequence[tuple[bytes, bytes]], fingerprint: str) -> Iterator[bytes | None]:
        """Yields the wanted records in order; None for one that is missing or damaged."""
        for path, digest in wanted:
            key = (path, digest, fingerprint)
            yield _unseal(
                self._rows("SELECT data FROM record WHERE path = ? AND digest = ? AND fingerprint = ?", key), *key
            )

    def generation(self) -> int:
        """Returns the number of the next writing run. It orders uses in time without a clock."""
        rows = self._rows(
            "SELECT used FROM seen WHERE used < ? AND typeof(used) = 'integer' ORDER BY used DESC LIMIT 1",
            (_LAST_GENERATION,),
        )
        return 1 + rows[0][0] if rows else 1

    def sweep(self, present: Iterable[tuple[bytes, bytes]], fingerprint: str) -> None:
        """In every SWEEP_EVERY-th writing run, deletes the records and looks that none of the last KEPT_RUNS runs wrote
        or found in use. `present`: (path, digest) of all files of the current state, whose records have this
        `fingerprint`."""
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
        """Returns a stored value; None if it is missing or damaged."""
        return _unseal(self._rows("SELECT data FROM blob WHERE kind = ? AND name = ?", (kind, name)), kind, name)

    def put_blobs(self, kind: str, values: Mapping[str, bytes], *, most: int = 0) -> None:
        """Stores values by name. `most`: deletes the oldest of that kind beyond this number."""
        run = self.generation()
        if most:  # a run may write several times, and the last value must count as the newest
            written = self._rows(
                "SELECT MAX(used) FROM blob WHERE kind = ? AND used < ? AND typeof(used) = 'integer'",
                (kind, _LAST_GENERATION),
            )
            run = max(run, 1 + (written[0][0] or 0) if written else 1)
        rows = [(kind, name, run, _seal(data, kind, name)) for name, data in values.items()]
        self._db.executemany("INSERT OR REPLACE INTO blob VALUES (?, ?, ?, ?)", rows)
        if most:
            self._db.execute(
                "DELETE FROM blob WHERE kind = ?1 AND name NOT IN (SELECT name FROM blob WHERE kind = ?1 ORDER BY used"
                " DESC, name LIMIT ?2)",
                (kind, most),
            )


class UnwritableIndex(IndexingError):
    """The index cannot be written: no room, no permission, no folder. The query can be answered from memory."""

    @classmethod
    def of(cls, start: str, reason: str) -> UnwritableIndex:
        """Makes the error. `start`: the path that cannot be written with a colon, or "" if it is not known."""
        return cls(
            f"{start}the index cannot be written ({reason})",
            hint="free some space, or set SECATEUR_CACHE_DIR to a folder you can write to",
        )


class _Outdated(Exception):
    """The tables have another layout."""


def _connect(name: str) -> sqlite3.Connection:
    db = sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    # a damaged text matches nothing, and raises no error
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        # only a new database takes this setting: free pages are given back to the disk
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        _write_ahead(db)
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(f"PRAGMA journal_size_limit={WAL_LIMIT}").fetchall()
        if _layout(db) != LAYOUT:
            db.execute("BEGIN IMMEDIATE")
            if _layout(db) != LAYOUT:
                if db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
                    raise _Outdated
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version={LAYOUT}")
            db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def _layout(db: sqlite3.Connection) -> int:
    (layout,) = db.execute("PRAGMA user_version").fetchone()
    return int(layout)


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switches to WAL. If several processes make a database at once, SQLite refuses all but one without waiting, so
    this tries again."""
    for attempt in range(WAL_ATTEMPTS):
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if _primary(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or attempt == WAL_ATTEMPTS - 1:
                raise
            time.sleep(WAL_PAUSE)


def _is_damaged(error: Exception) -> bool:
    """Tells whether an error means that the file is not one of our databases, or one of another version. Our statements
    are fixed, so an error in a statement means that its tables are missing."""
    return isinstance(error, (UnicodeDecodeError, _Outdated)) or _primary(error) in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
    )


def _primary(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _replace(path: Path, seen: tuple[int, int] | None) -> sqlite3.Connection:
    """Replaces a damaged database by a new one, unless another process has done so already. `seen`: the identity of the
    damaged file."""
    with one_at_a_time(path.parent):
        if file_id(path) == seen:
            for file in with_logs(path):
                set_aside(file)
        return _connect(str(path))


def _failure(error: Exception, folder: Path | None) -> IndexingError:
    start = f"{folder}: " if folder else ""
    if _primary(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return IndexingError(f"{start}another process uses the index", hint="wait for it to finish and run again")
    if _is_damaged(error):
        return IndexingError(f"{start}the index is damaged ({error})", hint="run again: a new one is built")
    return UnwritableIndex.of(start, str(getattr(error, "strerror", None) or error))


def _seal(data: bytes, *key: bytes | str) -> bytes:
    """Puts a checksum of the data and its key before the data. The key is included because a flipped bit in it would
    turn the data into those of another key."""
    seal = blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=_CHECKSUM_BYTES)
    seal.update(data)
    return seal.digest() + data


def _unseal(rows: Sequence[Sequence[object]], *key: bytes | str) -> bytes | None:
    stored = rows[0][0] if rows else None
    if not isinstance(stored, bytes):  # a flipped bit can change the type too
        return None
    data = stored[_CHECKSUM_BYTES:]
    return data if stored == _seal(data, *key) else None
