"""Several repositories as one index while they are open. It has the interface that `RepositoryIndex` has for one.

The records of each repository are those that it has when it is searched alone, in its own folder of the cache, so
nothing is read twice. The snapshot is made of all records together, and kept in the folder of the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from secateur.errors import ConfigError, SecateurError, UsageError
from secateur.index.facts.extract import Record, digest_of
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot import MEMBER_STATES, UNREAD, Snapshot
from secateur.index.graph.resolve.members import Members
from secateur.index.member_index import Catalogue, KeptMember, MemberIndex, below
from secateur.index.open_index import OpenIndex, RepositoryIndex
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.folder import remove_leftovers, size_of
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.update.edits import Edit
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import Changes, IndexStatus, RecordedState, arrays_version, repair, status_of
from secateur.index.update.snapshot_manager import FactsOfFiles, SnapshotManager
from secateur.languages import rules_of
from secateur.languages.packages import ManifestPackages, manifests_of, packages_of
from secateur.model import FileFacts, IntArray, Notice
from secateur.progress import Progress, unreported
from secateur.render.page import listed
from secateur.settings import Index, load
from secateur.sources.committed import read_commit_look, read_committed_settings
from secateur.sources.files import path_text
from secateur.sources.git_addresses import FetchOptions
from secateur.sources.named import folder_of
from secateur.sources.open import SourceOpener
from secateur.sources.source import HISTORY_INCOMPLETE, Source
from secateur.sources.workspace_file import WorkspaceMember, WorkspaceSource, answer_globs, is_workspace, read_workspace


@dataclass
class WorkspaceInputs:
    """The inputs of a workspace's snapshot; see `SnapshotInputs`. `present`: the digest of each file."""

    members: Mapping[str, MemberIndex]
    present: Mapping[str, bytes]
    _packages: Mapping[str, ManifestPackages] = field(default_factory=dict)

    def history(self) -> tuple[CommitHistory, IntArray]:
        of_each = {name: member.history() for name, member in self.members.items()}
        times = [member.time for member in self.members.values()]
        return CommitHistory.join(of_each), np.repeat(
            np.array(times, dtype=np.int64), [len(history) for history in of_each.values()]
        )

    def notices(self) -> list[Notice]:
        return [
            Notice(notice.code, f"{name}: {notice.message}")
            for name, member in self.members.items()
            for notice in member.notices()
            if notice.code == HISTORY_INCOMPLETE
        ]

    def keeps_members(self, edit: Edit) -> bool:
        self._packages = _packages_in(edit.before)
        changed = [path.rpartition("/")[2] for path in (*edit.gone, *(path for path, _, _ in edit.read))]
        return [*self._packages] == [*self.members] and not any(
            manifests.names.fullmatch(name) for manifests in manifests_of().values() for name in changed
        )

    def link_members(self, edit: Edit | None, files: Callable[[], FactsOfFiles]) -> tuple[Members, bool]:
        before = _packages_in(edit.before) if edit is not None else {}
        changed = (*edit.gone, *(path for path, _, _ in edit.read)) if edit is not None else ()
        moved = {path.partition("/")[0] for path in changed}
        wanted = [name for name in self.members if name in moved or name not in before]
        facts: dict[str, list[tuple[str, FileFacts]]] = {name: [] for name in wanted}
        for path, known in files() if wanted else ():
            name, _, own = path.partition("/")
            if name in facts:
                facts[name].append((own, known))
        self._packages = {
            name: self._find_packages(name, facts[name]) if name in facts else before[name] for name in self.members
        }
        members = Members(self._packages)
        return members, edit is not None and [*before] == [*self.members] and members.uses == Members(before).uses

    def _find_packages(self, name: str, files: FactsOfFiles) -> ManifestPackages:
        digests, source = below(name, self.present), self.members[name].source

        def read(paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
            for path, data in source.read(paths):  # a file that changed since it was recorded is read next time
                yield path, data if data is not None and digest_of(data) == digests[path] else None

        return packages_of(digests, files, lambda facts: rules_of(facts.language).family, read)

    def extra(self) -> Arrays:
        states = [
            text
            for name, member in self.members.items()
            for text in (name, member.state.name if member.state else "", member.history_id)
        ]
        unread = [
            f"{name}: {listed(list(packages.unread))} cannot be read as a manifest."
            for name, packages in self._packages.items()
            if packages.unread
        ]
        data = _ENCODER.encode(self._packages)
        return {
            MEMBER_STATES: pack_strings(states),
            UNREAD: pack_strings(unread),
            _PACKAGES: np.frombuffer(data, dtype=np.uint8),
        }


_PACKAGES = "workspace.packages"  # array of the packages of each repository

_ENCODER = msgspec.msgpack.Encoder(order="deterministic")


def _packages_in(snapshot: Snapshot) -> dict[str, ManifestPackages]:
    return msgspec.msgpack.decode(snapshot.arrays[_PACKAGES].tobytes(), type=dict[str, ManifestPackages])


NOT_FOLLOWED = "calls_not_followed"  # code of the notice that some calls between repositories are missing
LEFT_OUT = "repository_left_out"  # code of the notice that an answer is partial: a repository could not be read


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

    def member(self, member: WorkspaceMember, cache_dir: Path, known: KeptMember | None) -> MemberIndex:
        """Opens one of the repositories. `known` is what the catalogue has of it. Raises RepositoryError: it cannot be
        found or fetched; and the errors of `RepositoryIndex`."""
        with self.naming(member.name):
            folder = folder_of(member.location, cache_dir, self.fetching)
            look = partial(read_commit_look, folder, member.rev, self.rules)
            seen = look()
            if known is None or seen is None or known.look != seen.digest:
                known = KeptMember(seen.digest if seen is not None else "", *self._rules(folder), {})
            opener = SourceOpener(folder, member.rev, known.rules)
            notices = (Notice("config_ignored", known.said),) if known.said else ()
            return MemberIndex(opener, cache_dir, look, seen, known, partial(self.naming, member.name), notices)

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
            return self.rules, f"{error.message}; the repository's own settings are ignored."
        ignore, most = self.rules.ignore or own.ignore, min(self.rules.max_file_kb, own.max_file_kb)
        return replace(self.rules, ignore=ignore, max_file_kb=most), ""


class WorkspaceIndex(OpenIndex):
    """See the module docstring."""

    def __init__(self, opener: WorkspaceOpener, cache_dir: Path) -> None:
        """Raises the errors of `WorkspaceOpener.members` and `WorkspaceOpener.member`."""
        super().__init__()
        self._path, self.only = opener.path, answer_globs(opener.members)
        self._catalogue = Catalogue.open(cache_dir, opener.path)
        self._partial = opener.partial
        self._errors: dict[str, SecateurError] = {}  # by repository that is left out
        self._members: dict[str, MemberIndex] = {}
        known = self._catalogue.members
        try:
            for member in opener.members:
                with self._leaving_out(member.name):
                    self._members[member.name] = opener.member(member, cache_dir, known.get(member.name))
            self._check_any_left()
        except BaseException:
            self.close()
            raise
        self._records = MemberRecords(self._members, self._catalogue.folder)
        self._manager = SnapshotManager(self._records)
        self._snapshot: Snapshot | None = None

    @property
    def source(self) -> Source:
        """The files of all, as of the last `record`."""
        return WorkspaceSource(self._path, self._members)

    @property
    def snapshot(self) -> Snapshot | None:
        return self._snapshot

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about the indexes themselves, and about the repositories' own settings."""
        unread = unpack_strings(self._snapshot.arrays[UNREAD]) if self._snapshot is not None else ()
        return (
            *(
                Notice(notice.code, f"{name}: {notice.message}")
                for name, member in self._members.items()
                for notice in member.warnings
            ),
            *(Notice(NOT_FOLLOWED, warning) for warning in unread),
            *(Notice(LEFT_OUT, f"{name} is left out: {error.message}.") for name, error in self._errors.items()),
        )

    @property
    def store(self) -> Store:
        return next(iter(self._members.values())).store

    def size(self) -> int:
        return size_of(self._catalogue.folder) + sum(member.size() for member in self._members.values())

    def save(self) -> None:
        self._manager.save()

    def close(self) -> None:
        for member in self._members.values():
            member.close()

    @contextmanager
    def _leaving_out(self, name: str) -> Iterator[None]:
        try:
            yield
        except SecateurError as error:
            if not self._partial:
                raise
            self._errors[name] = error

    def _check_any_left(self) -> None:
        if not self._members:
            raise next(iter(self._errors.values()))

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Records each repository; the name of the whole state is made of the names of all states."""
        states: dict[str, RecordedState] = {}
        for name, member in [*self._members.items()]:
            with self._leaving_out(name):
                states[name] = member.record(extractor, progress)
            if name not in states:
                self._members.pop(name).close()
        self._check_any_left()
        text = "\0".join((*self.only, *(f"{name}\0{state.name}" for name, state in states.items())))
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return RecordedState(digest, (), sum(state.read for state in states.values()), extractor.version)

    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        if self._snapshot is None or self.status is None or state.name != self.status.snapshot:
            try:
                self._snapshot = self._make(state, extractor, progress or unreported)
            except UnwritableIndex:  # only the workspace's own folder: it is made again next time
                self._records.folder = None
                self._snapshot = self._make(state, extractor, progress or unreported)
            self._texts = {}
            kept = {name: member.to_keep(extractor.version) for name, member in self._members.items()}
            known = {name: member for name, member in kept.items() if member is not None}
            if known != self._catalogue.members:
                self._catalogue.keep(known)
            self.status = None
        if self.status is None or state.read or self.status.read:
            status = status_of(state, self._snapshot, self.source, extractor)
            files = len(self._snapshot.all_digests)
            said = (f"{name}: {notice.message}" for name, member in self._members.items() for notice in member.warnings)
            self.status = replace(status, reused=files - state.read, notices=(*status.notices, *said))
        return self.status

    def _make(self, state: RecordedState, extractor: Extractor, tell: Progress) -> Snapshot:
        """Makes the snapshot of a recorded state. Raises IndexingError: a repository has changed since it was opened,
        and what is kept of it cannot be used."""
        version = arrays_version(extractor.version)
        if (known := self._manager.find(state.name, version)) is not None:
            return known
        before = self._manager.newest(version)
        states, digests = (before.member_states, before.all_digests) if before is not None else ({}, {})
        present: list[tuple[str, bytes]] = []
        for name, member in self._members.items():
            assert member.state is not None
            if member.known is None or states.get(name, ("",))[0] == member.known.name:
                files = member.state.present if member.known is None else below(name, digests).items()
            else:
                files = member.read_after_all(extractor).present
            present += [(f"{name}/{path}", digest) for path, digest in files]

        inputs = WorkspaceInputs(self._members, dict(present))
        ages = [(name, member.history_id, member.time) for name, member in self._members.items()]
        history = blake2b(repr(ages).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        dimension = extractor.embedder.dimension if extractor.embedder else 0

        def repair_records(damaged: Mapping[str, bytes]) -> list[tuple[str, bytes, Record]]:
            return [
                (f"{name}/{path}", digest, record)
                for name, member in self._members.items()
                if (own := below(name, damaged))
                for path, digest, record in repair(member.source, member.store, own, extractor)
            ]

        return self._manager.at(state.name, present, (version, history, ""), inputs, dimension, repair_records, tell)

    def move(self, opener: Callable[[], Source]) -> None:  # noqa: ARG002 - the name it has in `OpenIndex`
        """Raises UsageError: repositories share no commit."""
        raise UsageError(f"{self._path}: a workspace has no commits of its own", hint="name one of its repositories")

    # --- looking -----------------------------------------------------------------------------------------------------

    def changes(self) -> Changes:
        digests = self._snapshot.all_digests if self._snapshot is not None else {}
        return _merge_changes({name: member.changes(below(name, digests)) for name, member in self._members.items()})

    def unread(self, extractor: Extractor) -> Changes | None:
        """Lists the differences of all repositories; None if the workspace was never indexed."""
        if (before := self._manager.newest(arrays_version(extractor.version))) is None:
            return None
        states, digests = before.member_states, before.all_digests
        return _merge_changes(
            {
                name: member.unread(extractor, states.get(name, ("", "")), below(name, digests))
                for name, member in self._members.items()
            }
        )


class MemberRecords:
    """The records of all repositories, and the folder that keeps the snapshots of the workspace; see `RecordStore`."""

    def __init__(self, members: Mapping[str, MemberIndex], folder: Path) -> None:
        self._members = members
        self.folder: Path | None = folder
        self.kept: Path | None = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            remove_leftovers(folder)
        except OSError:
            self.folder = None

    def records(self, wanted: Sequence[tuple[bytes, bytes]], fingerprint: str) -> Iterator[bytes | None]:
        for path, digest in wanted:
            name, _, own = path.partition(b"/")
            member = self._members.get(path_text(name))
            yield next(member.store.records([(own, digest)], fingerprint)) if member is not None else None


def _merge_changes(of_each: Mapping[str, Changes]) -> Changes:
    files = tuple(f"{name}/{path}" for name, changes in of_each.items() for path in changes.files)
    return Changes(files, any(changes.commit for changes in of_each.values()))


AnyOpener = Callable[[], Source] | WorkspaceOpener


def opener_of(
    path: Path,
    rev: str | None,
    rules: Index,
    fetching: FetchOptions | None = None,
    within: Sequence[Path] | None = None,
    *,
    partial: bool = False,
) -> SourceOpener | WorkspaceOpener:
    """Makes the opener of a folder, of a commit of its repository, or of the workspace that a .toml file describes.

    Args:
        within: the folders that the repositories of a workspace must lie in; see `read_workspace`.
        partial: leaves out the repositories of a workspace that cannot be read.

    Raises:
        UsageError: a revision is given for a workspace.
    """
    if not is_workspace(path):
        return SourceOpener(path, rev, rules)
    if rev is not None:
        raise UsageError(f"{path}: a workspace has no one revision", hint='write {path = "…", rev = "…"} in it')
    return WorkspaceOpener(path, rules, fetching, within, partial)


def open_index(opener: AnyOpener, cache_dir: Path) -> OpenIndex:
    """Opens an index. Raises the errors of the opener."""
    return (
        WorkspaceIndex(opener, cache_dir) if isinstance(opener, WorkspaceOpener) else RepositoryIndex(opener, cache_dir)
    )
