"""Several repositories and their indexes while they are open, as one: to whoever asks, what `OpenIndex` is for one.

Each has the index, in its own folder of the cache, that it has where it is searched alone, and nothing is indexed
twice. What they need to know of each other is told when one of them is another than before.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from secateur.errors import ConfigError, RepositoryError, SecateurError, UsageError
from secateur.index.facts.joined import JoinedSnapshot, joined
from secateur.index.facts.shard import Shard, ShardOpening, opening_of, shared_facts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_index import LinesOfPools, OpenIndex
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
from secateur.sources.committed_settings import committed_settings
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.named import folder_of
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source
from secateur.sources.workspace_file import WorkspaceMember, is_workspace, parts_of, read_workspace
from secateur.sources.workspace_source import WorkspaceSource


@dataclass(frozen=True)
class WorkspaceOpener:
    """Opens the repositories that a file names; `rules` and `fetching` as for one, `within` as `read_workspace`."""

    path: Path
    rules: Index
    fetching: FetchOptions | None = None
    within: Sequence[Path] | None = None

    @cached_property
    def members(self) -> Sequence[WorkspaceMember]:
        """As `read_workspace`, which see for what it raises."""
        return read_workspace(self.path, self.within)

    def openers(self, cache_dir: Path) -> tuple[dict[str, SourceOpener], tuple[Notice, ...]]:
        """By name what opens each, in byte order of their paths; and what is said of their own settings.

        Raises:
            ConfigError: as `read_workspace`.
            RepositoryError: one cannot be found or fetched.
        """
        found, notices = {}, []
        for member in self.members:
            with self.naming(member.name):
                folder = folder_of(member.location, cache_dir, self.fetching)
                rules, notice = self._rules(folder, member.name)
                found[member.name] = SourceOpener(folder, member.rev, rules)
                notices += [notice] if notice else []
        return found, tuple(notices)

    @contextmanager
    def naming(self, name: str) -> Iterator[None]:
        """Has errors inside say which repository of which file they are about."""
        try:
            yield
        except SecateurError as error:
            error.message = f"{self.path}: repository {name}: {error.message}"
            error.args = (error.message,)
            raise

    def _rules(self, folder: Path, name: str) -> tuple[Index, Notice | None]:
        """The rules by which the repository is read where it is searched alone: its own file's count where the user
        has none."""
        try:
            own = load(folder, committed=committed_settings(folder)).settings.index
        except ConfigError as error:
            said = f"{name}: {error.message}; nothing of the repository's own settings counts."
            return self.rules, Notice("config_ignored", said)
        ignore, most = self.rules.ignore or own.ignore, min(self.rules.max_file_kb, own.max_file_kb)
        return replace(self.rules, ignore=ignore, max_file_kb=most), None


class OpenWorkspace(LinesOfPools):
    """See the module docstring; attributes as those of `OpenIndex`.

    Attributes:
        only: the part of all that answers are drawn from, as `graph_rag.only`.
    """

    def __init__(self, opener: WorkspaceOpener, cache_dir: Path) -> None:
        """Raises as `WorkspaceOpener.openers`, and as `OpenIndex` does for one."""
        super().__init__()
        self.opener: Callable[[], Source] = lambda: self.source
        self.snapshot: JoinedSnapshot | None = None
        self.status: IndexStatus | None = None
        self._path = opener.path
        self.only = parts_of(opener.members)
        openers, self._said = opener.openers(cache_dir)
        self._members: dict[str, OpenIndex] = {}
        try:
            for name, reopen in openers.items():
                with opener.naming(name):
                    self._members[name] = OpenIndex(reopen, cache_dir)
        except BaseException:
            self.close()
            raise
        self._states: dict[str, RecordedState] = {}
        self._openings: dict[str, tuple[Snapshot, ShardOpening]] = {}

    @property
    def source(self) -> Source:
        """The files of all, as of the last `record`."""
        return WorkspaceSource(self._path, {name: index.source for name, index in self._members.items()})

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about the indexes themselves, and about the repositories' own settings."""
        found = ((name, notice) for name, index in self._members.items() for notice in index.notices)
        return (*self._said, *(Notice(notice.code, f"{name}: {notice.message}") for name, notice in found))

    @property
    def shards(self) -> Sequence[Snapshot]:
        """The snapshots that are searched together."""
        return self.snapshot.shards if self.snapshot is not None else []

    @property
    def folder(self) -> Path | None:
        """None: each repository has a folder of its own."""
        return None

    @property
    def store(self) -> Store:
        """A place for what belongs to no file."""
        return next(iter(self._members.values())).store

    def size(self) -> int:
        """Bytes on disk."""
        return sum(size_of(index.folder) for index in self._members.values() if index.folder is not None)

    def move(self, reopen: Callable[[], Source]) -> None:  # noqa: ARG002 - the name it has in `OpenIndex`
        """Raises UsageError: repositories share no commit."""
        raise UsageError(f"{self._path}: a workspace has no commits of its own", hint="name one of its repositories")

    def save(self) -> None:
        """As `OpenIndex.save`."""
        for index in self._members.values():
            index.save()

    def close(self) -> None:
        """As `OpenIndex.close`."""
        for index in self._members.values():
            index.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """As `OpenIndex.record`; the state of all names that of each."""
        self._states = {name: index.record(extractor, progress) for name, index in self._members.items()}
        names = "\0".join((*self.only, *(f"{name}\0{state.name}" for name, state in self._states.items())))
        digest = blake2b(names.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return RecordedState(digest, (), sum(state.read for state in self._states.values()))

    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        """As `OpenIndex.load`."""
        statuses = {name: index.load(self._states[name], extractor, progress) for name, index in self._members.items()}
        if self.snapshot is None or self.status is None or state.name != self.status.snapshot:
            self.snapshot = joined(self._opened())
        self.status = _united(statuses, self.source.describe(), state.name)
        return self.status

    def part(
        self,
        extractor: Extractor,  # noqa: ARG002 - the names they have in `OpenIndex`
        choose: Choice,  # noqa: ARG002
        most: int,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> PartialSnapshot | None:
        """None: a workspace is answered from as a whole."""
        return None

    def _opened(self) -> list[Shard]:
        """The shards, with what they tell each other."""
        own = {name: index.snapshot for name, index in self._members.items()}
        snapshots = {name: snapshot for name, snapshot in own.items() if snapshot is not None}
        self._openings = {
            name: known
            if (known := self._openings.get(name)) is not None and known[0] is snapshot
            else (snapshot, opening_of(snapshot))
            for name, snapshot in snapshots.items()
        }
        facts = shared_facts([opening for _, opening in self._openings.values()])
        return [Shard(snapshot.arrays, name, snapshot, facts) for name, snapshot in snapshots.items()]

    # --- looking -----------------------------------------------------------------------------------------------------

    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        name, _, own = path.partition("/")
        assert isinstance(snapshot, JoinedSnapshot)
        shard = next(shard for shard in snapshot.shards if shard.name == name)
        try:
            return self._members[name].lines(shard.own, own, numbers)
        except RepositoryError as error:
            raise RepositoryError(f"{name}/{error.message}", hint=error.hint, code=error.code) from error

    def changes(self) -> Changes:
        """As `OpenIndex.changes`."""
        return _all_changes({name: index.changes() for name, index in self._members.items()})

    def unread(self, extractor: Extractor) -> Changes | None:
        """As `OpenIndex.unread`; None where a repository was never indexed."""
        found = {name: index.unread(extractor) for name, index in self._members.items()}
        known = {name: changes for name, changes in found.items() if changes is not None}
        return _all_changes(known) if len(known) == len(found) else None


def opener_of(
    path: Path,
    rev: str | None,
    rules: Index,
    fetching: FetchOptions | None = None,
    within: Sequence[Path] | None = None,
) -> SourceOpener | WorkspaceOpener:
    """The opener of a folder, of a commit of its repository, or of the workspace that a file ending in .toml names.
    `within`: the folders that repositories of a workspace must lie in, as `read_workspace`.

    Raises:
        UsageError: a revision of a workspace.
    """
    if not is_workspace(path):
        return SourceOpener(path, rev, rules)
    if rev is not None:
        raise UsageError(f"{path}: a workspace has no one revision", hint='write {path = "…", rev = "…"} in it')
    return WorkspaceOpener(path, rules, fetching, within)


def opened(reopen: Callable[[], Source] | WorkspaceOpener, cache_dir: Path) -> OpenIndex | OpenWorkspace:
    """The index of what is opened so."""
    return OpenWorkspace(reopen, cache_dir) if isinstance(reopen, WorkspaceOpener) else OpenIndex(reopen, cache_dir)


def _all_changes(found: Mapping[str, Changes]) -> Changes:
    files = tuple(f"{name}/{path}" for name, changes in found.items() for path in changes.files)
    return Changes(files, any(changes.commit for changes in found.values()))


def _united(statuses: Mapping[str, IndexStatus], source: str, name: str) -> IndexStatus:
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
