"""A workspace whose repositories are read and searched by workers. It has the interface that `OpenIndex` has for one.

Workers read, index and search the files. This process holds names and statistics; it maps the snapshot of a repository
only when a candidate of the answer lies in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt
from msgspec.structs import replace

from secateur.errors import SecateurError
from secateur.executors.executor import Executor, Task, TaskOutcome
from secateur.index.elsewhere.members import list_commits, read_member_file, record_members
from secateur.index.elsewhere.parts import PartMaker, WorkspaceParts
from secateur.index.elsewhere.places import (
    ElsewhereOpener,
    FetchTerms,
    FileTask,
    MemberPlace,
    MemberReport,
    RecordTask,
    WorkspacePlace,
    snapshot_file,
    snapshot_in,
)
from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.facts.joined_snapshot import JoinedSnapshot, join_snapshots
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_workspace import LeftOutRepositories, Workspace, merge_statuses, state_of_all
from secateur.index.store.arrayfile import Arrays
from secateur.index.store.records import Store
from secateur.index.store.snapshot_store import MISSING, SnapshotStore
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import IndexStatus, RecordedState
from secateur.index.update.staleness import Changes
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.redaction import CredentialNumbers
from secateur.sources.git_log import HistoryCommit
from secateur.sources.named import is_named
from secateur.sources.source import Source
from secateur.sources.workspace_file import WorkspaceMember
from secateur.sources.workspace_source import WorkspaceSource

T = TypeVar("T")

TOGETHER = 32
"""Repositories for one task, if all of them are in the catalogue: most will not have changed, and take no time."""


class WorkspaceElsewhere(Workspace):
    """See the module docstring."""

    def __init__(self, opener: ElsewhereOpener, cache_dir: Path) -> None:
        """Raises ConfigError: the workspace's file is malformed."""
        workspace = opener.workspace
        super().__init__(workspace, cache_dir, "elsewhere")
        self.executor: Executor = opener.executor
        self.members: dict[str, WorkspaceMember] = {member.name: _absolute(member) for member in workspace.members}
        self._shared = SnapshotStore(opener.store, cache_dir)
        fetching = workspace.fetching
        terms = FetchTerms(fetching.refresh, fetching.shallow, fetching.limits()) if fetching is not None else None
        self.place = WorkspacePlace(workspace.path, opener.settings, opener.store, terms)
        self._reports: dict[str, MemberReport] = {}
        self._partial = workspace.partial
        self._parts: WorkspaceParts | None = None
        self._mapped: dict[str, Snapshot] = {}  # repositories with a candidate in an answer
        self._store: Store | None = None

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def source(self) -> Source:
        """The files of the repositories that were read last; before the first reading, of all repositories."""
        sources = {name: partial(_SourceElsewhere, self, name) for name in self._reports or self.members}
        notices = {name: report.source_notices for name, report in self._reports.items()}
        return WorkspaceSource(self._path, sources, notices)  # type: ignore[arg-type] # has the methods that are called

    def _notices(self) -> Mapping[str, Sequence[Notice]]:
        return {name: report.notices for name, report in self._reports.items()}

    def _not_followed(self) -> Sequence[str]:
        return self._parts.crossing.warnings if self._parts is not None else ()

    @property
    def parts(self) -> WorkspaceParts:
        """The parts that workers search."""
        assert self._parts is not None, "nothing is loaded yet"
        return self._parts

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = Store.open(self._catalogue.folder)
        return self._store

    def size(self) -> int:
        """Bytes of the indexes, wherever they are."""
        return sum(report.size for report in self._reports.values())

    def save(self) -> None:
        """Does nothing: workers keep what they make."""

    def close(self) -> None:
        """Closes the catalogue's store. The owner of the executor closes that."""
        if self._store is not None:
            self._store.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Has workers record all repositories. Raises the error of the first repository that cannot be read."""
        known = self._catalogue.members
        places = [MemberPlace(member, known.get(member.name)) for member in self.members.values()]
        known_places = [member for member in places if member.known is not None]
        each = max(1, min(TOGETHER, -(-len(known_places) // self.executor.workers)))
        lots: list[tuple[MemberPlace, ...]] = [(member,) for member in places if member.known is None]
        lots += [tuple(known_places[begin : begin + each]) for begin in range(0, len(known_places), each)]
        homes = [lot[0].member.name if len(lot) == 1 else "" for lot in lots]
        tasks = [
            Task(record_members, RecordTask(self.place, lot, extractor.version), home)
            for lot, home in zip(lots, homes, strict=True)
        ]
        tell, done = progress or unreported, 0
        by_name: dict[str, TaskOutcome[MemberReport]] = {}
        tell("reading", 0, len(places))
        with closing(self.executor.run(tasks)) as outcomes:
            for task_index, outcome in outcomes:
                names = [place.member.name for place in lots[task_index]]
                reports = outcome.value or [self._fail(name, outcome.error) for name in names]
                by_name |= zip(names, reports, strict=True)
                done += len(names)
                tell("reading", done, len(places))
        self._reports, self._left_out = {}, LeftOutRepositories(self._partial)
        for name in self.members:
            with self._left_out.taking(name):
                self._reports[name] = by_name[name].got()
        self._left_out.check(self._reports)
        self._check_store()
        kept = {name: report.kept for name, report in self._reports.items()}
        new = {name: member for name, member in kept.items() if member is not None}
        if new != known:
            self._catalogue.keep(new)
        states = {name: report.status.snapshot for name, report in self._reports.items()}
        return state_of_all(self.only, states, sum(report.read for report in self._reports.values()))

    def _fail(self, name: str, error: SecateurError | None) -> TaskOutcome[MemberReport]:
        """Makes the outcome of a repository whose whole task failed, for example because workers died over it."""
        assert error is not None
        message = f"{self._path}: repository {name}: {error.message}"
        return TaskOutcome(None, SecateurError(message, hint=error.hint, code=error.code))

    def _check_store(self) -> None:
        """Checks that this process sees the snapshots that workers stored. Raises SecateurError."""
        file = snapshot_file(next(iter(self._reports.values())).status.snapshot)
        if not self._shared.holds(file):
            raise SecateurError(
                f"{self._shared.shown}: workers put their snapshots elsewhere",
                hint="name a place that all of them reach: --store; docs/cluster.md",
                code="STORE",
            )

    def load(
        self,
        state: RecordedState,
        extractor: Extractor,  # noqa: ARG002 - the name it has in `OpenedIndex`
        progress: Progress | None = None,
    ) -> IndexStatus:
        if self._snapshot is None or self.status is None or state.name != self.status.snapshot:
            maker = PartMaker(self.place, self._shared, self.members, self._reports, self.all)
            self._parts = maker.make(progress or unreported)
            self._snapshot = JoinedSnapshot(_LazyArrays(self._join))
            self._mapped = {}
            self._texts.clear()
        statuses = {name: report.status for name, report in self._reports.items()}
        self.status = merge_statuses(statuses, self.source.describe(), state.name)
        return self.status

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """Makes the next call rebuild a file of the store if the code inside finds it missing or damaged."""
        try:
            yield
        except SecateurError as error:
            if error.code == MISSING:
                self._forget()
            raise

    def _forget(self) -> None:
        self._catalogue.keep({})
        if self._parts is not None:
            self._shared.remove(self._parts.file)

    def _join(self) -> Arrays:
        own = {name: self._own(name) for name in self._reports}
        return join_snapshots(own, self.parts.crossing)

    def _own(self, name: str) -> Snapshot:
        """Maps the snapshot of one repository."""
        with self._forgetting():
            return snapshot_in(self._shared, snapshot_file(self._reports[name].status.snapshot))

    def all(self, function: Callable[[Any], T], arguments: Sequence[Any], homes: Sequence[str]) -> list[T]:
        """Has workers call a function with each argument, and returns the results. Raises the first error."""
        tasks = [Task(function, argument, home) for argument, home in zip(arguments, homes, strict=True)]
        with self._forgetting():
            results = dict(self._outcomes(tasks))
        return [results[task_index] for task_index in range(len(tasks))]

    def _outcomes(self, tasks: Sequence[Task[T]]) -> Iterator[tuple[int, T]]:
        with closing(self.executor.run(tasks)) as outcomes:
            for task_index, outcome in outcomes:
                yield task_index, outcome.got()

    def one(self, function: Callable[[Any], T], argument: Any, home: str) -> T:
        """Has a worker call a function, and returns the result. Raises what the function raises."""
        return self.all(function, [argument], [home])[0]

    # --- looking -----------------------------------------------------------------------------------------------------

    def lines(
        self,
        snapshot: Snapshot,  # noqa: ARG002 - the name it has in `OpenedIndex`
        path: str,
        numbers: CredentialNumbers | None = None,
    ) -> list[str]:
        name, _, own = path.partition("/")
        if name not in self._mapped:
            self._mapped[name] = self._own(name)
        try:
            return self._texts.of(self._mapped[name], own, lambda: self._file_of(name, own), numbers, name)
        except SecateurError as error:
            if error.code == "CHANGED":
                raise type(error)(f"{name}/{error.message}", hint=error.hint, code=error.code) from error
            raise

    def _file_of(self, name: str, own: str) -> bytes | None:
        return self.one(read_member_file, FileTask(self.place, self.members[name], own), name)

    def _facts_of_each(self) -> Mapping[str, SnapshotFacts]:
        return {name: report.facts for name, report in self._reports.items()}

    def changes(self) -> Changes:
        """Reports no changes: workers look for them at every search."""
        return Changes()

    def unread(self, extractor: Extractor) -> Changes | None:  # noqa: ARG002
        """Returns None: this process does not look at the files."""
        return None


def _absolute(member: WorkspaceMember) -> WorkspaceMember:
    """Makes the location of a repository absolute: a worker may have been started in another folder."""
    if is_named(member.location):
        return member
    return replace(member, location=os.path.abspath(member.location))  # noqa: PTH100 - no link is followed


class _LazyArrays(Mapping[str, npt.NDArray[Any]]):
    """Joined arrays that are made at the first access: few callers need rows of all repositories at once."""

    def __init__(self, join: Callable[[], Arrays]) -> None:
        self._join = join

    @cached_property
    def _arrays(self) -> Arrays:
        return self._join()

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


class _SourceElsewhere:
    """The part of `Source` that an indexed repository still needs, answered by workers."""

    def __init__(self, workspace: WorkspaceElsewhere, name: str) -> None:
        self._workspace, self._name = workspace, name

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        for path in paths:
            yield path, self._workspace.one(read_member_file, self._task(path), self._name)

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        return self._workspace.one(list_commits, self._task(path, limit), self._name)

    def history(self, limit: int) -> Iterator[HistoryCommit]:
        return iter(self._workspace.one(list_commits, self._task("", limit), self._name))

    def _task(self, path: str, limit: int = 0) -> FileTask:
        return FileTask(self._workspace.place, self._workspace.members[self._name], path, limit)
