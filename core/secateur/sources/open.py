"""Opens a folder, or a commit of its repository, as a source.

The files of a folder as they are on disk.

Restricts a source to a list of files, such as the output of `git ls-files -z` or `rg --files`.

files = listed_files(sys.stdin.buffer.read())
opener = ListedOpener(SourceOpener(path, None, settings.index), files)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from secateur.errors import RepositoryError, bare_repository, unreadable_folder
from secateur.sources.commit import CommitSource
from secateur.sources.git import Git
from secateur.sources.provenance import Clone, ForeignRepository, NoGit, clone_at
from secateur.sources.source import MAX_FILE_BYTES, Source

if TYPE_CHECKING:
    from secateur.settings import Index
from collections.abc import Collection, Iterator
from contextlib import ExitStack, suppress
from functools import cached_property

from secateur.errors import shown
from secateur.notice import Notice
from secateur.sources.files import Folder, path_bytes, path_text
from secateur.sources.git import HISTORY_LIMIT, HistoryCommit
from secateur.sources.ignore import SCENARIO_FILES, IgnoreFilter
from secateur.sources.provenance import locate
from secateur.sources.source import RepositorySource, SourceFile
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


# Endings of archives, for the hint of an error.
_PACKED = frozenset({".bz2", ".gz", ".tar", ".tgz", ".xz", ".zip", ".zst"})


def open_source(
    path: Path,
    rev: str | None = None,
    *,
    ignore: Sequence[str] = (),
    max_file_bytes: int = MAX_FILE_BYTES,
    trust: bool = False,
) -> WorktreeSource | CommitSource:
    """Opens the folder at `path` as it is now, or as it was at `rev`. A clone has no files on disk, so its HEAD commit
    is opened.

    `ignore`: further patterns in gitignore syntax; `max_file_bytes`: the size above which files are skipped; `trust`:
    see `Git.discover`. If an enclosing repository ignores the folder and tracks nothing in it (an environment, a
    scratch copy), it is opened as a folder without git.

    Raises RepositoryError: no such folder, not a folder, not readable, `rev` without a repository or without git,
    unknown `rev`.
    """
    root = _check_folder(path)
    git = Git.discover(root, trust=trust)
    clone = clone_at(root) if isinstance(git, Git) and git.is_bare else None
    if isinstance(git, Git) and clone is not None:
        return ClonedSource(git, rev or "HEAD", clone, ignore=ignore, max_file_bytes=max_file_bytes)
    if rev is not None:
        if not isinstance(git, Git):
            history = "It has no git history. " if git is NoGit.NO_REPOSITORY else ""
            hint = f"{history}Only the files as they are now can be read."
            hint += f" {git.hint}" if isinstance(git, ForeignRepository) else ""
            raise RepositoryError(f"cannot read revision {rev!r} of {path}: {git.value}", hint=hint, code=git.name)
        return CommitSource(git, rev, ignore=ignore, max_file_bytes=max_file_bytes)
    if isinstance(git, Git):
        if git.is_bare:
            raise bare_repository(path, "Name a revision to read, such as HEAD.")
        if top_of(root) is None and not _tracks_anything(git):
            git = NoGit.NO_REPOSITORY
    return WorktreeSource(root, git, ignore=ignore, max_file_bytes=max_file_bytes)


class SourceOpener(Struct, frozen=True):
    """Opens a folder, or a commit of its repository, again at every call. Equal openers open the same source."""

    path: Path
    rev: str | None
    rules: Index

    @property
    def limits(self) -> tuple[tuple[str, ...], int, bool]:
        """The rules as `ignore`, `max_file_bytes` and `trust` of `open_source`."""
        return self.rules.ignore, self.rules.max_file_kb * 1024, self.rules.trust_git_dir

    def __call__(self) -> Source:
        """Returns the source as it is now; raises like `open_source`."""
        ignore, limit, trust = self.limits
        return open_source(self.path, self.rev, ignore=ignore, max_file_bytes=limit, trust=trust)


def _check_folder(path: Path) -> Path:
    try:
        root = path.resolve()
        if not root.exists():
            raise unreadable_folder(path)
        if not root.is_dir():
            hint = f"Open the folder it is in: {path.parent}"
            if path.suffix in _PACKED:
                hint = f"Unpack it first (tar xf {path.name}), and name the folder."
            raise RepositoryError(f"not a folder: {path}", hint=hint, code="NOT_A_DIRECTORY")
        with os.scandir(root):
            return root
    except (OSError, ValueError, RuntimeError) as error:  # permissions, a NUL in the name, a ring of links
        raise unreadable_folder(path, error) from error


def _tracks_anything(git: Git) -> bool:
    try:
        return bool(git.list_tracked())
    except RepositoryError:
        return False


CLONED = "cloned"  # code of the notice that says when a clone was fetched
SHALLOW = "shallow_clone"


class ClonedSource(CommitSource):
    """A commit of a clone. A notice says when the clone was fetched. A shallow clone has no history, so that hotspots
    do not rest on the one commit that it has."""

    def __init__(
        self, git: Git, rev: str, clone: Clone, *, ignore: Sequence[str] = (), max_file_bytes: int = MAX_FILE_BYTES
    ) -> None:
        try:
            super().__init__(git, rev, ignore=ignore, max_file_bytes=max_file_bytes)
        except RepositoryError as error:
            if error.code != "UNKNOWN_REVISION":
                raise
            raise RepositoryError(
                f"no commit {rev!r} in {clone.url} as it was fetched on {clone.when}",
                hint="--refresh fetches it again, with the whole history",
                code=error.code,
            ) from error
        self._clone = clone
        self._note(CLONED, f"{clone.url} is read as it was fetched on {clone.when}; --refresh fetches it again.")
        if clone.shallow:
            self._git = None  # nothing is asked about the history
            self._note(SHALLOW, "The clone is shallow, so every hotspot score is 0; --refresh fetches the history.")

    def is_unchanged(self) -> bool:
        return super().is_unchanged() and self.root is not None and clone_at(self.root) == self._clone


NOT_READ = "listed_files"  # code of the notice about files that are listed and not read


def parse_file_list(data: bytes) -> tuple[str, ...]:
    """Returns the paths in a list, each once. They are separated by NUL if the list contains one, otherwise by lines. A
    leading `./` is dropped."""
    lines = data.split(b"\0") if b"\0" in data else data.splitlines()
    paths = (path_text(line) for line in lines)
    return tuple(dict.fromkeys(path.removeprefix("./") for path in paths if path.strip()))


def paths_below(files: Collection[str], root: Path) -> tuple[str, ...]:
    """Returns the paths relative to a source at `root`; absolute paths below it become relative."""
    prefixes = tuple(f"{folder}{os.sep}" for folder in dict.fromkeys((root.absolute(), root.resolve())))
    paths = []
    for path in files:
        prefix = next((candidate for candidate in prefixes if path.startswith(candidate)), "")
        paths.append(path[len(prefix) :].replace(os.sep, "/"))
    return tuple(dict.fromkeys(paths))


def missing_notice(files: Sequence[str], read: Collection[str]) -> Notice | None:
    """Returns a notice about listed files that are not read; None if all are."""
    if not (missing := [path for path in files if path not in read]):
        return None if files else Notice(NOT_READ, "The list of files is empty.")
    some = f"{len(missing):,} of the {len(files):,} listed files are not read (the first is {shown(missing[0])})"
    return Notice(NOT_READ, f"{some}: they are missing, ignored, too large, or relative to another folder.")


class ListedSource:
    """Contains only the listed files of a source, with its whole history and its commit."""

    def __init__(self, whole: Source, files: Sequence[str]) -> None:
        self._whole = whole
        self._files = paths_below(files, whole.root) if whole.root is not None else tuple(files)
        wanted = set(self._files)
        self._entries = [entry for entry in whole.entries() if entry.path in wanted]
        self._missing = missing_notice(self._files, {entry.path for entry in self._entries})

    @property
    def root(self) -> Path | None:
        return self._whole.root

    @property
    def commit(self) -> str:
        return self._whole.commit

    @property
    def time(self) -> int:
        return self._whole.time

    def describe(self) -> str:
        return f"{self._whole.describe()}, {len(self._entries):,} listed files"

    def entries(self) -> list[SourceFile]:
        return list(self._entries)

    def skips(self) -> list[Skip]:
        wanted = set(self._files)
        return [skip for skip in self._whole.skips() if skip.path in wanted]

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        return self._whole.read(paths)

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        return self._whole.history(limit)

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        return self._whole.changes_of(path, limit)

    @property
    def history_id(self) -> str:
        return self._whole.history_id

    def new_commits(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
        return self._whole.new_commits(commit, limit)

    def is_unchanged(self) -> bool:
        return False

    def notices(self) -> list[Notice]:
        return [*self._whole.notices(), *([self._missing] if self._missing else [])]


class ListedOpener(Struct, frozen=True):
    """Opens the listed files of a folder, or of a commit, again at every call."""

    whole: SourceOpener
    files: tuple[str, ...]

    def __call__(self) -> ListedSource:
        """Returns the source as it is now; raises like `open_source`."""
        return ListedSource(self.whole(), self.files)
