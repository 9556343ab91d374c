"""Shards of a store, as they are searched, and the tasks that make and describe them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from secateur import directories
from secateur.index.catalogue import facts_in
from secateur.index.elsewhere.places import MergeTask, ShardFile, ShardPlace, SplitTask
from secateur.index.facts.crossing import CrossingEdges
from secateur.index.facts.merged import MergedShard, merged
from secateur.index.facts.shard import Shard, ShardOpening, SharedFacts, opening_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.split import Division
from secateur.index.store.arrayfile import Arrays
from secateur.index.store.shard_store import ShardStore
from secateur.index.update.refresh import state_of

ARRAYS = ".arrays"
"""Ending of files that are the snapshot of a repository."""

PARTS = ".parts"
"""Ending of files that tell which parts a repository is split into."""


class ShardsOfStore(Sequence[Shard]):
    """Shards that are mapped when they are first asked for, in byte order of their paths.

    Args:
        facts: file of the store with the figures that they tell each other.
    """

    def __init__(self, store: ShardStore, places: Sequence[ShardPlace], facts: str) -> None:
        self.places = places
        self._store, self.facts_file = store, facts
        self._facts: SharedFacts | None = None
        self._opened: dict[ShardPlace, Shard] = {}

    @overload
    def __getitem__(self, number: int) -> Shard: ...
    @overload
    def __getitem__(self, number: slice) -> list[Shard]: ...
    def __getitem__(self, number: int | slice) -> Shard | list[Shard]:
        if isinstance(number, slice):
            return [self.opened(place) for place in self.places[number]]
        return self.opened(self.places[number])

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Shard]:
        return (self.opened(place) for place in self.places)

    def opened(self, place: ShardPlace) -> Shard:
        """A shard, mapped. Raises SecateurError: it is not in the store, or damaged there."""
        found = self._opened.get(place)
        if found is None:
            found = self._opened[place] = shard_at(place, _snapshot(self._store, place.file), self.facts)
        return found

    def of(self, name: str) -> list[Shard]:
        """The shards that hold files of a repository. Raises as `opened`."""
        return [self.opened(place) for place in self.places if any(one.name == name for one in place.members)]

    @property
    def facts(self) -> SharedFacts:
        """The figures that all tell each other."""
        if self._facts is None:
            self._facts = facts_in(self._store.needed(self.facts_file))
            assert self._facts is not None, "facts are named by their layout"
        return self._facts


def shard_at(place: ShardPlace, snapshot: Snapshot, facts: SharedFacts) -> Shard:
    """The shard that a place tells of."""
    names = [member.name for member in place.members]
    if len(names) == 1:
        return Shard(snapshot.arrays, names[0], snapshot, facts, place.begin, files_before=place.files_before)
    return MergedShard(snapshot.arrays, names[0], snapshot, facts, place.begin, names)


# --- tasks ------------------------------------------------------------------------------------------------------------


def merged_into(task: MergeTask) -> None:
    """Merges small repositories, and puts what comes out into the store."""
    store = _store(task.store)
    if store.arrays(task.merged) is None:
        parts = {name: _snapshot(store, file) for name, file in zip(task.names, task.files, strict=True)}
        store.put(task.merged, merged(parts))


def split_into(task: SplitTask) -> list[ShardFile]:
    """Splits a large repository, puts its parts into the store, and tells which there are."""
    store = _store(task.store)
    known = store.arrays(task.parts)
    if known is not None and all(store.arrays(one.file) is not None for one in parts_in(known, task)):
        return parts_in(known, task)
    snapshot = _snapshot(store, task.file)
    division, fragments = Division.of(snapshot, task.largest), []
    for begin in division.begins:
        part = division.part(begin)
        store.put(part_file(task, begin), part)
        fragments.append(len(part["fragment.kind"]))
    told = {"begins": np.array(division.begins), "fragments": np.array(fragments)}
    store.put(task.parts, told)
    return parts_in(told, task)


def parts_in(told: Arrays, task: SplitTask) -> list[ShardFile]:
    """The parts that a repository was split into."""
    every = zip(told["begins"].tolist(), told["fragments"].tolist(), strict=True)
    return [ShardFile(part_file(task, begin), (task.name,), rows, begin) for begin, rows in every]


def part_file(task: SplitTask, begin: int) -> str:
    """The file of the part that begins with a file of the repository."""
    return f"{task.parts.removesuffix(PARTS)}-{begin}.part"


def between_told(task: tuple[SplitTask, int]) -> CrossingEdges:
    """The edges between the parts of a repository; the task holds the joined number of its first row."""
    split, begin = task
    store = _store(split.store)
    begins = [one.files_before for one in parts_in(store.needed(split.parts), split)]
    return Division(_snapshot(store, split.file), begins).between(begin)


def opening_told(task: tuple[str, str]) -> ShardOpening:
    """The figures that a shard tells the others; the task is the store and the file in it."""
    place, file = task
    return opening_of(_snapshot(_store(place), file))


def snapshot_file(state: str) -> str:
    """The file of a repository's snapshot in the store."""
    return f"{state}{ARRAYS}"


def file_of_arrays(arrays: Arrays) -> str:
    """The file that a repository's snapshot is kept in, worked out from what it holds."""
    return snapshot_file(state_of(Snapshot(arrays)))


def _snapshot(store: ShardStore, file: str) -> Snapshot:
    return Snapshot(store.needed(file, file_of_arrays if file.endswith(ARRAYS) else None))


def _store(place: str) -> ShardStore:
    return ShardStore(place, directories.cache_dir(os.environ))
