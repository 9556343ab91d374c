"""The shards of a workspace: of each repository its snapshot, of small ones next to each other one for all, of a large
one several; and what they tell each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate

from secateur.index.catalogue import Catalogue
from secateur.index.facts.crossing import CrossingEdges
from secateur.index.facts.merged import MemberSize, MergedShard, grouped, merged
from secateur.index.facts.shard import Shard, ShardOpening, SharedFacts, opening_of, shared_facts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.split import LARGEST_PART, Division
from secateur.index.open_member import OpenMember

Names = tuple[tuple[str, str], ...]
"""Repositories that are in one shard, or the one that is in several, each with the name of its snapshot."""


@dataclass(eq=False)
class _Held:
    """The files of a shard.

    Attributes:
        names: by which the catalogue keeps the arrays; empty for the snapshot of a repository.
        files_before: as of `Shard`.
    """

    snapshot: Snapshot
    names: Sequence[str] = ()
    files_before: int = 0
    opening: ShardOpening | None = None

    def opened(self) -> ShardOpening:
        """The figures that others need."""
        self.opening = self.opening or opening_of(self.snapshot)
        return self.opening


class WorkspaceShards:
    """The shards of one state after another; what did not change is taken from the state before.

    Attributes:
        said: what is missing among the calls that lead from one repository into another.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._held: dict[Names, list[_Held]] = {}
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
        large = {size.name: size.fragments for size in sizes if size.fixed and size.fragments > LARGEST_PART}
        self._held = {group: self._held.get(group) or self._found(group, members, large) for group in groups}
        every = [(group, one) for group, held in self._held.items() for one in held]
        derived = [one.names for _, one in every if one.names]
        self._catalogue.sweep(derived, [_outline_names(*one) for one in every])
        facts = self._facts({name: state.snapshot for name, (state, _) in loaded.items()}, members)
        self.said = facts.crossing.said
        begins = accumulate((len(one.snapshot) for _, one in every), initial=0)
        return [self._shard(group, one, facts, begin) for (group, one), begin in zip(every, begins, strict=False)]

    def _found(self, group: Names, members: Mapping[str, OpenMember], large: Mapping[str, int]) -> list[_Held]:
        """The files of a group; `large`: fragments of the repositories that are split."""
        name, state = group[0]
        if name in large:
            return self._parts(name, state, members[name], large[name])
        if len(group) == 1:
            return [_Held(_own(members[name]))]
        names, kept = [text for one in group for text in one], self._catalogue
        arrays = kept.derived(names)
        if arrays is None:
            arrays = kept.keep_derived(names, merged({name: _own(members[name]) for name, _ in group}))
        return [_Held(Snapshot(arrays), names)]

    def _parts(self, name: str, state: str, member: OpenMember, fragments: int) -> list[_Held]:
        """The parts of a repository with so many fragments."""

        @cache
        def division() -> Division:
            return Division.of(_own(member), LARGEST_PART)

        found: list[_Held] = []
        begin, kept = 0, self._catalogue
        while fragments > 0:
            names = [name, state, f"{LARGEST_PART}", f"{begin}"]
            arrays = kept.derived(names)
            if arrays is None:
                arrays = kept.keep_derived(names, division().part(begin))
            part = _Held(Snapshot(arrays), names, begin)
            assert len(part.snapshot)  # as of every part
            found.append(part)
            begin += len(arrays["file.fragments"])
            fragments -= len(part.snapshot)
        return found

    def _facts(self, states: Mapping[str, str], members: Mapping[str, OpenMember]) -> SharedFacts:
        parts = [one.names for held in self._held.values() for one in held if len(held) > 1]
        names = [*states.values(), *(text for one in parts for text in one)]
        facts = self._catalogue.shared_facts(names)
        if facts is None:
            from secateur.index.update.across import LinkedMember, crossing_of  # the resolver takes a while

            linked = [LinkedMember(name, state, _own(members[name]), members[name]) for name, state in states.items()]
            crossing = CrossingEdges.united([crossing_of(linked), *self._between(members)])
            facts = shared_facts([one.opened() for held in self._held.values() for one in held], crossing)
            self._catalogue.keep_shared(names, facts)
        return facts

    def _between(self, members: Mapping[str, OpenMember]) -> list[CrossingEdges]:
        """The edges from one part of a repository into another."""
        found, begin = [], 0
        for group, held in self._held.items():
            if len(held) > 1:
                whole = Division(_own(members[group[0][0]]), [one.files_before for one in held])
                found.append(whole.between(begin))
            begin += sum(len(one.snapshot) for one in held)
        return found

    def _shard(self, group: Names, held: _Held, facts: SharedFacts, begin: int) -> Shard:
        (first, _), snapshot = group[0], held.snapshot
        outlining = partial(self._catalogue.outline, _outline_names(group, held))
        if len(group) == 1:
            part = held.files_before
            return Shard(snapshot.arrays, first, snapshot, facts, begin, files_before=part, outlining=outlining)
        names = [name for name, _ in group]
        return MergedShard(snapshot.arrays, first, snapshot, facts, begin, names, outlining=outlining)


def _outline_names(group: Names, held: _Held) -> Sequence[str]:
    """The texts by which the catalogue keeps an outline."""
    return held.names or [text for one in group for text in one]


def _own(member: OpenMember) -> Snapshot:
    assert member.snapshot is not None
    return member.snapshot
