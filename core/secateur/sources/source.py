"""What is read: a work tree, a commit, or files in memory, behind one protocol. The same tree gives the same content
through each.

    source = open_source(Path("orders"), rev="v1.2")
    for path, content in source.read([entry.path for entry in source.entries()]): ...

A source is a view taken when it is first asked; open a new one to see later changes. Nothing is executed or written, no
link is followed, contents are bytes exactly as stored (no conversion of line ends).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from secateur.errors import RepositoryError, bare_repository, unreadable_folder
from secateur.model import Notice
from secateur.sources.files import Folder, path_bytes
from secateur.sources.git import GITLINK, HISTORY_LIMIT, SYMBOLIC_LINK, Foreign, Git, HistoryCommit, NoGit, locate
from secateur.sources.ignore import IgnoreFilter
from secateur.sources.walk import Listing, Skip, SkipReason, is_ignored_folder, list_with_git, walk

MAX_FILE_BYTES = 1024 * 1024
"""Default size above which a file is skipped: `index.max_file_kb`."""

READ_AHEAD_BYTES = 8 * 1024 * 1024
"""Contents taken from git at a time. The deadline of a git process is for git alone, so none may wait for whoever works
on what it gave."""

HISTORY_INCOMPLETE = "history_incomplete"
"""Code of the notice that `history` ended before its end."""

_SHORT_ID = 7  # of a commit id, on the screen
_TOKEN_BYTES = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a source."""

    path: str  # relative, with `/`
    size: int  # bytes
    token: str  # equal tokens of a path: the content is unchanged; cheap to get, meaningful within one kind of source


class Source(Protocol):
    """What everything above reads from."""

    @property
    def root(self) -> Path | None:
        """The folder on disk; None for files in memory."""

    @property
    def commit(self) -> str:
        """Id of the commit that is read, or that the work tree is based on; "" for none."""

    @property
    def time(self) -> int:
        """When this state was made, seconds since 1970: the commit's date, else the newest file's."""

    def describe(self) -> str:
        """Short name for the screen: "orders @ 4f2c91d"."""

    def entries(self) -> list[Entry]:
        """The files, in byte order of their paths. Raises RepositoryError when they cannot be listed."""

    def skipped(self) -> list[Skip]:
        """Paths that are not among the entries, with the reason; paths git ignores are not mentioned."""

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Contents in the order asked; None for what is gone or cannot be read any more. Never raises for a file."""

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        """Commits that led here, newest first, without merges; empty where there is no history."""

    @property
    def history_id(self) -> str:
        """What `history` depends on: the commit, and where a shallow clone ends; "" where there is no history."""

    def news(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
        """The commits that came after an earlier one, as `history` gives them, and whether they came one by one,
        without merges.

        None where that commit did not lead here, or more than `limit` have come.
        """

    def notices(self) -> list[Notice]:
        """What the user should know about this source, as far as it was read until now."""


class WorktreeSource:
    """The files of a folder as they are on disk: with git those it tracks or does not ignore, otherwise by our own
    walk."""

    def __init__(
        self,
        root: Path,
        git: Git | NoGit | Foreign,
        *,
        ignore: Sequence[str] = (),
        max_file_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        self._root = root.resolve()
        self._git = git if isinstance(git, Git) else None
        self._ignore = IgnoreFilter(ignore)
        self._max_file_bytes = max_file_bytes
        self._notices: dict[str, Notice] = {}
        if git is NoGit.NO_BINARY:
            self._note(
                "git_missing",
                "git was not found: ignore rules are read by secateur, and there is no history for hotspots",
            )
        elif git is NoGit.BROKEN_REPOSITORY:
            self._note(
                "git_failed", f"{git.value}: hotspots know no history, and secateur reads the ignore rules itself"
            )
        elif isinstance(git, Foreign):
            self._note(
                "git_foreign",
                f"{git.value}: hotspots know no history, and secateur reads the ignore rules itself. {git.hint}",
            )

    @property
    def root(self) -> Path | None:
        return self._root

    @cached_property
    def commit(self) -> str:
        try:
            return (self._git.head() if self._git else None) or ""
        except RepositoryError as error:
            self._note(
                "git_failed", f"{error.message}: hotspots know no history, and secateur reads the ignore rules itself"
            )
            return ""

    @cached_property
    def time(self) -> int:
        if self._git and self.commit:
            try:
                return self._git.commit_time(self.commit)
            except RepositoryError as error:
                self._note("git_failed", error.message)
        return max((found.time for found in self._listing.files), default=0)

    def describe(self) -> str:
        return _title(self._root, self.commit)

    def entries(self) -> list[Entry]:
        return [Entry(found.path, found.size, found.token) for found in self._listing.files]

    def skipped(self) -> list[Skip]:
        return list(self._listing.skipped)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        with ExitStack() as stack:
            folder: Folder | None = None
            with suppress(OSError):  # the root itself is gone: so is every file
                folder = stack.enter_context(Folder(self._root))
            for path in paths:
                yield path, folder.read(path, self._max_file_bytes) if folder else None

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        return _history(self._git, self.commit, limit, self._note)

    @cached_property
    def history_id(self) -> str:
        return _history_id(self._git, self.commit)

    def news(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
        return _news(self._git, commit, self.commit, limit)

    def notices(self) -> list[Notice]:
        return list(self._notices.values())

    @cached_property
    def _listing(self) -> Listing:
        if self._git is not None:
            _ = self.commit  # a repository that keeps git waiting is found out by the smallest question
            try:
                return list_with_git(self._git, self._ignore, self._max_file_bytes)
            except RepositoryError as error:
                self._note("git_failed", f"{error.message}: secateur reads the ignore rules itself")
        try:
            return walk(self._root, self._ignore, self._max_file_bytes, top=_top(self._root))
        except OSError as error:
            raise unreadable_folder(self._root, error) from error

    def _note(self, code: str, message: str) -> None:
        self._notices.setdefault(code, Notice(code, message))


class CommitSource:
    """The files of one commit, read from git's objects; the work tree is not looked at."""

    def __init__(self, git: Git, rev: str, *, ignore: Sequence[str] = (), max_file_bytes: int = MAX_FILE_BYTES) -> None:
        self._git = git
        self._commit = git.resolve(rev)
        git.tree(self._commit)  # fails here, not later, for a folder that the commit does not have
        self._ignore = IgnoreFilter(ignore)
        self._max_file_bytes = max_file_bytes
        self._notices: dict[str, Notice] = {}

    @property
    def root(self) -> Path | None:
        return self._git.root

    @property
    def commit(self) -> str:
        return self._commit

    @cached_property
    def time(self) -> int:
        return self._git.commit_time(self._commit)

    def describe(self) -> str:
        return _title(self._git.root, self._commit)

    def entries(self) -> list[Entry]:
        return list(self._listing[0])

    def skipped(self) -> list[Skip]:
        return list(self._listing[1])

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        entries = {entry.path: entry for entry in self._listing[0]}
        unread = False
        for batch in _batches(paths, entries):
            contents: list[bytes | None] = []
            oids = [entries[path].token for path in batch if path in entries]
            if oids and not unread:
                try:
                    for content in self._git.blobs(oids, max_bytes=self._max_file_bytes):
                        contents.append(content)  # one by one: what came before a failure is kept
                except RepositoryError as error:
                    self._note("git_failed", error.message)
                    unread = True  # the rest cannot be read either
            following = iter(contents)
            for path in batch:
                yield path, next(following, None) if path in entries else None

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        return _history(self._git, self._commit, limit, self._note)

    @cached_property
    def history_id(self) -> str:
        return _history_id(self._git, self.commit)

    def news(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
        return _news(self._git, commit, self.commit, limit)

    def notices(self) -> list[Notice]:
        return list(self._notices.values())

    @cached_property
    def _listing(self) -> tuple[list[Entry], list[Skip]]:
        entries: list[Entry] = []
        skipped: list[Skip] = []
        files = []
        for entry in self._git.ls_tree(self._commit):
            if entry.mode == GITLINK:
                skipped.append(Skip(entry.path + "/", SkipReason.NESTED_REPOSITORY))
            elif self._ignore.ignores(entry.path):
                skipped.append(Skip(entry.path, SkipReason.IGNORED_BY_SETTING))
            elif entry.mode == SYMBOLIC_LINK:
                skipped.append(Skip(entry.path, SkipReason.SYMBOLIC_LINK))
            else:
                files.append(entry)
        for entry, size in zip(files, self._git.sizes([file.oid for file in files]), strict=True):
            if size is None:
                skipped.append(Skip(entry.path, SkipReason.UNREADABLE))
            elif size > self._max_file_bytes:
                skipped.append(Skip(entry.path, SkipReason.TOO_LARGE))
            else:
                entries.append(Entry(entry.path, size, entry.oid))
        return entries, sorted(skipped, key=lambda skip: path_bytes(skip.path))

    def _note(self, code: str, message: str) -> None:
        self._notices.setdefault(code, Notice(code, message))


class MemorySource:
    """Files given as text or bytes: `MemorySource({"a.py": "x = 1\\n"})`. Text is encoded as UTF-8."""

    def __init__(
        self,
        files: Mapping[str, str | bytes],
        *,
        time: int = 0,
        name: str = "memory",
        ignore: Sequence[str] = (),
        max_file_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        self._time = time
        self._name = name
        contents = {
            path: path_bytes(content) if isinstance(content, str) else bytes(content) for path, content in files.items()
        }
        patterns = IgnoreFilter(ignore)
        self._entries: list[Entry] = []
        self._skipped: list[Skip] = []
        self._contents: dict[str, bytes] = {}
        for path in sorted(contents, key=path_bytes):
            content = contents[path]
            if patterns.ignores(path):
                self._skipped.append(Skip(path, SkipReason.IGNORED_BY_SETTING))
            elif len(content) > max_file_bytes:
                self._skipped.append(Skip(path, SkipReason.TOO_LARGE))
            else:
                self._entries.append(Entry(path, len(content), blake2b(content, digest_size=_TOKEN_BYTES).hexdigest()))
                self._contents[path] = content

    @property
    def root(self) -> Path | None:
        return None

    @property
    def commit(self) -> str:
        return ""

    @property
    def time(self) -> int:
        return self._time

    def describe(self) -> str:
        return self._name

    def entries(self) -> list[Entry]:
        return list(self._entries)

    def skipped(self) -> list[Skip]:
        return list(self._skipped)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        return ((path, self._contents.get(path)) for path in paths)

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:  # noqa: ARG002 - the protocol's name
        return iter(())

    @property
    def history_id(self) -> str:
        return ""

    def news(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:  # noqa: ARG002
        return None

    def notices(self) -> list[Notice]:
        return []


def open_source(
    path: Path,
    rev: str | None = None,
    *,
    ignore: Sequence[str] = (),
    max_file_bytes: int = MAX_FILE_BYTES,
    trust: bool = False,
) -> WorktreeSource | CommitSource:
    """The folder at `path` as it is now, or as it was at `rev`.

    `ignore` are further patterns in gitignore syntax, `max_file_bytes` the size above which files are skipped, `trust`
    as for `Git.discover`. A folder that an enclosing repository ignores and tracks nothing of (an environment, a
    scratch copy) is taken as a folder without git.

    Raises RepositoryError: no such folder, not a folder, not readable, `rev` without a repository or without git,
    unknown `rev`.
    """
    root = _checked(path)
    git = Git.discover(root, trust=trust)
    if rev is not None:
        if not isinstance(git, Git):
            hint = "Leave the revision out to read the files as they are."
            hint += f" {git.hint}" if isinstance(git, Foreign) else ""
            raise RepositoryError(f"cannot read revision {rev!r} of {path}: {git.value}", hint=hint, code=git.name)
        return CommitSource(git, rev, ignore=ignore, max_file_bytes=max_file_bytes)
    if isinstance(git, Git):
        if git.is_bare:
            raise bare_repository(path, "Name a revision to read, such as HEAD.")
        if _top(root) is None and not _tracks_anything(git):
            git = NoGit.NO_REPOSITORY
    return WorktreeSource(root, git, ignore=ignore, max_file_bytes=max_file_bytes)


def _checked(path: Path) -> Path:
    """The absolute path of a readable folder."""
    try:
        root = path.resolve()
        if not root.exists():
            raise unreadable_folder(path)
        if not root.is_dir():
            raise RepositoryError(
                f"not a folder: {path}", hint=f"Open the folder it is in: {path.parent}", code="NOT_A_DIRECTORY"
            )
        with os.scandir(root):
            return root
    except (OSError, ValueError, RuntimeError) as error:  # permissions, a NUL in the name, a ring of links
        raise unreadable_folder(path, error) from error


def _top(root: Path) -> Path | None:
    """Top folder of the repository whose ignore rules hold at `root`; None when there is none or it ignores `root`
    itself."""
    location = locate(root)
    if location is None or location.top is None or is_ignored_folder(location.top, root):
        return None
    return location.top


def _tracks_anything(git: Git) -> bool:
    try:
        return bool(git.tracked())
    except RepositoryError:
        return False


def _batches(paths: Sequence[str], entries: Mapping[str, Entry]) -> Iterator[list[str]]:
    """The paths in order, cut where their contents come to READ_AHEAD_BYTES."""
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += entries[path].size if path in entries else 0
        if size >= READ_AHEAD_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _title(root: Path, commit: str) -> str:
    name = root.name or str(root)
    return f"{name} @ {commit[:_SHORT_ID]}" if commit else name


def _history(git: Git | None, commit: str, limit: int, note: Callable[[str, str], None]) -> Iterator[HistoryCommit]:
    """History as far as it can be read; what stopped it becomes a notice."""
    if git is None or not commit:
        return
    try:
        yield from git.history(commit, limit=limit)
    except RepositoryError as error:
        note(HISTORY_INCOMPLETE, f"hotspots know only a part of the history: {error.message}")


def _history_id(git: Git | None, commit: str) -> str:
    if git is None or not commit:
        return ""
    shallow = git.shallow()
    return f"{commit}:{blake2b(shallow, digest_size=_TOKEN_BYTES).hexdigest()}" if shallow else commit


def _news(git: Git | None, base: str, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
    """The commits between two; None where one did not lead to the other, there are too many, or git does not say."""
    if git is None or not commit:
        return None
    with suppress(RepositoryError):  # the base may be gone: everything is read anew
        if git.merge_base(base, commit) == base:
            commits = list(git.history(commit, limit=limit + 1, since=base))
            linear = git.is_linear(base, commit)
            if len(commits) <= limit and (
                linear or not git.prefix
            ):  # of merges below a folder git leaves out whole branches
                return commits, linear
    return None
