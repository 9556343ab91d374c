"""The sources of several repositories as one, whose paths begin with the names of the repositories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from secateur.notice import Notice
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.git_log import HistoryCommit
from secateur.sources.source import Source, SourceFile
from secateur.sources.walk import Skip


class WorkspaceSource:
    """See the module docstring."""

    def __init__(
        self, path: Path, members: Mapping[str, Callable[[], Source]], said: Mapping[str, Sequence[Notice]]
    ) -> None:
        """
        Args:
            path: of the file that names them.
            members: gives each when it is asked for; by name, in byte order of their paths.
            said: the warnings of members that need not be opened for them.
        """
        self._path, self._members, self._said = path.resolve(), members, said

    @property
    def root(self) -> Path | None:
        """The file, which stands for the workspace where something is kept about a folder."""
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

    def skipped(self) -> list[Skip]:
        return [
            replace(skip, path=f"{name}/{skip.path}")
            for name, source in self._members.items()
            for skip in source().skipped()
        ]

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        for path in paths:
            source, own = self._of(path)
            yield path, next((data for _, data in source.read([own])), None) if source is not None else None

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        """The last commits of each repository, the newest first."""
        found = [commit for source in self._members.values() for commit in source().history(limit)]
        return iter(sorted(found, key=lambda commit: (-commit.time, commit.id))[:limit])

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        source, own = self._of(path)
        return source.changes_of(own, limit) if source is not None else []

    @property
    def history_id(self) -> str:
        return "\0".join(source().history_id for source in self._members.values())

    def news(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:  # noqa: ARG002 - the protocol's
        return None

    def unmoved(self) -> bool:
        return False

    def notices(self) -> list[Notice]:
        return [
            Notice(notice.code, f"{name}: {notice.message}")
            for name in self._members
            for notice in (self._said[name] if name in self._said else self._members[name]().notices())
        ]

    def _of(self, path: str) -> tuple[Source | None, str]:
        name, _, own = path.partition("/")
        return self._members[name]() if name in self._members else None, own
