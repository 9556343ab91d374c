"""Locks one byte of a file, far behind its content, because Windows lets no other process read or write a locked byte.

`filelock` locks the first byte, so a file could not be read that was renamed into place while its writer still holds
it.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import msvcrt
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from secateur.system.windows.files import open_always, open_shared
from secateur.system.windows.pywin32_errors import as_os_error

_PLACE = 0x7FFF_FFFE
"""The offset of the locked byte: the largest that `msvcrt.locking` takes."""

_PAUSE = 0.05
"""Seconds between two attempts. A call that waits by itself would not notice Ctrl-C."""

_PAUSE_MS = 50


def open_lock(path: Path) -> int:
    """Opens a file for locking, and makes it if it is missing. It can be removed while it is open. Raises OSError."""
    return open_always(path)


def lock(handle: int) -> None:
    """Locks an open file, and waits until it is free. Raises OSError: the file system has no locks."""
    while not try_lock(handle):
        time.sleep(_PAUSE)


def try_lock(handle: int) -> bool:
    """Locks an open file without waiting; returns False if another process holds it. Raises OSError: the file system
    has no locks."""
    here = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, _PLACE, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except PermissionError:
        return False
    finally:
        os.lseek(handle, here, os.SEEK_SET)
    return True


def is_held(path: Path) -> bool:
    """Tells whether a process holds a file. False if the file is missing, True if the file system has no locks."""
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
    """Removes a file, unless a process holds it. Raises OSError: the file cannot be removed, or the file system has no
    locks."""
    with open_shared(path) as file:
        if try_lock(file.fileno()):
            path.unlink()


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Lets one process at a time into the block for a folder; all processes, if the file system has no locks.

    A mutex of the system stands for the folder: a folder cannot be locked, and a locked file in it could not be removed
    with the folder. Raises OSError: the folder is missing or cannot be opened.
    """
    import win32event

    folder.stat()
    place = os.path.normcase(os.path.realpath(folder))
    name = f"Local\\secateur-{blake2b(os.fsencode(place), digest_size=16).hexdigest()}"
    with as_os_error(str(folder)):
        mutex = win32event.CreateMutex(None, False, name)
        while win32event.WaitForSingleObject(mutex, _PAUSE_MS) == win32event.WAIT_TIMEOUT:
            pass  # back in Python, so that Ctrl-C is noticed
    try:
        yield
    finally:
        win32event.ReleaseMutex(mutex)
        mutex.Close()
