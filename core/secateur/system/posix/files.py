"""Files and folders on POSIX systems."""

from __future__ import annotations

import sys

assert sys.platform != "win32"

import os
import stat
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import mmap

NOWHERE = Path(os.devnull) / "secateur"
"""A folder that does not exist and cannot be made."""

TELLS_EXECUTABLE = True
"""True where a file's mode says whether it is a program."""

GIT_CONVERTS_LINES = False
"""True where git, as it is installed, ends lines of files on disk otherwise than in commits."""

_FOLDER = (
    getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
)  # O_PATH, of Linux: a folder that may only be written into can be opened
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = (
    os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
)  # O_NONBLOCK: opening a pipe must not wait for its writer


class OpenedFolder:
    """A folder that is held open; what is in it is opened by name, and a link is not followed."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def open(cls, root: Path) -> OpenedFolder:
        """Opens a folder that a person named; a link to one is followed. Raises OSError."""
        return cls(os.open(root, _FOLDER & ~os.O_NOFOLLOW))

    def folder(self, name: bytes) -> OpenedFolder:
        """Opens a folder in this one. Raises OSError or ValueError: it is a link, or no folder."""
        return OpenedFolder(os.open(name, _FOLDER, dir_fd=self._handle))

    def file(self, name: bytes) -> int:
        """Opens what is no folder, to read; the handle is the caller's. Raises OSError or ValueError: it is a link."""
        return os.open(name, _FILE, dir_fd=self._handle)

    def status(self, name: str) -> os.stat_result | None:
        """The `lstat` of what has a name here; None if nothing has. Raises OSError."""
        try:
            return os.stat(name, dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def make_folder(self, name: str) -> None:
        """Makes a folder in this one. Raises OSError."""
        os.mkdir(name, dir_fd=self._handle)

    def new_file(self, name: str, mode: int = 0o666) -> int:
        """Makes a file, to write; the handle is the caller's. `mode`: its permissions, of which the user's mask takes
        some. Raises OSError: something has that name."""
        return os.open(name, _NEW_FILE, mode, dir_fd=self._handle)

    def replace(self, source: str, target: str) -> None:
        """Gives a file in this folder the name of another, which goes. Raises OSError."""
        os.replace(source, target, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def remove(self, name: str) -> None:
        """Removes what is no folder; of a link, the link. Raises OSError."""
        os.unlink(name, dir_fd=self._handle)

    def close(self) -> None:
        """Lets go of the folder."""
        os.close(self._handle)


def path_below(root: Path, path: bytes) -> bytes:
    """The name by which functions of `os` reach a path (`a/b.py`) below a folder.

    Raises:
        ValueError: no such name can exist.
    """
    return os.fsencode(root).rstrip(b"/") + b"/" + path


def is_link(status: os.stat_result) -> bool:
    """Tells whether a path whose `lstat` this is stands for another."""
    return stat.S_ISLNK(status.st_mode)


def is_folder(entry: os.DirEntry[bytes]) -> bool:
    """Tells whether an entry is a folder, and no link to one. Raises OSError."""
    return entry.is_dir(follow_symlinks=False)


def status_of(entry: os.DirEntry[bytes]) -> os.stat_result:
    """The `lstat` of an entry. Raises OSError."""
    return entry.stat(follow_symlinks=False)


def link_target(path: bytes) -> bytes:
    """The text of a link, as git keeps it. Raises OSError."""
    return os.readlink(path)  # noqa: PTH115 - bytes


def open_shared(path: Path) -> BinaryIO:
    """Opens a file that another program may replace or remove meanwhile, to read. Raises OSError."""
    return path.open("rb")


def new_file(folder: Path, prefix: str, suffix: str) -> tuple[int, Path]:
    """Makes a file with a name of its own, readable by the user alone; it can be replaced while it is open. Raises
    OSError."""
    import tempfile  # takes a while, and most runs write nothing

    handle, name = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=suffix)
    return handle, Path(name)


def replace(source: Path, target: Path) -> None:
    """Gives a file the name of another, which goes. Raises OSError."""
    source.replace(target)


def contents(file: BinaryIO) -> mmap.mmap | bytes:
    """The bytes of a file of at least one, which may be replaced as long as they are in use. Raises OSError."""
    import mmap

    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def remove_tree(folder: Path, *, ignore_errors: bool = False) -> None:
    """Removes a folder with all that is in it. Raises OSError, or removes what can be."""
    import shutil

    shutil.rmtree(folder, ignore_errors=ignore_errors)


def mode_of_new_files() -> int:
    """The permissions that a file made by the user has."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def owner(path: Path) -> Hashable:
    """Whoever a file or folder belongs to; of a link, the link's. Raises OSError."""
    return path.lstat().st_uid


def user() -> Hashable:
    """Whoever we are, as `owner` has it."""
    return os.geteuid()
