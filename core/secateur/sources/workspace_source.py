"""Several repositories as one source, in which each path starts with the name of its repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from secateur.notice import Notice
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.git_log import HistoryCommit
from secateur.sources.source import Source, SourceFile
from secateur.sources.walk import Skip


class MemberSource(Protocol):
    """A repository of a workspace. `source` opens it."""

    @property
    def source(self) -> Source: ...

    def notices(self) -> Sequence[Notice]:
        """The warnings of the source."""

    def skips(self) -> Sequence[Skip]:
        """The paths that the source does not read."""


class WorkspaceSource:
    """The repositories of a workspace file as one source."""

    def __init__(self, path: Path, members: Mapping[str, MemberSource]) -> None:
        """`path`: the workspace file; `members`: by name, in byte order of their paths."""
        self._path, self._members = path.resolve(), members

    @property
    def root(self) -> Path | None:
        """The workspace file. What is stored per folder is stored for this file."""
        return self._path

    @property
    def commit(self) -> str:
        return ""

    @property
    def time(self) -> int:
        return 0

    def describe(self) -> str:
        name = self._path.parent.name if self._path.stem == "workspace" else self._path.stem
        count = len(self._members)
        return f"{name}: {count:,} {'repository' if count == 1 else 'repositories'}"

    def entries(self) -> list[SourceFile]:
        return [
            replace(entry, path=f"{name}/{entry.path}")
            for name, member in self._members.items()
            for entry in member.source.entries()
        ]

    def skips(self) -> list[Skip]:
        return [
            replace(skip, path=f"{name}/{skip.path}")
            for name, member in self._members.items()
            for skip in member.skips()
        ]

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        for path in paths:
            source, own = self._of(path)
            yield path, next((data for _, data in source.read([own])), None) if source is not None else None

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        """Yields the last commits of all repositories, newest first."""
        commits = [commit for member in self._members.values() for commit in member.source.history(limit)]
        return iter(sorted(commits, key=lambda commit: (-commit.time, commit.id))[:limit])

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        source, own = self._of(path)
        return source.changes_of(own, limit) if source is not None else []

    @property
    def history_id(self) -> str:
        return ""

    def new_commits(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:  # noqa: ARG002
        return None

    def is_unchanged(self) -> bool:
        return False

    def notices(self) -> list[Notice]:
        return [
            Notice(notice.code, f"{name}: {notice.message}")
            for name, member in self._members.items()
            for notice in member.notices()
        ]

    def _of(self, path: str) -> tuple[Source | None, str]:
        name, _, own = path.partition("/")
        return self._members[name].source if name in self._members else None, own
