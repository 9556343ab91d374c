"""Several repositories and their indexes while they are open. They have the interface that `OpenIndex` has for one.

Each repository has the same index, in its own folder of the cache, as when it is searched alone, so nothing is indexed
twice. The snapshots are joined again when one of the repositories has changed.
"""

from __future__ import annotations

import os
from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from secateur import directories
from secateur.errors import ConfigError, SecateurError, UsageError
from secateur.executors.executor import Executor, Task
from secateur.index.catalogue import Catalogue, KeptMember, MemberLook
from secateur.index.facts.degraded import SnapshotFacts, merge_facts
from secateur.index.facts.joined_snapshot import JoinedSnapshot, join_snapshots
from secateur.index.facts.models import Models, vectors_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_index import OpenIndex
from secateur.index.opened_index import OpenedIndex
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.folder import size_of
from secateur.index.store.records import Store
from secateur.index.update.parallel import Extractor
from secateur.index.update.partial import Choice, PartialSnapshot
from secateur.index.update.refresh import IndexStatus, RecordedState
from secateur.index.update.staleness import Changes
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.redaction import CredentialNumbers
from secateur.settings import Index, Settings, load
from secateur.sources.commit_look import read_commit_look
from secateur.sources.committed_settings import read_committed_settings
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.named import folder_of
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source
from secateur.sources.workspace_file import WorkspaceMember, answer_globs, read_workspace
from secateur.sources.workspace_source import WorkspaceSource

NOT_FOLLOWED = "calls_not_followed"
"""Code of the notice that some calls between repositories are missing."""

_WARNINGS = "crossing.warnings"
"""Array of warnings about missing calls from one repository into another."""

LEFT_OUT = "repository_left_out"
"""Code of the notice that an answer is partial: a repository could not be read."""


@dataclass(frozen=True)
class WorkspaceOpener:
    """Opens the repositories that a file names.

    Attributes:
        rules, fetching: as for one repository.
        within: the folders that the repositories must lie in; see `read_workspace`.
        partial: leaves out repositories that cannot be read, with a warning; else the first of them is an error.
    """

    path: Path
    rules: Index
    fetching: FetchOptions | None = None
    within: Sequence[Path] | None = None
    partial: bool = False

    @cached_property
    def members(self) -> Sequence[WorkspaceMember]:
        """The repositories of the file. Raises the errors of `read_workspace`."""
        return read_workspace(self.path, self.within)

    def member(self, member: WorkspaceMember, cache_dir: Path, known: KeptMember | None) -> OpenIndex:
        """Opens one of the repositories. `known` is what the catalogue has of it. Raises RepositoryError: it cannot be
        found or fetched; and the errors of `OpenIndex`."""
        with self.naming(member.name):
            folder = folder_of(member.location, cache_dir, self.fetching)
            look = partial(read_commit_look, folder, member.rev, self.rules)
            seen = look()
            if known is None or seen is None or known.look != seen.digest:
                known = KeptMember(seen.digest if seen is not None else "", *self._rules(folder), {})
            opener = SourceOpener(folder, member.rev, known.rules)
            notices = (Notice("config_ignored", known.said),) if known.said else ()
            member_look = MemberLook(opener, look, seen, known, partial(self.naming, member.name))
            return OpenIndex(opener, cache_dir, member_look, notices)

    @contextmanager
    def naming(self, name: str) -> Iterator[None]:
        """Adds the file and the name of the repository to the message of an error inside."""
        prefix = f"{self.path}: repository {name}: "
        try:
            yield
        except SecateurError as error:
            if not error.message.startswith(prefix):
                error.message = f"{prefix}{error.message}"
                error.args = (error.message,)
            raise

    def _rules(self, folder: Path) -> tuple[Index, str]:
        """Returns the rules that the repository is read by when it is searched alone (the user's, then its own), and a
        warning about its own settings; "" if they are valid."""
        try:
            own = load(folder, committed=read_committed_settings(folder)).settings.index
        except ConfigError as error:
            return self.rules, f"{error.message}; nothing of the repository's own settings counts."
        ignore, most = self.rules.ignore or own.ignore, min(self.rules.max_file_kb, own.max_file_kb)
        return replace(self.rules, ignore=ignore, max_file_kb=most), ""


class OpenWorkspace(OpenedIndex):
    """See the module docstring."""

    def __init__(self, opener: WorkspaceOpener, cache_dir: Path) -> None:
        """Raises the errors of `WorkspaceOpener.members` and `WorkspaceOpener.member`."""
        super().__init__()
        self._path, self.only = opener.path, answer_globs(opener.members)
        self._catalogue = Catalogue.open(cache_dir, opener.path)
        self._left_out = LeftOutRepositories(opener.partial)
        self._snapshot: JoinedSnapshot | None = None
        self._members: dict[str, OpenIndex] = {}
        known = self._catalogue.members
        try:
            for member in opener.members:
                with self._left_out.taking(member.name):
                    self._members[member.name] = opener.member(member, cache_dir, known.get(member.name))
            self._left_out.check(self._members)
        except BaseException:
            self.close()
            raise
        self._states: dict[str, RecordedState] = {}
        self._statuses: dict[str, IndexStatus] = {}

    @property
    def source(self) -> Source:
        """The files of all, as of the last `record`."""
        sources = {name: partial(_source_of, member) for name, member in self._members.items()}
        notices = {name: member.known.notices for name, member in self._members.items() if member.known is not None}
        return WorkspaceSource(self._path, sources, notices)

    @property
    def snapshot(self) -> JoinedSnapshot | None:
        return self._snapshot

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about the indexes themselves, and about the repositories' own settings."""
        missing = unpack_strings(self._snapshot.arrays[_WARNINGS]) if self._snapshot is not None else ()
        return (
            *(
                Notice(notice.code, f"{name}: {notice.message}")
                for name, member in self._members.items()
                for notice in member.notices
            ),
            *(Notice(NOT_FOLLOWED, warning) for warning in missing),
            *self._left_out.notices,
        )

    @property
    def store(self) -> Store:
        return next(iter(self._members.values())).store

    def size(self) -> int:
        return size_of(self._catalogue.folder) + sum(member.size() for member in self._members.values())

    def save(self) -> None:
        for member in self._members.values():
            member.save()

    def close(self) -> None:
        for member in self._members.values():
            member.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Records each repository; the name of the whole state is made of the names of all states."""
        self._states = {}
        for name, member in [*self._members.items()]:
            with self._left_out.taking(name):
                self._states[name] = member.record(extractor, progress)
            if name not in self._states:
                self._members.pop(name).close()
        self._left_out.check(self._members)
        names = {name: state.name for name, state in self._states.items()}
        return state_of_all(self.only, names, sum(state.read for state in self._states.values()))

    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        statuses = {
            name: member.load(self._states[name], extractor, progress) for name, member in self._members.items()
        }
        if self._snapshot is None or self.status is None or state.name != self.status.snapshot:
            states = {name: status.snapshot for name, status in statuses.items()}
            arrays = self._catalogue.load_joined(states)
            self._snapshot = JoinedSnapshot(
                arrays if arrays is not None else self._catalogue.keep_joined(states, self._join(states))
            )
            self._texts.clear()
            kept = {name: member.to_keep(extractor.version) for name, member in self._members.items()}
            known = {name: member for name, member in kept.items() if member is not None}
            if known != self._catalogue.members:
                self._catalogue.keep(known)
        if self.status is None or state.name != self.status.snapshot or not _are_same(statuses, self._statuses):
            self.status = merge_statuses(statuses, self.source.describe(), state.name)
        self._statuses = statuses
        return self.status

    def _join(self, states: Mapping[str, str]) -> Arrays:
        """Joins the snapshots of the members, which are loaded. Raises IndexingError: a repository has changed since it
        was opened, and its kept snapshot cannot be used."""
        from secateur.index.across import LinkedMember, find_crossing_edges  # the resolver takes a while to load

        own = {name: snapshot for name in states if (snapshot := self._members[name].snapshot) is not None}
        crossing = find_crossing_edges(
            [LinkedMember(name, states[name], own[name], self._members[name]) for name in states]
        )
        return join_snapshots(own, crossing) | {_WARNINGS: pack_strings([*crossing.warnings])}

    def part(
        self,
        extractor: Extractor,  # noqa: ARG002 - the names they have in `OpenedIndex`
        choose: Choice,  # noqa: ARG002
        most: int,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> PartialSnapshot | None:
        """Returns None: a workspace is answered from as a whole."""
        return None

    def move(self, opener: Callable[[], Source]) -> None:  # noqa: ARG002 - the name it has in `OpenedIndex`
        """Raises UsageError: repositories share no commit."""
        raise UsageError(f"{self._path}: a workspace has no commits of its own", hint="name one of its repositories")

    # --- looking -----------------------------------------------------------------------------------------------------

    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        name, _, own = path.partition("/")

        def read() -> bytes | None:
            return next((data for _, data in self._members[name].source.read([own])), None)

        return self._texts.of(snapshot, path, read, numbers)

    def _facts_of(self, snapshot: Snapshot) -> SnapshotFacts:
        if snapshot is not self.snapshot:
            return super()._facts_of(snapshot)
        return merge_facts({name: member.loaded_facts for name, member in self._members.items()})

    def changes(self) -> Changes:
        return _merge_changes({name: member.changes() for name, member in self._members.items()})

    def unread(self, extractor: Extractor) -> Changes | None:
        """Lists the differences of all repositories; None if one of them was never indexed."""
        of_each = {name: member.unread(extractor) for name, member in self._members.items()}
        known = {name: changes for name, changes in of_each.items() if changes is not None}
        return _merge_changes(known) if len(known) == len(of_each) else None


def _source_of(member: OpenIndex) -> Source:
    return member.source


class MemberTask(Struct, frozen=True):
    """Has a worker bring the index of one repository up to date."""

    path: Path
    member: WorkspaceMember
    settings: Settings


def index_members(
    opener: WorkspaceOpener, settings: Settings, executor: Executor, progress: Progress = unreported
) -> None:
    """Has workers bring the indexes of all repositories up to date, in the cache folder that they share with this
    process. Errors are left to the opening of the workspace, which meets them again."""
    cache_dir, tasks = directories.cache_dir(os.environ), []
    for member in opener.members:
        with suppress(SecateurError):
            folder = folder_of(member.location, cache_dir, opener.fetching).absolute()
            task = MemberTask(opener.path, replace(member, location=str(folder)), settings)
            tasks.append(Task(index_member, task, member.name))
    progress("reading", 0, len(tasks))
    with closing(executor.run(tasks)) as outcomes:
        for done, _ in enumerate(outcomes, 1):
            progress("reading", done, len(tasks))


def index_member(task: MemberTask) -> None:
    """Brings the index of one repository up to date; a worker calls it."""
    settings, models, cache_dir = task.settings, Models(os.environ), directories.cache_dir(os.environ)
    settings = replace(settings, index=replace(settings.index, workers=settings.index.workers or 1))
    extractor = Extractor.of(settings, models.counter(settings.tokens.counter), vectors_of(models, settings), cache_dir)
    with closing(WorkspaceOpener(task.path, settings.index).member(task.member, cache_dir, None)) as index:
        index.load(index.record(extractor), extractor)
        index.save()


class LeftOutRepositories:
    """The repositories that are left out of a partial answer, each with the reason."""

    def __init__(self, allowed: bool) -> None:
        self._allowed = allowed
        self._errors: dict[str, SecateurError] = {}

    @contextmanager
    def taking(self, name: str) -> Iterator[None]:
        """Leaves out the repository of that name if the code inside raises an error; raises it if that is forbidden."""
        try:
            yield
        except SecateurError as error:
            if not self._allowed:
                raise
            self._errors[name] = error

    def check(self, left: Collection[str]) -> None:
        """Raises the first error if no repository is left."""
        if not left:
            raise next(iter(self._errors.values()))

    @property
    def notices(self) -> list[Notice]:
        """A warning for each repository that is left out."""
        return [Notice(LEFT_OUT, f"{name} is left out: {error.message}.") for name, error in self._errors.items()]


def state_of_all(only: Sequence[str], states: Mapping[str, str], read: int) -> RecordedState:
    """Makes the state of a workspace from the states of its repositories and the globs of the part that is searched."""
    names = "\0".join((*only, *(f"{name}\0{state}" for name, state in states.items())))
    return RecordedState(blake2b(names.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest(), (), read)


def _merge_changes(of_each: Mapping[str, Changes]) -> Changes:
    files = tuple(f"{name}/{path}" for name, changes in of_each.items() for path in changes.files)
    return Changes(files, any(changes.commit for changes in of_each.values()))


def _are_same(statuses: Mapping[str, IndexStatus], others: Mapping[str, IndexStatus]) -> bool:
    return len(statuses) == len(others) and all(status is others.get(name) for name, status in statuses.items())


def merge_statuses(statuses: Mapping[str, IndexStatus], source: str, name: str) -> IndexStatus:
    """Merges the statuses of all repositories; figures are sums."""
    of_each = [*statuses.values()]

    def total(figure: Callable[[IndexStatus], int]) -> int:
        return sum(map(figure, of_each))

    def tally(figure: Callable[[IndexStatus], Mapping[str, int]]) -> Tally[str]:
        counts: Tally[str] = Tally()
        for status in of_each:
            counts.update(figure(status))
        return counts

    languages = tally(lambda status: status.languages)
    return IndexStatus(
        source=source,
        commit="",
        files=total(lambda status: status.files),
        fragments=total(lambda status: status.fragments),
        lines=total(lambda status: status.lines),
        languages=dict(sorted(languages.items(), key=lambda item: (-item[1], item[0]))),
        skipped=dict(sorted(tally(lambda status: status.skipped).items())),
        skipped_paths=tuple(
            (f"{name}/{path}", reason) for name, status in statuses.items() for path, reason in status.skipped_paths
        ),
        problems=dict(sorted(tally(lambda status: status.problems).items())),
        read=total(lambda status: status.read),
        reused=total(lambda status: status.reused),
        edges=total(lambda status: status.edges),
        call_sites=total(lambda status: status.call_sites),
        calls_resolved=total(lambda status: status.calls_resolved),
        calls_external=total(lambda status: status.calls_external),
        counter=of_each[0].counter,
        embedding=of_each[0].embedding,
        snapshot=name,
        notices=tuple(f"{name}: {notice}" for name, status in statuses.items() for notice in status.notices),
    )
