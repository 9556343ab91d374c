"""Replaces files atomically, and removes the unfinished files of writers that were killed.

A writer holds a lock on its unfinished file. The system releases the locks of a process that dies, so an unfinished
file that can be locked has no writer any more. This needs neither a clock nor process numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from secateur.system.files import new_file
from secateur.system.locks import lock, remove_unless_held

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
