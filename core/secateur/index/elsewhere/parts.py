"""The parts of a workspace that workers search: the repositories of each part, their joined snapshots in the store, and
the statistics of the whole workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from msgspec import Struct

from secateur import directories
from secateur.index.elsewhere.members import find_member_links, find_packages
from secateur.index.elsewhere.places import (
    JoinTask,
    LinkTask,
    MemberPlace,
    MemberReport,
    MemberTask,
    PartPlace,
    WorkspacePlace,
    snapshot_file,
    snapshot_in,
)
from secateur.index.facts.crossing import COLUMNS, VERSION, CrossingEdges
from secateur.index.facts.joined_snapshot import JoinedSnapshot, join_snapshots, statistics_of
from secateur.index.facts.workspace_statistics import WorkspaceStatistics
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.snapshot_store import SnapshotStore, hash_name
from secateur.progress import Progress
from secateur.sources.workspace_file import WorkspaceMember

LAYOUT = "2"
"""Raise it when the same repositories make other files in the store."""

LARGEST_PART = 200_000
"""The most fragments of a part that holds several repositories. A query over this many takes a processor some tenths of
a second, and half a gigabyte. The division does not depend on the number of workers, so any workers give the same
answer."""

_PARTS = "parts"


class WorkspaceParts(Struct, frozen=True):
    """The parts of a workspace in one state.

    Attributes:
        file: the file of the store that holds the statistics of the workspace.
        crossing: the edges from one repository into another, between joined rows.
    """

    file: str
    places: Sequence[PartPlace]
    statistics: WorkspaceStatistics
    crossing: CrossingEdges


class PartMaker(Struct, frozen=True):
    """Makes the parts of a recorded workspace.

    Attributes:
        members, reports: by name, in byte order of their paths.
        all: has workers call a function with each argument. The last parameter names a home for each argument; calls
            with the same home prefer the same worker.
    """

    place: WorkspacePlace
    store: SnapshotStore
    members: Mapping[str, WorkspaceMember]
    reports: Mapping[str, MemberReport]
    all: Callable[[Callable[..., Any], Sequence[Any], Sequence[str]], list[Any]]

    def make(self, tell: Progress) -> WorkspaceParts:
        """Makes the parts, and puts those into the store that are not there yet."""
        lots = divide_members({name: report.status.fragments for name, report in self.reports.items()}, LARGEST_PART)
        states = [text for name, report in self.reports.items() for text in (name, report.status.snapshot)]
        file = f"{hash_name(LAYOUT, str(VERSION), *states, *(lot[0] for lot in lots))}.statistics"
        arrays = self.store.arrays(file)
        if arrays is None:
            arrays = self._join_parts(lots, tell)
            self.store.put(file, arrays)
        files = unpack_strings(arrays[_PARTS])
        places = [
            PartPlace(part, tuple(self.members[name] for name in lot)) for part, lot in zip(files, lots, strict=True)
        ]
        return WorkspaceParts(file, places, WorkspaceStatistics.from_arrays(arrays), CrossingEdges.from_arrays(arrays))

    def _join_parts(self, lots: Sequence[Sequence[str]], tell: Progress) -> Arrays:
        crossing = self._crossing(tell)
        tell("joining", 0, 0)
        sizes = [sum(self.reports[name].status.fragments for name in lot) for lot in lots]
        begins = accumulate(sizes, initial=0)
        inside = [crossing.between(begin, begin + size) for begin, size in zip(begins, sizes, strict=False)]
        tasks = [self._task(lot, edges) for lot, edges in zip(lots, inside, strict=True)]
        of_parts = self.all(join_part, tasks, [task.file for task in tasks])
        whole = WorkspaceStatistics.merge(of_parts).to_arrays() | crossing.to_arrays()
        return whole | {_PARTS: pack_strings([task.file for task in tasks])}

    def _task(self, lot: Sequence[str], crossing: CrossingEdges) -> JoinTask:
        files = [snapshot_file(self.reports[name].status.snapshot) for name in lot]
        edges = blake2b(b"".join(getattr(crossing, name).tobytes() for name in COLUMNS), digest_size=16).hexdigest()
        name = f"{hash_name(LAYOUT, edges, *lot, *files)}.part"
        return JoinTask(self.place.store, tuple(lot), tuple(files), crossing, name)

    def _crossing(self, tell: Progress) -> CrossingEdges:
        # imported here because the resolver takes a while to load
        from secateur.index.across import LinkQuestion, SizedMember, collect_crossing_edges

        states = [(self.members[name], report.status) for name, report in self.reports.items()]
        places = [MemberPlace(member, None, status.snapshot) for member, status in states]
        names = [member.name for member, _ in states]

        def answer(questions: Sequence[LinkQuestion]) -> list[Any]:
            tasks = [
                LinkTask(self.place, question, tuple(places[member_index] for member_index in question.members))
                for question in questions
            ]
            return self.all(find_member_links, tasks, [names[question.members[0]] for question in questions])

        if len(states) < 2:
            return CrossingEdges.of({})
        tell("linking", 0, 0)
        sized = [SizedMember(member.name, status.snapshot, status.fragments) for member, status in states]
        packages = self.all(find_packages, [MemberTask(self.place, member) for member in places], names)
        return collect_crossing_edges(sized, packages, answer)


def divide_members(fragments: Mapping[str, int], largest: int) -> list[list[str]]:
    """Divides the repositories into parts of neighbours with up to `largest` fragments; a larger one is its own
    part."""
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


def join_part(task: JoinTask) -> WorkspaceStatistics:
    """Joins the snapshots of a part, puts them into the store, and returns the statistics of the part."""
    store = SnapshotStore(task.store, directories.cache_dir(os.environ))
    arrays = store.arrays(task.file)
    if arrays is None:
        own = {name: snapshot_in(store, file) for name, file in zip(task.names, task.files, strict=True)}
        arrays = join_snapshots(own, task.crossing)
        store.put(task.file, arrays)
    return statistics_of(JoinedSnapshot(arrays))
