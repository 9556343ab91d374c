"""Opens, makes and maps files and folders.

folder = OpenedFolder.open(root)          # then folder.folder(name), folder.file(name): no link is followed
handle = folder.new_file(name); folder.replace(name, target)
handle, path = new_file(folder, "prefix.", ".part")
os.lstat(path_below(root, b"a/b.py"))     # works for names of any bytes
contents(file)                            # mapped
owner(path) == os.geteuid()
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import mmap

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
