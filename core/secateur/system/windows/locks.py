"""Locks of `LockFileEx`. A lock there is one of a range of bytes, which nobody else can read or write meanwhile: the
range is a byte behind everything that is ever written.

Not `portalocker`, whose locks on Windows come from pywin32: ten megabytes for one call; and not `msvcrt.locking`, which
does not say why it failed.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import msvcrt
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from secateur.system.windows.api import KERNEL, Overlapped, failure
from secateur.system.windows.files import open_always, open_shared

_PLACE = 0x7FFF_FFFF
"""Upper half of the offset of the byte that is locked."""

_PAUSE = 0.05
"""Seconds between two attempts. The call that waits by itself is deaf to Ctrl-C for ten seconds."""

_PAUSE_MS = 50
_TIMED_OUT = 0x102

_AT_ONCE, _EXCLUSIVE = 0x1, 0x2
_HELD = (33, 997)  # ERROR_LOCK_VIOLATION, ERROR_IO_PENDING


def open_lock(path: Path) -> int:
    """Opens a file to be locked, made where it is missing; it can be removed while it is open. Raises OSError."""
    return open_always(path)


def lock(handle: int) -> None:
    """Locks an open file; waits for whoever holds it.

    Raises:
        OSError: the file system knows no locks.
    """
    while not try_lock(handle):
        time.sleep(_PAUSE)


def try_lock(handle: int) -> bool:
    """Locks an open file without waiting; False where another holds it.

    Raises:
        OSError: the file system knows no locks.
    """
    where = Overlapped(Offset=0, OffsetHigh=_PLACE)
    flags = _EXCLUSIVE | _AT_ONCE
    if KERNEL.LockFileEx(msvcrt.get_osfhandle(handle), flags, 0, 1, 0, ctypes.byref(where)):
        return True
    error = failure()
    if error.winerror in _HELD:
        return False
    raise error


def is_held(path: Path) -> bool:
    """Tells whether a process holds a file; False where there is none, True where the file system knows no locks."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_BINARY | os.O_NOINHERIT)
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
    with open_shared(path) as file:
        if try_lock(file.fileno()):
            path.unlink()


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """One process at a time is in the block for a folder; where the file system knows no locks, all are.

    A folder cannot be locked, and a file in it could not be removed with it: a mutex of the system stands for it.

    Raises:
        OSError: there is no such folder, or it cannot be opened.
    """
    folder.stat()
    place = os.path.normcase(os.path.realpath(folder))
    name = f"Local\\secateur-{blake2b(os.fsencode(place), digest_size=16).hexdigest()}"
    mutex = KERNEL.CreateMutexW(None, False, name)
    if not mutex:
        raise failure(None, str(folder))
    try:
        while KERNEL.WaitForSingleObject(mutex, _PAUSE_MS) == _TIMED_OUT:
            pass  # looks whether Ctrl-C was pressed
        try:
            yield
        finally:
            KERNEL.ReleaseMutex(mutex)
    finally:
        KERNEL.CloseHandle(mutex)
