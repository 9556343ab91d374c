"""One source and its index while both are open: what is recorded of the files, the snapshot made of that, and the lines
it was made from.

    index = OpenIndex(reopen, cache_dir)
    state = index.record(extractor)     # read what is new or changed
    status = index.load(state, extractor)        # put the arrays together
    index.lines(index.snapshot, "shop/money.py")

An index that cannot be written is gone on with in memory, and a notice says so. Calls come from one thread at a time;
`changes` alone may come from another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

from secateur.errors import RepositoryError
from secateur.index.facts.degraded import SnapshotFacts, facts_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.folder import folder_of, size_of
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.text_lines import TextLines
from secateur.index.update.parallel import Extractor
from secateur.index.update.partial import Choice, PartialSnapshot, part_of
from secateur.index.update.refresh import IndexStatus, RecordedState, record, snapshot_of, status_of, unread
from secateur.index.update.snapshots import SnapshotManager
from secateur.index.update.staleness import Changes, changes
from secateur.model import Notice, Pool
from secateur.progress import Progress
from secateur.redaction import CredentialNumbers
from secateur.sources.source import Source

T = TypeVar("T")

NOT_KEPT = "index_not_kept"
"""Code of the notice that the index cannot be written."""


class LinesOfPools:
    """Reads the lines that the candidates of pools stand in, for whoever reads `lines`."""

    def __init__(self) -> None:
        self._pools: WeakKeyDictionary[Pool, CredentialNumbers] = WeakKeyDictionary()
        self._facts: WeakKeyDictionary[Snapshot, SnapshotFacts] = WeakKeyDictionary()

    def facts(self, snapshot: Snapshot) -> SnapshotFacts:
        """The facts of a snapshot that every answer needs."""
        if snapshot not in self._facts:
            self._facts[snapshot] = self._facts_of(snapshot)
        return self._facts[snapshot]

    def _facts_of(self, snapshot: Snapshot) -> SnapshotFacts:
        return facts_of(snapshot)

    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        """Lines of a file as they were when the snapshot was taken: line numbers mean nothing in another content.

        Args:
            numbers: of the markers in the place of credentials; None: of each file they begin with 1.

        Raises:
            RepositoryError: the file changed since.
        """
        raise NotImplementedError

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


class OpenIndex(LinesOfPools):
    """See the module docstring.

    Attributes:
        source: what is read, as of the last `record`.
        snapshot: what was loaded last; None before the first time.
        status: of that.
        notices: what went wrong with the index itself.
    """

    only: tuple[str, ...] = ()
    """Nothing but the settings says what answers are drawn from."""

    def __init__(self, reopen: Callable[[], Source], cache_dir: Path) -> None:
        super().__init__()
        self.source = reopen()
        self.snapshot: Snapshot | None = None
        self.status: IndexStatus | None = None
        self.notices: tuple[Notice, ...] = ()
        self._reopen = reopen
        self._is_new = True  # nothing was recorded yet: the source was opened a moment ago
        self._state: RecordedState | None = None
        self._texts = TextLines()
        folder = folder_of(cache_dir, self.source.root) if self.source.root else None
        try:
            self._use(Store.open(folder))
        except UnwritableIndex as error:
            self._use_memory(error, folder)

    def move(self, reopen: Callable[[], Source]) -> None:
        """Go on with another state of the same folder, from the next `record` on; what is in memory is edited."""
        if reopen != self._reopen:
            self._reopen, self._is_new, self.status = reopen, False, None

    def save(self) -> None:
        """Write what was put together and is not on disk yet. Raises IndexingError."""
        self._snapshots.save()

    def close(self) -> None:
        """Let go of the files; the next process finds them as they are."""
        self.store.close()

    def size(self) -> int:
        """Bytes on disk."""
        return size_of(self.folder) if self.folder is not None else 0

    @property
    def opener(self) -> Callable[[], Source]:
        """The function that opens the source anew."""
        return self._reopen

    @property
    def folder(self) -> Path | None:
        """The folder of the index; None for files in memory."""
        return self.store.folder

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Read what is new or changed since the source was looked at."""
        return self._kept_or_not(lambda: self._record(extractor, progress))

    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        """Make a recorded state the snapshot; nothing to do where it is that already."""
        return self._kept_or_not(lambda: self._load(state, extractor, progress))

    def part(
        self, extractor: Extractor, choose: Choice, most: int, progress: Progress | None = None
    ) -> PartialSnapshot | None:
        """Some files of the source as they are, where nothing was loaded yet; see `part_of`. None also where the index
        cannot be written. May be called while `record` or `load` report progress."""
        if self.snapshot is not None:
            return None
        with suppress(UnwritableIndex):  # who then records all of it finds that out, and goes on in memory
            return part_of(self.source, self.store, extractor, choose, most, progress)
        return None

    def _record(self, extractor: Extractor, progress: Progress | None) -> RecordedState:
        if not self._is_new:
            if (known := self._known(extractor)) is not None:
                return known
            self.source = self._reopen()
        self._is_new = False
        self._state = record(self.source, self.store, extractor, progress, self._state)
        return self._state

    @property
    def is_whole(self) -> bool:
        """True where nothing is left to be read of the state that is loaded: no file, and no broken history."""
        state, snapshot = self._state, self.snapshot
        if state is None or snapshot is None or snapshot.notices:
            return False
        return len(state.present) == len(self.source.entries())

    def _known(self, extractor: Extractor) -> RecordedState | None:
        """The state that is loaded, where its source cannot have changed and nothing of it is left to be read."""
        state = self._state
        if state is None or self.status is None or state.version != extractor.version:
            return None
        return replace(state, read=0) if self.is_whole and self.source.unmoved() else None

    def _load(self, state: RecordedState, extractor: Extractor, progress: Progress | None) -> IndexStatus:
        if self.snapshot is None or self.status is None or state.name != self.status.snapshot:
            assert self._state is not None
            self.snapshot = snapshot_of(self._state, self.source, self.store, extractor, progress, self._snapshots)
            self._texts.clear()
        status = status_of(state, self.snapshot, self.source, extractor)
        self.status = replace(status, notices=(*status.notices, *(notice.message for notice in self.notices)))
        return self.status

    # --- looking -----------------------------------------------------------------------------------------------------

    def lines(self, snapshot: Snapshot, path: str, numbers: CredentialNumbers | None = None) -> list[str]:
        def read() -> bytes | None:
            return next((data for _, data in self.source.read([path])), None)

        return self._texts.of(snapshot, path, read, numbers)

    def changes(self) -> Changes:
        """Lists the differences from the state that was read last: nothing is parsed or written. Raises
        RepositoryError."""
        before, snapshot = self.source, self.snapshot
        return changes(before, self._reopen(), snapshot.all_digests if snapshot else {})

    def unread(self, extractor: Extractor) -> Changes | None:
        """Lists the differences from the state that any process indexed last; None where none did. Raises
        RepositoryError."""
        return unread(self._reopen(), self.store, extractor)

    # --- where it is kept --------------------------------------------------------------------------------------------

    def _use(self, store: Store) -> None:
        self.store = store
        self._snapshots = SnapshotManager(store)

    def _use_memory(self, error: UnwritableIndex, kept: Path | None) -> None:
        """Go on with what can be read of the index, in memory, and warn of it."""
        self._use(Store.in_memory(kept))
        said = f"{error.message}: answered from memory, and nothing is kept for the next time; {error.hint}."
        self.notices = (*self.notices, Notice(NOT_KEPT, said))

    def _kept_or_not(self, work: Callable[[], T]) -> T:
        """Returns what `work` returns; where it cannot write the index, in a second attempt in memory."""
        try:
            return work()
        except UnwritableIndex as error:
            kept = self.store.kept
            self.store.close()
            self._use_memory(error, kept)
            return work()
