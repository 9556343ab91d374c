"""One source and its index while both are open: the records of the files, the snapshot made of them, and the lines of
the files.

    index = RepositoryIndex(opener, cache_dir)
    state = index.record(extractor)     # read what is new or changed
    status = index.load(state, extractor)        # put the arrays together
    index.lines(index.snapshot, "shop/money.py")

If the index cannot be written, the work goes on in memory, and a notice says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_index import OpenIndex
from secateur.index.store.folder import folder_of, size_of
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.update.parallel import Extractor
from secateur.index.update.partial import Choice, PartialSnapshot, part_of
from secateur.index.update.refresh import IndexStatus, RecordedState, record, snapshot_of, status_of, unread
from secateur.index.update.snapshot_manager import Histories, SnapshotManager, incomplete
from secateur.index.update.staleness import Changes, changes
from secateur.model import Notice
from secateur.progress import Progress
from secateur.sources.source import Source

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
