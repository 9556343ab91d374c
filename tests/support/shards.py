"""Repositories in memory, as the shards of a workspace and as the one index over the same files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from secateur.index.facts.crossing import CrossingEdges
from secateur.index.facts.extract import Record, decode
from secateur.index.facts.joined import joined
from secateur.index.facts.merged import MergedShard, merged
from secateur.index.facts.models import Models, vectors_of
from secateur.index.facts.shard import Shard, opening_of, shards_of, shared_facts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.split import Division
from secateur.index.graph.resolve import CONFIDENCE, How
from secateur.index.open_index import OpenIndex
from secateur.index.update.across import LinkedMember, crossing_of
from secateur.index.update.parallel import Extractor
from secateur.model import Pool
from secateur.retrieval.asking import asked_query
from secateur.retrieval.preference import Preferences
from secateur.retrieval.retrieve import Retrieval, retrieve
from secateur.retrieval.rounds import Answering
from secateur.retrieval.shards import ShardsHere, ShardWork
from secateur.retrieval.stored_pool import stored
from secateur.settings import Settings
from secateur.sources.files import path_bytes
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.git_log import HistoryCommit
from secateur.sources.source import MemorySource

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
class Opened:
    """An index that is open, as a repository whose index may be."""

    index: OpenIndex


@dataclass(frozen=True)
class AllShards:
    """Shards that are all asked whatever is put to them."""

    shards: ShardsHere

    def asked(self, work: ShardWork[T], argument: Any, answering: Mapping[type, Answering] | None = None) -> list[T]:
        return self.shards.asked(work, argument, answering)


class Shards:
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
        own: dict[str, Snapshot] = {
            name: index.snapshot for name, index in self._indexes.items() if index.snapshot is not None
        }
        linked = [
            LinkedMember(name, self._states[name].name, snapshot, Opened(self._indexes[name]))
            for name, snapshot in own.items()
        ]
        crossing = random_crossing([len(snapshot) for snapshot in own.values()], seed) if seed else crossing_of(linked)
        self._own, self._crossing = own, crossing
        self.facts = facts = shared_facts([opening_of(snapshot) for snapshot in own.values()], crossing)
        self.shards = shards_of(own, facts)
        self.one = Snapshot(joined(self.shards).arrays)

    def merged(self, groups: Sequence[Sequence[str]]) -> list[Shard]:
        """The same repositories with those of each group as one shard."""
        lots = [Snapshot(merged({name: self._own[name] for name in group})) for group in groups]
        facts = shared_facts([opening_of(lot) for lot in lots], self._crossing)
        begins = np.cumsum([0, *map(len, lots)]).tolist()
        return [
            MergedShard(lot.arrays, group[0], lot, facts, begin, group)
            for lot, group, begin in zip(lots, groups, begins, strict=False)
        ]

    def split(self, begins: Mapping[str, Sequence[int]]) -> list[Shard]:
        """The same repositories, each in parts that begin with these of its files."""
        divisions = {name: Division(snapshot, begins[name]) for name, snapshot in self._own.items()}
        between = [divisions[shard.name].between(shard.begin) for shard in self.shards]
        crossing = CrossingEdges.united([self._crossing, *between])
        parts = [
            (name, begin, Snapshot(division.part(begin)))
            for name, division in divisions.items()
            for begin in division.begins
        ]
        facts = shared_facts([opening_of(part) for _, _, part in parts], crossing)
        rows = np.cumsum([0, *(len(part) for _, _, part in parts)]).tolist()
        return [
            Shard(part.arrays, name, part, facts, row, files_before=begin)
            for (name, begin, part), row in zip(parts, rows, strict=False)
        ]

    def records(self, name: str) -> Iterator[tuple[str, bytes, Record]]:
        """What is recorded of the files of a repository."""
        files = [(path_bytes(path), digest) for path, digest in self._states[name].present]
        found = self._indexes[name].store.records(files, self._extractor.version)
        for (path, digest), data in zip(self._states[name].present, found, strict=True):
            assert data is not None
            yield path, digest, decode(data)

    def lines(self, path: str) -> list[str]:
        name, _, own = path.partition("/")
        snapshot = self._indexes[name].snapshot
        assert snapshot is not None
        return self._indexes[name].lines(snapshot, own)

    def pool(
        self, shards: Sequence[Snapshot], query: str, *, every: bool = False, settings: Settings | None = None
    ) -> Pool:
        """What a query finds in shards, or in the one index. `every`: all are asked, whatever they hold; `settings`:
        instead of those that they were indexed with, for what is read of them in a search."""
        settings = settings or self.settings
        own = shards if isinstance(shards[0], Shard) else self.shards  # each repository's own issue forms are left out
        asked, notices = asked_query(query, ShardsHere(own, self.lines), settings)
        embedder, counter = vectors_of(MODELS, settings), MODELS.counter(settings.tokens.counter)
        here = ShardsHere(shards, self.lines)
        retrieval = Retrieval(
            AllShards(here) if every else here,
            embedder,
            counter,
            "",
            "markdown",
            Preferences(),
            notices=notices,
            lines=self.lines,
        )
        return retrieve(asked, retrieval, settings)

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
    text = stored(pool)
    assert text is not None
    return text
