"""Locks of a byte of a file, which nobody else can read or write meanwhile: one far behind all that is written.

Not `filelock`, which locks the first byte: a file that takes its place while its writer holds it could not be read.
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
"""Offset of the byte that is locked: the largest that `msvcrt.locking` takes."""

_PAUSE = 0.05
"""Seconds between two attempts. A call that waits by itself is deaf to Ctrl-C."""

_PAUSE_MS = 50


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
    import win32event

    folder.stat()
    place = os.path.normcase(os.path.realpath(folder))
    name = f"Local\\secateur-{blake2b(os.fsencode(place), digest_size=16).hexdigest()}"
    with as_os_error(str(folder)):
        mutex = win32event.CreateMutex(None, False, name)
        while win32event.WaitForSingleObject(mutex, _PAUSE_MS) == win32event.WAIT_TIMEOUT:
            pass  # looks whether Ctrl-C was pressed
    try:
        yield
    finally:
        win32event.ReleaseMutex(mutex)
        mutex.Close()
