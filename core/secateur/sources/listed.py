"""Restricts a source to a list of files, such as the output of `git ls-files -z` or `rg --files`.

files = listed_files(sys.stdin.buffer.read())
opener = ListedOpener(SourceOpener(path, None, settings.index), files)
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from secateur.errors import shown
from secateur.notice import Notice
from secateur.sources.files import path_text
from secateur.sources.git import HISTORY_LIMIT, HistoryCommit
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source, SourceFile
from secateur.sources.walk import Skip

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
