"""The interface of an open index: of a repository (`OpenIndex`), or of a workspace of them, which this process reads
(`OpenWorkspace`) or workers do (`elsewhere`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.records import Store
from secateur.index.update.parallel import Extractor
from secateur.index.update.partial import Choice, PartialSnapshot
from secateur.index.update.refresh import IndexStatus, RecordedState
from secateur.index.update.staleness import Changes
from secateur.model import Notice, Pool
from secateur.progress import Progress
from secateur.redaction import CredentialNumbers
from secateur.sources.source import Source


class OpenedIndex(Protocol):
    """See the module docstring. Calls come from one thread at a time; `changes` alone may come from another."""

    only: tuple[str, ...]
    """The part of all that answers are drawn from, as `graph_rag.only`; none for all."""

    @property
    def source(self) -> Source:
        """The files, as of the last `record`."""

    @property
    def opener(self) -> Callable[[], Source]:
        """Opens the source anew."""

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot that was loaded last; None before the first time."""

    @property
    def status(self) -> IndexStatus | None:
        """The status of that."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about the index itself."""

    @property
    def folder(self) -> Path | None:
        """The folder of the index; None for files in memory, and where there are several."""

    @property
    def store(self) -> Store:
        """A place for what belongs to no file."""

    def size(self) -> int:
        """Bytes on disk."""

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Read what is new or changed since the source was looked at."""

    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        """Make a recorded state the snapshot; nothing to do where it is that already."""

    def part(
        self, extractor: Extractor, choose: Choice, most: int, progress: Progress | None = None
    ) -> PartialSnapshot | None:
        """Some files of the source as they are, where nothing was loaded yet; None where that is not done."""

    def move(self, reopen: Callable[[], Source]) -> None:
        """Go on with another state of the same folder. Raises UsageError: repositories share no commit."""

    def facts(self, snapshot: Snapshot) -> SnapshotFacts:
        """The facts of a snapshot that every answer needs."""

    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        """Lines of a file as they were when the snapshot was taken. Raises RepositoryError: it changed since."""

    def lines_of(self, snapshot: Snapshot, pool: Pool, row: int) -> list[str]:
        """Lines of the file of a candidate. Raises as `lines`."""

    def changes(self) -> Changes:
        """Lists the differences from the state that was read last. Raises RepositoryError."""

    def unread(self, extractor: Extractor) -> Changes | None:
        """Lists the differences from the state that any process indexed last; None where none did."""

    def save(self) -> None:
        """Write what was put together and is not on disk yet. Raises IndexingError."""

    def close(self) -> None:
        """Let go of the files."""
