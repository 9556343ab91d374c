"""The files of a folder as they are on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path

from secateur.errors import RepositoryError, unreadable_folder
from secateur.sources.files import Folder, path_bytes
from secateur.sources.git import Git
from secateur.sources.ignore import SCENARIO_FILES, IgnoreFilter
from secateur.sources.location import ForeignRepository, NoGit, locate
from secateur.sources.source import MAX_FILE_BYTES, RepositorySource, SourceFile
from secateur.sources.walk import Listing, Skip, is_ignored_folder, list_with_git, walk
from secateur.system.files import path_below

_WITHOUT_GIT = "hotspots have no history, and secateur reads the ignore rules itself"


class WorktreeSource(RepositorySource):
    """The files of a folder as they are on disk: those that git tracks or does not ignore, or without git those that
    our own walk finds."""

    def __init__(
        self,
        root: Path,
        git: Git | NoGit | ForeignRepository,
        *,
        ignore: Sequence[str] = (),
        max_file_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        super().__init__(root.resolve(), git if isinstance(git, Git) else None)
        self._ignore = IgnoreFilter((*ignore, *SCENARIO_FILES))
        self._max_file_bytes = max_file_bytes
        if git is NoGit.NO_BINARY:
            message = "git was not found: ignore rules are read by secateur, and there is no history for hotspots"
            self._note("git_missing", message)
        elif git is NoGit.BROKEN_REPOSITORY:
            self._note("git_failed", f"{git.value}: {_WITHOUT_GIT}")
        elif isinstance(git, ForeignRepository):
            self._note("git_foreign", f"{git.value}: {_WITHOUT_GIT}. {git.hint}")

    @cached_property
    def commit(self) -> str:
        try:
            return (self._git.head() if self._git else None) or ""
        except RepositoryError as error:
            self._note("git_failed", f"{error.message}: {_WITHOUT_GIT}")
            return ""

    @cached_property
    def time(self) -> int:
        if self._git and self.commit:
            try:
                return self._git.commit_time(self.commit)
            except RepositoryError as error:
                self._note("git_failed", error.message)
        return max((file.time for file in self._listing.files), default=0)

    def entries(self) -> list[SourceFile]:
        return [SourceFile(file.path, file.size, file.token) for file in self._listing.files]

    def skips(self) -> list[Skip]:
        return self._add_unread(self._listing.skipped)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        with ExitStack() as stack:
            folder: Folder | None = None
            with suppress(OSError):  # the root itself is gone: so is every file
                folder = stack.enter_context(Folder(self._root))
            for path in paths:
                data = folder.read(path, self._max_file_bytes) if folder else None
                if data is None and os.path.lexists(path_below(self._root, path_bytes(path))):
                    self._unread.add(path)
                yield path, data

    @cached_property
    def _listing(self) -> Listing:
        listing = self._list_files()
        self._note_skipped(listing.skipped)
        return listing

    def _list_files(self) -> Listing:
        if self._git is not None:
            _ = self.commit  # the smallest question finds out whether a repository keeps git waiting
            try:
                return list_with_git(self._git, self._ignore, self._max_file_bytes)
            except RepositoryError as error:
                self._note("git_failed", f"{error.message}: secateur reads the ignore rules itself")
        try:
            return walk(self._root, self._ignore, self._max_file_bytes, top=top_of(self._root))
        except OSError as error:
            raise unreadable_folder(self._root, error) from error


def top_of(root: Path) -> Path | None:
    """Returns the top folder of the repository whose ignore rules apply at `root`; None without a
    repository, or if it ignores `root` itself."""
    location = locate(root)
    if location is None or location.top is None or is_ignored_folder(location.top, root):
        return None
    return location.top
