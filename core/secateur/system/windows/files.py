"""Files and folders on Windows."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import errno
import msvcrt
import os
import shutil
import stat
import time
from collections.abc import Callable, Hashable
from ctypes import wintypes
from functools import cache
from pathlib import Path
from typing import BinaryIO

from secateur.system.windows.api import (
    INVALID_HANDLE,
    KERNEL,
    NT,
    SECURITY,
    SHARED,
    AttributeTagInfo,
    IoStatusBlock,
    ObjectAttributes,
    UnicodeString,
    failure,
    verbatim,
)

NOWHERE = Path("C:/<no such folder>/secateur")
"""A folder that does not exist and cannot be made: no file system takes `<`."""

TELLS_EXECUTABLE = False
"""True where a file's mode says whether it is a program."""

GIT_CONVERTS_LINES = True
"""True where git, as it is installed, ends lines of files on disk otherwise than in commits."""

_READ, _WRITE = 0x8000_0000, 0x4000_0000
_CREATE_NEW, _OPEN_EXISTING, _OPEN_ALWAYS = 1, 3, 4
_NORMAL, _BACKUP_SEMANTICS = 0x80, 0x0200_0000  # the latter opens folders

_LIST, _TRAVERSE, _READ_DATA, _READ_ATTRIBUTES, _SYNCHRONIZE = 0x1, 0x20, 0x1, 0x80, 0x10_0000
_ANY_CASE = 0x40
_OPEN = 1
_IS_FOLDER, _SYNCHRONOUS, _IS_NO_FOLDER, _OPEN_LINK = 0x1, 0x20, 0x40, 0x20_0000

_ATTRIBUTE_TAG_INFO = 9
_REPARSE_POINT, _STANDS_FOR_ANOTHER = 0x400, 0x2000_0000

_NO_PART_OF_A_NAME = ("\\", "/", ":")
"""Characters that no name holds: separators, and the mark of a second stream of a file."""

_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between attempts to replace a file that others have open."""

_OWNER, _A_FILE = 1, 1
_QUERY, _TOKEN_USER = 0x8, 1


class OpenedFolder:
    """A folder that is held open; what is in it is opened by name, and a link is not followed, nor a junction.

    What is written in it is written by its path: it is not safe from a folder that becomes a link meanwhile.
    """

    _path: Path

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def open(cls, root: Path) -> OpenedFolder:
        """Opens a folder that a person named; a link to one is followed. Raises OSError."""
        access = _LIST | _TRAVERSE | _READ_ATTRIBUTES | _SYNCHRONIZE
        opened = cls(_created(root, access, _OPEN_EXISTING, _BACKUP_SEMANTICS))
        opened._path = root
        return opened

    def folder(self, name: bytes) -> OpenedFolder:
        """Opens a folder in this one. Raises OSError or ValueError: it is a link, or no folder."""
        opened = OpenedFolder(self._opened(name, _LIST | _TRAVERSE, _IS_FOLDER))
        opened._path = self._path / os.fsdecode(name)
        return opened

    def file(self, name: bytes) -> int:
        """Opens what is no folder, to read; the handle is the caller's. Raises OSError or ValueError: it is a link."""
        return _descriptor(self._opened(name, _READ_DATA, _IS_NO_FOLDER), os.O_RDONLY)

    def status(self, name: str) -> os.stat_result | None:
        """The `lstat` of what has a name here; None if nothing has. Raises OSError."""
        try:
            return (self._path / name).lstat()
        except FileNotFoundError:
            return None

    def make_folder(self, name: str) -> None:
        """Makes a folder in this one. Raises OSError."""
        (self._path / name).mkdir()

    def new_file(self, name: str, mode: int = 0o666) -> int:  # noqa: ARG002 - its folder has the permissions
        """Makes a file, to write; the handle is the caller's. Raises OSError: something has that name."""
        return _descriptor(_created(self._path / name, _READ | _WRITE, _CREATE_NEW, _NORMAL), os.O_RDWR)

    def replace(self, source: str, target: str) -> None:
        """Gives a file in this folder the name of another, which goes. Raises OSError."""
        replace(self._path / source, self._path / target)

    def remove(self, name: str) -> None:
        """Removes what is no folder; of a link, the link. Raises OSError."""
        (self._path / name).unlink()

    def close(self) -> None:
        """Lets go of the folder."""
        KERNEL.CloseHandle(self._handle)

    def _opened(self, name: bytes, access: int, kind: int) -> int:
        """A handle of what this folder has under a name, of the link itself where it is one."""
        text = os.fsdecode(name)
        if not text or any(part in text for part in _NO_PART_OF_A_NAME):
            raise ValueError(f"{text!r} is no name of a file")
        wide = text.encode("utf-16-le", "surrogatepass")
        buffer = ctypes.create_string_buffer(wide, len(wide))
        string = UnicodeString(len(wide), len(wide), ctypes.cast(buffer, ctypes.c_void_p))
        attributes = ObjectAttributes(
            ctypes.sizeof(ObjectAttributes), self._handle, ctypes.pointer(string), _ANY_CASE, None, None
        )
        handle = wintypes.HANDLE()
        status = NT.NtCreateFile(
            ctypes.byref(handle),
            access | _READ_ATTRIBUTES | _SYNCHRONIZE,
            ctypes.byref(attributes),
            ctypes.byref(IoStatusBlock()),
            None,
            0,
            SHARED,
            _OPEN,
            kind | _SYNCHRONOUS | _OPEN_LINK,
            None,
            0,
        )
        if status < 0 or handle.value is None:
            raise failure(NT.RtlNtStatusToDosError(status), text)
        try:
            if _is_link(handle.value):
                raise OSError(errno.ELOOP, "it is a link", text)
        except OSError:
            KERNEL.CloseHandle(handle.value)
            raise
        return handle.value


def _is_link(handle: int) -> bool:
    """Tells whether an open file stands for another: a symbolic link, a junction, a mounted volume."""
    info = AttributeTagInfo()
    if not KERNEL.GetFileInformationByHandleEx(handle, _ATTRIBUTE_TAG_INFO, ctypes.byref(info), ctypes.sizeof(info)):
        raise failure()
    return bool(info.FileAttributes & _REPARSE_POINT and info.ReparseTag & _STANDS_FOR_ANOTHER)


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
        status.st_file_attributes & _REPARSE_POINT and status.st_reparse_tag & _STANDS_FOR_ANOTHER
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
    return os.fdopen(_descriptor(_created(path, _READ, _OPEN_EXISTING, _NORMAL), os.O_RDONLY), "rb")


def open_always(path: Path) -> int:
    """Opens a file to read and write, and makes it where it is missing; it can be removed meanwhile. Raises OSError."""
    return _descriptor(_created(path, _READ | _WRITE, _OPEN_ALWAYS, _NORMAL), os.O_RDWR)


def new_file(folder: Path, prefix: str, suffix: str) -> tuple[int, Path]:
    """Makes a file with a name of its own, readable by the user alone; it can be replaced while it is open. Raises
    OSError."""
    while True:
        path = folder / f"{prefix}{os.urandom(8).hex()}{suffix}"
        try:
            return _descriptor(_created(path, _READ | _WRITE, _CREATE_NEW, _NORMAL), os.O_RDWR), path
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
    sid, descriptor = ctypes.c_void_p(), ctypes.c_void_p()
    code = SECURITY.GetNamedSecurityInfoW(
        verbatim(path), _A_FILE, _OWNER, ctypes.byref(sid), None, None, None, ctypes.byref(descriptor)
    )
    if code:
        raise failure(code, str(path))
    try:
        return _text_of(sid)
    finally:
        KERNEL.LocalFree(descriptor)


@cache
def user() -> Hashable:
    """Whoever we are, as `owner` has it."""
    token = wintypes.HANDLE()
    if not SECURITY.OpenProcessToken(KERNEL.GetCurrentProcess(), _QUERY, ctypes.byref(token)):
        raise failure()
    try:
        buffer, needed = ctypes.create_string_buffer(1024), wintypes.DWORD()
        if not SECURITY.GetTokenInformation(token, _TOKEN_USER, buffer, len(buffer), ctypes.byref(needed)):
            raise failure()
        return _text_of(ctypes.c_void_p.from_buffer(buffer))
    finally:
        KERNEL.CloseHandle(token)


def _text_of(sid: ctypes.c_void_p) -> str:
    text = ctypes.c_void_p()
    if not sid.value or not SECURITY.ConvertSidToStringSidW(sid, ctypes.byref(text)) or not text.value:
        return ""
    try:
        return ctypes.wstring_at(text.value)
    finally:
        KERNEL.LocalFree(text)


def _created(path: Path, access: int, disposition: int, flags: int) -> int:
    """A handle of a file or folder that others may read, write, rename and remove meanwhile."""
    handle = KERNEL.CreateFileW(verbatim(path), access, SHARED, None, disposition, flags, None)
    if handle is None or handle == INVALID_HANDLE:
        raise failure(None, str(path))
    return int(handle)


def _descriptor(handle: int, mode: int) -> int:
    """The number by which Python knows an open file, which then owns it."""
    try:
        return msvcrt.open_osfhandle(handle, mode | os.O_NOINHERIT)
    except OSError:
        KERNEL.CloseHandle(handle)
        raise
