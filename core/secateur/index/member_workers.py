"""Has workers record the repositories of a workspace, of this machine or of a cluster. Their records come back."""

import os
from contextlib import closing, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from secateur import directories
from secateur.errors import SecateurError
from secateur.executors.executor import Executor
from secateur.executors.pool import ProcessPool
from secateur.index.facts.embedding import Models, vectors_of
from secateur.index.member_index import MemberIndex
from secateur.index.store.records import UnwritableIndex
from secateur.index.update.parallel import Extractor
from secateur.index.workspace_index import WorkspaceOpener
from secateur.progress import Progress, unreported
from secateur.settings import Settings
from secateur.sources.files import path_bytes
from secateur.sources.git_addresses import FetchOptions
from secateur.sources.named import is_named
from secateur.sources.workspace_file import WorkspaceMember
from secateur.tokens import get_counter


class MemberTask(Struct, frozen=True):
    """Has a worker record one repository.

    Attributes:
        member: at an absolute path, or a URL.
        known: the records that the process that asks has; None: the worker shares its cache.
        fetching: whether and how to fetch a URL: refresh, shallow.
    """

    path: Path
    member: WorkspaceMember
    settings: Settings
    known: frozenset[tuple[bytes, bytes]] | None
    fetching: tuple[bool, bool] | None


class MemberRecord(Struct, frozen=True):
    """A record that a worker made: of this path and content, by this version of the records."""

    path: bytes
    digest: bytes
    version: str
    data: bytes


def index_members(
    opener: WorkspaceOpener, settings: Settings, executor: Executor, progress: Progress = unreported
) -> None:
    """Has workers record all repositories, and keeps the records that they send. Errors are left to the opening of the
    workspace, which meets them again."""
    version = _extractor_of(settings).version
    fetching = opener.fetching
    terms = (fetching.refresh, fetching.shallow) if fetching is not None else None
    members: list[MemberIndex] = []
    tasks: list[MemberTask] = []
    try:
        for member in opener.members:
            with suppress(SecateurError):
                members.append(opener.member(member, directories.cache_dir(os.environ), None))
                known = None if isinstance(executor, ProcessPool) else frozenset(members[-1].store.list_known(version))
                location = member.location if is_named(member.location) else str(Path(member.location).absolute())
                tasks.append(MemberTask(opener.path, replace(member, location=location), settings, known, terms))
        progress("reading", 0, len(tasks))
        with closing(executor.map(record_member, tasks)) as outcomes:
            for done, (number, outcome) in enumerate(outcomes, 1):
                store, records = members[number].store, outcome.value or []
                generation = store.generation()
                with suppress(UnwritableIndex), store.writing():
                    for record in records:
                        store.put(record.path, record.digest, record.version, record.data, generation)
                progress("reading", done, len(tasks))
    finally:
        for opened in members:
            opened.close()


def record_member(task: MemberTask) -> list[MemberRecord]:
    """Records one repository, and returns the records that the process that asks lacks; a worker calls it."""
    settings = task.settings
    extractor = _extractor_of(replace(settings, index=replace(settings.index, workers=settings.index.workers or 1)))
    fetching = None
    if task.fetching is not None:
        fetching = FetchOptions(*task.fetching)
    opener = WorkspaceOpener(task.path, settings.index, fetching)
    with closing(opener.member(task.member, directories.cache_dir(os.environ), None)) as member:
        files = [(path_bytes(path), digest) for path, digest in member.record(extractor).present]
        lacking = [file for file in files if file not in task.known] if task.known is not None else []
        records = zip(lacking, member.store.records(lacking, extractor.version), strict=True)
        return [MemberRecord(*file, extractor.version, data) for file, data in records if data is not None]


def _extractor_of(settings: Settings) -> Extractor:
    counter, vectors = get_counter(settings.tokens.counter), vectors_of(Models(os.environ), settings)
    return Extractor.of(settings, counter, vectors, directories.cache_dir(os.environ))
