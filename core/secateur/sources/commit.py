"""The files of one commit, read from the objects of git."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from secateur.errors import RepositoryError
from secateur.sources.files import path_bytes
from secateur.sources.git import GITLINK, SYMBOLIC_LINK, Git
from secateur.sources.ignore import SCENARIO_FILES, IgnoreFilter
from secateur.sources.source import MAX_FILE_BYTES, RepositorySource, SourceFile
from secateur.sources.walk import Skip, SkipReason, deep_reason

# Contents taken from git at a time. The deadline of a git process counts git's own time, so git must not wait for the
# code that uses its output.
READ_AHEAD_BYTES = 8 * 1024 * 1024


class CommitSource(RepositorySource):
    """The files of one commit, read from git's objects; the work tree is not looked at."""

    def __init__(self, git: Git, rev: str, *, ignore: Sequence[str] = (), max_file_bytes: int = MAX_FILE_BYTES) -> None:
        super().__init__(git.root, git)
        self._objects = git
        self._rev = rev
        self._commit = git.resolve(rev)
        git.tree(self._commit)  # fails here, not later, for a folder that the commit does not have
        self._ignore = IgnoreFilter((*ignore, *SCENARIO_FILES))
        self._max_file_bytes = max_file_bytes

    @property
    def commit(self) -> str:
        return self._commit

    @cached_property
    def time(self) -> int:
        return self._objects.commit_time(self._commit)

    def is_unchanged(self) -> bool:
        """Tells whether the revision still names the same commit; a commit never changes. A shallow clone may get more
        history at any time."""
        try:
            return not self._objects.shallow() and self._objects.names_still(self._rev, self._commit)
        except RepositoryError:  # opening the source again reports it
            return False

    def entries(self) -> list[SourceFile]:
        return list(self._listing[0])

    def skips(self) -> list[Skip]:
        return self._add_unread(self._listing[1])

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        entries = {entry.path: entry for entry in self._listing[0]}
        unread = False
        for batch in _split_batches(paths, entries):
            contents: list[bytes | None] = []
            if (oids := [entries[path].token for path in batch if path in entries]) and not unread:
                try:
                    for content in self._objects.blobs(oids, max_bytes=self._max_file_bytes):
                        contents.append(content)  # one by one: contents read before a failure are kept
                except RepositoryError as error:
                    self._note("git_failed", error.message)
                    unread = True  # the rest cannot be read either
            following = iter(contents)
            for path in batch:
                content = next(following, None) if path in entries else None
                if content is None and path in entries:
                    self._unread.add(path)
                yield path, content

    @cached_property
    def _listing(self) -> tuple[list[SourceFile], list[Skip]]:
        entries: list[SourceFile] = []
        skipped: list[Skip] = []
        files = []
        for entry in self._objects.ls_tree(self._commit):
            if entry.mode == GITLINK:
                skipped.append(Skip(entry.path + "/", SkipReason.NESTED_REPOSITORY))
            elif (reason := deep_reason(entry.path, self._ignore)) is not None:
                skipped.append(Skip(entry.path, reason))
            elif self._ignore.ignores(entry.path):
                skipped.append(Skip(entry.path, SkipReason.IGNORED_BY_SETTING))
            elif entry.mode == SYMBOLIC_LINK:
                skipped.append(Skip(entry.path, SkipReason.SYMBOLIC_LINK))
            else:
                files.append(entry)
        for entry, size in zip(files, self._objects.sizes([file.oid for file in files]), strict=True):
            if size is None:
                skipped.append(Skip(entry.path, SkipReason.UNREADABLE))
            elif size > self._max_file_bytes:
                skipped.append(Skip(entry.path, SkipReason.TOO_LARGE))
            else:
                entries.append(SourceFile(entry.path, size, entry.oid))
        skipped.sort(key=lambda skip: path_bytes(skip.path))
        self._note_skipped(skipped)
        return entries, skipped


def _split_batches(paths: Sequence[str], entries: Mapping[str, SourceFile]) -> Iterator[list[str]]:
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
