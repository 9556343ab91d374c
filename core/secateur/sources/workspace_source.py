"""Several repositories as one source, in which each path starts with the name of its repository."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from secateur.notice import Notice
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.git_log import HistoryCommit
from secateur.sources.source import Source, SourceFile
from secateur.sources.walk import Skip


class WorkspaceSource:
    """The repositories of a workspace file as one source."""

    def __init__(
        self, path: Path, members: Mapping[str, Callable[[], Source]], notices: Mapping[str, Sequence[Notice]]
    ) -> None:
        """
        Args:
            path: the workspace file.
            members: opens a member, by its name, in byte order of the paths.
            notices: warnings, by member, of members that need not be opened to get them.
        """
        self._path, self._members, self._notices = path.resolve(), members, notices

    @property
    def root(self) -> Path | None:
        """The workspace file. What is stored per folder is stored for this file."""
        return self._path

    @property
    def commit(self) -> str:
        return ""

    @property
    def time(self) -> int:
        return max((source().time for source in self._members.values()), default=0)

    def describe(self) -> str:
        name = self._path.parent.name if self._path.stem == "workspace" else self._path.stem
        count = len(self._members)
        return f"{name}: {count:,} {'repository' if count == 1 else 'repositories'}"

    def entries(self) -> list[SourceFile]:
        return [
            replace(entry, path=f"{name}/{entry.path}")
            for name, source in self._members.items()
            for entry in source().entries()
        ]

    def skips(self) -> list[Skip]:
        return [
            replace(skip, path=f"{name}/{skip.path}")
            for name, source in self._members.items()
            for skip in source().skips()
        ]

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        for path in paths:
            source, own = self._of(path)
            yield path, next((data for _, data in source.read([own])), None) if source is not None else None

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        """Yields the last commits of all repositories, newest first."""
        commits = [commit for source in self._members.values() for commit in source().history(limit)]
        return iter(sorted(commits, key=lambda commit: (-commit.time, commit.id))[:limit])

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        source, own = self._of(path)
        return source.changes_of(own, limit) if source is not None else []

    @property
    def history_id(self) -> str:
        return "\0".join(source().history_id for source in self._members.values())

    def new_commits(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:  # noqa: ARG002
        return None

    def is_unchanged(self) -> bool:
        return False

    def notices(self) -> list[Notice]:
        return [
            Notice(notice.code, f"{name}: {notice.message}")
            for name in self._members
            for notice in (self._notices[name] if name in self._notices else self._members[name]().notices())
        ]

    def _of(self, path: str) -> tuple[Source | None, str]:
        name, _, own = path.partition("/")
        return self._members[name]() if name in self._members else None, own
