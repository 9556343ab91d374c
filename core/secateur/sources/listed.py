"""Just the files of a source that somebody lists, as `git ls-files -z` and `rg --files` do.

files = listed_files(sys.stdin.buffer.read())
opener = ListedOpener(SourceOpener(path, None, settings.index), files)
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from secateur.errors import shown
from secateur.notice import Notice
from secateur.sources.files import path_text
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.git_log import HistoryCommit
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source, SourceFile
from secateur.sources.walk import Skip

NOT_READ = "listed_files"
"""Code of the notice about files that are listed and not read."""


def listed_files(data: bytes) -> tuple[str, ...]:
    """The paths of a list, each once: separated by NUL where there is one in it, else by lines. A `./` before a path is
    left away."""
    lines = data.split(b"\0") if b"\0" in data else data.splitlines()
    found = (path_text(line) for line in lines)
    return tuple(dict.fromkeys(path.removeprefix("./") for path in found if path.strip()))


def below(files: Collection[str], root: Path) -> tuple[str, ...]:
    """The paths as a source at `root` has them: absolute ones that lie below it count from there."""
    prefixes = tuple(f"{place}{os.sep}" for place in dict.fromkeys((root.absolute(), root.resolve())))
    found = []
    for path in files:
        prefix = next((one for one in prefixes if path.startswith(one)), "")
        found.append(path[len(prefix) :].replace(os.sep, "/"))
    return tuple(dict.fromkeys(found))


def missing_notice(files: Sequence[str], read: Collection[str]) -> Notice | None:
    """The notice about listed files that are not among those that are read; None where all are."""
    missing = [path for path in files if path not in read]
    if not missing:
        return None if files else Notice(NOT_READ, "The list of files is empty.")
    return Notice(
        NOT_READ,
        f"{len(missing):,} of the {len(files):,} listed files are not read (the first is {shown(missing[0])}): they are"
        " not there, ignored, too large, or their paths count from another folder.",
    )


class ListedSource:
    """A source without the files that are not listed. History and commit are those of the whole."""

    def __init__(self, whole: Source, files: Sequence[str]) -> None:
        self._whole = whole
        self._files = below(files, whole.root) if whole.root is not None else tuple(files)
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

    def skipped(self) -> list[Skip]:
        wanted = set(self._files)
        return [skip for skip in self._whole.skipped() if skip.path in wanted]

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        return self._whole.read(paths)

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        return self._whole.history(limit)

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        return self._whole.changes_of(path, limit)

    @property
    def history_id(self) -> str:
        return self._whole.history_id

    def news(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:
        return self._whole.news(commit, limit)

    def unmoved(self) -> bool:
        return False

    def notices(self) -> list[Notice]:
        return [*self._whole.notices(), *([self._missing] if self._missing else [])]


@dataclass(frozen=True, slots=True)
class ListedOpener:
    """Opens the listed files of a folder, or of a commit, anew with every call."""

    whole: SourceOpener
    files: tuple[str, ...]

    def __call__(self) -> ListedSource:
        """The source as it is now; raises as `open_source`."""
        return ListedSource(self.whole(), self.files)
