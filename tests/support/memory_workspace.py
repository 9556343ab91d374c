"""Repositories in memory, joined to a workspace, as a whole and in parts."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from secateur.index.across import LinkedMember, find_crossing_edges
from secateur.index.facts.crossing import CrossingEdges
from secateur.index.facts.extract import Record, decode
from secateur.index.facts.joined_snapshot import JoinedSnapshot, PartSnapshot, join_snapshots, statistics_of
from secateur.index.facts.models import Models, vectors_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.workspace_statistics import WorkspaceStatistics
from secateur.index.graph.resolve import CONFIDENCE, How
from secateur.index.open_index import OpenIndex
from secateur.index.update.parallel import Extractor
from secateur.model import Pool
from secateur.retrieval.candidates import SearchResult
from secateur.retrieval.preference import Preferences
from secateur.retrieval.rerank import Reranker
from secateur.retrieval.results import pool_to_text
from secateur.retrieval.retrieve import Retrieval, retrieve
from secateur.retrieval.search import SearchQuestion
from secateur.retrieval.searched import Searched, SearchedSnapshot, SnapshotFunction
from secateur.retrieval.searched_parts import merge_results, search_part
from secateur.retrieval.searched_state import prepare_query
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


@dataclass(frozen=True)
class SearchedInParts:
    """Snapshots that are searched as workers search the parts of a workspace: questions and answers are pickled."""

    snapshots: Sequence[Snapshot]
    lines: Callable[[str], list[str]]
    counts: WorkspaceStatistics

    def search(self, question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
        return merge_results(self.each(search_part, question), question, reranker)

    def each(self, function: SnapshotFunction[T], argument: Any) -> list[T]:
        arguments = [pickle.loads(pickle.dumps(argument)) for _ in self.snapshots]
        results = [function(one, part, self.lines) for one, part in zip(arguments, self.snapshots, strict=True)]
        found: list[T] = pickle.loads(pickle.dumps(results))
        return found

    def frequency(self, term: int) -> int:
        return self.counts.counts["body"].count(term)


class MemoryWorkspace:
    """Repositories by name, opened; close it."""

    def __init__(self, members: Mapping[str, ToldSource], settings: Settings, seed: int = 0) -> None:
        """`seed`: of edges at random from one into another; 0: those that their manifests lead to."""
        self.settings = settings
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
        sizes = [len(snapshot) for snapshot in self.own.values()]
        self.crossing = random_crossing(sizes, seed) if seed else find_crossing_edges(linked)
        self.whole = JoinedSnapshot(join_snapshots(self.own, self.crossing))

    def parts(self, groups: Sequence[Sequence[str]]) -> list[Snapshot]:
        """The same repositories, those of each group as one part."""
        sizes = [sum(len(self.own[name]) for name in group) for group in groups]
        begins = np.cumsum([0, *sizes]).tolist()
        arrays = [
            join_snapshots({name: self.own[name] for name in group}, self.crossing.between(begin, begin + size))
            for group, begin, size in zip(groups, begins, sizes, strict=False)
        ]
        whole = WorkspaceStatistics.merge([statistics_of(JoinedSnapshot(part)) for part in arrays])
        return [PartSnapshot(part, WorkspaceStatistics.from_arrays(whole.to_arrays())) for part in arrays]

    def records(self, name: str) -> Iterator[tuple[str, bytes, Record]]:
        """What is recorded of the files of a repository."""
        files = [(path_bytes(path), digest) for path, digest in self._states[name].present]
        found = self._indexes[name].store.records(files, self._extractor.version)
        for (path, digest), data in zip(self._states[name].present, found, strict=True):
            assert data is not None
            yield path, digest, decode(data)

    def lines(self, path: str) -> list[str]:
        name, _, own = path.partition("/")
        return self._indexes[name].lines(self.own[name], own)

    def pool(self, query: str, parts: Sequence[Snapshot] = (), reranker: Reranker | None = None) -> Pool:
        """What a query finds, in parts or in the whole."""
        searched: Searched = SearchedSnapshot(self.whole, self.lines)
        if parts:
            searched = SearchedInParts(parts, self.lines, statistics_of(self.whole))
        asked, notices = prepare_query(query, searched, self.settings)
        embedder, counter = vectors_of(MODELS, self.settings), MODELS.counter(self.settings.tokens.counter)
        retrieval = Retrieval(searched, embedder, counter, "", "markdown", Preferences(), notices, reranker)
        return retrieve(asked, retrieval, self.settings)

    def close(self) -> None:
        for index in self._indexes.values():
            index.close()


def random_crossing(sizes: Sequence[int], seed: int) -> CrossingEdges:
    """Edges at random between repositories of so many rows; a few rows have most of them."""
    chance = np.random.default_rng(seed)
    rows, member = sum(sizes), np.repeat(np.arange(len(sizes)), sizes)
    ends = np.sort(chance.integers(0, rows, (2, 3 * rows)) // chance.choice([1, 1, 3], 3 * rows), axis=0)
    ends = np.where(chance.random(3 * rows) < 0.5, ends, ends[::-1]) if rows else ends
    found = np.unique(ends[:, member[ends[0]] != member[ends[1]]].T, axis=0)
    kind = chance.choice([0, 0, 0, 1, 2], len(found)).astype(np.uint8)
    how = chance.choice([3, 5, 9, 10, 11], len(found)).astype(np.uint8)
    confidence = np.array([CONFIDENCE[How(one)] for one in how.tolist()], dtype=np.uint16)
    return CrossingEdges(
        found[:, 0], found[:, 1], kind, confidence, how, chance.integers(1, 4, len(found), dtype=np.uint8)
    )


def as_bytes(pool: Pool) -> str:
    """All of a pool."""
    text = pool_to_text(pool)
    assert text is not None
    return text
