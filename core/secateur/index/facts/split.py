"""A repository that is too large for one shard, cut by folder into several.

Each part has the files of a range, in byte order of their paths, and is searched as a `Shard` of the repository's name
with `files_before`. Edges inside a part are its own, those between parts are `CrossingEdges`. What belongs to the
repository as a whole (its notices, the files that are only counted, what it was made of, the words of its commits) is
with the first part; which files each commit changed is told in every part, in the numbers of the whole.

    division = Division.of(snapshot, LARGEST_PART)
    parts = [Snapshot(division.part(begin)) for begin in division.begins]
    division.between(begin=0)  # the edges between them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.crossing import COLUMNS, CrossingEdges
from secateur.index.facts.hotspots import FileChanges
from secateur.index.facts.joined import TEXTS, WORD_FIELDS
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import Snapshot, pack_notices
from secateur.index.facts.snapshot_arrays import call_totals, unindexed_arrays
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.graph.resolve import Edges
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.model import IntArray

LARGEST_PART = 100_000
"""Fragments up to which a repository is one shard. A query of so many takes a processor some tenths of a second: much
more than a round of messages, and little enough to be worth a process of its own."""

_LEAST_SHARE = 4
"""A part has at least one in so many of the fragments that it may have, where files allow it: a shard costs a search
something, however little it holds."""

_NOTHING: Arrays = unindexed_arrays([]) | {"notices": pack_notices([]), "origin": pack_strings([])}
"""Arrays that say something of the repository as a whole, as other parts than the first have them."""

_OF_FILES = frozenset(f"hotspots.{column.name}" for column in fields(FileChanges))
"""Arrays with a row per file whose names do not begin with `file.`."""


def cuts(paths: Sequence[str], fragments: IntArray, largest: int) -> list[int]:
    """The numbers of the files that parts begin with, the first of them 0.

    A range of files with more than `largest` fragments is cut in two, and each of the two in the same way: where two
    folders meet, as far up as there is such a place, nearest the middle. So an edit moves a cut only where another
    place is now nearer. The files of one folder are separated where there is no other way, and those of a part have
    fragments.

    Args:
        paths: in byte order.
        fragments: of each file.
    """
    before, ranks = np.concatenate([[0], np.cumsum(fragments, dtype=np.int64)]), _ranks(paths)
    found, ranges = [0], [(0, len(paths))]
    while ranges:
        begin, end = ranges.pop()
        total, places = before[end] - before[begin], np.arange(begin + 1, end)
        first = before[places] - before[begin]
        smaller = np.minimum(first, total - first)
        most = int(smaller.max(initial=0))
        if total <= largest or most == 0:
            continue
        allowed = smaller >= min(most, max(1, largest // _LEAST_SHARE))
        cut = int(places[allowed][np.lexsort((-smaller[allowed], ranks[places[allowed]]))[0]])
        found.append(cut)
        ranges += [(begin, cut), (cut, end)]
    return sorted(found)


def _ranks(paths: Sequence[str]) -> IntArray:
    """Per file how little it is a place to cut before it: the number of folders that are opened above it and the file
    before, more where both lie in the same folder."""
    folders = [path.split("/")[:-1] for path in paths]
    deepest = max(map(len, folders), default=0)
    ranks = [0]
    for one, other in pairwise(folders):
        both = min(len(one), len(other))
        common = next((depth for depth in range(both) if one[depth] != other[depth]), both)
        ranks.append(common + (deepest + 1 if one == other else 0))
    return np.array(ranks[: len(paths)], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Division:
    """The snapshot of a repository, and the numbers of the files that its parts begin with, as `cuts` gives them."""

    snapshot: Snapshot
    begins: Sequence[int]

    @classmethod
    def of(cls, snapshot: Snapshot, largest: int) -> Division:
        """The division into parts of up to `largest` fragments."""
        return cls(snapshot, cuts(snapshot.paths, snapshot.arrays["file.fragments"], largest))

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        return {name: unpack_strings(self.snapshot.arrays[name]) for name in ("file.path", *sorted(TEXTS))}

    def part(self, begin: int) -> Arrays:
        """The arrays of the part that begins with the file `begin`."""
        end = min((one for one in self.begins if one > begin), default=len(self.snapshot.paths))
        whole, files = self.snapshot.arrays, slice(begin, end)
        rows = slice(*np.searchsorted(self.snapshot.file, (begin, end)).tolist())
        arrays: Arrays = {}
        for name, array in whole.items():
            group = name.partition(".")[0]
            if name in _NOTHING:
                arrays[name] = array if begin == 0 else _NOTHING[name]
            elif group in ("commits", "calls"):
                arrays[name] = array
            elif group not in WORD_FIELDS and group != "graph":
                arrays[name] = self._taken(name, files if group == "file" or name in _OF_FILES else rows)
        arrays["fragment.file"] = arrays["fragment.file"] - np.int32(begin)
        arrays["calls"] = call_totals(arrays["file.calls"])
        for field, of_files in WORD_FIELDS.items():
            words = Postings.from_arrays(whole, field).among(files if of_files else rows)
            arrays |= words.to_arrays(field)
        if begin > 0:
            arrays |= self.snapshot.commit_words.among(slice(0, 0)).to_arrays("commits")
        graph = _inside(self.snapshot.graph, rows)
        return arrays | {f"graph.{name}": array for name, array in graph.to_arrays().items()}

    def between(self, begin: int) -> CrossingEdges:
        """The edges from one part into another; `begin`: joined number of the repository's first row."""
        graph = self.snapshot.graph
        part = np.searchsorted(self.begins, self.snapshot.file, side="right")
        source = _sources(graph)
        leaving = np.flatnonzero(part[source] != part[graph.indices])
        ends = {"source": source[leaving] + begin, "target": graph.indices[leaving].astype(np.int64) + begin}
        return CrossingEdges.of(ends | {name: getattr(graph, name)[leaving] for name in COLUMNS if name not in ends})

    def _taken(self, name: str, rows: slice) -> npt.NDArray[Any]:
        texts = self._texts.get(name)
        return pack_strings(texts[rows]) if texts is not None else self.snapshot.arrays[name][rows]


def _inside(graph: CodeGraph, rows: slice) -> CodeGraph:
    """The edges of which both ends are among some rows, over these."""
    source = _sources(graph)
    ends = np.stack([source, graph.indices])
    inside = np.flatnonzero(((ends >= rows.start) & (ends < rows.stop)).all(axis=0))
    columns = (getattr(graph, name)[inside] for name in ("kind", "confidence", "how", "count"))
    moved = (ends[:, inside] - rows.start).astype(np.int32)
    return CodeGraph.from_edges(Edges(moved[0], moved[1], *columns), rows.stop - rows.start)


def _sources(graph: CodeGraph) -> IntArray:
    """The source of each edge."""
    return np.repeat(np.arange(graph.node_count), np.diff(graph.indptr))
