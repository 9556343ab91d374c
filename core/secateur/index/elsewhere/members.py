"""In a worker: the repositories of a workspace that are open there, and the tasks about them.

A worker keeps a repository open for its next task. The answer of a task does not depend on what is open.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping

from msgspec.structs import replace

from secateur import directories
from secateur.errors import IndexingError, SecateurError
from secateur.executors.executor import TaskOutcome, keep_open
from secateur.index.across import FoundLinks, LinkedMember, Linking
from secateur.index.elsewhere.places import (
    FileTask,
    LinkTask,
    MemberPlace,
    MemberReport,
    MemberTask,
    RecordTask,
    WorkspacePlace,
    file_of_arrays,
    snapshot_file,
)
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
"""Repositories that a worker keeps open. Each holds open files and git processes."""


class MembersHere:
    """The repositories that this worker has open."""

    def __init__(self, workspace: WorkspacePlace, environ: Mapping[str, str]) -> None:
        settings, models = workspace.settings, Models(environ)
        self._cache_dir = directories.cache_dir(environ)
        workers = settings.index.workers or 1  # workers index many repositories at once: one process each is enough
        settings = replace(settings, index=replace(settings.index, workers=workers))
        counter = models.counter(settings.tokens.counter)
        self.extractor = Extractor.of(settings, counter, vectors_of(models, settings), self._cache_dir)
        self.store = SnapshotStore(workspace.store, self._cache_dir)
        self._workspace = workspace
        self._open: OrderedDict[str, OpenIndex] = OrderedDict()

    def open_member(self, repository: MemberPlace, *, refresh: bool = False) -> OpenIndex:
        """Opens a repository, or returns it if it is open. `refresh`: fetches a URL again."""
        name, terms = repository.member.name, self._workspace.fetching
        if name not in self._open:
            limits = terms.limits if terms is not None else None
            fetching = (
                FetchOptions(terms.refresh and refresh, terms.shallow, lambda: limits)
                if terms is not None and limits is not None
                else None
            )
            opener = WorkspaceOpener(self._workspace.path, self._workspace.settings.index, fetching)
            self._open[name] = opener.member(repository.member, self._cache_dir, repository.known)
        self._open.move_to_end(name)
        return self._open[name]

    def make_room(self, count: int) -> None:
        """Closes the repositories that were used longest ago, so that `count` more can be opened."""
        while self._open and len(self._open) + count > MOST_OPEN:
            self._open.popitem(last=False)[1].close()

    def load_member(self, repository: MemberPlace) -> OpenIndex:
        """Opens a repository in the state that the task names. Raises IndexingError: it is in another state by now."""
        index = self.open_member(repository)
        if index.status is None or index.status.snapshot != repository.state:
            state = index.record(self.extractor)
            if state.name != repository.state:
                problem = f"repository {repository.member.name} changed while it was read"
                raise IndexingError(problem, hint="run again", code="CHANGED")
            index.load(state, self.extractor)
        return index

    def report(self, repository: MemberPlace) -> MemberReport:
        """Brings the index of a repository up to date, puts its snapshot into the store, and reports both."""
        index = self.open_member(repository, refresh=True)
        state = index.record(self.extractor)
        status = index.load(state, self.extractor)
        file = snapshot_file(status.snapshot)
        if repository.known is not None:
            is_stored = self.store.holds(file)
        else:  # nothing is known about this repository yet, so the file is read and verified once
            is_stored = self.store.arrays(file, file_of_arrays) is not None
        if not is_stored:
            snapshot = index.snapshot
            assert snapshot is not None
            at = whole_path(index.folder, status.snapshot) if index.folder is not None else None
            self.store.put(file, snapshot.arrays, at)
        return MemberReport(
            read=state.read,
            status=status,
            notices=index.notices,
            source_notices=index.known.notices if index.known is not None else index.source.notices(),
            facts=index.loaded_facts,
            kept=index.to_keep(self.extractor.version),
            size=index.size(),
        )

    def close(self) -> None:
        """Saves and closes all repositories."""
        while self._open:
            _, index = self._open.popitem()
            try:
                index.save()
            except IndexingError:
                pass
            finally:
                index.close()


def members_here(workspace: WorkspacePlace) -> MembersHere:
    """Returns the repositories of a workspace that this worker has open."""
    return keep_open("members", workspace, lambda: MembersHere(workspace, os.environ))


# --- tasks ------------------------------------------------------------------------------------------------------------


def record_members(task: RecordTask) -> list[TaskOutcome[MemberReport]]:
    """Reports on each repository of the task; an error costs that repository alone. Raises SecateurError: this worker
    makes other records than the process that asks."""
    here = members_here(task.place)
    if here.extractor.version != task.version:
        problem = f"this worker indexes otherwise ({here.extractor.version}, not {task.version})"
        raise SecateurError(problem, hint="install the same packages on all machines", code="CLUSTER_WORKER")
    outcomes = []
    for repository in task.members:
        here.make_room(1)
        outcomes.append(TaskOutcome.of(here.report, repository))
    return outcomes


def find_packages(task: MemberTask) -> ManifestPackages:
    """Finds the packages that a repository provides, requires and imports."""
    here = members_here(task.place)
    here.make_room(1)
    index = here.load_member(task.member)
    assert index.snapshot is not None
    return Linking([LinkedMember(task.member.member.name, task.member.state, index.snapshot, index)]).packages(0)


def find_member_links(task: LinkTask) -> FoundLinks:
    """Finds the edges that lead from a repository into those that it uses."""
    here, members = members_here(task.place), {}
    here.make_room(len(task.members))
    for member_index, repository in zip(task.question.members, task.members, strict=True):
        index = here.load_member(repository)
        assert index.snapshot is not None
        members[member_index] = LinkedMember(repository.member.name, repository.state, index.snapshot, index)
    return Linking(members).find_links(task.question)


def read_member_file(task: FileTask) -> bytes | None:
    """Reads the bytes of a file as it is now; None if it is gone."""
    return next((data for _, data in _source(task).read([task.path])), None)


def list_commits(task: FileTask) -> list[HistoryCommit]:
    """Lists the last commits that changed a file, newest first; without a path, those of the repository."""
    source = _source(task)
    return source.changes_of(task.path, task.limit) if task.path else list(source.history(task.limit))


def _source(task: FileTask) -> Source:
    here = members_here(task.place)
    here.make_room(1)
    return here.open_member(MemberPlace(task.member)).source
