"""Watches for changes in the files that a bench has read."""

import os
from pathlib import Path

from secateur.errors import SecateurError
from secateur.kinds.conversation.opencode_store import stamp_of
from secateur.system.files import owner


class ReplacedError(SecateurError):
    """A file that was read is now a link, or belongs to somebody else: following it would read what nobody named."""


def expand_path(text: str) -> str:
    """Returns a typed path with `~` expanded as a shell does."""
    # `Path` would make "." of nothing, and fails on users it does not know
    return os.path.expanduser(text.strip())  # noqa: PTH111


def stamp_file(path: str) -> tuple[int, int] | None:
    """Returns a stamp that changes when a file is written to; None if there is no file."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


class FileWatch:
    """Tells whether a file has changed since it was read."""

    def __init__(self) -> None:
        self._path, self._stamp = "", None  # type: str, tuple[int, ...] | None
        self._place: tuple[str, int] | None = None

    def stamp(self, path: str) -> tuple[int, ...] | None:
        """Returns what changes when the file is written to; None if there is no file."""
        return stamp_file(path)

    def read(self, path: str) -> None:
        """Takes the file that is about to be read."""
        place = _place_of(path)
        if place or path != self._path:  # a file that is gone for a while comes back as itself
            self._place = place
        self._path, self._stamp = path, self.stamp(path)

    def changes(self) -> str:
        """Says what changed since; "" if nothing did. Raises ReplacedError."""
        if not self._path:
            return ""
        if (place := _place_of(self._path)) and self._place and place != self._place:
            whom = "yours" if place[1] == os.geteuid() else f"user {place[1]}"
            what = "replaced by a link" if place[0] != self._place[0] else "replaced by a file"
            raise ReplacedError(f"{what} of {whom}", hint="name the file that is to be followed")
        now = self.stamp(self._path)
        return "" if now == self._stamp else "the file is gone" if now is None else "the file changed"


def _place_of(path: str) -> tuple[str, int] | None:
    try:
        return os.path.realpath(path), owner(Path(path))
    except (OSError, ValueError):
        return None


class SessionWatch(FileWatch):
    """Watches a transcript, which may be in the store of an agent."""

    def stamp(self, path: str) -> tuple[int, ...] | None:
        return stamp_of(path) or stamp_file(path)
