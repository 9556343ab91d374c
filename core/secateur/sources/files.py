"""Turns paths into text, and opens a file below a folder without following a link out of it.

Paths inside a source are text with `/` between the parts; bytes that are not UTF-8 travel as lone surrogates
(`surrogateescape`), whatever the locale says, so the same tree has the same names on every machine. Their order is the
order of their bytes.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType

from secateur.system.files import OpenedFolder

# Most folders above a file that is read: real trees have about thirty. Data stored per folder above a file grows with
# the square of this number.
DEEPEST = 100


def path_text(raw: bytes) -> str:
    """Returns a path as text; bytes that are not UTF-8 become lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def path_bytes(path: str) -> bytes:
    """Returns the inverse of `path_text`, which is also the sort key of paths. Never raises."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")


class Folder:
    """Reads regular files below one folder. Follows no symbolic link below it, even if one is swapped in meanwhile.

        with Folder(root) as folder:
            data = folder.read("core/cart.py", limit=1_000_000)

    The folders on the way to the last file stay open, so reading in path order opens each folder once.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: list[tuple[str, OpenedFolder]] = []

    def __enter__(self) -> Folder:
        self._open.append(("", OpenedFolder.open(self._root)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(keep=0)

    def read(self, path: str, limit: int) -> bytes | None:
        """Returns the file's bytes; None if it is gone, not a regular file, unreadable, behind a link, or larger than
        `limit` bytes."""
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts):
            return None
        try:
            descriptor = self._open_folder(parts[:-1]).file(path_bytes(parts[-1]))
        except (OSError, ValueError):
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            pieces: list[bytes] = []
            remaining = limit + 1
            while remaining > 0 and (piece := os.read(descriptor, min(remaining, 1 << 20))):
                pieces.append(piece)
                remaining -= len(piece)
            return b"".join(pieces) if remaining > 0 else None
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def _open_folder(self, parts: list[str]) -> OpenedFolder:
        """Returns a folder below the root, reusing those on the way to the file read before."""
        shared = 1
        while shared <= len(parts) and shared < len(self._open) and self._open[shared][0] == parts[shared - 1]:
            shared += 1
        self._close(keep=shared)
        for part in parts[shared - 1 :]:
            self._open.append((part, self._open[-1][1].folder(path_bytes(part))))
        return self._open[-1][1]

    def _close(self, keep: int) -> None:
        while len(self._open) > keep:
            self._open.pop()[1].close()
