"""Shards of a store, as they are searched, and the tasks that make and describe them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import overload

from secateur import directories
from secateur.index.catalogue import facts_in
from secateur.index.elsewhere.places import MergeTask, ShardPlace
from secateur.index.facts.merged import MergedShard, merged
from secateur.index.facts.shard import Shard, ShardOpening, SharedFacts, opening_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.shard_store import ShardStore


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
        self._by_name = {member.name: place for place in places for member in place.members}

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
            found = self._opened[place] = shard_at(place, Snapshot(self._store.needed(place.file)), self.facts)
        return found

    def of(self, name: str) -> Shard:
        """The shard of a repository. Raises as `opened`."""
        return self.opened(self._by_name[name])

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
        return Shard(snapshot.arrays, names[0], snapshot, facts, place.begin)
    return MergedShard(snapshot.arrays, names[0], snapshot, facts, place.begin, names)


# --- tasks ------------------------------------------------------------------------------------------------------------


def merged_into(task: MergeTask) -> None:
    """Merges small repositories, and puts what comes out into the store."""
    store = _store(task.store)
    if not store.holds(task.merged):
        parts = {name: Snapshot(store.needed(file)) for name, file in zip(task.names, task.files, strict=True)}
        store.put(task.merged, merged(parts))


def opening_told(task: tuple[str, str]) -> ShardOpening:
    """The figures that a shard tells the others; the task is the store and the file in it."""
    place, file = task
    return opening_of(Snapshot(_store(place).needed(file)))


def _store(place: str) -> ShardStore:
    return ShardStore(place, directories.cache_dir(os.environ))
