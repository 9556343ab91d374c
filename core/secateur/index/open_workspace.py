"""Several repositories and their indexes while they are open, as one: to whoever asks, what `OpenIndex` is for one.

Each has the index, in its own folder of the cache, that it has where it is searched alone, and nothing is indexed
twice. What they need to know of each other is told when one of them is another than before.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path

from secateur.errors import ConfigError, SecateurError, UsageError
from secateur.index.catalogue import Catalogue, KeptMember, MemberLook
from secateur.index.facts.degraded import SnapshotFacts, united_facts
from secateur.index.facts.joined_snapshot import JoinedSnapshot, join_snapshots
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
from secateur.progress import Progress
from secateur.redaction import CredentialNumbers
from secateur.settings import Index, load
from secateur.sources.commit_look import commit_look
from secateur.sources.committed_settings import committed_settings
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.named import folder_of
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source
from secateur.sources.workspace_file import WorkspaceMember, answer_globs, read_workspace
from secateur.sources.workspace_source import WorkspaceSource

NOT_FOLLOWED = "calls_not_followed"
"""Code of the notice that some calls between repositories are missing."""

_SAID = "crossing.said"
"""Array of what is missing among the calls from one repository into another."""

LEFT_OUT = "repository_left_out"
"""Code of the notice that an answer is partial: a repository could not be read."""


@dataclass(frozen=True)
class WorkspaceOpener:
    """Opens the repositories that a file names; `rules` and `fetching` as for one, `within` as `read_workspace`.

    Attributes:
        partial: repositories that cannot be read are left out, and named; else the first of them is an error.
    """

    path: Path
    rules: Index
    fetching: FetchOptions | None = None
    within: Sequence[Path] | None = None
    partial: bool = False

    @cached_property
    def members(self) -> Sequence[WorkspaceMember]:
        """As `read_workspace`, which see for what it raises."""
        return read_workspace(self.path, self.within)

    def member(self, member: WorkspaceMember, cache_dir: Path, known: KeptMember | None) -> OpenIndex:
        """One of the repositories. `known`: what was found of it before.

        Raises as `OpenIndex`, and:
            RepositoryError: it cannot be found or fetched.
        """
        with self.naming(member.name):
            folder = folder_of(member.location, cache_dir, self.fetching)
            look = partial(commit_look, folder, member.rev, self.rules)
            seen = look()
            if known is None or seen is None or known.look != seen.digest:
                known = KeptMember(seen.digest if seen is not None else "", *self._rules(folder), {})
            opener = SourceOpener(folder, member.rev, known.rules)
            wrong = (Notice("config_ignored", known.said),) if known.said else ()
            return OpenIndex(
                opener, cache_dir, MemberLook(opener, look, seen, known, partial(self.naming, member.name)), wrong
            )

    @contextmanager
    def naming(self, name: str) -> Iterator[None]:
        """Has errors inside say which repository of which file they are about."""
        said = f"{self.path}: repository {name}: "
        try:
            yield
        except SecateurError as error:
            if not error.message.startswith(said):
                error.message = f"{said}{error.message}"
                error.args = (error.message,)
            raise

    def _rules(self, folder: Path) -> tuple[Index, str]:
        """The rules by which the repository is read where it is searched alone, its own file's where the user has none;
        and what is wrong with that file, "" for nothing."""
        try:
            own = load(folder, committed=committed_settings(folder)).settings.index
        except ConfigError as error:
            return self.rules, f"{error.message}; nothing of the repository's own settings counts."
        ignore, most = self.rules.ignore or own.ignore, min(self.rules.max_file_kb, own.max_file_kb)
        return replace(self.rules, ignore=ignore, max_file_kb=most), ""


class Workspace(OpenedIndex):
    """The index of several repositories, wherever they are read."""

    def __init__(self, opener: WorkspaceOpener, cache_dir: Path, beside: str = "") -> None:
        """`beside` as of `Catalogue.open`. Raises as `WorkspaceOpener.members`."""
        super().__init__()
        self._path, self.only = opener.path, answer_globs(opener.members)
        self._catalogue = Catalogue.open(cache_dir, opener.path, beside)
        self._left_out = LeftOutRepositories(opener.partial)
        self._snapshot: JoinedSnapshot | None = None

    @property
    def snapshot(self) -> JoinedSnapshot | None:
        return self._snapshot

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about the indexes themselves, and about the repositories' own settings."""
        return (
            *(Notice(one.code, f"{name}: {one.message}") for name, some in self._notices().items() for one in some),
            *(Notice(NOT_FOLLOWED, said) for said in self._not_followed()),
            *self._left_out.notices,
        )

    @abstractmethod
    def _notices(self) -> Mapping[str, Sequence[Notice]]:
        """The warnings about the index of each repository."""

    @abstractmethod
    def _not_followed(self) -> Sequence[str]:
        """Sentences about calls from one repository into another that are missing."""

    def part(
        self,
        extractor: Extractor,  # noqa: ARG002 - the names they have in `OpenedIndex`
        choose: Choice,  # noqa: ARG002
        most: int,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> PartialSnapshot | None:
        """None: a workspace is answered from as a whole."""
        return None

    def move(self, opener: Callable[[], Source]) -> None:  # noqa: ARG002 - the name it has in `OpenedIndex`
        """Raises UsageError: repositories share no commit."""
        raise UsageError(f"{self._path}: a workspace has no commits of its own", hint="name one of its repositories")

    def _facts_of(self, snapshot: Snapshot) -> SnapshotFacts:
        return united_facts(self._facts_of_each()) if snapshot is self.snapshot else super()._facts_of(snapshot)

    @abstractmethod
    def _facts_of_each(self) -> Mapping[str, SnapshotFacts]:
        """The facts of the repositories by name."""


class OpenWorkspace(Workspace):
    """See the module docstring."""

    def __init__(self, opener: WorkspaceOpener, cache_dir: Path) -> None:
        """Raises as `WorkspaceOpener.members`, and as its `member`."""
        super().__init__(opener, cache_dir)
        self._members: dict[str, OpenIndex] = {}
        known = self._catalogue.members
        try:
            for one in opener.members:
                with self._left_out.taking(one.name):
                    self._members[one.name] = opener.member(one, cache_dir, known.get(one.name))
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
        said = {name: member.known.notices for name, member in self._members.items() if member.known is not None}
        return WorkspaceSource(self._path, sources, said)

    def _notices(self) -> Mapping[str, Sequence[Notice]]:
        return {name: member.notices for name, member in self._members.items()}

    def _not_followed(self) -> Sequence[str]:
        return unpack_strings(self.snapshot.arrays[_SAID]) if self.snapshot is not None else ()

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
        """As `OpenedIndex.record`; the state of all names that of each."""
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
        found = {name: one.load(self._states[name], extractor, progress) for name, one in self._members.items()}
        if self._snapshot is None or self.status is None or state.name != self.status.snapshot:
            states = {name: status.snapshot for name, status in found.items()}
            arrays = self._catalogue.joined(states)
            self._snapshot = JoinedSnapshot(
                arrays if arrays is not None else self._catalogue.keep_joined(states, self._join(states))
            )
            self._texts.clear()
            kept = {name: member.to_keep(extractor.version) for name, member in self._members.items()}
            known = {name: one for name, one in kept.items() if one is not None}
            if known != self._catalogue.members:
                self._catalogue.keep(known)
        if self.status is None or state.name != self.status.snapshot or not _same(found, self._statuses):
            self.status = united_status(found, self.source.describe(), state.name)
        self._statuses = found
        return self.status

    def _join(self, states: Mapping[str, str]) -> Arrays:
        """The arrays of the joined snapshot of the members, which are loaded.

        Raises:
            IndexingError: a repository has changed since it was opened, and what was kept of it cannot be used.
        """
        from secateur.index.across import LinkedMember, crossing_of  # the resolver takes a while

        own = {name: snapshot for name in states if (snapshot := self._members[name].snapshot) is not None}
        crossing = crossing_of([LinkedMember(name, states[name], own[name], self._members[name]) for name in states])
        return join_snapshots(own, crossing) | {_SAID: pack_strings([*crossing.said])}

    # --- looking -----------------------------------------------------------------------------------------------------

    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        name, _, own = path.partition("/")

        def read() -> bytes | None:
            return next((data for _, data in self._members[name].source.read([own])), None)

        return self._texts.of(snapshot, path, read, numbers)

    def _facts_of_each(self) -> Mapping[str, SnapshotFacts]:
        return {name: member.loaded_facts for name, member in self._members.items()}

    def changes(self) -> Changes:
        return _all_changes({name: member.changes() for name, member in self._members.items()})

    def unread(self, extractor: Extractor) -> Changes | None:
        """As `OpenedIndex.unread`; None where a repository was never indexed."""
        found = {name: member.unread(extractor) for name, member in self._members.items()}
        known = {name: changes for name, changes in found.items() if changes is not None}
        return _all_changes(known) if len(known) == len(found) else None


def _source_of(member: OpenIndex) -> Source:
    return member.source


class LeftOutRepositories:
    """The repositories that are left out of a partial answer, each with the reason."""

    def __init__(self, allowed: bool) -> None:
        self._allowed = allowed
        self._errors: dict[str, SecateurError] = {}

    @contextmanager
    def taking(self, name: str) -> Iterator[None]:
        """Has an error inside leave out the repository of that name, where that is allowed."""
        try:
            yield
        except SecateurError as error:
            if not self._allowed:
                raise
            self._errors[name] = error

    def check(self, left: Collection[str]) -> None:
        """Raises the first error where no repository is left."""
        if not left:
            raise next(iter(self._errors.values()))

    @property
    def notices(self) -> list[Notice]:
        """A warning for each of them."""
        return [Notice(LEFT_OUT, f"{name} is left out: {error.message}.") for name, error in self._errors.items()]


def state_of_all(only: Sequence[str], states: Mapping[str, str], read: int) -> RecordedState:
    """The state of a workspace: of its repositories by name, with their states, and the part that is asked for."""
    names = "\0".join((*only, *(f"{name}\0{state}" for name, state in states.items())))
    return RecordedState(blake2b(names.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest(), (), read)


def _all_changes(found: Mapping[str, Changes]) -> Changes:
    files = tuple(f"{name}/{path}" for name, changes in found.items() for path in changes.files)
    return Changes(files, any(changes.commit for changes in found.values()))


def _same(some: Mapping[str, IndexStatus], others: Mapping[str, IndexStatus]) -> bool:
    return len(some) == len(others) and all(one is others.get(name) for name, one in some.items())


def united_status(statuses: Mapping[str, IndexStatus], source: str, name: str) -> IndexStatus:
    """The status of all; figures are sums."""
    some = [*statuses.values()]

    def total(figure: Callable[[IndexStatus], int]) -> int:
        return sum(map(figure, some))

    def tallied(figure: Callable[[IndexStatus], Mapping[str, int]]) -> Tally[str]:
        counts: Tally[str] = Tally()
        for status in some:
            counts.update(figure(status))
        return counts

    languages = tallied(lambda one: one.languages)
    return IndexStatus(
        source=source,
        commit="",
        files=total(lambda one: one.files),
        fragments=total(lambda one: one.fragments),
        lines=total(lambda one: one.lines),
        languages=dict(sorted(languages.items(), key=lambda item: (-item[1], item[0]))),
        skipped=dict(sorted(tallied(lambda one: one.skipped).items())),
        skipped_paths=tuple(
            (f"{name}/{path}", reason) for name, one in statuses.items() for path, reason in one.skipped_paths
        ),
        problems=dict(sorted(tallied(lambda one: one.problems).items())),
        read=total(lambda one: one.read),
        reused=total(lambda one: one.reused),
        edges=total(lambda one: one.edges),
        call_sites=total(lambda one: one.call_sites),
        calls_resolved=total(lambda one: one.calls_resolved),
        calls_external=total(lambda one: one.calls_external),
        counter=some[0].counter,
        embedding=some[0].embedding,
        snapshot=name,
        notices=tuple(f"{name}: {notice}" for name, one in statuses.items() for notice in one.notices),
    )
