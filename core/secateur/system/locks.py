"""Locks files that one process at a time may hold, and folders that one process at a time may work in.

The locks are those of `flock`, which belong to the open file. The system releases them when a process dies, so neither
a clock nor process numbers are needed.

    handle = open_lock(path)          # makes the file if it is missing
    lock(handle)                      # waits until it is free
    try_lock(handle)                  # False: another process holds it
    is_held(path)
    remove_unless_held(path)
    with one_at_a_time(folder): ...
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_lock(path: Path) -> int:
    """Opens a file for locking, and makes it if it is missing. It can be removed while it is open. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def lock(handle: int) -> None:
    """Locks an open file, and waits until it is free. Raises OSError: the file system has no locks."""
    fcntl.flock(handle, fcntl.LOCK_EX)


def try_lock(handle: int) -> bool:
    """Locks an open file without waiting; returns False if another process holds it. Raises OSError: the file system
    has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove_unless_held(path: Path) -> None:
    """Removes a file, unless a process holds it. Raises OSError: the file cannot be removed, or the file system has no
    locks."""
    handle = os.open(path, _LOOK)
    try:
        if try_lock(handle):
            path.unlink()
    finally:
        os.close(handle)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Lets one process at a time into the block for a folder; all processes, if the file system has no locks. Raises
    OSError: the folder is missing or cannot be opened."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            lock(handle)
        yield
    finally:
        os.close(handle)
