"""Files in memory as a source, for tests of everything that reads one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from secateur.notice import Notice
from secateur.sources.files import path_bytes
from secateur.sources.git import HISTORY_LIMIT, HistoryCommit
from secateur.sources.ignore import SCENARIO_FILES, IgnoreFilter
from secateur.sources.source import MAX_FILE_BYTES, TOKEN_BYTES, SourceFile
from secateur.sources.walk import Skip, SkipReason, deep_reason


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
