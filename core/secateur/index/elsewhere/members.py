"""In a worker: the repositories of a workspace that are open there, and the tasks about them.

What is opened for one task is kept for the next one; what a task answers depends on none of that.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

from secateur import directories
from secateur.errors import IndexingError, SecateurError
from secateur.executors.executor import TaskOutcome, carried_out
from secateur.executors.kept import keep_open
from secateur.index.across import FoundLinks, LinkedMember, Linking
from secateur.index.elsewhere.places import (
    FileTask,
    LinkTask,
    MemberPlace,
    MemberReport,
    MemberTask,
    RecordTask,
    WorkspacePlace,
)
from secateur.index.elsewhere.snapshot_files import file_of_arrays, snapshot_file
from secateur.index.facts.models import Models, vectors_of
from secateur.index.open_index import OpenIndex
from secateur.index.open_workspace import WorkspaceOpener
from secateur.index.store.snapshot_store import SnapshotStore
from secateur.index.update.parallel import Extractor
from secateur.index.update.snapshot_files import whole_path
from secateur.languages.packages import ManifestPackages
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.git_log import HistoryCommit
from secateur.sources.source import Source

MOST_OPEN = 32
"""Repositories that a worker has open: each takes open files, and processes of git."""


class MembersHere:
    """The repositories that this worker has open."""

    def __init__(self, place: WorkspacePlace, environ: Mapping[str, str]) -> None:
        settings, models = place.settings, Models(environ)
        self._cache_dir = directories.cache_dir(environ)
        workers = settings.index.workers or 1  # many repositories are worked at together
        settings = replace(settings, index=replace(settings.index, workers=workers))
        counter = models.counter(settings.tokens.counter)
        self.extractor = Extractor.of(settings, counter, vectors_of(models, settings), self._cache_dir)
        self.store = SnapshotStore(place.store, self._cache_dir)
        self._place = place
        self._open: OrderedDict[str, OpenIndex] = OrderedDict()

    def opened(self, one: MemberPlace, *, refresh: bool = False) -> OpenIndex:
        """A repository, open; as it is now, where it was not open yet. `refresh`: a URL is fetched anew."""
        name, terms = one.member.name, self._place.fetching
        if name not in self._open:
            limits = terms.limits if terms is not None else None
            fetching = (
                FetchOptions(terms.refresh and refresh, terms.shallow, lambda: limits)
                if terms is not None and limits is not None
                else None
            )
            opener = WorkspaceOpener(self._place.path, self._place.settings.index, fetching)
            self._open[name] = opener.member(one.member, self._cache_dir, one.known)
        self._open.move_to_end(name)
        return self._open[name]

    def make_room(self, number: int) -> None:
        """Close repositories that were not used for long, so that so many more can be open."""
        while self._open and len(self._open) + number > MOST_OPEN:
            self._open.popitem(last=False)[1].close()

    def loaded(self, one: MemberPlace) -> OpenIndex:
        """A repository in the state that is meant. Raises IndexingError: it is in another by now."""
        found = self.opened(one)
        if found.status is None or found.status.snapshot != one.state:
            state = found.record(self.extractor)
            if state.name != one.state:
                said = f"repository {one.member.name} changed while it was read"
                raise IndexingError(said, hint="run again", code="CHANGED")
            found.load(state, self.extractor)
        return found

    def report(self, one: MemberPlace) -> MemberReport:
        """A repository, brought up to date, and its snapshot in the store."""
        found = self.opened(one, refresh=True)
        state = found.record(self.extractor)
        status = found.load(state, self.extractor)
        file = snapshot_file(status.snapshot)
        there = self.store.holds(file) if one.known is not None else self.store.arrays(file, file_of_arrays) is not None
        if not there:
            snapshot = found.snapshot
            assert snapshot is not None
            at = whole_path(found.folder, status.snapshot) if found.folder is not None else None
            self.store.put(file, snapshot.arrays, at)
        return MemberReport(
            read=state.read,
            status=status,
            notices=found.notices,
            source_notices=found.known.notices if found.known is not None else found.source.notices(),
            facts=found.loaded_facts,
            kept=found.to_keep(self.extractor.version),
            size=found.size(),
        )

    def close(self) -> None:
        """Let go of all; what was put together and is not on disk yet is written."""
        while self._open:
            _, one = self._open.popitem()
            try:
                one.save()
            except IndexingError:
                pass
            finally:
                one.close()


def members_here(place: WorkspacePlace) -> MembersHere:
    """The repositories of a workspace that this worker has open."""
    return keep_open("members", place, lambda: MembersHere(place, os.environ))


# --- tasks ------------------------------------------------------------------------------------------------------------


def recorded(task: RecordTask) -> list[TaskOutcome[MemberReport]]:
    """The report of each repository; an error costs that repository.

    Raises:
        SecateurError: records of this worker are not those of the process that asks.
    """
    here = members_here(task.place)
    if here.extractor.version != task.version:
        said = f"this worker indexes otherwise ({here.extractor.version}, not {task.version})"
        raise SecateurError(said, hint="install the same packages on all machines", code="CLUSTER_WORKER")
    found = []
    for one in task.members:
        here.make_room(1)
        found.append(carried_out(here.report, one))
    return found


def packages_found(task: MemberTask) -> ManifestPackages:
    """The packages that a repository provides, requires and imports."""
    here = members_here(task.place)
    here.make_room(1)
    found = here.loaded(task.member)
    assert found.snapshot is not None
    return Linking([LinkedMember(task.member.member.name, task.member.state, found.snapshot, found)]).packages(0)


def links_found(task: LinkTask) -> FoundLinks:
    """The edges that lead out of a repository into those that it uses."""
    here, members = members_here(task.place), {}
    here.make_room(len(task.members))
    for number, one in zip(task.question.members, task.members, strict=True):
        found = here.loaded(one)
        assert found.snapshot is not None
        members[number] = LinkedMember(one.member.name, one.state, found.snapshot, found)
    return Linking(members).links(task.question)


def file_read(task: FileTask) -> bytes | None:
    """The bytes of a file as it is now; None where it is gone."""
    return next((data for _, data in _source(task).read([task.path])), None)


def file_changes(task: FileTask) -> list[HistoryCommit]:
    """The last commits that changed a file, newest first; of all files where no path is given."""
    source = _source(task)
    return source.changes_of(task.path, task.limit) if task.path else list(source.history(task.limit))


def _source(task: FileTask) -> Source:
    here = members_here(task.place)
    here.make_room(1)
    return here.opened(MemberPlace(task.member)).source
