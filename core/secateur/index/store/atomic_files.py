"""Files that take another's place whole or not at all, and the removal of what writers that were killed left behind.

A writer holds a lock on its unfinished file. The system lets go of the locks of a process that dies, so an unfinished
file that can be locked is nobody's; no clock and no process number has to be trusted.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

SUFFIX = ".part"
"""Ending of unfinished files."""

_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """An empty file that becomes `path` at the end; after an error, what was there stays and nothing is left behind.

    Not `durable`: a power cut may leave less than was written, which whoever reads it must find out.

    Raises:
        OSError: the folder cannot be written or is full, or a folder has that name.
    """
    handle, temporary = _begun(path)
    try:
        with os.fdopen(handle, "wb") as file:  # closing lets go of the lock: not before it has its name
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _begun(path: Path) -> tuple[int, Path]:
    """A locked new file beside `path`. One removed as a leftover between its making and its locking is made again."""
    import tempfile  # takes a while, and most runs write nothing

    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=SUFFIX)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if Path(name).exists():
            return handle, Path(name)
        os.close(handle)


def remove_leftovers(folder: Path, prefix: str = "") -> None:
    """Remove unfinished files below `folder` that no process works on; where that cannot be told, or not be done, they
    stay."""
    for path in folder.glob(f"{prefix}*{SUFFIX}"):
        with suppress(OSError):
            handle = os.open(path, _LOOK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(handle)
