"""The base of work trees and commits as sources: their name, history and notices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from secateur.errors import RepositoryError, shown
from secateur.notice import Notice
from secateur.sources.files import DEEPEST, path_bytes
from secateur.sources.git import FETCH_ALL, HISTORY_LIMIT, Git
from secateur.sources.git_log import HistoryCommit
from secateur.sources.source import HISTORY_INCOMPLETE, TOKEN_BYTES
from secateur.sources.walk import Skip, SkipReason

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
            return list(self._git.changes_of(self.commit, path, limit=limit))
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
        """Returns the skipped paths and the files that could not be read, in byte order of the paths."""
        unread = (Skip(path, SkipReason.UNREADABLE) for path in self._unread)
        return sorted({*skipped, *unread}, key=lambda skip: path_bytes(skip.path))

    def _note_skipped(self, skipped: Sequence[Skip]) -> None:
        self._unread.update(skip.path for skip in skipped if skip.reason == SkipReason.UNREADABLE)
        absent = [skip.path for skip in skipped if skip.reason == SkipReason.NOT_CHECKED_OUT]
        if absent:
            from secateur.render.page import listed  # see `notices`

            self._note(
                "sparse_checkout",
                f"This is a sparse checkout, without {listed(absent)}. `git sparse-checkout add FOLDER` brings more.",
            )
        deep = [skip.path for skip in skipped if skip.reason == SkipReason.TOO_DEEP]
        if deep:
            self._note(
                "paths_too_deep",
                f"Files below more than {DEEPEST} folders are not read: {len(deep):,} (the first is {shown(deep[0])}).",
            )

    def _note(self, code: str, message: str) -> None:
        self._notices.setdefault(code, Notice(code, message))
