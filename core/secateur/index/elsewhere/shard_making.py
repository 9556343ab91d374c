"""Has workers make the shards of a workspace: merged ones, parts of large repositories, and the figures that all of
them tell each other. What is in the store is not made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol, TypeVar

from secateur.index.catalogue import arrays_of
from secateur.index.elsewhere.members import (
    links_found,
    packages_found,
)
from secateur.index.elsewhere.places import (
    LinkTask,
    MemberPlace,
    MemberReport,
    MemberTask,
    MergeTask,
    ShardFile,
    ShardPlace,
    SplitTask,
    WorkspacePlace,
)
from secateur.index.elsewhere.shards import (
    PARTS,
    ShardsOfStore,
    between_told,
    merged_into,
    opening_told,
    parts_in,
    snapshot_file,
    split_into,
)
from secateur.index.facts.crossing import VERSION, CrossingEdges
from secateur.index.facts.merged import MemberSize, grouped
from secateur.index.facts.shard import shared_facts
from secateur.index.facts.split import LARGEST_PART
from secateur.index.store.shard_store import ShardStore, named_by
from secateur.index.update.refresh import IndexStatus
from secateur.progress import Progress
from secateur.sources.workspace_file import WorkspaceMember

T = TypeVar("T")

LAYOUT = "1"
"""Changes when the same repositories make other files in the store."""


class AskWorkers(Protocol):
    """Asks workers: the results of a function for all arguments, each of which prefers the worker of its home."""

    def __call__(self, function: Callable[[Any], T], arguments: Sequence[Any], homes: Sequence[str], /) -> list[T]:
        """Raises the first error."""


@dataclass(frozen=True)
class ShardMaking:
    """See the module docstring; `members` and `reports` by name, in byte order of their paths."""

    place: WorkspacePlace
    store: ShardStore
    members: Mapping[str, WorkspaceMember]
    reports: Mapping[str, MemberReport]
    all: AskWorkers

    def made(self, tell: Progress) -> ShardsOfStore:
        """The shards of what was recorded, all of them in the store, with the figures that they tell each other."""
        tell("merging", 0, 0)
        states = {name: report.status for name, report in self.reports.items()}
        groups = grouped([MemberSize(name, states[name].fragments, one.fixed) for name, one in self.reports.items()])
        splits = {
            name: self._split(name, states[name].snapshot)
            for name, *others in groups
            if not others and self.reports[name].fixed and states[name].fragments > LARGEST_PART
        }
        files = [file for group in groups for file in self._files(group, splits, states)]
        begins = accumulate((file.fragments for file in files), initial=0)
        places = [
            ShardPlace(
                one.file, tuple(self.members[name] for name in one.names), begin, one.fragments, one.files_before
            )
            for one, begin in zip(files, begins, strict=False)
        ]
        named = (text for name, status in states.items() for text in (name, status.snapshot))
        parts = (text for one in files for text in (one.file, f"{one.files_before}"))
        facts = f"{named_by(LAYOUT, str(VERSION), *named, *parts)}.facts"
        if self.store.arrays(facts) is None:
            merges = [
                MergeTask(
                    self.place.store,
                    one.names,
                    tuple(snapshot_file(states[name].snapshot) for name in one.names),
                    one.file,
                )
                for one in files
                if len(one.names) > 1
            ]
            self.all(split_into, [*splits.values()], [*splits])  # also where they are known: one may be damaged
            self.all(merged_into, merges, [one.merged for one in merges])
            begin_of = {place.members[0].name: place.begin for place in reversed(places)}
            between = [(split, begin_of[name]) for name, split in splits.items()]
            crossing = [self._crossing(tell), *self.all(between_told, between, [*splits])]
            openings = self.all(
                opening_told, [(self.place.store, one.file) for one in files], [one.file for one in files]
            )
            self.store.put(facts, arrays_of(shared_facts(openings, CrossingEdges.united(crossing))))
        return ShardsOfStore(self.store, places, facts)

    def _files(
        self, group: Sequence[str], splits: Mapping[str, SplitTask], states: Mapping[str, IndexStatus]
    ) -> list[ShardFile]:
        """The files of a group of repositories that are one shard, or of the one that is several."""
        first = group[0]
        if first in splits:
            told = self.store.arrays(splits[first].parts)
            return (
                parts_in(told, splits[first]) if told is not None else self.all(split_into, [splits[first]], [first])[0]
            )
        fragments = sum(states[name].fragments for name in group)
        if len(group) == 1:
            return [ShardFile(snapshot_file(states[first].snapshot), (first,), fragments)]
        named = (text for name in group for text in (name, states[name].snapshot))
        return [ShardFile(f"{named_by(LAYOUT, *named)}.merged", tuple(group), fragments)]

    def _split(self, name: str, state: str) -> SplitTask:
        parts = f"{named_by(LAYOUT, state, str(LARGEST_PART))}{PARTS}"
        return SplitTask(self.place.store, name, snapshot_file(state), parts, LARGEST_PART)

    def _crossing(self, tell: Progress) -> CrossingEdges:
        from secateur.index.update.across import (
            LinkQuestion,
            SizedMember,
            united_crossing,
        )  # the resolver takes a while

        states = [(self.members[name], report.status) for name, report in self.reports.items()]
        places = [MemberPlace(member, None, status.snapshot) for member, status in states]
        names = [member.name for member, _ in states]

        def answered(questions: Sequence[LinkQuestion]) -> list[Any]:
            tasks = [
                LinkTask(self.place, question, tuple(places[one] for one in question.members)) for question in questions
            ]
            return self.all(links_found, tasks, [names[question.members[0]] for question in questions])

        if len(states) < 2:
            return CrossingEdges.of({})
        tell("linking", 0, 0)
        sized = [SizedMember(member.name, status.snapshot, status.fragments) for member, status in states]
        packages = self.all(packages_found, [MemberTask(self.place, one) for one in places], names)
        return united_crossing(sized, packages, answered)
