"""The shards of a workspace: of each repository its snapshot, of small ones next to each other one for all, and what
they tell each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from secateur.index.catalogue import Catalogue
from secateur.index.facts.merged import MemberSize, MergedShard, grouped, merged
from secateur.index.facts.shard import Shard, ShardOpening, SharedFacts, opening_of, shared_facts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_member import OpenMember

Names = tuple[tuple[str, str], ...]
"""The repositories of a shard, each with the name of its snapshot."""


class WorkspaceShards:
    """The shards of one state after another; what did not change is taken from the state before.

    Attributes:
        said: what is missing among the calls that lead from one repository into another.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._snapshots: dict[Names, Snapshot] = {}
        self._openings: dict[Names, ShardOpening] = {}
        self.said: Sequence[str] = ()

    def of(self, members: Mapping[str, OpenMember]) -> list[Shard]:
        """The shards of the members, which are loaded, in byte order of their paths.

        Raises:
            IndexingError: a repository has changed since it was opened, and what was kept of it cannot be used.
        """
        found = {name: (member.status, member.fixed) for name, member in members.items()}
        loaded = {name: (status, fixed) for name, (status, fixed) in found.items() if status is not None}
        sizes = [MemberSize(name, status.fragments, fixed) for name, (status, fixed) in loaded.items()]
        groups = [tuple((name, loaded[name][0].snapshot) for name in group) for group in grouped(sizes)]
        self._snapshots = {group: self._snapshot(group, members) for group in groups}
        self._catalogue.sweep([group for group in groups if len(group) > 1])
        facts = self._facts({name: state.snapshot for name, (state, _) in loaded.items()}, members)
        self.said = facts.crossing.said
        begins = accumulate((len(self._snapshots[group]) for group in groups), initial=0)
        return [self._shard(group, facts, begin) for group, begin in zip(groups, begins, strict=False)]

    def _snapshot(self, group: Names, members: Mapping[str, OpenMember]) -> Snapshot:
        if (known := self._snapshots.get(group)) is not None:
            return known
        if len(group) > 1:
            arrays = self._catalogue.merged(group)
            if arrays is None:
                arrays = merged({name: _own(members[name]) for name, _ in group})
                arrays = self._catalogue.keep_merged(group, arrays) or arrays
            return Snapshot(arrays)
        return _own(members[group[0][0]])

    def _facts(self, states: Mapping[str, str], members: Mapping[str, OpenMember]) -> SharedFacts:
        facts = self._catalogue.shared_facts([*states.values()])
        if facts is None:
            self._openings = {
                group: self._openings.get(group) or opening_of(snapshot) for group, snapshot in self._snapshots.items()
            }
            from secateur.index.update.across import LinkedMember, crossing_of  # the resolver takes a while

            linked = [LinkedMember(name, state, _own(members[name]), members[name]) for name, state in states.items()]
            facts = shared_facts([*self._openings.values()], crossing_of(linked))
            self._catalogue.keep_shared([*states.values()], facts)
        return facts

    def _shard(self, group: Names, facts: SharedFacts, begin: int) -> Shard:
        (first, _), snapshot = group[0], self._snapshots[group]
        if len(group) == 1:
            return Shard(snapshot.arrays, first, snapshot, facts, begin)
        return MergedShard(snapshot.arrays, first, snapshot, facts, begin, [name for name, _ in group])


def _own(member: OpenMember) -> Snapshot:
    assert member.snapshot is not None
    return member.snapshot
