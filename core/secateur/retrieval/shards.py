"""The shards of a search, wherever they are: in this process, or in others (`shards_elsewhere`).

Whatever is asked of them is a function of a module, called for each with the argument, the shard and its lines; it
returns the shard's part of the work as rounds.

    frequencies = shards.asked(term_frequencies, terms)             # one result of each shard, in their order
    found = shards.asked(search_shard, question, {DocumentTexts: replies})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from secateur.index.facts.snapshot import Snapshot
from secateur.retrieval.evidence import Lines
from secateur.retrieval.rounds import Answering, Rounds, together

T = TypeVar("T")

ShardWork = Callable[[Any, Snapshot, Lines | None], Rounds[T]]
"""The part of one shard: from the argument, its snapshot, and the lines of a file by its path."""


class Shards(Protocol):
    """See the module docstring."""

    def asked(self, work: ShardWork[T], argument: Any, answering: Mapping[type, Answering] | None = None) -> list[T]:
        """The results of all shards, in byte order of their paths. `answering` as of `together`."""


@dataclass(frozen=True, slots=True)
class ShardsHere:
    """Shards of this process."""

    snapshots: Sequence[Snapshot]
    lines: Lines | None = None  # of a file by its path; None: texts are not looked into

    def asked(self, work: ShardWork[T], argument: Any, answering: Mapping[type, Answering] | None = None) -> list[T]:
        """As `Shards.asked`."""
        return together([work(argument, snapshot, self.lines) for snapshot in self.snapshots], answering)
