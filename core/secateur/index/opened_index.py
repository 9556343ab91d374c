"""The interface of an open index: of a repository (`OpenIndex`), or of a workspace of them, which this process reads
(`OpenWorkspace`) or workers do (`WorkspaceElsewhere`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakKeyDictionary

from secateur.errors import RepositoryError
from secateur.index.facts.degraded import SnapshotFacts, facts_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.records import Store
from secateur.index.text_lines import TextLines
from secateur.index.update.parallel import Extractor
from secateur.index.update.partial import Choice, PartialSnapshot
from secateur.index.update.refresh import IndexStatus, RecordedState
from secateur.index.update.staleness import Changes
from secateur.model import Notice, Pool
from secateur.progress import Progress
from secateur.redaction import CredentialNumbers
from secateur.sources.source import Source


class OpenedIndex(ABC):
    """See the module docstring. Calls come from one thread at a time; `changes` alone may come from another.

    Attributes:
        opener: opens the source anew; None for a workspace, which has several.
        only: the part of all that answers are drawn from, as `graph_rag.only`; empty for all.
        status: of the snapshot; None before the first `load`.
    """

    opener: Callable[[], Source] | None = None
    only: tuple[str, ...] = ()
    status: IndexStatus | None = None

    def __init__(self) -> None:
        self._texts = TextLines()
        self._pools: WeakKeyDictionary[Pool, CredentialNumbers] = WeakKeyDictionary()
        self._facts: WeakKeyDictionary[Snapshot, SnapshotFacts] = WeakKeyDictionary()

    @property
    @abstractmethod
    def source(self) -> Source:
        """The files, as of the last `record`."""

    @property
    @abstractmethod
    def snapshot(self) -> Snapshot | None:
        """The snapshot that was loaded last; None before the first time."""

    @property
    @abstractmethod
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about the index itself."""

    @property
    @abstractmethod
    def store(self) -> Store:
        """A place for what belongs to no file."""

    @abstractmethod
    def size(self) -> int:
        """Bytes on disk."""

    @abstractmethod
    def save(self) -> None:
        """Write what was put together and is not on disk yet. Raises IndexingError."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the files; the next process finds them as they are."""

    # --- reading -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Read what is new or changed since the source was looked at."""

    @abstractmethod
    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        """Make a recorded state the snapshot; nothing to do where it is that already."""

    @abstractmethod
    def part(
        self, extractor: Extractor, choose: Choice, most: int, progress: Progress | None = None
    ) -> PartialSnapshot | None:
        """Some files of the source as they are, where nothing was loaded yet; None where that is not done."""

    @abstractmethod
    def move(self, opener: Callable[[], Source]) -> None:
        """Go on with another state of the same folder. Raises UsageError: repositories share no commit."""

    # --- looking -----------------------------------------------------------------------------------------------------

    def facts(self, snapshot: Snapshot) -> SnapshotFacts:
        """The facts of a snapshot that every answer needs."""
        if snapshot not in self._facts:
            self._facts[snapshot] = self._facts_of(snapshot)
        return self._facts[snapshot]

    def _facts_of(self, snapshot: Snapshot) -> SnapshotFacts:
        return facts_of(snapshot)

    @abstractmethod
    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        """Lines of a file as they were when the snapshot was taken: line numbers mean nothing in another content.

        Args:
            numbers: of the markers in the place of credentials; None: of each file they begin with 1.

        Raises:
            RepositoryError: the file changed since.
        """

    def lines_of(self, snapshot: Snapshot, pool: Pool, row: int) -> list[str]:
        """Lines of the file of a candidate; one credential has one marker in all files of a pool, also where it stands
        bare in another file. Raises as `lines`."""
        redactions = self.facts(snapshot).redactions
        if not redactions:
            return self.lines(snapshot, pool.path[row])
        numbers = self._pools.get(pool)
        if numbers is None:
            numbers = CredentialNumbers()
            for path in dict.fromkeys(pool.path):  # in this order, whichever text is asked for first
                if path in redactions:
                    with suppress(RepositoryError):
                        self.lines(snapshot, path, numbers)
            numbers.complete = True
            self._pools[pool] = numbers
        return self.lines(snapshot, pool.path[row], numbers)

    @abstractmethod
    def changes(self) -> Changes:
        """Lists the differences from the state that was read last: nothing is parsed or written. Raises
        RepositoryError."""

    @abstractmethod
    def unread(self, extractor: Extractor) -> Changes | None:
        """Lists the differences from the state that any process indexed last; None where none did. Raises
        RepositoryError."""
