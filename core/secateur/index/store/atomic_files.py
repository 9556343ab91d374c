"""Files that take another's place whole or not at all, and the removal of what writers that were killed left behind.

A writer holds a lock on its unfinished file. The system lets go of the locks of a process that dies, so an unfinished
file that can be locked is nobody's; no clock and no process number has to be trusted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from secateur.system.files import new_file, replace
from secateur.system.locks import lock, remove_unless_held

SUFFIX = ".part"
"""Ending of unfinished files."""


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
            replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _begun(path: Path) -> tuple[int, Path]:
    """A locked new file beside `path`. One removed as a leftover between its making and its locking is made again."""
    while True:
        handle, name = new_file(path.parent, f"{path.name}.", SUFFIX)
        with suppress(OSError):  # a file system without locks
            lock(handle)
        if name.exists():
            return handle, name
        os.close(handle)


def remove_leftovers(folder: Path, prefix: str = "") -> None:
    """Remove unfinished files below `folder` that no process works on; where that cannot be told, or not be done, they
    stay."""
    for path in folder.glob(f"{prefix}*{SUFFIX}"):
        with suppress(OSError):
            remove_unless_held(path)
