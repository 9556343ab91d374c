"""Tasks of workers, and their answers: plain values that travel between processes. The names of
snapshots in the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from secateur.executors.executor import Executor
from secateur.index.catalogue import KeptMember
from secateur.index.facts.crossing import CrossingEdges
from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_workspace import WorkspaceOpener
from secateur.index.store.arrayfile import Arrays
from secateur.index.store.snapshot_store import SnapshotStore
from secateur.index.update.refresh import IndexStatus, state_of
from secateur.model import Notice
from secateur.settings import InputLimits, Settings
from secateur.sources.workspace_file import WorkspaceMember

if TYPE_CHECKING:
    from secateur.index.across import LinkQuestion


class ElsewhereOpener(Struct, frozen=True):
    """Opens a workspace whose repositories are read by workers.

    Attributes:
        workspace: names the repositories, and has the user's rules.
        settings: the settings they are indexed by.
        store: the place of the snapshots, as `SnapshotStore` takes it; all workers reach it.
    """

    workspace: WorkspaceOpener
    settings: Settings
    executor: Executor
    store: str = ""


class FetchTerms(Struct, frozen=True):
    """The choices of a call that a worker needs where a repository is a URL or an archive; see `FetchOptions`."""

    refresh: bool
    shallow: bool
    limits: InputLimits


class WorkspacePlace(Struct, frozen=True):
    """Holds what a worker needs to open repositories of a workspace.

    Attributes:
        path: the path of the workspace's file. Workers do not read it; it stands in messages.
        fetching: how to fetch; None: nothing is fetched.
    """

    path: Path
    settings: Settings
    store: str
    fetching: FetchTerms | None


class MemberPlace(Struct, frozen=True):
    """A repository; `known` is what the catalogue has, `state` the name of the snapshot that the task is about."""

    member: WorkspaceMember
    known: KeptMember | None = None
    state: str = ""


class RecordTask(Struct, frozen=True):
    """Has a worker bring the indexes of some repositories up to date and put their snapshots into the store.

    Attributes:
        version: the version of the records of the process that asks. A worker that makes others raises an error.
    """

    place: WorkspacePlace
    members: tuple[MemberPlace, ...]
    version: str


class MemberReport(Struct, frozen=True):
    """Holds what a worker reports about a repository.

    Attributes:
        read: files that were read in this run.
        notices: the warnings about its index and its own settings.
        source_notices: the warnings about its files.
        kept: what the catalogue keeps for the next call.
        size: bytes of its index on the worker's disk.
    """

    read: int
    status: IndexStatus
    notices: Sequence[Notice]
    source_notices: Sequence[Notice]
    facts: SnapshotFacts
    kept: KeptMember | None
    size: int


class MemberTask(Struct, frozen=True):
    """Asks a worker about one repository in one state."""

    place: WorkspacePlace
    member: MemberPlace


class LinkTask(Struct, frozen=True):
    """Asks which edges leave one repository. `members`: the workspace's repositories that the question names."""

    place: WorkspacePlace
    question: LinkQuestion
    members: tuple[MemberPlace, ...]


class FileTask(Struct, frozen=True):
    """Asks for the content of a file, or, if `limit` is not 0, for the last commits that changed it."""

    place: WorkspacePlace
    member: WorkspaceMember
    path: str
    limit: int = 0


class PartPlace(Struct, frozen=True):
    """A part of a workspace: neighbouring repositories, whose joined arrays are one file of the store."""

    file: str
    members: tuple[WorkspaceMember, ...]


class JoinTask(Struct, frozen=True):
    """Has a worker join the snapshots of a part and return its statistics.

    Attributes:
        names: the names of its repositories.
        files: the files of their snapshots in the store.
        crossing: the edges from one of them into another.
    """

    store: str
    names: tuple[str, ...]
    files: tuple[str, ...]
    crossing: CrossingEdges
    file: str


def snapshot_file(state: str) -> str:
    """Names the file of a repository's snapshot in the store."""
    return f"{state}.arrays"


def file_of_arrays(arrays: Arrays) -> str:
    """Names the file of a repository's snapshot from the content of its arrays."""
    return snapshot_file(state_of(Snapshot(arrays)))


def snapshot_in(store: SnapshotStore, file: str) -> Snapshot:
    """Reads the snapshot of a repository. Raises SecateurError: it is missing or damaged in the store."""
    return Snapshot(store.require(file, file_of_arrays))
