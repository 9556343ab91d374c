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
"""A folder that does not exist and cannot be made: no file system takes `<`."""

TELLS_EXECUTABLE = False
"""True where a file's mode says whether it is a program."""

GIT_CONVERTS_LINES = True
"""True where git, as it is installed, ends lines of files on disk otherwise than in commits."""

_READ, _WRITE, _LIST = 0x8000_0000, 0x4000_0000, 0x1
_CREATE_NEW, _OPEN_EXISTING, _OPEN_ALWAYS = 1, 3, 4
_NORMAL, _OPEN_FOLDER, _OPEN_LINK = 0x80, 0x0200_0000, 0x20_0000  # the last: a link itself, not what it leads to

_SHARED = 0x1 | 0x2 | 0x4
"""Others may read, write, and remove or rename it meanwhile."""
_IN_ITS_PLACE = 0x1 | 0x2
"""Nobody removes or renames it meanwhile."""

_STANDS_FOR_ANOTHER = 0x2000_0000

_NO_PART_OF_A_NAME = ("\\", "/", ":")
"""Characters that no name holds: separators, and the mark of a second stream of a file."""

_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between attempts to replace a file that others have open."""


class OpenedFolder:
    """A folder that is held open; what is in it is opened by name, and a link is not followed, nor a junction.

    Neither it nor a folder above it can be renamed or removed while it is open: its path leads to it.
    """

    _path: str

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @classmethod
    def open(cls, root: Path) -> OpenedFolder:
        """Opens a folder that a person named; a link to one is followed. Raises OSError."""
        return cls._at(verbatim(os.path.realpath(root)))

    @classmethod
    def _at(cls, path: str, flags: int = 0) -> OpenedFolder:
        opened = cls(_created(path, _LIST, _OPEN_EXISTING, _OPEN_FOLDER | flags, _IN_ITS_PLACE))
        opened._path = path
        return opened

    def folder(self, name: bytes) -> OpenedFolder:
        """Opens a folder in this one. Raises OSError or ValueError: it is a link, or no folder."""
        opened = OpenedFolder._at(self._below(os.fsdecode(name)), _OPEN_LINK)
        status = os.lstat(opened._path)
        if is_link(status) or not stat.S_ISDIR(status.st_mode):
            opened.close()
            raise NotADirectoryError(errno.ENOTDIR, "it is a link, or no folder", opened._path)
        return opened

    def file(self, name: bytes) -> int:
        """Opens what is no folder, to read; the handle is the caller's. Raises OSError or ValueError: it is a link."""
        path = self._below(os.fsdecode(name))
        handle = _created(path, _READ, _OPEN_EXISTING, _OPEN_LINK)
        if is_link(os.lstat(path)):
            raise OSError(errno.ELOOP, "it is a link", path)
        return _descriptor(handle, os.O_RDONLY)

    def status(self, name: str) -> os.stat_result | None:
        """The `lstat` of what has a name here; None if nothing has. Raises OSError."""
        try:
            return os.lstat(self._below(name))
        except FileNotFoundError:
            return None

    def make_folder(self, name: str) -> None:
        """Makes a folder in this one. Raises OSError."""
        Path(self._below(name)).mkdir()

    def new_file(self, name: str, mode: int = 0o666) -> int:  # noqa: ARG002 - its folder has the permissions
        """Makes a file, to write; the handle is the caller's. Raises OSError: something has that name."""
        return _descriptor(_created(self._below(name), _READ | _WRITE, _CREATE_NEW, _OPEN_LINK), os.O_RDWR)

    def replace(self, source: str, target: str) -> None:
        """Gives a file in this folder the name of another, which goes. Raises OSError."""
        replace(Path(self._below(source)), Path(self._below(target)))

    def remove(self, name: str) -> None:
        """Removes what is no folder; of a link, the link. Raises OSError."""
        Path(self._below(name)).unlink()

    def close(self) -> None:
        """Lets go of the folder."""
        self._handle.Close()

    def _below(self, name: str) -> str:
        if name in ("", ".", "..") or any(part in name for part in _NO_PART_OF_A_NAME):
            raise ValueError(f"{name!r} is no name of a file")
        return self._path.rstrip("\\") + "\\" + name


def verbatim(path: str | os.PathLike[str]) -> str:
    r"""An absolute path that Windows takes as it is, `\\?\C:\a\b`: of any length, and `NUL` in it is a name like
    others."""
    text = os.path.abspath(path)  # noqa: PTH100 - of text, and no link is resolved
    if text.startswith("\\\\?\\"):
        return text
    return "\\\\?\\UNC\\" + text[2:] if text.startswith("\\\\") else "\\\\?\\" + text


def path_below(root: Path, path: bytes) -> bytes:
    """The name by which functions of `os` reach a path (`a/b.py`) below a folder.

    Raises:
        ValueError: no such name can exist.
    """
    below = os.fsdecode(path).strip("/")
    if "\\" in below or ":" in below:
        raise ValueError(f"{below!r} is no path of a file")
    start = verbatim(root).rstrip("\\") + "\\"
    return os.fsencode(start + below.replace("/", "\\"))


def is_link(status: os.stat_result) -> bool:
    """Tells whether a path whose `lstat` this is stands for another: a junction is no link for Python."""
    return stat.S_ISLNK(status.st_mode) or bool(
        status.st_file_attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT and status.st_reparse_tag & _STANDS_FOR_ANOTHER
    )


def is_folder(entry: os.DirEntry[bytes]) -> bool:
    """Tells whether an entry is a folder, and no link to one. Raises OSError."""
    return entry.is_dir(follow_symlinks=False) and not is_link(entry.stat(follow_symlinks=False))


def status_of(entry: os.DirEntry[bytes]) -> os.stat_result:
    """The `lstat` of an entry: its own may be that of some time ago, and has no number of the file. Raises OSError."""
    return os.lstat(entry.path)


def link_target(path: bytes) -> bytes:
    """The text of a link, as git keeps it. Raises OSError."""
    text = os.readlink(path)  # noqa: PTH115 - bytes
    return text.removeprefix(b"\\\\?\\").replace(b"\\", b"/")


def open_shared(path: Path) -> BinaryIO:
    """Opens a file that another program may replace or remove meanwhile, to read. Raises OSError."""
    return os.fdopen(_descriptor(_created(verbatim(path), _READ, _OPEN_EXISTING, _NORMAL), os.O_RDONLY), "rb")


def open_always(path: Path) -> int:
    """Opens a file to read and write, and makes it where it is missing; it can be removed meanwhile. Raises OSError."""
    return _descriptor(_created(verbatim(path), _READ | _WRITE, _OPEN_ALWAYS, _NORMAL), os.O_RDWR)


def new_file(folder: Path, prefix: str, suffix: str) -> tuple[int, Path]:
    """Makes a file with a name of its own, readable by the user alone; it can be replaced while it is open. Raises
    OSError."""
    while True:
        path = folder / f"{prefix}{os.urandom(8).hex()}{suffix}"
        try:
            return _descriptor(_created(verbatim(path), _READ | _WRITE, _CREATE_NEW, _NORMAL), os.O_RDWR), path
        except FileExistsError:
            continue


def replace(source: Path, target: Path) -> None:
    """Gives a file the name of another, which goes; waits a moment for who reads that. Raises OSError."""
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
    """The bytes of a file of at least one, which may be replaced as long as they are in use. Raises OSError.

    Read, not mapped: a file that is mapped cannot be replaced.
    """
    return file.read()


def remove_tree(folder: Path, *, ignore_errors: bool = False) -> None:
    """Removes a folder with all that is in it, also files that may only be read, as git's are. Raises OSError, or
    removes what can be."""

    def made_writable(function: Callable[[str], object], path: str, _error: object) -> None:
        try:
            os.chmod(path, stat.S_IWRITE)  # noqa: PTH101
            function(path)
        except OSError:
            if not ignore_errors:
                raise

    shutil.rmtree(folder, onerror=made_writable)


def mode_of_new_files() -> int:
    """The permissions that a file made by the user has: its folder has those that count."""
    return 0o666


def owner(path: Path) -> Hashable:
    """Whoever a file or folder belongs to, as the text of a security identifier. Raises OSError."""
    import win32security as security

    with as_os_error(str(path)):
        found = security.GetNamedSecurityInfo(
            verbatim(path), security.SE_FILE_OBJECT, security.OWNER_SECURITY_INFORMATION
        )
        return str(security.ConvertSidToStringSid(found.GetSecurityDescriptorOwner()))


@cache
def user() -> Hashable:
    """Whoever we are, as `owner` has it."""
    import win32api
    import win32security as security

    with as_os_error():
        token = security.OpenProcessToken(win32api.GetCurrentProcess(), security.TOKEN_QUERY)
        sid, _ = security.GetTokenInformation(token, security.TokenUser)
        return str(security.ConvertSidToStringSid(sid))


def _created(path: str, access: int, disposition: int, flags: int, shared: int = _SHARED) -> Any:
    """The handle of a file or folder, closed when nothing refers to it. Raises OSError."""
    import win32file

    with as_os_error(path):
        return win32file.CreateFileW(path, access, shared, None, disposition, flags)


def _descriptor(handle: Any, mode: int) -> int:
    """The number by which Python knows an open file, which then owns it."""
    descriptor = msvcrt.open_osfhandle(int(handle), mode | os.O_NOINHERIT)
    handle.Detach()
    return descriptor
