"""Watches for changes in the files that a bench has read."""

from __future__ import annotations

import os
from pathlib import Path

from secateur.kinds.conversation.opencode_store import stamp_of


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

    def stamp(self, path: str) -> tuple[int, ...] | None:
        """Returns what changes when the file is written to; None if there is no file."""
        return stamp_file(path)

    def read(self, path: str) -> None:
        """Takes the file that is about to be read."""
        self._path, self._stamp = path, self.stamp(path)

    def changes(self) -> str:
        """Says what changed since; "" if nothing did."""
        if not self._path:
            return ""
        now = self.stamp(self._path)
        return "" if now == self._stamp else "the file is gone" if now is None else "the file changed"


class SessionWatch(FileWatch):
    """Watches a transcript, which may be in the store of an agent."""

    def stamp(self, path: str) -> tuple[int, ...] | None:
        return stamp_of(path) or stamp_file(path)
