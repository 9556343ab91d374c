"""Sources of files: a work tree, a commit, or a workspace of several, behind one protocol. The same tree gives the same
content through each.

    source = open_source(Path("orders"), rev="v1.2")  # `open.py`
    for path, content in source.read([entry.path for entry in source.entries()]): ...

A source is a snapshot taken at its first use; open a new one to see later changes. Nothing is executed or written, no
link is followed, contents are the stored bytes (line ends are not converted).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from secateur.errors import RepositoryError, shown
from secateur.notice import Notice
from secateur.sources.files import DEEPEST, path_bytes
from secateur.sources.git import FETCH_ALL, HISTORY_LIMIT, Git, HistoryCommit
from secateur.sources.walk import Skip, SkipReason

MAX_FILE_BYTES = 1024 * 1024  # default size above which a file is skipped: `index.max_file_kb`
HISTORY_INCOMPLETE = "history_incomplete"  # code of the notice that `history` stopped early
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


_SHORT_ID = 7  # digits of a commit id on the screen


class RepositorySource:
    """The part of a source that git answers; `git` is None for a folder without a repository."""

    def __init__(self, root: Path, git: Git | None) -> None:
        self._root = root
        self._git = git
        self._notices: dict[str, Notice] = {}
        self._unread: set[str] = set()  # files that were listed, and could not be read

    @property
    def root(self) -> Path | None:
        return self._root

    @property
    def commit(self) -> str:
        raise NotImplementedError

    def describe(self) -> str:
        name = self._root.name or str(self._root)
        return f"{name} @ {self.commit[:_SHORT_ID]}" if self.commit else name

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        """Yields the history as far as it can be read; an error becomes a notice."""
        if self._git is None or not self.commit:
            return
        try:
            yield from self._git.history(self.commit, limit=limit)
        except RepositoryError as error:
            self._note(HISTORY_INCOMPLETE, f"hotspots use only a part of the history: {error.message}")

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        """Returns the last commits that changed a file; [] if they cannot be found quickly."""
        if self._git is None or not self.commit:
            return []
        try:
            return list(self._git.history(self.commit, limit=limit, path=path))
        except RepositoryError:
            return []

    @cached_property
    def history_id(self) -> str:
        if self._git is None or not self.commit:
            return ""
        shallow = self._git.shallow()
        return f"{self.commit}:{blake2b(shallow, digest_size=TOKEN_BYTES).hexdigest()}" if shallow else self.commit

    def new_commits(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
        """Returns the commits since `commit`; None if it did not lead here, there are too many, or git fails."""
        if self._git is None or not self.commit:
            return None
        with suppress(RepositoryError):  # the base may be gone: everything is read again
            if self._git.merge_base(commit, self.commit) == commit:
                commits = list(self._git.history(self.commit, limit=limit + 1, since=commit))
                linear = self._git.is_linear(commit, self.commit)
                # Below a folder, git leaves out whole merged branches.
                if len(commits) <= limit and (linear or not self._git.prefix):
                    return commits, linear
        return None

    def is_unchanged(self) -> bool:
        return False

    def notices(self) -> list[Notice]:
        if not self._unread:
            return list(self._notices.values())
        from secateur.render.page import listed  # loads numpy, which a repeated call does without

        count = f"{len(self._unread):,} files" if len(self._unread) > 1 else "1 file"
        message = f"{count} cannot be read: {listed(sorted(self._unread))}."
        if self._git is not None and self._git.is_partial:
            message += f" {FETCH_ALL}"
        return [*self._notices.values(), Notice("unread_files", message)]

    def _add_unread(self, skipped: Sequence[Skip]) -> list[Skip]:
        unread = (Skip(path, SkipReason.UNREADABLE) for path in self._unread)
        return sorted({*skipped, *unread}, key=lambda skip: path_bytes(skip.path))

    def _note_skipped(self, skipped: Sequence[Skip]) -> None:
        self._unread.update(skip.path for skip in skipped if skip.reason == SkipReason.UNREADABLE)
        if absent := [skip.path for skip in skipped if skip.reason == SkipReason.NOT_CHECKED_OUT]:
            from secateur.render.page import listed  # see `notices`

            message = f"This is a sparse checkout, without {listed(absent)}."
            self._note("sparse_checkout", f"{message} `git sparse-checkout add FOLDER` brings more.")
        if deep := [skip.path for skip in skipped if skip.reason == SkipReason.TOO_DEEP]:
            which = f"{len(deep):,} (the first is {shown(deep[0])})"
            self._note("paths_too_deep", f"Files below more than {DEEPEST} folders are not read: {which}.")

    def _note(self, code: str, message: str) -> None:
        self._notices.setdefault(code, Notice(code, message))
