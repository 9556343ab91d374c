"""Tasks of workers, and their answers: plain values that travel between processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from secateur.executors.executor import Executor
from secateur.index.catalogue import KeptMember
from secateur.index.facts.crossing import CrossingEdges
from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.open_workspace import WorkspaceOpener
from secateur.index.update.refresh import IndexStatus
from secateur.model import Notice
from secateur.settings import InputLimits, Settings
from secateur.sources.workspace_file import WorkspaceMember

if TYPE_CHECKING:  # the resolver takes a while
    from secateur.index.across import LinkQuestion


@dataclass(frozen=True)
class ElsewhereOpener:
    """Opens a workspace whose repositories are read by workers.

    Attributes:
        workspace: names them; its rules are the user's.
        settings: by which they are indexed.
        store: of the snapshots, as `SnapshotStore` takes it; all workers reach it.
    """

    workspace: WorkspaceOpener
    settings: Settings
    executor: Executor
    store: str = ""


@dataclass(frozen=True, slots=True)
class FetchTerms:
    """The choices of a call that a worker needs where a repository is a URL or an archive; see `FetchOptions`."""

    refresh: bool
    shallow: bool
    limits: InputLimits


@dataclass(frozen=True, slots=True)
class WorkspacePlace:
    """The facts by which a worker opens repositories of a workspace.

    Attributes:
        path: of the workspace's file, for messages: workers do not read it.
        fetching: None: nothing is fetched.
    """

    path: Path
    settings: Settings
    store: str
    fetching: FetchTerms | None


@dataclass(frozen=True, slots=True)
class MemberPlace:
    """A repository; `known`: what was found of it before, `state`: the name of the snapshot that is meant."""

    member: WorkspaceMember
    known: KeptMember | None = None
    state: str = ""


@dataclass(frozen=True, slots=True)
class RecordTask:
    """The task of bringing the indexes of some repositories up to date, their snapshots into the store.

    Attributes:
        version: of the records, as the process that asks makes them: a worker that makes others is refused.
    """

    place: WorkspacePlace
    members: tuple[MemberPlace, ...]
    version: str


@dataclass(frozen=True, slots=True)
class MemberReport:
    """The facts that a worker found of a repository.

    Attributes:
        read: files that were read in this run.
        notices: about its index and its own settings; `source_notices`: about its files.
        kept: what the next call need not find out.
        size: bytes of its index where it was indexed.
    """

    read: int
    status: IndexStatus
    notices: Sequence[Notice]
    source_notices: Sequence[Notice]
    facts: SnapshotFacts
    kept: KeptMember | None
    size: int


@dataclass(frozen=True, slots=True)
class MemberTask:
    """A question to one repository in the state that is meant."""

    place: WorkspacePlace
    member: MemberPlace


@dataclass(frozen=True, slots=True)
class LinkTask:
    """The question for what leads out of one repository; `members`: those of the question."""

    place: WorkspacePlace
    question: LinkQuestion
    members: tuple[MemberPlace, ...]


@dataclass(frozen=True, slots=True)
class FileTask:
    """The question for what a file of a repository holds, or for its last commits where `limit` is not 0."""

    place: WorkspacePlace
    member: WorkspaceMember
    path: str
    limit: int = 0


@dataclass(frozen=True, slots=True)
class PartPlace:
    """A part of a workspace: some repositories next to each other, whose joined arrays are a file of the store."""

    file: str
    members: tuple[WorkspaceMember, ...]


@dataclass(frozen=True)
class JoinTask:
    """The task of joining the snapshots of a part, and of telling its figures.

    Attributes:
        names, files: of its repositories, and of their snapshots in the store.
        crossing: what leads from one of them into another.
    """

    store: str
    names: tuple[str, ...]
    files: tuple[str, ...]
    crossing: CrossingEdges
    file: str
