"""Sources of files: a work tree, a commit, or a workspace of several, behind one protocol. The same tree gives the same
content through each.

    source = open_source(Path("orders"), rev="v1.2")  # `open.py`
    for path, content in source.read([entry.path for entry in source.entries()]): ...

A source is a snapshot taken at its first use; open a new one to see later changes. Nothing is executed or written, no
link is followed, contents are the stored bytes (line ends are not converted).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from secateur.notice import Notice
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.git_log import HistoryCommit
from secateur.sources.walk import Skip

MAX_FILE_BYTES = 1024 * 1024
"""Default size above which a file is skipped: `index.max_file_kb`."""


HISTORY_INCOMPLETE = "history_incomplete"
"""Code of the notice that `history` stopped early."""


TOKEN_BYTES = 16


class SourceFile(Struct, frozen=True):
    """A file of a source."""

    path: str  # relative, with `/`
    size: int  # bytes
    token: str  # equal tokens for a path mean unchanged content; comparable only within one kind of source


class Source(Protocol):
    """The files and the history of a repository, for all callers."""

    @property
    def root(self) -> Path | None:
        """The folder on disk; None for files in memory."""

    @property
    def commit(self) -> str:
        """Id of the commit that is read, or that the work tree is based on; "" if there is no commit."""

    @property
    def time(self) -> int:
        """The time of this state in seconds since 1970: the commit's date, otherwise that of the newest file."""

    def describe(self) -> str:
        """Returns a short name for the screen: "orders @ 4f2c91d"."""

    def entries(self) -> list[SourceFile]:
        """Returns the files, in byte order of their paths. Raises RepositoryError if they cannot be listed."""

    def skips(self) -> list[Skip]:
        """Returns the paths that are not read, each with the reason, but not the paths that git ignores."""

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yields contents in the requested order; None for a file that is gone or unreadable. Never raises for a
        file."""

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        """Yields the commits that led here, newest first, without merges; empty without a history."""

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        """Returns the last commits of `history` that changed a file; [] if they cannot be found quickly."""

    @property
    def history_id(self) -> str:
        """An id of everything that `history` depends on: the commit, and where a shallow clone ends; "" without a
        history."""

    def new_commits(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
        """Returns the commits since an earlier one, as `history` yields them, and whether they contain no merge.

        None if that commit did not lead here, or if there are more than `limit`.
        """

    def notices(self) -> list[Notice]:
        """Returns the warnings about this source, from what was read so far."""

    def is_unchanged(self) -> bool:
        """Tells whether opening this source again would give the same files. False if only a listing can tell."""
