"""The folder of an index: where it lies, how large it is, and how files in it are set aside or removed while others may
use them."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from secateur.errors import IndexingError
from secateur.index.store.atomic_files import remove_leftovers
from secateur.system.locks import one_at_a_time

FILE_NAME = "index.sqlite"

BROKEN = ".broken"
"""Ending of files that were set aside; they go with the next sweep."""


def folder_of(cache_dir: Path, root: Path) -> Path:
    """The folder of a repository's index."""
    return cache_dir / "index" / folder_name(root)


def folder_name(root: Path) -> str:
    """The name of a folder that holds something about a repository: it begins for people, a digest of the repository's
    path makes it unique."""
    with suppress(OSError):
        root = root.resolve()
    name = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "_" for letter in root.name
    )[:40]
    return f"{name}-{blake2b(os.fsencode(str(root)), digest_size=8).hexdigest()}"


def size_of(folder: Path) -> int:
    """Bytes of everything in the folder of an index; 0 where there is none."""
    total = 0
    for path in folder.glob("*"):
        with suppress(OSError):  # another process removed it
            total += path.lstat().st_size
    return total


def remove(folder: Path) -> int:
    """Remove an index and return how many bytes it held; a process that has it open goes on with what it has.

    Raises:
        IndexingError: something of it cannot be removed.
    """
    size = size_of(folder)
    try:
        with one_at_a_time(folder):
            for file in with_logs(folder / FILE_NAME):  # the log first: a new database must never find another's
                discard(file)
            shutil.rmtree(folder)
    except FileNotFoundError:
        return size
    except OSError as error:
        raise IndexingError(
            f"{folder}: the index cannot be removed ({error.strerror})", hint="remove the folder yourself"
        ) from error
    return size


def tidy(folder: Path) -> None:
    """Take away what killed writers left, and folders that stand where files should."""
    remove_leftovers(folder)
    for path in folder.iterdir():
        if path.is_dir() and path.suffix != BROKEN:
            set_aside(path)


def set_aside(path: Path) -> None:
    broken = path.with_name(path.name + BROKEN)
    discard(broken)
    with suppress(FileNotFoundError):
        path.replace(broken)


def with_logs(path: Path) -> tuple[Path, ...]:
    """A database and what SQLite keeps beside it. The log comes first: without it an old database is old, with
    another's it is wrong."""
    return (*(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")), path)


def file_id(path: Path) -> tuple[int, int] | None:
    """The identity of the file that has this name now; None if there is none."""
    try:
        look = path.lstat()
    except OSError:
        return None
    return look.st_dev, look.st_ino


def discard(path: Path) -> None:
    """Remove a file, or a folder that took its place, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
