"""The edges between fragments as columns, with the rule that found each edge and its confidence.

Confidence is an integer per mille, so that equal evidence compares equal on every machine. Edges below `TRUSTED` are
kept for people who want to see them, but no search follows them by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from msgspec import Struct

# The least confidence (per mille) that a search follows by default. Declared relations are above, guesses below.
TRUSTED = 500

# The most call sites that are counted for an edge. The count orders the edges of hubs, for which a byte is enough.
COUNT_CAP = 255


class EdgeKind(IntEnum):
    """The way in which the source uses the target."""

    CALLS = 0
    IMPORTS = 1
    INHERITS = 2


class How(IntEnum):
    """The rule that found the target."""

    SAME_SCOPE = 0  # defined in the same class, function or file
    SELF_MRO = 1  # self / this, found in a base class
    SUPER = 2  # super(), found in a base class
    IMPORT = 3  # the name was imported, re-exports and aliases followed
    PACKAGE = 4  # same package or namespace: Go, Java, C#, PHP, Rust
    ANNOTATION = 5  # the receiver's type is declared or was assigned from a constructor
    CONSTRUCTOR = 6  # the class itself is called
    DEFAULT_EXPORT = 7  # a module's default export, recognised by its name or by being alone
    LINKAGE = 8  # the only definition of a name where the language links names globally (C, C++, Ruby, PHP)
    IMPLEMENTATION = 9  # the receiver's type only declares the method; this is one that implements it
    OVERRIDE = 10  # a subclass overrides the method the receiver's type defines
    UNIQUE_NAME = 11  # the only definition of that name in the repository, receiver unknown
    AMBIGUOUS = 12  # one of very few definitions of that name, receiver unknown

    @property
    def label(self) -> str:
        return self.name.lower()


# The confidence of each rule, per mille: an estimated share of right edges. A search depends on the order alone.
CONFIDENCE: Mapping[How, int] = {
    How.SAME_SCOPE: 980,
    How.SELF_MRO: 960,
    How.SUPER: 950,
    How.IMPORT: 960,
    How.PACKAGE: 950,
    How.ANNOTATION: 900,
    How.CONSTRUCTOR: 940,
    How.DEFAULT_EXPORT: 850,
    How.LINKAGE: 800,
    How.IMPLEMENTATION: 600,
    How.OVERRIDE: 400,
    How.UNIQUE_NAME: 300,
    How.AMBIGUOUS: 100,
}


class CallCounts(Struct, frozen=True):
    """Counts the call sites of a file by status. The rest of them is unresolved."""

    sites: int = 0
    resolved: int = 0  # at least one edge that can be trusted
    guessed: int = 0  # only edges below TRUSTED
    external: int = 0  # the receiver or the import is known to lie outside the repository


@dataclass(frozen=True, eq=False)
class Edges:
    """Columns of equal length, ordered by (source, kind, target). No edge occurs twice, and no edge is a loop."""

    source: npt.NDArray[np.int32]  # fragment number
    target: npt.NDArray[np.int32]  # fragment number
    kind: npt.NDArray[np.uint8]  # EdgeKind
    confidence: npt.NDArray[np.uint16]  # per mille, 1..1000
    how: npt.NDArray[np.uint8]  # How
    count: npt.NDArray[np.uint8]  # call sites that repeat the edge, at most COUNT_CAP
    failed: tuple[int, ...] = ()  # files over which the resolver raised an error: some of their edges are missing

    def __len__(self) -> int:
        return len(self.source)


class EdgeBuilder:
    """Collects edges. A repeated edge is counted and keeps its best evidence."""

    def __init__(self) -> None:
        # one integer per edge, source | kind | target, so that the order of keys is the order of edges
        self._best: dict[int, int] = {}
        self._count: dict[int, int] = {}

    def add(self, source: int, target: int, kind: int, confidence: int, how: int, sites: int = 1) -> None:
        """Adds one edge. A recursive call (`source == target`) leads a search nowhere and is left out."""
        if source == target:
            return
        key = source << 34 | kind << 32 | target
        evidence = confidence << 8 | (255 - how)  # of rules with equal confidence, the earlier one names the edge
        if evidence > self._best.get(key, 0):
            self._best[key] = evidence
        self._count[key] = self._count.get(key, 0) + sites

    def build(self) -> Edges:
        """Returns the edges in order."""
        keys = np.fromiter(self._best, dtype=np.int64, count=len(self._best))
        order = np.argsort(keys)
        ordered = keys[order]
        evidence = np.fromiter(self._best.values(), dtype=np.int64, count=len(keys))[order]
        count = np.fromiter((self._count[key] for key in self._best), dtype=np.int64, count=len(keys))[order]
        return Edges(
            source=(ordered >> 34).astype(np.int32),
            target=(ordered & 0xFFFFFFFF).astype(np.int32),
            kind=(ordered >> 32 & 3).astype(np.uint8),
            confidence=(evidence >> 8).astype(np.uint16),
            how=(255 - (evidence & 255)).astype(np.uint8),
            count=np.minimum(count, COUNT_CAP).astype(np.uint8),
        )
