"""Repositories in memory, joined to a workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from secateur.index.across import LinkedMember, find_crossing_edges
from secateur.index.facts.extract import Record, decode
from secateur.index.facts.joined_snapshot import JoinedSnapshot, join_snapshots
from secateur.index.facts.models import Models, vectors_of
from secateur.index.open_index import OpenIndex
from secateur.index.update.parallel import Extractor
from secateur.settings import Settings
from secateur.sources.files import path_bytes
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.git_log import HistoryCommit
from support.memory_source import MemorySource

MODELS = Models(os.environ)

T = TypeVar("T")


class ToldSource(MemorySource):
    """Files in memory with a history: each commit is the files it changed, the newest first."""

    def __init__(self, files: Mapping[str, str], commits: Sequence[tuple[str, Sequence[str]]] = ()) -> None:
        super().__init__(files, time=100 * 86_400)
        self._commits = [
            HistoryCommit(f"{number:040x}", (99 - number) * 86_400, "", subject, tuple(paths))
            for number, (subject, paths) in enumerate(commits)
        ]

    @property
    def commit(self) -> str:
        return f"{len(self._commits):040x}"

    @property
    def history_id(self) -> str:
        return self.commit

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        return iter(self._commits[:limit])


class MemoryWorkspace:
    """Repositories by name, opened; close it."""

    def __init__(self, members: Mapping[str, ToldSource], settings: Settings) -> None:
        counter = MODELS.counter(settings.tokens.counter)
        self._extractor = extractor = Extractor.of(settings, counter, vectors_of(MODELS, settings), Path())
        self._indexes = {
            name: OpenIndex(lambda source=source: source, Path())  # type: ignore[misc]  # mypy sees no default
            for name, source in sorted(members.items(), key=lambda item: f"{item[0]}/".encode())
        }
        self._states = {name: index.record(extractor) for name, index in self._indexes.items()}
        for name, index in self._indexes.items():
            index.load(self._states[name], extractor)
        self.own = {name: index.snapshot for name, index in self._indexes.items() if index.snapshot is not None}
        linked = [
            LinkedMember(name, self._states[name].name, snapshot, self._indexes[name])
            for name, snapshot in self.own.items()
        ]
        self.whole = JoinedSnapshot(join_snapshots(self.own, find_crossing_edges(linked)))

    def records(self, name: str) -> Iterator[tuple[str, bytes, Record]]:
        """What is recorded of the files of a repository."""
        files = [(path_bytes(path), digest) for path, digest in self._states[name].present]
        found = self._indexes[name].store.records(files, self._extractor.version)
        for (path, digest), data in zip(self._states[name].present, found, strict=True):
            assert data is not None
            yield path, digest, decode(data)

    def close(self) -> None:
        for index in self._indexes.values():
            index.close()
