"""The parts of a workspace that workers search: which repositories are in which, their joined snapshots in the store,
and the figures of all of them together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from secateur import directories
from secateur.index.elsewhere.members import links_found, packages_found
from secateur.index.elsewhere.places import (
    JoinTask,
    LinkTask,
    MemberPlace,
    MemberReport,
    MemberTask,
    PartPlace,
    WorkspacePlace,
)
from secateur.index.elsewhere.snapshot_files import snapshot_file, snapshot_in
from secateur.index.facts.crossing import COLUMNS, VERSION, CrossingEdges
from secateur.index.facts.joined_snapshot import JoinedSnapshot, join_snapshots, statistics_of
from secateur.index.facts.workspace_statistics import WorkspaceStatistics
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.snapshot_store import SnapshotStore, named_by
from secateur.progress import Progress
from secateur.sources.workspace_file import WorkspaceMember

LAYOUT = "2"
"""Changes when the same repositories make other files in the store."""

LARGEST_PART = 200_000
"""Fragments of several repositories that are one part. A query of so many takes a processor some tenths of a second,
and half a gigabyte. Parts do not follow from the number of workers: the answer is the same whatever workers there
are."""

_PARTS = "parts"


@dataclass(frozen=True)
class WorkspaceParts:
    """The parts of a workspace in one state.

    Attributes:
        file: of the store, with the figures of all.
        crossing: what leads from one repository into another, as edges between all joined rows.
    """

    file: str
    places: Sequence[PartPlace]
    statistics: WorkspaceStatistics
    crossing: CrossingEdges


@dataclass(frozen=True)
class PartMaking:
    """Makes the parts of what was recorded.

    Attributes:
        members, reports: by name, in byte order of their paths.
        all: asks workers for the results of a function for all arguments, each of which prefers the worker of its home.
    """

    place: WorkspacePlace
    store: SnapshotStore
    members: Mapping[str, WorkspaceMember]
    reports: Mapping[str, MemberReport]
    all: Callable[[Callable[..., Any], Sequence[Any], Sequence[str]], list[Any]]

    def made(self, tell: Progress) -> WorkspaceParts:
        """The parts, all of them in the store; nothing to do where they are there."""
        lots = lots_of({name: report.status.fragments for name, report in self.reports.items()}, LARGEST_PART)
        states = [text for name, report in self.reports.items() for text in (name, report.status.snapshot)]
        file = f"{named_by(LAYOUT, str(VERSION), *states, *(lot[0] for lot in lots))}.statistics"
        arrays = self.store.arrays(file)
        if arrays is None:
            arrays = self._made(lots, tell)
            self.store.put(file, arrays)
        names = unpack_strings(arrays[_PARTS])
        places = [
            PartPlace(name, tuple(self.members[one] for one in lot)) for name, lot in zip(names, lots, strict=True)
        ]
        return WorkspaceParts(file, places, WorkspaceStatistics.from_arrays(arrays), CrossingEdges.from_arrays(arrays))

    def _made(self, lots: Sequence[Sequence[str]], tell: Progress) -> Arrays:
        crossing = self._crossing(tell)
        tell("joining", 0, 0)
        sizes = [sum(self.reports[name].status.fragments for name in lot) for lot in lots]
        begins = accumulate(sizes, initial=0)
        inside = [crossing.between(begin, begin + size) for begin, size in zip(begins, sizes, strict=False)]
        tasks = [self._task(lot, edges) for lot, edges in zip(lots, inside, strict=True)]
        told = self.all(part_joined, tasks, [task.file for task in tasks])
        whole = WorkspaceStatistics.united(told).to_arrays() | crossing.to_arrays()
        return whole | {_PARTS: pack_strings([task.file for task in tasks])}

    def _task(self, lot: Sequence[str], crossing: CrossingEdges) -> JoinTask:
        files = [snapshot_file(self.reports[name].status.snapshot) for name in lot]
        edges = blake2b(b"".join(getattr(crossing, name).tobytes() for name in COLUMNS), digest_size=16).hexdigest()
        name = f"{named_by(LAYOUT, edges, *lot, *files)}.part"
        return JoinTask(self.place.store, tuple(lot), tuple(files), crossing, name)

    def _crossing(self, tell: Progress) -> CrossingEdges:
        from secateur.index.across import (
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


def lots_of(fragments: Mapping[str, int], largest: int) -> list[list[str]]:
    """The repositories of each part: next to each other, with up to `largest` fragments together."""
    lots: list[list[str]] = []
    size = 0
    for name, own in fragments.items():
        if not lots or size + own > largest:
            lots.append([])
            size = 0
        lots[-1].append(name)
        size += own
    return lots


# --- in a worker ------------------------------------------------------------------------------------------------------


def part_joined(task: JoinTask) -> WorkspaceStatistics:
    """Joins the snapshots of a part, puts them into the store, and tells the figures of the part."""
    store = SnapshotStore(task.store, directories.cache_dir(os.environ))
    arrays = store.arrays(task.file)
    if arrays is None:
        own = {name: snapshot_in(store, file) for name, file in zip(task.names, task.files, strict=True)}
        arrays = join_snapshots(own, task.crossing)
        store.put(task.file, arrays)
    return statistics_of(JoinedSnapshot(arrays))
