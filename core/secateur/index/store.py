"""SQLite in WAL mode as the truth of the index: records by path and content, what each file looked like when it was last read.

Many readers, one writer at a time; a writer waits for another. Every record carries a checksum, so a flipped byte is found and the
file is read again. A file that SQLite itself cannot read is set aside and begun anew: everything in it can be had again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from secateur.errors import IndexingError

BUSY_SECONDS = 30.0
"""How long a writer waits for another."""

KEPT_VERSIONS = 4
"""Contents remembered per path, so that switching between branches reads nothing again."""

_CHECKSUM_BYTES = 8

_TABLES = """
CREATE TABLE IF NOT EXISTS record (
  path BLOB NOT NULL, digest BLOB NOT NULL, fingerprint TEXT NOT NULL, used INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (path, digest, fingerprint)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (
  path BLOB NOT NULL, token TEXT NOT NULL, digest BLOB NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (path, token)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blob (kind TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID;
"""


class Store:
    """The index of one repository on disk, or in memory when `folder` is None.

        with Store.open(folder) as store:
            digests = store.seen(entries)

    Raises (`open`):
        IndexingError: the folder cannot be written.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path | None) -> None:
        self._db = connection
        self.folder = folder

    @classmethod
    def open(cls, folder: Path | None) -> Store:
        """Open or create; a database that SQLite cannot read is renamed to `*.broken` and replaced."""
        if folder is None:
            return cls(cls._connect(":memory:"), None)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = folder / "index.sqlite"
            try:
                return cls(cls._connect(str(path)), folder)
            except sqlite3.DatabaseError as error:
                if "lock" in str(error) or "busy" in str(error):
                    raise IndexingError(f"{path}: held by another process", hint="wait for it to finish and run again") from error
                for leftover in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
                    if leftover.exists():
                        leftover.replace(leftover.with_name(leftover.name + ".broken"))
                return cls(cls._connect(str(path)), folder)
        except (OSError, sqlite3.Error) as error:
            raise IndexingError(f"{folder}: the index cannot be written ({error})", hint="set SECATEUR_CACHE_DIR to a folder you can write to") from error

    @staticmethod
    def _connect(name: str) -> sqlite3.Connection:
        db = sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.executescript(_TABLES)
        return db

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction; all or nothing."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise IndexingError("the index is held by another process", hint="wait for it to finish and run again") from error
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # --- files as last seen ------------------------------------------------------------------------------------------

    def seen(self) -> dict[tuple[bytes, str], bytes]:
        """(path, token) -> content digest of every file as it was read before."""
        return {(path, token): digest for path, token, digest in self._db.execute("SELECT path, token, digest FROM seen")}

    def remember(self, rows: Iterable[tuple[bytes, str, bytes]], generation: int) -> None:
        """Note what files looked like and which content they had; older looks of a path beyond KEPT_VERSIONS go."""
        rows = list(rows)
        self._db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", [(*row, generation) for row in rows])
        self._db.executemany(
            "DELETE FROM seen WHERE path = ?1 AND token NOT IN (SELECT token FROM seen WHERE path = ?1 ORDER BY used DESC, token LIMIT ?2)",
            [(row[0], KEPT_VERSIONS) for row in rows],
        )

    # --- records -----------------------------------------------------------------------------------------------------

    def known(self, fingerprint: str) -> set[tuple[bytes, bytes]]:
        """(path, digest) of all records of a fingerprint."""
        return set(self._db.execute("SELECT path, digest FROM record WHERE fingerprint = ?", (fingerprint,)))

    def put(self, path: bytes, digest: bytes, fingerprint: str, data: bytes, generation: int) -> None:
        """Store one record; contents of a path beyond KEPT_VERSIONS go, those used longest ago first."""
        self._db.execute("INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?, ?)", (path, digest, fingerprint, generation, _checksum(data) + data))
        self._db.execute(
            "DELETE FROM record WHERE path = ?1 AND (digest, fingerprint) NOT IN"
            " (SELECT digest, fingerprint FROM record WHERE path = ?1 ORDER BY used DESC, digest LIMIT ?2)",
            (path, KEPT_VERSIONS),
        )

    def records(self, wanted: Sequence[tuple[bytes, bytes]], fingerprint: str) -> Iterator[bytes | None]:
        """Records in the order asked for; None where it is missing or its checksum does not hold."""
        for path, digest in wanted:
            row = self._db.execute("SELECT data FROM record WHERE path = ? AND digest = ? AND fingerprint = ?", (path, digest, fingerprint)).fetchone()
            data = row[0] if row else b""
            body = data[_CHECKSUM_BYTES:]
            yield body if row and data[:_CHECKSUM_BYTES] == _checksum(body) else None

    def forget(self, path: bytes, digest: bytes, fingerprint: str) -> None:
        """Drop a record whose bytes are not what was stored."""
        self._db.execute("DELETE FROM record WHERE path = ? AND digest = ? AND fingerprint = ?", (path, digest, fingerprint))

    def generation(self) -> int:
        """A number that grows with every writing run; orders what was used when, without a clock."""
        row = self._db.execute("SELECT COALESCE(MAX(used), 0) FROM seen").fetchone()
        return int(row[0]) + 1

    # --- everything else ---------------------------------------------------------------------------------------------

    def get_blob(self, kind: str, name: str) -> bytes | None:
        """A stored value; None if there is none or its checksum does not hold."""
        row = self._db.execute("SELECT data FROM blob WHERE kind = ? AND name = ?", (kind, name)).fetchone()
        if row is None or row[0][:_CHECKSUM_BYTES] != _checksum(row[0][_CHECKSUM_BYTES:]):
            return None
        body: bytes = row[0][_CHECKSUM_BYTES:]
        return body

    def put_blobs(self, kind: str, values: Mapping[str, bytes], *, only: bool = False) -> None:
        """Store values by name; `only`: nothing else of that kind stays."""
        if only:
            self._db.execute("DELETE FROM blob WHERE kind = ?", (kind,))
        self._db.executemany("INSERT OR REPLACE INTO blob VALUES (?, ?, ?)", [(kind, name, _checksum(data) + data) for name, data in values.items()])


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECKSUM_BYTES).digest()


def path_bytes(path: str) -> bytes:
    """A path as stored: names with any byte keep theirs."""
    return os.fsencode(path)
