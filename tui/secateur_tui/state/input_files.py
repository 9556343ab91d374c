"""Watches the files that a bench has read for changes."""

from __future__ import annotations

import os
from pathlib import Path

from secateur.kinds.conversation.opencode_store import stamp_of


def typed_path(text: str) -> str:
    """A path as it was typed, `~` read as a shell reads it."""
    # `Path` would make "." of nothing, and fails on users it does not know
    return os.path.expanduser(text.strip())  # noqa: PTH111


def stamp(path: str) -> tuple[int, int] | None:
    """Returns a stamp that changes when a file is written to; None if there is no file."""
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
