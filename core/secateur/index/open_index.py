"""The interface of an open index: `RepositoryIndex` is the index of one repository, `WorkspaceIndex` of several.

One source and its index while both are open: the records of the files, the snapshot made of them, and the lines of
the files.

    index = RepositoryIndex(opener, cache_dir)
    state = index.record(extractor)     # read what is new or changed
    status = index.load(state, extractor)        # put the arrays together
    index.lines(index.snapshot, "shop/money.py")

If the index cannot be written, the work goes on in memory, and a notice says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

from msgspec import structs

from secateur.encodings import as_utf8
from secateur.errors import RepositoryError
from secateur.index.facts.extract import digest_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.folder import folder_of, size_of
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import (
    Changes,
    Choice,
    IndexStatus,
    PartialSnapshot,
    RecordedState,
    changes,
    part_of,
    record,
    snapshot_of,
    status_of,
    unread,
)
from secateur.index.update.snapshot_manager import Histories, SnapshotManager, incomplete
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


T = TypeVar("T")

NOT_KEPT = "index_not_kept"  # code of the notice that the index cannot be written


class RepositoryIndex(OpenIndex):
    """See the module docstring."""

    opener: Callable[[], Source]

    def __init__(self, opener: Callable[[], Source], cache_dir: Path, notices: tuple[Notice, ...] = ()) -> None:
        """`notices`: warnings that are known before the opening."""
        super().__init__()
        self.opener = opener
        self._source = opener()
        self._snapshot: Snapshot | None = None
        self._notices = notices
        self._is_new = True  # nothing was recorded yet: the source was opened a moment ago
        self._has_moved = False
        self._state: RecordedState | None = None
        folder = folder_of(cache_dir, self._source.root) if self._source.root else None
        try:
            self._use(Store.open(folder))
        except UnwritableIndex as error:
            self._use_memory(error, folder)

    @property
    def source(self) -> Source:
        return self._source

    @property
    def store(self) -> Store:
        return self._store

    @property
    def snapshot(self) -> Snapshot | None:
        return self._snapshot

    @property
    def notices(self) -> tuple[Notice, ...]:
        return self._notices

    def size(self) -> int:
        return size_of(self._store.folder) if self._store.folder is not None else 0

    def save(self) -> None:
        self._snapshots.save()

    def close(self) -> None:
        self._store.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        return self._retry_in_memory(lambda: self._record(extractor, progress))

    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        return self._retry_in_memory(lambda: self._load(state, extractor, progress))

    def part(
        self, extractor: Extractor, choose: Choice, most: int, progress: Progress | None = None
    ) -> PartialSnapshot | None:
        """See `part_of`. Returns None also if the index cannot be written. May be called while `record` or `load`
        report progress."""
        if self.snapshot is not None:
            return None
        with suppress(UnwritableIndex):  # `record` meets the same error afterwards, and goes on in memory
            return part_of(self.source, self.store, extractor, choose, most, progress)
        return None

    def move(self, opener: Callable[[], Source]) -> None:
        """Moves to another state from the next `record` on, which edits the snapshot in memory."""
        if opener != self.opener:
            self.opener, self._is_new, self._has_moved, self.status = opener, False, True, None

    def _record(self, extractor: Extractor, progress: Progress | None) -> RecordedState:
        if not self._is_new:
            state = self._state
            if (
                state is not None
                and not self._has_moved
                and state.version == extractor.version
                and self.is_whole
                and self._source.is_unchanged()
            ):
                return replace(state, read=0)
            self._source = self.opener()
        self._is_new = self._has_moved = False
        self._state = record(self._source, self._store, extractor, progress, self._state)
        return self._state

    @property
    def is_whole(self) -> bool:
        """True if the recorded state misses nothing: no file, and no part of the history."""
        if self._state is None or (self._snapshot is not None and self._snapshot.notices):
            return False
        return len(self._state.present) == len(self._source.entries()) and not incomplete(self._source)

    def _load(self, state: RecordedState, extractor: Extractor, progress: Progress | None) -> IndexStatus:
        if self._snapshot is None or self.status is None or state.name != self.status.snapshot:
            assert self._state is not None
            self._snapshot = snapshot_of(
                self._state, self._source, self._store, extractor, progress, self._snapshots, self.histories
            )
            self._texts = {}
        status = status_of(state, self._snapshot, self.source, extractor)
        self.status = structs.replace(status, notices=(*status.notices, *(notice.message for notice in self.notices)))
        return self.status

    # --- looking -----------------------------------------------------------------------------------------------------

    def changes(self) -> Changes:
        indexed = self._snapshot.all_digests if self._snapshot is not None else {}
        return changes(self._source, self.opener(), indexed)

    def unread(self, extractor: Extractor) -> Changes | None:
        return unread(self.opener(), self._store, extractor)

    # --- where it is kept --------------------------------------------------------------------------------------------

    def _use(self, store: Store) -> None:
        self._store = store
        self._snapshots, self.histories = SnapshotManager(store), Histories(store)

    def _use_memory(self, error: UnwritableIndex, kept: Path | None) -> None:
        self._use(Store.in_memory(kept))
        message = f"{error.message}: answered from memory, and nothing is kept for the next time; {error.hint}."
        self._notices = (*self._notices, Notice(NOT_KEPT, message))

    def _retry_in_memory(self, work: Callable[[], T]) -> T:
        """Calls `work`, and calls it again with an index in memory if the index cannot be written."""
        try:
            return work()
        except UnwritableIndex as error:
            kept = self.store.kept
            self.store.close()
            self._use_memory(error, kept)
            return work()
