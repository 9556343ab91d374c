"""The folder of an index: its place and size, and the removal of files that other processes may be using.

Replaces files atomically, and removes the unfinished files of writers that were killed.

A writer holds a lock on its unfinished file. The system releases the locks of a process that dies, so an unfinished
file that can be locked has no writer any more. This needs neither a clock nor process numbers.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from secateur.errors import IndexingError
from secateur.system.files import lock, new_file, one_at_a_time, remove_unless_held

SUFFIX = ".part"  # the ending of unfinished files


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Opens an empty file that becomes `path` at the end. After an error, the old file stays and nothing is left
    behind.

    Without `durable`, a power cut may leave a truncated file, which the reader must detect. Raises OSError: the folder
    cannot be written or is full, or a folder has that name.
    """
    handle, temporary = _begin_file(path)
    try:
        with os.fdopen(handle, "wb") as file:  # closing releases the lock, so the file is renamed before
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _begin_file(path: Path) -> tuple[int, Path]:
    """Makes and locks a new file beside `path`; again, if another process removed it as a leftover before the lock."""
    while True:
        handle, name = new_file(path.parent, f"{path.name}.", SUFFIX)
        with suppress(OSError):  # some file systems have no locks
            lock(handle)
        if name.exists():
            return handle, name
        os.close(handle)


def remove_leftovers(folder: Path, prefix: str = "") -> None:
    """Removes the unfinished files in `folder` that no process works on. A file that cannot be locked or removed
    stays."""
    for path in folder.glob(f"{prefix}*{SUFFIX}"):
        with suppress(OSError):
            remove_unless_held(path)


FILE_NAME = "index.sqlite"

BROKEN = ".broken"  # The ending of files that were set aside. The next sweep removes them.


def folder_of(cache_dir: Path, root: Path) -> Path:
    """Returns the folder of a repository's index."""
    return cache_dir / "index" / folder_name(root)


def folder_name(root: Path) -> str:
    """Names a folder for data about a repository: the repository's own name for people, then a digest of its path,
    which makes the name unique."""
    with suppress(OSError):
        root = root.resolve()
    name = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "_" for letter in root.name
    )[:40]
    return f"{name}-{blake2b(os.fsencode(str(root)), digest_size=8).hexdigest()}"


def size_of(folder: Path) -> int:
    """Counts the bytes in the folder of an index; 0 if the folder does not exist."""
    total = 0
    for path in folder.glob("*"):
        with suppress(OSError):  # another process may have removed it
            total += path.lstat().st_size
    return total


def remove(folder: Path) -> int:
    """Removes an index and returns its size in bytes. A process that has it open continues with its open files. Raises
    IndexingError: a file cannot be removed."""
    size = size_of(folder)
    try:
        with one_at_a_time(folder):
            for file in with_logs(folder / FILE_NAME):  # the log first: it must not be applied to a new database
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
    """Removes the leftovers of killed writers, and sets folders aside that stand in the place of files."""
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
    """Returns a database and the files that SQLite keeps beside it, the log first: a database without its log is only
    old, but one with the log of another is wrong."""
    return (*(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")), path)


def file_id(path: Path) -> tuple[int, int] | None:
    """Returns the identity of the file that has this name now; None if it does not exist."""
    try:
        look = path.lstat()
    except OSError:
        return None
    return look.st_dev, look.st_ino


def discard(path: Path) -> None:
    """Removes a file, or a folder in its place, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
