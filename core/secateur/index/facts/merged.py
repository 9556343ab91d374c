"""Small repositories next to each other as one shard: a shard costs a search something, however little it holds.

What is kept of them is the one index that `joined` makes of theirs, so that it answers as they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

from secateur.index.facts.crossing import crossed
from secateur.index.facts.joined import joined
from secateur.index.facts.postings import Postings
from secateur.index.facts.shard import Shard, opening_of, shards_of, shared_facts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.store.arrayfile import Arrays, pack_strings
from secateur.model import Notice

SMALL = 2_000
"""Fragments up to which a repository is merged with others."""

LARGEST = 16_000
"""Fragments that a merged shard may come to before the last repository."""

USUAL = 64
"""Repositories of a merged shard, on average where all are small."""


class MemberSize(NamedTuple):
    """A repository by its size."""

    name: str
    fragments: int
    fixed: bool  # it is read at a commit: what is edited all the time is not merged anew every time


def grouped(members: Sequence[MemberSize]) -> list[list[str]]:
    """The members in their order, in the groups that are one shard each.

    A group ends behind a repository whose name says so, whatever the others are: when one comes, goes or changes its
    size, no more than the groups around it change.
    """
    found: list[list[str]] = []
    fragments = LARGEST  # of the group that is open
    for member in members:
        small = member.fixed and member.fragments <= SMALL
        if small and fragments < LARGEST:
            found[-1].append(member.name)
        else:
            found.append([member.name])
            fragments = 0
        fragments = fragments + member.fragments if small and not _ends(member.name) else LARGEST
    return found


def _ends(name: str) -> bool:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big") % USUAL == 0


def merged(snapshots: Mapping[str, Snapshot]) -> Arrays:
    """The arrays of several repositories together; `snapshots` by name, in byte order of their paths."""
    facts = shared_facts([opening_of(snapshot) for snapshot in snapshots.values()])
    return dict(joined(shards_of(snapshots, facts)).arrays)


@dataclass(frozen=True, eq=False)
class MergedShard(Shard):
    """Several repositories as one shard. `own`: what `merged` makes of them; `name`: that of the first."""

    repositories: Sequence[str]

    @cached_property
    def graph(self) -> CodeGraph:
        """With what leads from one of them into another, which changes with repositories elsewhere."""
        return crossed(self.own.graph, self.begin, self.facts.crossing)

    @property
    def paths(self) -> list[str]:
        return self.own.paths

    @cached_property
    def own_paths(self) -> Mapping[str, Sequence[str]]:
        return {f"{name}/": part.paths for name, part in self._files.items()}

    @property
    def unindexed(self) -> list[tuple[str, str]]:
        return self.own.unindexed

    @property
    def notices(self) -> tuple[Notice, ...]:
        return self.own.notices

    @cached_property
    def path_words(self) -> Postings:
        return Postings.from_arrays(self.arrays, "paths")

    def row_of(self, symbol: str) -> int:
        return self.own.row_of(symbol) if symbol.partition("/")[0] in self._files else -1

    def files_of(self, path: str) -> Snapshot | None:
        name, _, own = path.partition("/")
        files = self._files.get(name)
        return files if files is not None and own in files.digests else None

    @cached_property
    def _files(self) -> dict[str, Snapshot]:
        """By repository its files: their paths there, their contents' digests, and the places of credentials."""
        names = [path.partition("/")[0] for path in self.paths]
        digests = self.arrays["file.digest"]
        found, begin = {}, 0
        for name in self.repositories:
            count = names.count(name)
            paths, end = self.paths[begin : begin + count], begin + count
            found[name] = Snapshot(
                {
                    "file.path": pack_strings([path.partition("/")[2] for path in paths]),
                    "file.digest": digests[begin:end],
                    "file.redactions": pack_strings([self.own.redactions.get(path, "") for path in paths]),
                }
            )
            begin = end
        return found
