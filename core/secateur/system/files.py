"""Opens, makes and maps files and folders.

folder = OpenedFolder.open(root)          # then folder.folder(name), folder.file(name): no link is followed
handle = folder.new_file(name); folder.replace(name, target)
handle, path = new_file(folder, "prefix.", ".part")
os.lstat(path_below(root, b"a/b.py"))     # works for names of any bytes
contents(file)                            # mapped
owner(path) == os.geteuid()

Locks files that one process at a time may hold, and folders that one process at a time may work in.

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

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import mmap
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress

NOWHERE = Path(os.devnull) / "secateur"  # a folder that does not exist and cannot be made

# Linux has O_PATH, which also opens a folder that may be written but not read
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe must not wait for its writer
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class OpenedFolder:
    """An open folder, whose content is opened by name without following links."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def open(cls, root: Path) -> OpenedFolder:
        """Opens a folder that a user named, and follows a link to it. Raises OSError."""
        return cls(os.open(root, _FOLDER & ~os.O_NOFOLLOW))

    def folder(self, name: bytes) -> OpenedFolder:
        """Opens a folder in this one. Raises OSError or ValueError: it is a link, or not a folder."""
        return OpenedFolder(os.open(name, _FOLDER, dir_fd=self._handle))

    def file(self, name: bytes) -> int:
        """Opens a file for reading; the caller closes the handle. Raises OSError or ValueError: it is a link."""
        return os.open(name, _FILE, dir_fd=self._handle)

    def status(self, name: str) -> os.stat_result | None:
        """Returns the `lstat` of a name in this folder; None if it does not exist. Raises OSError."""
        try:
            return os.stat(name, dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def make_folder(self, name: str) -> None:
        """Makes a folder in this one. Raises OSError."""
        os.mkdir(name, dir_fd=self._handle)

    def new_file(self, name: str, mode: int = 0o666) -> int:
        """Makes a file for writing; the caller closes the handle. `mode`: its permissions before the user's umask.
        Raises
        OSError: the name exists."""
        return os.open(name, _NEW_FILE, mode, dir_fd=self._handle)

    def replace(self, source: str, target: str) -> None:
        """Renames a file in this folder, and replaces a file of that name. Raises OSError."""
        os.replace(source, target, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def remove(self, name: str) -> None:
        """Removes a file, or a link itself. Raises OSError."""
        os.unlink(name, dir_fd=self._handle)

    def close(self) -> None:
        """Closes the folder."""
        os.close(self._handle)


def path_below(root: Path, path: bytes) -> bytes:
    """Makes the name that functions of `os` need for a path (`a/b.py`) below a folder. Raises ValueError: the system
    does not allow such a name."""
    return os.fsencode(root).rstrip(b"/") + b"/" + path


def new_file(folder: Path, prefix: str, suffix: str) -> tuple[int, Path]:
    """Makes a file with a unique name that only the user can read. It can be replaced while it is open. Raises
    OSError."""
    import tempfile  # takes a while to load, and most runs write nothing

    handle, name = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=suffix)
    return handle, Path(name)


def contents(file: BinaryIO) -> mmap.mmap | bytes:
    """Maps the bytes of a file that is not empty. The file may be replaced while they are in use. Raises OSError."""
    import mmap

    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def owner(path: Path) -> int:
    """Returns the user id of the owner of a file or folder, or of a link itself. Raises OSError."""
    return path.lstat().st_uid


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
