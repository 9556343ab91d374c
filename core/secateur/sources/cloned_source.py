"""The files of a commit of a clone in the cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from secateur.errors import RepositoryError
from secateur.sources.clone_record import Clone, clone_at
from secateur.sources.commit import CommitSource
from secateur.sources.git import HISTORY_LIMIT, Git
from secateur.sources.git_log import HistoryCommit
from secateur.sources.source import MAX_FILE_BYTES

CLONED = "cloned"
"""Code of the notice that says when a clone was fetched."""

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
            message = f"no commit {rev!r} in {clone.url} as it was fetched on {clone.when}"
            hint = "--refresh fetches it again, with the whole history"
            raise RepositoryError(message, hint=hint, code=error.code) from error
        self._clone = clone
        self._shallow = clone.shallow
        self._note(CLONED, f"{clone.url} is read as it was fetched on {clone.when}; --refresh fetches it again.")
        if clone.shallow:
            self._note(SHALLOW, "The clone is shallow, so every hotspot score is 0; --refresh fetches the history.")

    def is_unchanged(self) -> bool:
        return super().is_unchanged() and self.root is not None and clone_at(self.root) == self._clone

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        return iter(()) if self._shallow else super().history(limit)

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        return [] if self._shallow else super().changes_of(path, limit)

    @cached_property
    def history_id(self) -> str:
        return "" if self._shallow else super().history_id

    def new_commits(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
        return None if self._shallow else super().new_commits(commit, limit)
