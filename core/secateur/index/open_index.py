"""One source and its index while both are open: the records of the files, the snapshot made of them, and the lines of
the files.

    index = OpenIndex(opener, cache_dir)
    state = index.record(extractor)     # read what is new or changed
    status = index.load(state, extractor)        # put the arrays together
    index.lines(index.snapshot, "shop/money.py")

If the index cannot be written, the work goes on in memory, and a notice says so.

A repository of a workspace that has not changed since it was indexed (`MemberLook`) is answered from the catalogue: its
snapshot is mapped, and its source and records are opened at their first use or after the repository changed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from secateur.errors import IndexingError
from secateur.index.catalogue import KeptMember, KeptState, MemberLook, make_kept_state
from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.opened_index import OpenedIndex
from secateur.index.store.folder import folder_of, size_of
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.update.parallel import Extractor
from secateur.index.update.partial import Choice, PartialSnapshot, part_of
from secateur.index.update.refresh import (
    IndexStatus,
    RecordedState,
    arrays_version,
    record,
    snapshot_of,
    status_of,
    unread,
)
from secateur.index.update.snapshot_files import is_whole, whole_at
from secateur.index.update.snapshots import SnapshotManager
from secateur.index.update.staleness import Changes, changes
from secateur.model import Notice
from secateur.progress import Progress
from secateur.redaction import CredentialNumbers
from secateur.sources.open import CLONED, SHALLOW
from secateur.sources.source import Source

T = TypeVar("T")

NOT_KEPT = "index_not_kept"
"""Code of the notice that the index cannot be written."""

_EVERY_TIME = frozenset({CLONED, SHALLOW})
"""Codes of notices that a source gives at every opening."""


class OpenIndex(OpenedIndex):
    """See the module docstring. `known` is the state that the catalogue knows; None if it knows none."""

    opener: Callable[[], Source]

    def __init__(
        self,
        opener: Callable[[], Source],
        cache_dir: Path,
        look: MemberLook | None = None,
        notices: tuple[Notice, ...] = (),
    ) -> None:
        """
        Args:
            look: the look of a repository of a workspace; the source is opened at once if the look has no state.
            notices: warnings that are known before the opening.
        """
        super().__init__()
        self.opener = opener
        self.known: KeptState | None = None
        self._cache_dir, self._look, self._given = cache_dir, look, notices
        self._extractor: Extractor | None = None
        self._forget()
        if look is None or look.member is None:
            self._open()

    def _forget(self) -> None:
        """Resets everything to the state before the opening."""
        self._source: Source | None = None
        self._store: Store | None = None
        self._snapshot: Snapshot | None = None
        self.status = None
        self._notices = self._given
        self._is_new = True  # nothing was recorded yet: the source was opened a moment ago
        self._state: RecordedState | None = None

    def _open(self) -> tuple[Source, Store]:
        """Returns the source and the store, and opens them at the first use."""
        if self._source is None or self._store is None:
            with self._look.naming() if self._look is not None else nullcontext():
                self._source = self.opener()
                folder = folder_of(self._cache_dir, self._source.root) if self._source.root else None
                try:
                    self._use(Store.open(folder))
                except UnwritableIndex as error:
                    self._use_memory(error, folder)
        assert self._store is not None
        return self._source, self._store

    @property
    def source(self) -> Source:
        return self._open()[0]

    @property
    def store(self) -> Store:
        return self._open()[1]

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot that was loaded last. A snapshot that the catalogue names is mapped at the first use. Raises
        IndexingError: the file that the catalogue names is missing or damaged, and the repository has changed."""
        if self._snapshot is None and self.known is not None and self._extractor is not None:
            assert self.folder is not None and self._look is not None
            extractor, name = self._extractor, self.known.name
            self._snapshot = whole_at(self.folder, name, arrays_version(extractor.version))
            if self._snapshot is None:
                self._leave_catalogue()
                state = self.record(extractor)
                if state.name != name:
                    problem = f"{self._look.opener.path}: changed while it was opened"
                    raise IndexingError(problem, hint="run again", code="CHANGED")
                self.load(state, extractor)
        return self._snapshot

    @property
    def notices(self) -> tuple[Notice, ...]:
        return self._notices

    @property
    def folder(self) -> Path | None:
        """The folder of the index; None for files in memory."""
        if self._store is None and self._look is not None and self._look.first is not None:
            return folder_of(self._cache_dir, self._look.first.root)
        return self.store.folder

    def size(self) -> int:
        return size_of(self.folder) if self.folder is not None else 0

    def save(self) -> None:
        if self._store is not None:
            self._snapshots.save()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Records the source. An unchanged repository of a workspace is not even listed."""
        if self._look is not None:
            self.known = self._look.state(extractor.version)
            if self.known is not None:
                return RecordedState(self.known.name, (), 0, extractor.version)
            if self._look.member is not None:
                self._leave_catalogue()
        return self._retry_in_memory(lambda: self._record(extractor, progress))

    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        self._extractor = extractor
        if self.known is None:
            return self._retry_in_memory(lambda: self._load(state, extractor, progress))
        if self.status is None or self.status.snapshot != state.name:
            self.status, self._snapshot = self.known.status, None
        return self.status

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
            self.opener, self._is_new, self.status = opener, False, None

    def to_keep(self, version: str) -> KeptMember | None:
        """Returns the facts for the catalogue; None if a look cannot tell whether they are still true.

        The rules are those that were read at the opening, so nothing is kept of a repository that changed since.
        """
        look, status = self._look, self.status
        if look is None or look.member is not None:
            return look.member if look is not None else None
        if look.first is None or look.seen != look.first or status is None or self.folder is None:
            return None
        notices = self.source.notices()
        if not self._is_whole or self.notices != self._given:
            return None
        if any(notice.code not in _EVERY_TIME for notice in notices):  # another opening may not give it again
            return None
        if not is_whole(self.folder, status.snapshot) or look.now() != look.seen:
            return None
        return look.opened.with_state(version, make_kept_state(status, notices, self.loaded_facts))

    def _leave_catalogue(self) -> None:
        """Stops using the catalogue's facts, and opens the source again: it may be at another commit."""
        assert self._look is not None
        self.close()
        self.known = self._look.member = None
        self._forget()

    def _record(self, extractor: Extractor, progress: Progress | None) -> RecordedState:
        if not self._is_new:
            if (state := self._read_unchanged_state(extractor)) is not None:
                return state
            self._source = self.opener()
        self._is_new = False
        self._state = record(self.source, self.store, extractor, progress, self._state)
        return self._state

    @property
    def _is_whole(self) -> bool:
        """True if the loaded state misses nothing: no file, and no part of the history."""
        state, snapshot = self._state, self._snapshot
        if state is None or snapshot is None or snapshot.notices:
            return False
        return len(state.present) == len(self.source.entries())

    def _read_unchanged_state(self, extractor: Extractor) -> RecordedState | None:
        """Returns the loaded state if it is whole and its source cannot have changed; else None."""
        state = self._state
        if state is None or self.status is None or state.version != extractor.version:
            return None
        return replace(state, read=0) if self._is_whole and self.source.is_unchanged() else None

    def _load(self, state: RecordedState, extractor: Extractor, progress: Progress | None) -> IndexStatus:
        if self._snapshot is None or self.status is None or state.name != self.status.snapshot:
            assert self._state is not None
            self._snapshot = snapshot_of(self._state, self.source, self.store, extractor, progress, self._snapshots)
            self._texts.clear()
        status = status_of(state, self._snapshot, self.source, extractor)
        self.status = structs.replace(status, notices=(*status.notices, *(notice.message for notice in self.notices)))
        return self.status

    # --- looking -----------------------------------------------------------------------------------------------------

    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        def read() -> bytes | None:
            return next((data for _, data in self.source.read([path])), None)

        return self._texts.of(snapshot, path, read, numbers)

    @property
    def loaded_facts(self) -> SnapshotFacts:
        """The facts of the loaded snapshot, without mapping it if the catalogue has them."""
        if self.known is not None:
            return self.known.facts
        assert self.snapshot is not None
        return self.facts(self.snapshot)

    def changes(self) -> Changes:
        if self.known is None or self._look is None:
            before = self.source
        elif self._look.now() == self._look.first:
            return Changes()
        else:
            before = self._look.before()
        return changes(before, self.opener(), self.snapshot.all_digests if self.snapshot is not None else {})

    def unread(self, extractor: Extractor) -> Changes | None:
        look = self._look
        state = look.member.states.get(extractor.version) if look is not None and look.member is not None else None
        if look is not None and state is not None and look.now() == look.first:
            assert self.folder is not None
            if is_whole(self.folder, state.name):
                return Changes()
        return unread(self.opener(), self.store, extractor)

    # --- where it is kept --------------------------------------------------------------------------------------------

    def _use(self, store: Store) -> None:
        self._store = store
        self._snapshots = SnapshotManager(store)

    def _use_memory(self, error: UnwritableIndex, kept: Path | None) -> None:
        """Copies the readable part of the index into memory, and adds a warning."""
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
