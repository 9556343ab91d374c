"""Sources of files: a work tree, a commit, or files in memory, behind one protocol. The same tree gives the same
content through each.

    source = open_source(Path("orders"), rev="v1.2")  # `open.py`
    for path, content in source.read([entry.path for entry in source.entries()]): ...

A source is a snapshot taken at its first use; open a new one to see later changes. Nothing is executed or written, no
link is followed, contents are the stored bytes (line ends are not converted).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from secateur.notice import Notice
from secateur.sources.files import path_bytes
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.git_log import HistoryCommit
from secateur.sources.ignore import SCENARIO_FILES, IgnoreFilter
from secateur.sources.walk import Skip, SkipReason, deep_reason

MAX_FILE_BYTES = 1024 * 1024
"""Default size above which a file is skipped: `index.max_file_kb`."""


HISTORY_INCOMPLETE = "history_incomplete"
"""Code of the notice that `history` stopped early."""


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
        patterns = IgnoreFilter((*ignore, *SCENARIO_FILES))
        self._entries: list[SourceFile] = []
        self._skipped: list[Skip] = []
        self._contents: dict[str, bytes] = {}
        for path in sorted(contents, key=path_bytes):
            content = contents[path]
            if (reason := deep_reason(path, patterns)) is not None:
                self._skipped.append(Skip(path, reason))
            elif patterns.ignores(path):
                self._skipped.append(Skip(path, SkipReason.IGNORED_BY_SETTING))
            elif len(content) > max_file_bytes:
                self._skipped.append(Skip(path, SkipReason.TOO_LARGE))
            else:
                self._entries.append(
                    SourceFile(path, len(content), blake2b(content, digest_size=TOKEN_BYTES).hexdigest())
                )
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

    def entries(self) -> list[SourceFile]:
        return list(self._entries)

    def skips(self) -> list[Skip]:
        return list(self._skipped)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        return ((path, self._contents.get(path)) for path in paths)

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:  # noqa: ARG002 - the protocol's name
        return iter(())

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:  # noqa: ARG002
        return []

    @property
    def history_id(self) -> str:
        return ""

    def new_commits(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:  # noqa: ARG002
        return None

    def is_unchanged(self) -> bool:
        return False

    def notices(self) -> list[Notice]:
        return []
