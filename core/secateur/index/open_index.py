"""The interface of an open index: `RepositoryIndex` is the index of one repository, `WorkspaceIndex` of several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakKeyDictionary

from secateur.encodings import as_utf8
from secateur.errors import RepositoryError
from secateur.index.facts.degraded import warn_of_partly_read
from secateur.index.facts.extract import digest_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.records import Store
from secateur.index.update.parallel import Extractor
from secateur.index.update.partial import Choice, PartialSnapshot
from secateur.index.update.refresh import IndexStatus, RecordedState
from secateur.index.update.staleness import Changes
from secateur.languages.syntax.text import read_text, split_lines
from secateur.model import Notice, Pool
from secateur.progress import Progress
from secateur.redaction import CredentialNumbers, insert_markers
from secateur.redaction.spans import parse_spans
from secateur.sources.source import Source

# Lines by (path, content digest, whether the credentials of other files are removed too).
_Known = dict[tuple[str, bytes, bool], list[str]]


class OpenIndex(ABC):
    """See the module docstring. One thread at a time may call it; `changes` may also be called by another thread.

    Attributes:
        opener: opens the source again; None for a workspace, which has several sources.
        only: globs of the files that answers are made from, like `graph_rag.only`; empty for all files.
        status: the status of the snapshot; None before the first `load`.
    """

    opener: Callable[[], Source] | None = None
    only: tuple[str, ...] = ()
    status: IndexStatus | None = None

    def __init__(self) -> None:
        self._texts: _Known = {}  # as they were indexed, with markers in the place of credentials
        self._numbered: WeakKeyDictionary[CredentialNumbers, _Known] = WeakKeyDictionary()
        self._pools: WeakKeyDictionary[Pool, CredentialNumbers] = WeakKeyDictionary()
        self._warnings: WeakKeyDictionary[Snapshot, tuple[Notice, ...]] = WeakKeyDictionary()

    @property
    @abstractmethod
    def source(self) -> Source:
        """The files as the last `record` found them."""

    @property
    @abstractmethod
    def snapshot(self) -> Snapshot | None:
        """The snapshot that was loaded last; None before the first `load`."""

    @property
    @abstractmethod
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about the index itself."""

    @property
    @abstractmethod
    def store(self) -> Store:
        """The store for data that does not belong to a file."""

    @abstractmethod
    def size(self) -> int:
        """Returns the bytes on disk."""

    @abstractmethod
    def save(self) -> None:
        """Writes the snapshot if it is not on disk yet. Raises IndexingError."""

    @abstractmethod
    def close(self) -> None:
        """Closes the files, without writing anything."""

    # --- reading -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Reads the files that are new or changed since the last `record`."""

    @abstractmethod
    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        """Makes the snapshot of a recorded state, unless it is loaded already."""

    def part(
        self,
        extractor: Extractor,  # noqa: ARG002
        choose: Choice,  # noqa: ARG002
        most: int,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> PartialSnapshot | None:
        """Makes a snapshot of some files, for a first answer; None if a snapshot is loaded or this is not supported."""
        return None

    @abstractmethod
    def move(self, opener: Callable[[], Source]) -> None:
        """Moves to another state of the same folder. Raises UsageError: a workspace has no commit of its own."""

    # --- looking -----------------------------------------------------------------------------------------------------

    def warnings(self, snapshot: Snapshot) -> tuple[Notice, ...]:
        """Returns the warnings about a snapshot that every answer needs."""
        if snapshot not in self._warnings:
            self._warnings[snapshot] = *snapshot.notices, *warn_of_partly_read(snapshot)
        return self._warnings[snapshot]

    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        """Returns the lines of a file, with markers in the place of credentials. Each file is read once.

        Args:
            numbers: the numbers of the markers; None: they begin with 1 in each file.

        Raises:
            RepositoryError: the file has changed since it was indexed, so its line numbers mean nothing.
        """
        spans = [span for _, span in parse_spans(snapshot.redactions.get(path, ""))]
        bare = numbers is not None and numbers.complete
        known = self._texts if numbers is None or not (spans or bare) else self._numbered.setdefault(numbers, {})
        key = path, snapshot.digests[path], bare
        if (lines := known.get(key)) is None:
            data = next((data for _, data in self.source.read([path])), None)
            if data is None or digest_of(data) != snapshot.digests[path]:
                raise RepositoryError(
                    f"{path}: {'gone' if data is None else 'changed'} since it was indexed",
                    hint="run the query again",
                    code="CHANGED",
                )
            marked = insert_markers(as_utf8(data), spans, numbers or CredentialNumbers())
            if numbers is not None and bare:
                marked = numbers.bare(marked)
            lines = known[key] = split_lines(read_text(path, marked)[0])
        return lines  # not read from `known` again: another thread may have begun anew for a new snapshot

    def lines_of(self, snapshot: Snapshot, pool: Pool, row: int) -> list[str]:
        """Returns the lines of a candidate's file. A credential has the same marker in all files of a pool, also in a
        file where no rule recognises it. Raises RepositoryError like `lines`."""
        if not (redactions := snapshot.redactions):
            return self.lines(snapshot, pool.path[row])
        if (numbers := self._pools.get(pool)) is None:
            numbers = CredentialNumbers()
            # number the markers in the order of the pool, so that they do not depend on the text that is read first
            for path in dict.fromkeys(pool.path):
                if path in redactions:
                    with suppress(RepositoryError):
                        self.lines(snapshot, path, numbers)
            numbers.complete = True
            self._pools[pool] = numbers
        return self.lines(snapshot, pool.path[row], numbers)

    @abstractmethod
    def changes(self) -> Changes:
        """Lists the differences from the state that was read last, without parsing or writing anything. Raises
        RepositoryError."""

    @abstractmethod
    def unread(self, extractor: Extractor) -> Changes | None:
        """Lists the differences from the state that any process indexed last; None if nothing was indexed. Raises
        RepositoryError."""
