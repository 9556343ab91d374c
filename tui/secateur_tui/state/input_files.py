"""Files that a bench reads: bounded, never a device or a pipe, and watched for changes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from secateur.errors import SecateurError
from secateur.terminal import clip, visible

LARGEST = 1 << 30
"""Bytes above which a file is not read: a session of a year is a tenth of it, and reading takes several times as much
memory."""

_PATH_CELLS = 100


def typed_path(text: str) -> str:
    """A path as it was typed, `~` read as a shell reads it."""
    return os.path.expanduser(text.strip())  # noqa: PTH111 - Path would make "." of nothing, and fails on users it does not know


def read_file(path: str, largest: int = LARGEST) -> bytes:
    """Returns the bytes of a file. Raises SecateurError where there is none, it cannot be read, it is no regular file,
    or it is too large."""
    shown = clip(visible(path), _PATH_CELLS)
    try:
        found = Path(path).stat()
        if not stat.S_ISREG(found.st_mode):
            raise SecateurError(
                f"{shown} is {'a folder' if stat.S_ISDIR(found.st_mode) else 'no file'}",
                hint="name a file",
                code="NO_FILE",
            )
        if found.st_size > largest:
            raise SecateurError(
                f"{shown} has {found.st_size:,} bytes, more than the {largest:,} that are read",
                hint="check the path",
                code="TOO_LARGE",
            )
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise SecateurError(f"cannot read {shown}: {said}", hint="check the path", code="NO_SUCH_FILE") from error


def stamp(path: str) -> tuple[int, int] | None:
    """What changes when a file is written to; None where there is no file."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


class FileWatch:
    """Remembers a file and says whether it is still the one that was read."""

    def __init__(self) -> None:
        self._path, self._stamp = "", None  # type: str, tuple[int, int] | None

    def read(self, path: str) -> None:
        """Remembers a file that is about to be read."""
        self._path, self._stamp = path, stamp(path)

    def changes(self) -> str:
        """What changed since, for people; "" for nothing."""
        if not self._path:
            return ""
        now = stamp(self._path)
        return "" if now == self._stamp else "the file is gone" if now is None else "the file changed"
