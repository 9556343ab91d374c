"""Files and folders on Windows."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import errno
import msvcrt
import os
import shutil
import stat
import time
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from secateur.system.windows.pywin32_errors import as_os_error

NOWHERE = Path("C:/<no such folder>/secateur")
"""A folder that does not exist and cannot be made: file systems refuse `<`."""

TELLS_EXECUTABLE = False
"""True if the mode of a file tells whether it is a program."""

GIT_CONVERTS_LINES = True
"""True if git, by default, writes other line ends to disk than are in commits."""

_READ, _WRITE, _LIST = 0x8000_0000, 0x4000_0000, 0x1
_CREATE_NEW, _OPEN_EXISTING, _OPEN_ALWAYS = 1, 3, 4
_NORMAL, _OPEN_FOLDER, _OPEN_LINK = 0x80, 0x0200_0000, 0x20_0000  # the last: a link itself, not what it leads to

_SHARED = 0x1 | 0x2 | 0x4
"""Others may read, write, remove or rename the file while it is open."""
_IN_ITS_PLACE = 0x1 | 0x2
"""Nobody may remove or rename the file while it is open."""

_STANDS_FOR_ANOTHER = 0x2000_0000

_NO_PART_OF_A_NAME = ("\\", "/", ":")
"""Characters that cannot be in a name: separators, and the mark of a second stream of a file."""

_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between attempts to replace a file that others have open."""


class OpenedFolder:
    """An open folder, whose content is opened by name without following links or junctions.

    Neither the folder nor one above it can be renamed or removed while it is open, so its path stays valid.
    """

    _path: str

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @classmethod
    def open(cls, root: Path) -> OpenedFolder:
        """Opens a folder that a user named, and follows a link to it. Raises OSError."""
        return cls._at(verbatim(os.path.realpath(root)))

    @classmethod
    def _at(cls, path: str, flags: int = 0) -> OpenedFolder:
        opened = cls(_created(path, _LIST, _OPEN_EXISTING, _OPEN_FOLDER | flags, _IN_ITS_PLACE))
        opened._path = path
        return opened

    def folder(self, name: bytes) -> OpenedFolder:
        """Opens a folder in this one. Raises OSError or ValueError: it is a link, or not a folder."""
        opened = OpenedFolder._at(self._below(os.fsdecode(name)), _OPEN_LINK)
        status = os.lstat(opened._path)
        if is_link(status) or not stat.S_ISDIR(status.st_mode):
            opened.close()
            raise NotADirectoryError(errno.ENOTDIR, "it is a link, or no folder", opened._path)
        return opened

    def file(self, name: bytes) -> int:
        """Opens a file for reading; the caller closes the handle. Raises OSError or ValueError: it is a link."""
        path = self._below(os.fsdecode(name))
        handle = _created(path, _READ, _OPEN_EXISTING, _OPEN_LINK)
        if is_link(os.lstat(path)):
            raise OSError(errno.ELOOP, "it is a link", path)
        return _descriptor(handle, os.O_RDONLY)

    def status(self, name: str) -> os.stat_result | None:
        """Returns the `lstat` of a name in this folder; None if it does not exist. Raises OSError."""
        try:
            return os.lstat(self._below(name))
        except FileNotFoundError:
            return None

    def make_folder(self, name: str) -> None:
        """Makes a folder in this one. Raises OSError."""
        Path(self._below(name)).mkdir()

    def new_file(self, name: str, mode: int = 0o666) -> int:  # noqa: ARG002 - its folder has the permissions
        """Makes a file for writing; the caller closes the handle. Raises OSError: the name exists."""
        return _descriptor(_created(self._below(name), _READ | _WRITE, _CREATE_NEW, _OPEN_LINK), os.O_RDWR)

    def replace(self, source: str, target: str) -> None:
        """Renames a file in this folder, and replaces a file of that name. Raises OSError."""
        replace(Path(self._below(source)), Path(self._below(target)))

    def remove(self, name: str) -> None:
        """Removes a file, or a link itself. Raises OSError."""
        Path(self._below(name)).unlink()

    def close(self) -> None:
        """Closes the folder."""
        self._handle.Close()

    def _below(self, name: str) -> str:
        if name in ("", ".", "..") or any(part in name for part in _NO_PART_OF_A_NAME):
            raise ValueError(f"{name!r} is no name of a file")
        return self._path.rstrip("\\") + "\\" + name


def verbatim(path: str | os.PathLike[str]) -> str:
    r"""Makes an absolute path that Windows does not interpret, `\\?\C:\a\b`: it may have any length, and `NUL` is an
    ordinary name."""
    text = os.path.abspath(path)  # noqa: PTH100 - of text, and no link is resolved
    if text.startswith("\\\\?\\"):
        return text
    return "\\\\?\\UNC\\" + text[2:] if text.startswith("\\\\") else "\\\\?\\" + text


def path_below(root: Path, path: bytes) -> bytes:
    """Makes the name that functions of `os` need for a path (`a/b.py`) below a folder. Raises ValueError: Windows does
    not allow such a name."""
    below = os.fsdecode(path).strip("/")
    if "\\" in below or ":" in below:
        raise ValueError(f"{below!r} is no path of a file")
    start = verbatim(root).rstrip("\\") + "\\"
    return os.fsencode(start + below.replace("/", "\\"))


def is_link(status: os.stat_result) -> bool:
    """Tells from an `lstat` whether a path is a link or a junction, which Python does not count as a link."""
    return stat.S_ISLNK(status.st_mode) or bool(
        status.st_file_attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT and status.st_reparse_tag & _STANDS_FOR_ANOTHER
    )


def is_folder(entry: os.DirEntry[bytes]) -> bool:
    """Tells whether an entry is a folder and not a link to one. Raises OSError."""
    return entry.is_dir(follow_symlinks=False) and not is_link(entry.stat(follow_symlinks=False))


def status_of(entry: os.DirEntry[bytes]) -> os.stat_result:
    """Returns the `lstat` of an entry. The entry's own may be out of date, and lacks the file number. Raises
    OSError."""
    return os.lstat(entry.path)


def link_target(path: bytes) -> bytes:
    """Returns the text of a link as git stores it. Raises OSError."""
    text = os.readlink(path)  # noqa: PTH115 - bytes
    return text.removeprefix(b"\\\\?\\").replace(b"\\", b"/")


def open_shared(path: Path) -> BinaryIO:
    """Opens a file for reading that another program may replace or remove meanwhile. Raises OSError."""
    return os.fdopen(_descriptor(_created(verbatim(path), _READ, _OPEN_EXISTING, _NORMAL), os.O_RDONLY), "rb")


def open_always(path: Path) -> int:
    """Opens a file for reading and writing, and makes it if it is missing. It can be removed meanwhile. Raises
    OSError."""
    return _descriptor(_created(verbatim(path), _READ | _WRITE, _OPEN_ALWAYS, _NORMAL), os.O_RDWR)


def new_file(folder: Path, prefix: str, suffix: str) -> tuple[int, Path]:
    """Makes a file with a unique name that only the user can read. It can be replaced while it is open. Raises
    OSError."""
    while True:
        path = folder / f"{prefix}{os.urandom(8).hex()}{suffix}"
        try:
            return _descriptor(_created(verbatim(path), _READ | _WRITE, _CREATE_NEW, _NORMAL), os.O_RDWR), path
        except FileExistsError:
            continue


def replace(source: Path, target: Path) -> None:
    """Renames a file, and replaces a file of that name; waits a moment if a process has that file open. Raises
    OSError."""
    for pause in _PAUSES:
        try:
            source.replace(target)
            return
        except PermissionError:
            if target.is_dir():
                raise
        time.sleep(pause)
    source.replace(target)


def contents(file: BinaryIO) -> bytes:
    """Returns the bytes of a file that is not empty. The file may be replaced while they are in use. Raises OSError.

    The bytes are read, because Windows cannot replace a mapped file.
    """
    return file.read()


def remove_tree(folder: Path, *, ignore_errors: bool = False) -> None:
    """Removes a folder and its content, also read-only files like those of git. Raises OSError, or, with
    `ignore_errors`, leaves what cannot be removed."""

    def made_writable(function: Callable[[str], object], path: str, _error: object) -> None:
        try:
            os.chmod(path, stat.S_IWRITE)  # noqa: PTH101
            function(path)
        except OSError:
            if not ignore_errors:
                raise

    shutil.rmtree(folder, onerror=made_writable)


def mode_of_new_files() -> int:
    """Returns the mode of a file that the user makes. On Windows the permissions of the folder count instead."""
    return 0o666


def owner(path: Path) -> Hashable:
    """Returns the owner of a file or folder, as the text of a security identifier. Raises OSError."""
    import win32security as security

    with as_os_error(str(path)):
        info = security.GetNamedSecurityInfo(
            verbatim(path), security.SE_FILE_OBJECT, security.OWNER_SECURITY_INFORMATION
        )
        return str(security.ConvertSidToStringSid(info.GetSecurityDescriptorOwner()))


@cache
def user() -> Hashable:
    """Returns the user of this process, in the form of `owner`."""
    import win32api
    import win32security as security

    with as_os_error():
        token = security.OpenProcessToken(win32api.GetCurrentProcess(), security.TOKEN_QUERY)
        sid, _ = security.GetTokenInformation(token, security.TokenUser)
        return str(security.ConvertSidToStringSid(sid))


def _created(path: str, access: int, disposition: int, flags: int, shared: int = _SHARED) -> Any:
    """Opens a file or folder. The handle closes itself when nothing refers to it. Raises OSError."""
    import win32file

    with as_os_error(path):
        return win32file.CreateFileW(path, access, shared, None, disposition, flags)


def _descriptor(handle: Any, mode: int) -> int:
    """Turns a handle into a file descriptor of Python, which then owns it."""
    descriptor = msvcrt.open_osfhandle(int(handle), mode | os.O_NOINHERIT)
    handle.Detach()
    return descriptor
