"""Turns paths into text, and opens a file below a folder without following a link out of it.

Paths inside a source are text with `/` between the parts; bytes that are not UTF-8 travel as lone surrogates
(`surrogateescape`), whatever the locale says, so the same tree has the same names on every machine. Their order is the
order of their bytes.

The one rule for a path that came with a folder, in a scenario, a recording, or an agent's call: it must resolve to a
place inside that folder, and not inside `.git`. What the text begins with does not matter.

    confine_path("src/cart.py", root)       # the real path
    confine_path("logs/ci.log", root)       # raises LeadsOut if it is a link to /etc/passwd
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path, PurePosixPath
from types import TracebackType

from secateur.errors import reason_of
from secateur.system.files import OpenedFolder

MAGIC = re.compile(r"[*?\[]")  # characters that make a part of a path a pattern
_GIT_DATA = ".git"


class LeadsOut(ValueError):
    """A path does not resolve to a place in its folder. Its text says what it does instead: "leads out of …"."""


def confine_path(text: str, folder: Path, noun: str = "the repository") -> Path:
    """Returns the real path that a text names in a folder. It need not exist.

    Args:
        text: a path or a pattern with `/`, relative to the folder or absolute. For a pattern, the parts before the
            first wildcard are checked, and the whole text as if it were a file name.
        noun: the folder's name in errors.

    Raises:
        LeadsOut: it lies outside, by `..` or through a link; it lies in the data of git; it cannot be resolved.
    """
    path = PurePosixPath(text)
    depth = 0
    for part in () if path.is_absolute() else path.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            raise LeadsOut(f"leads out of {noun}")
        if part.lower() == _GIT_DATA:
            raise LeadsOut("leads into the data of git")
    magic = next((index for index, part in enumerate(path.parts) if MAGIC.search(part)), None)
    if magic is not None:
        if ".." in path.parts[magic:]:
            raise LeadsOut(f"leads out of {noun}")
        confine_path("/".join(path.parts[:magic]), folder, noun)
    try:
        home, real = folder.resolve(), (folder / text).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # too long, a ring of links, NUL
        raise LeadsOut(f"cannot be read: {reason_of(error)}") from error
    if not real.is_relative_to(home):
        raise LeadsOut(f"{'leads' if path.is_absolute() else 'is a link that leads'} out of {noun}")
    if any(part.lower() == _GIT_DATA for part in real.relative_to(home).parts):
        raise LeadsOut("leads into the data of git")
    return real


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
