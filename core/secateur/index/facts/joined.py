"""One index over the files of several repositories, made of their own: what a search of all shards is equal to, and
what is looked into where something walks through all of it at once.

The path of a file is `NAME/path`. Each file keeps the facts that its own repository's index has of it, its history
included; calls lead where they lead there, and from one repository into another (`crossing`). Arrays are put together
when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.crossing import crossed
from secateur.index.facts.hotspots import FileChanges, ranked
from secateur.index.facts.postings import Postings
from secateur.index.facts.shard import Shard
from secateur.index.facts.snapshot import Snapshot, pack_notices
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.store.arrayfile import pack_strings, unpack_strings

TEXTS = frozenset({"file.language", "file.flags", "file.problems", "file.redactions", "fragment.qualname", "origin"})
"""Arrays of texts."""

WORD_FIELDS = {"body": False, "names": False, "docs": False, "files": True, "paths": True}
"""Fields of words, and whether their documents are files."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class JoinedSnapshot(Snapshot):
    """See the module docstring; `shards` in byte order of their paths."""

    shards: Sequence[Shard]


def joined(shards: Sequence[Shard]) -> JoinedSnapshot:
    """The one index over the files of all shards."""
    return JoinedSnapshot(_JoinedArrays(shards), shards)


class _JoinedArrays(Mapping[str, Array]):
    """The arrays by name, each made once and when it is asked for."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        self._made: dict[str, Array] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._shards[0].arrays)

    def __len__(self) -> int:
        return len(self._shards[0].arrays)

    def __contains__(self, name: object) -> bool:
        return name in self._shards[0].arrays

    def __getitem__(self, name: str) -> Array:
        if name not in self._made:
            group = name.partition(".")[0]
            make = self._groups.get(group)
            self._made |= make() if make else {name: self._column(name)}
        return self._made[name]

    @cached_property
    def _groups(self) -> dict[str, Callable[[], Mapping[str, Array]]]:
        """By group the function that makes its arrays, which depend on each other."""
        groups: dict[str, Callable[[], Mapping[str, Array]]] = {
            "graph": self._graph,
            "hotspots": self._hotspots,
            "commits": self._commits,
        }
        return groups | {field: partial(self._words, field, files) for field, files in WORD_FIELDS.items()}

    @cached_property
    def _fragments(self) -> list[int]:
        return _begins(map(len, self._shards))

    @cached_property
    def _files(self) -> list[int]:
        return _begins(len(shard.paths) for shard in self._shards)

    def _column(self, name: str) -> Array:
        """An array that is those of all shards behind each other."""
        arrays = [shard.arrays[name] for shard in self._shards]
        if name == "file.path":
            return pack_strings([path for shard in self._shards for path in shard.paths])
        if name == "unindexed":
            return pack_strings([text for shard in self._shards for file in shard.unindexed for text in file])
        if name == "notices":
            return pack_notices([notice for shard in self._shards for notice in shard.notices])
        if name in TEXTS:
            return pack_strings([text for array in arrays for text in unpack_strings(array)])
        if name == "calls":
            return np.asarray(np.sum(arrays, axis=0))
        return _moved(arrays, self._files) if name == "fragment.file" else np.concatenate(arrays)

    def _words(self, field: str, of_files: bool) -> Mapping[str, Array]:
        postings = [
            shard.path_words if field == "paths" else Postings.from_arrays(shard.arrays, field)
            for shard in self._shards
        ]
        return Postings.joined(postings, self._files if of_files else self._fragments).to_arrays(field)

    def _commits(self) -> Mapping[str, Array]:
        """The commits of the first repository, then those of the next, each newest first. Of one that is split, the
        first part tells them all."""
        files = [begin for shard, begin in zip(self._shards, self._files, strict=True) if not shard.files_before]
        shards = [shard for shard in self._shards if not shard.files_before]
        firsts, changed = ([shard.arrays[f"commits.{name}"] for shard in shards] for name in ("first", "file"))
        words = [shard.commit_words for shard in shards]
        return Postings.joined(words, _begins(part.documents for part in words)).to_arrays("commits") | {
            "commits.first": _pointers(firsts, _begins(map(len, changed))),
            "commits.file": _moved(changed, files),
        }

    def _graph(self) -> Mapping[str, Array]:
        graphs = [shard.own.graph.to_arrays() for shard in self._shards]
        edges = _begins(shard.own.graph.edge_count for shard in self._shards)
        moved = {"in_edge": edges, "indices": self._fragments, "in_indices": self._fragments}
        found = {}
        for name in graphs[0]:
            columns = [graph[name] for graph in graphs]
            if name.endswith("indptr"):
                found[f"graph.{name}"] = _pointers(columns, edges)
            else:
                found[f"graph.{name}"] = _moved(columns, moved[name]) if name in moved else np.concatenate(columns)
        first = self._shards[0]
        if not len(first.facts.crossing):
            return found
        own = CodeGraph.from_arrays({name: found[f"graph.{name}"] for name in graphs[0]})
        whole = crossed(own, first.begin, first.facts.crossing)
        return {f"graph.{name}": array for name, array in whole.to_arrays().items()}

    def _hotspots(self) -> Mapping[str, Array]:
        names = [column.name for column in fields(FileChanges)]
        own = [[shard.arrays[f"hotspots.{name}"] for shard in self._shards] for name in names]
        table = ranked(FileChanges(*map(np.concatenate, own)), self["fragment.complexity"], self["fragment.file"])
        return {f"hotspots.{column.name}": getattr(table, column.name) for column in fields(table)}


def _begins(sizes: Iterable[int]) -> list[int]:
    """The first number of each of several lots."""
    return [0, *accumulate(sizes)][:-1]


def _moved(columns: Sequence[Array], begins: Sequence[int]) -> Array:
    """Numbers of several shards as numbers of all."""
    moved = [column + column.dtype.type(begin) for column, begin in zip(columns, begins, strict=True)]
    return np.concatenate(moved)


def _pointers(columns: Sequence[Array], begins: Sequence[int]) -> Array:
    """The same of the pointers of CSR arrays, of which each shard has one more than rows."""
    moved = [column + column.dtype.type(begin) for column, begin in zip(columns, begins, strict=True)]
    return np.concatenate([moved[0][:1], *(column[1:] for column in moved)])
