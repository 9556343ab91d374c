"""A repository, or a part of one, as one of several that are searched together.

Its rows are those of its own snapshot, and nothing of it is indexed twice. Its paths begin with its name, and what
depends on all fragments of an index (the ranks of hotspots, the mean of the vectors, how rare the words of names are)
is that of all shards, told to each when they are opened:

    openings = [opening_of(snapshot) for snapshot in snapshots]
    facts = shared_facts(openings)
    shards = shards_of(snapshots, facts)  # by name
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

import msgspec
import numpy as np

from secateur.index.facts.crossing import CrossingEdges, Surroundings, surroundings
from secateur.index.facts.embedding import SemanticSpace
from secateur.index.facts.hotspots import HotspotTable, RankedValues, ranked
from secateur.index.facts.lexical import Hashes, TermBag
from secateur.index.facts.names import NameTable
from secateur.index.facts.outline import ShardOutline, outline_of
from secateur.index.facts.postings import Postings, SharedWords
from secateur.index.facts.snapshot import PATH_TERMS_LIMIT, Snapshot
from secateur.index.graph.code_graph import CodeGraph
from secateur.model import IntArray, Notice


class ShardOpening(msgspec.Struct, frozen=True, eq=False):
    """The figures of one shard that others need: plain values, like the messages of a search.

    Attributes:
        terms, frequency: of the words of names: documents that hold each.
        fragments: how many there are.
        vectors, described: the sum of the vectors, and how many are not zero.
        churns, complexities: values and counts of `RankedValues`.
    """

    terms: Hashes
    frequency: IntArray
    fragments: int
    vectors: IntArray
    described: int
    churns: tuple[IntArray, IntArray]
    complexities: tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class SharedFacts:
    """The figures of all shards together.

    Attributes:
        crossing: what leads from one into another.
    """

    terms: Hashes
    frequency: IntArray
    fragments: int
    vectors: tuple[IntArray, int]
    churns: RankedValues
    complexities: RankedValues
    crossing: CrossingEdges


def opening_of(snapshot: Snapshot) -> ShardOpening:
    """The figures that a repository tells the others."""
    churns = RankedValues.of(snapshot.arrays["hotspots.units"])
    complexities = RankedValues.of(snapshot.column("complexity"))
    total, described = snapshot.space.sums
    return ShardOpening(
        terms=snapshot.names.terms,
        frequency=np.diff(snapshot.names.start),
        fragments=len(snapshot),
        vectors=total,
        described=described,
        churns=(churns.values, churns.counts),
        complexities=(complexities.values, complexities.counts),
    )


def shared_facts(openings: Sequence[ShardOpening], crossing: CrossingEdges | None = None) -> SharedFacts:
    """The figures that all shards have together, and what leads from one into another."""
    terms, inverse = np.unique(np.concatenate([one.terms for one in openings]), return_inverse=True)
    frequency = np.zeros(len(terms), dtype=np.int64)
    np.add.at(frequency, inverse, np.concatenate([one.frequency for one in openings]))
    return SharedFacts(
        terms=terms,
        frequency=frequency,
        fragments=sum(one.fragments for one in openings),
        vectors=(
            np.sum([one.vectors for one in openings], axis=0, dtype=np.int64),
            sum(one.described for one in openings),
        ),
        churns=RankedValues.united([RankedValues(*one.churns) for one in openings]),
        complexities=RankedValues.united([RankedValues(*one.complexities) for one in openings]),
        crossing=crossing if crossing is not None else CrossingEdges.of({}),
    )


def shards_of(snapshots: Mapping[str, Snapshot], facts: SharedFacts) -> list[Shard]:
    """The repositories as shards, by name in byte order of their paths."""
    begins = accumulate((len(snapshot) for snapshot in snapshots.values()), initial=0)
    return [
        Shard(snapshot.arrays, name, snapshot, facts, begin)
        for (name, snapshot), begin in zip(snapshots.items(), begins, strict=False)
    ]


@dataclass(frozen=True, eq=False)
class Shard(Snapshot):
    """See the module docstring.

    Attributes:
        own: the snapshot of the repository alone, whose arrays these are; of one that is split, a part (`split`).
        begin: joined number of its first row (`crossing`).
        files_before: files of the repository that other shards have, those before these.
        outlining: makes its outline, or reads the one that is kept.
    """

    name: str
    own: Snapshot
    facts: SharedFacts
    begin: int
    files_before: int = field(default=0, kw_only=True)
    outlining: Callable[[Shard], ShardOutline] = field(default=outline_of, kw_only=True)

    @cached_property
    def outline(self) -> ShardOutline:
        """The facts of it that are known without searching it."""
        return self.outlining(self)

    @cached_property
    def paths(self) -> list[str]:
        return [self.path_of(path) for path in self.own.paths]

    @property
    def qualnames(self) -> list[str]:
        return self.own.qualnames

    @property
    def name_table(self) -> NameTable:
        return self.own.name_table

    @property
    def graph(self) -> CodeGraph:
        return self.own.graph

    @cached_property
    def around(self) -> Surroundings | None:
        crossing = self.facts.crossing
        return surroundings(self.graph, self.begin, crossing) if len(crossing) else None

    @property
    def own_paths(self) -> Mapping[str, Sequence[str]]:
        return {self.path_of(""): self.own.paths}

    def path_of(self, own: str) -> str:
        """The path here of a file that has a path in the repository."""
        return f"{self.name}/{own}"

    def files_of(self, path: str) -> Snapshot | None:
        """The files, with their own paths, of the repository that has a file, or of the part that has it; None where
        the file is not in this shard."""
        name, _, own = path.partition("/")
        return self.own if name == self.name and own in self.own.digests else None

    @cached_property
    def unindexed(self) -> list[tuple[str, str]]:
        return [(self.path_of(path), reason) for path, reason in self.own.unindexed]

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        return tuple(Notice(one.code, f"{self.name}: {one.message}") for one in self.own.notices)

    def row_of(self, symbol: str) -> int:
        name, _, rest = symbol.partition("/")
        return self.own.row_of(rest) if name == self.name else -1

    @cached_property
    def path_words(self) -> Postings:
        """The words of the name are words of every path."""
        if max(map(len, self.paths), default=0) > PATH_TERMS_LIMIT:  # the name takes the place of what is cut
            return Postings.build(TermBag.of(path[:PATH_TERMS_LIMIT] for path in self.paths))
        return self.own.path_words.with_terms(TermBag.of([self.name]))

    @cached_property
    def shared_names(self) -> SharedWords | None:
        known = self.facts.frequency[np.searchsorted(self.facts.terms, self.names.terms)]
        return SharedWords(self.names, known, self.facts.fragments)

    @cached_property
    def hotspots(self) -> HotspotTable:
        among = self.facts.churns, self.facts.complexities
        return ranked(self.changes, self.column("complexity"), self.file, among)

    @cached_property
    def space(self) -> SemanticSpace:
        return SemanticSpace(self.arrays["vectors"], self.facts.vectors)
