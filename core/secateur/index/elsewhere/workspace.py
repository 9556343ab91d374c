"""A workspace whose repositories are read and searched by workers: to whoever asks, what `OpenIndex` is for one.

This process holds names and figures. Files are read, indexed and searched where the workers are; of the snapshots it
maps those alone that it has to look into: of repositories that have something in an answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt

from secateur.errors import SecateurError
from secateur.executors.executor import Executor, Task, TaskOutcome
from secateur.index.elsewhere.members import file_changes, file_read, recorded
from secateur.index.elsewhere.parts import PartMaking, WorkspaceParts
from secateur.index.elsewhere.places import (
    ElsewhereOpener,
    FetchTerms,
    FileTask,
    MemberPlace,
    MemberReport,
    RecordTask,
    WorkspacePlace,
)
from secateur.index.elsewhere.snapshot_files import snapshot_file, snapshot_in
from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.facts.joined_snapshot import JoinedSnapshot, join_snapshots
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_workspace import (
    LeftOutRepositories,
    Workspace,
    state_of_all,
    united_status,
)
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
"""Repositories of which nothing is known to have changed that one task looks at."""


class WorkspaceElsewhere(Workspace):
    """See the module docstring."""

    def __init__(self, opener: ElsewhereOpener, cache_dir: Path) -> None:
        """Raises ConfigError: the workspace's file is malformed."""
        workspace = opener.workspace
        super().__init__(workspace, cache_dir, "elsewhere")
        self.executor: Executor = opener.executor
        self.members: dict[str, WorkspaceMember] = {one.name: _absolute(one) for one in workspace.members}
        self._shared = SnapshotStore(opener.store, cache_dir)
        fetching = workspace.fetching
        terms = FetchTerms(fetching.refresh, fetching.shallow, fetching.limits()) if fetching is not None else None
        self.place = WorkspacePlace(workspace.path, opener.settings, opener.store, terms)
        self._reports: dict[str, MemberReport] = {}
        self._partial = workspace.partial
        self._parts: WorkspaceParts | None = None
        self._mapped: dict[str, Snapshot] = {}  # of repositories that have something in an answer
        self._store: Store | None = None

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def source(self) -> Source:
        """The files of the repositories that were read last; of all before."""
        sources = {name: partial(_SourceElsewhere, self, name) for name in self._reports or self.members}
        said = {name: report.source_notices for name, report in self._reports.items()}
        return WorkspaceSource(self._path, sources, said)  # type: ignore[arg-type] # they answer what is asked of them

    def _notices(self) -> Mapping[str, Sequence[Notice]]:
        return {name: report.notices for name, report in self._reports.items()}

    def _not_followed(self) -> Sequence[str]:
        return self._parts.crossing.said if self._parts is not None else ()

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
        """Nothing: workers keep what they make."""

    def close(self) -> None:
        """As `OpenedIndex.close`; the executor is its owner's."""
        if self._store is not None:
            self._store.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """As `OpenWorkspace.record`, by workers. Raises what the first repository raises that cannot be read."""
        known = self._catalogue.members
        places = [MemberPlace(member, known.get(member.name)) for member in self.members.values()]
        likely = [one for one in places if one.known is not None]
        each = max(1, min(TOGETHER, -(-len(likely) // self.executor.workers)))
        lots: list[tuple[MemberPlace, ...]] = [(one,) for one in places if one.known is None]
        lots += [tuple(likely[begin : begin + each]) for begin in range(0, len(likely), each)]
        tasks = [
            Task(recorded, RecordTask(self.place, lot, extractor.version), lot[0].member.name if len(lot) == 1 else "")
            for lot in lots
        ]
        tell, done = progress or unreported, 0
        found: dict[str, TaskOutcome[MemberReport]] = {}
        tell("reading", 0, len(places))
        with closing(self.executor.run(tasks)) as outcomes:
            for number, outcome in outcomes:
                names = [one.member.name for one in lots[number]]
                reports = outcome.value or [self._failed(name, outcome.error) for name in names]
                found |= zip(names, reports, strict=True)
                done += len(names)
                tell("reading", done, len(places))
        self._reports, self._left_out = {}, LeftOutRepositories(self._partial)
        for name in self.members:
            with self._left_out.taking(name):
                self._reports[name] = found[name].got()
        self._left_out.check(self._reports)
        self._check_store()
        kept = {name: report.kept for name, report in self._reports.items()}
        new = {name: one for name, one in kept.items() if one is not None}
        if new != known:
            self._catalogue.keep(new)
        states = {name: report.status.snapshot for name, report in self._reports.items()}
        return state_of_all(self.only, states, sum(report.read for report in self._reports.values()))

    def _failed(self, name: str, error: SecateurError | None) -> TaskOutcome[MemberReport]:
        """The outcome of a repository whose task has failed as a whole: such as one over which workers died."""
        assert error is not None
        said = f"{self._path}: repository {name}: {error.message}"
        return TaskOutcome(None, SecateurError(said, hint=error.hint, code=error.code))

    def _check_store(self) -> None:
        """Raises SecateurError: workers put snapshots where this process does not see them."""
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
            making = PartMaking(self.place, self._shared, self.members, self._reports, self.all)
            self._parts = making.made(progress or unreported)
            self._snapshot = JoinedSnapshot(_JoinedLater(self._joined))
            self._mapped = {}
            self._texts.clear()
        statuses = {name: report.status for name, report in self._reports.items()}
        self.status = united_status(statuses, self.source.describe(), state.name)
        return self.status

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """Has the next call make anew what an error inside says is missing or damaged in the store."""
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

    def _joined(self) -> Arrays:
        own = {name: self._own(name) for name in self._reports}
        return join_snapshots(own, self.parts.crossing)

    def _own(self, name: str) -> Snapshot:
        """The snapshot of one repository, mapped."""
        with self._forgetting():
            return snapshot_in(self._shared, snapshot_file(self._reports[name].status.snapshot))

    def all(self, function: Callable[[Any], T], arguments: Sequence[Any], homes: Sequence[str]) -> list[T]:
        """The results of a function for all arguments. Raises the first error."""
        tasks = [Task(function, argument, home) for argument, home in zip(arguments, homes, strict=True)]
        with self._forgetting():
            found = dict(self._outcomes(tasks))
        return [found[number] for number in range(len(tasks))]

    def _outcomes(self, tasks: Sequence[Task[T]]) -> Iterator[tuple[int, T]]:
        with closing(self.executor.run(tasks)) as outcomes:
            for number, outcome in outcomes:
                yield number, outcome.got()

    def one(self, function: Callable[[Any], T], argument: Any, home: str) -> T:
        """The result of one task. Raises what it raises."""
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
        return self.one(file_read, FileTask(self.place, self.members[name], own), name)

    def _facts_of_each(self) -> Mapping[str, SnapshotFacts]:
        return {name: report.facts for name, report in self._reports.items()}

    def changes(self) -> Changes:
        """None are looked for: every search has workers look."""
        return Changes()

    def unread(self, extractor: Extractor) -> Changes | None:  # noqa: ARG002
        """None, as where nothing was indexed yet: nobody has looked."""
        return None


def _absolute(member: WorkspaceMember) -> WorkspaceMember:
    """A repository by a name that means the same whatever folder a worker was started in."""
    if is_named(member.location):
        return member
    return replace(member, location=os.path.abspath(member.location))  # noqa: PTH100 - no link is followed


class _JoinedLater(Mapping[str, npt.NDArray[Any]]):
    """Arrays that are joined when the first is asked for: by what walks through all repositories at once."""

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
    """The questions that are asked of the files of one repository once it is indexed."""

    def __init__(self, workspace: WorkspaceElsewhere, name: str) -> None:
        self._workspace, self._name = workspace, name

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        for path in paths:
            yield path, self._workspace.one(file_read, self._task(path), self._name)

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        return self._workspace.one(file_changes, self._task(path, limit), self._name)

    def history(self, limit: int) -> Iterator[HistoryCommit]:
        return iter(self._workspace.one(file_changes, self._task("", limit), self._name))

    def _task(self, path: str, limit: int = 0) -> FileTask:
        return FileTask(self._workspace.place, self._workspace.members[self._name], path, limit)
