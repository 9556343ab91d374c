"""Files that a bench reads: bounded, never a device or a pipe, and watched for changes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from secateur.errors import SecateurError, shown, too_large, unreadable
from secateur.kinds.conversation.opencode_store import stamp_of

LARGEST = 1 << 30
"""Bytes above which a file is not read: a session of a year is a tenth of it, and reading takes several times as much
memory."""


def typed_path(text: str) -> str:
    """A path as it was typed, `~` read as a shell reads it."""
    # `Path` would make "." of nothing, and fails on users it does not know
    return os.path.expanduser(text.strip())  # noqa: PTH111


def read_file(path: str, largest: int = LARGEST) -> bytes:
    """The bytes of a file. Raises SecateurError: there is none, it cannot be read, it is none, or it is too large."""
    try:
        found = Path(path).stat()
        if not stat.S_ISREG(found.st_mode):
            raise SecateurError(
                f"{shown(path)} is {'a folder' if stat.S_ISDIR(found.st_mode) else 'no file'}",
                hint="name a file",
                code="NO_FILE",
            )
        if found.st_size > largest:
            raise too_large(path, largest, "file that a bench reads")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def stamp(path: str) -> tuple[int, int] | None:
    """A stamp that changes when a file is written to; None where there is no file."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


class FileWatch:
    """Tells whether a file is still the one that was read."""

    def __init__(self) -> None:
        self._path, self._stamp = "", None  # type: str, tuple[int, ...] | None

    def stamp(self, path: str) -> tuple[int, ...] | None:
        """See `stamp`."""
        return stamp(path)

    def read(self, path: str) -> None:
        """The file is about to be read."""
        self._path, self._stamp = path, self.stamp(path)

    def changes(self) -> str:
        """The change since, for people; "" for nothing."""
        if not self._path:
            return ""
        now = self.stamp(self._path)
        return "" if now == self._stamp else "the file is gone" if now is None else "the file changed"


class SessionWatch(FileWatch):
    """The same of a transcript, which may be in the store of an agent."""

    def stamp(self, path: str) -> tuple[int, ...] | None:
        return stamp_of(path) or stamp(path)
