"""Locks of `flock`, which belong to the open file and not to the process."""

from __future__ import annotations

import sys

assert sys.platform != "win32"

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_lock(path: Path) -> int:
    """Opens a file to be locked, made where it is missing; it can be removed while it is open. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def lock(handle: int) -> None:
    """Locks an open file; waits for whoever holds it.

    Raises:
        OSError: the file system knows no locks.
    """
    fcntl.flock(handle, fcntl.LOCK_EX)


def try_lock(handle: int) -> bool:
    """Locks an open file without waiting; False where another holds it.

    Raises:
        OSError: the file system knows no locks.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(path: Path) -> bool:
    """Tells whether a process holds a file; False where there is none, True where the file system knows no locks."""
    try:
        handle = os.open(path, _LOOK)
    except OSError:
        return False
    try:
        return not try_lock(handle)
    except OSError:
        return True
    finally:
        os.close(handle)


def remove_unless_held(path: Path) -> None:
    """Removes a file that no process holds; one that is held stays.

    Raises:
        OSError: it cannot be removed, or whether it is held cannot be told.
    """
    handle = os.open(path, _LOOK)
    try:
        if try_lock(handle):
            path.unlink()
    finally:
        os.close(handle)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """One process at a time is in the block for a folder; where the file system knows no locks, all are.

    Raises:
        OSError: there is no such folder, or it cannot be opened.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            lock(handle)
        yield
    finally:
        os.close(handle)
