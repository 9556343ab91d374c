"""One repository of a workspace while it is open.

Where it looks as it did when it was indexed last (`CommitLook`), the catalogue says all there is to say of it: its
snapshot is mapped, and its index is opened when a text is read, or once it has moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from secateur.errors import IndexingError
from secateur.index.catalogue import KeptMember, KeptState, state_kept
from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_index import OpenIndex
from secateur.index.store.folder import folder_of, size_of
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import IndexStatus, RecordedState, arrays_version
from secateur.index.update.snapshot_files import is_whole, whole_at
from secateur.index.update.staleness import Changes, changes
from secateur.model import Notice
from secateur.progress import Progress
from secateur.sources.cloned_source import CLONED, SHALLOW
from secateur.sources.commit_look import CommitLook
from secateur.sources.open import SourceOpener

_EVERY_TIME = frozenset({CLONED, SHALLOW})
"""Codes of what a source says of itself however often it is opened."""


class OpenMember:
    """See the module docstring; `snapshot` and `status` as of `OpenIndex`."""

    def __init__(
        self,
        opener: SourceOpener,
        said: str,
        cache_dir: Path,
        look: Callable[[], CommitLook | None],
        seen: CommitLook | None,
        known: KeptMember | None,
        naming: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """
        Args:
            opener: by the user's rules and its own, of which `said` tells what is wrong.
            look: as it is at any time; `seen`: as it is now.
            known: what the catalogue has of that look; None: its index is opened.
            naming: has errors say which repository they are about.

        Raises as `OpenIndex`, where its index is opened.
        """
        self.said = said
        self.status: IndexStatus | None = None
        self._snapshot: Snapshot | None = None
        self._extractor: Extractor | None = None
        self._opener, self._cache_dir, self._look, self._naming = opener, cache_dir, look, naming
        self._first, self._seen, self._is_new = seen, seen, True
        self._base, self._known = known, known
        self._state: KeptState | None = None  # of the catalogue, as long as the repository does not move
        self._index: OpenIndex | None = None
        if known is None:
            _ = self.index

    @property
    def index(self) -> OpenIndex:
        """Its index, opened when it is first asked for."""
        if self._index is None:
            with self._naming():
                self._index = OpenIndex(self._opener, self._cache_dir)
        return self._index

    @property
    def folder(self) -> Path | None:
        """As of `OpenIndex`."""
        if self._index is not None or self._first is None:
            return self.index.folder
        return folder_of(self._cache_dir, self._first.root)

    @property
    def fixed(self) -> bool:
        """True where it is read at a commit."""
        return self._first is not None

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot that was loaded last; that of the catalogue is mapped when it is first asked for.

        Raises:
            IndexingError: what the catalogue names is gone or damaged, and the repository has changed meanwhile.
        """
        if self._snapshot is None and self._state is not None and self._extractor is not None:
            assert self._first is not None
            folder = folder_of(self._cache_dir, self._first.root)
            extractor, name = self._extractor, self._state.name
            self._snapshot = whole_at(folder, name, arrays_version(extractor.version))
            if self._snapshot is None:
                self._leave_catalogue()
                state = self.index.record(extractor)
                if state.name != name:
                    said = f"{self._opener.path}: changed while it was opened"
                    raise IndexingError(said, hint="run again", code="CHANGED")
                self.load(state, extractor)
        return self._snapshot

    @property
    def facts(self) -> SnapshotFacts:
        """The facts of the snapshot that every answer needs; of the catalogue, where it has them."""
        if self._state is not None:
            return self._state.facts
        assert self.snapshot is not None
        return self.index.facts(self.snapshot)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """As of `OpenIndex`."""
        return self._index.notices if self._index is not None else ()

    @property
    def source_notices(self) -> Sequence[Notice] | None:
        """The warnings of the source, where the catalogue has them."""
        return self._state.notices if self._state is not None else None

    def size(self) -> int:
        """Bytes on disk."""
        return size_of(self.folder) if self.folder is not None else 0

    def save(self) -> None:
        """As of `OpenIndex`."""
        if self._index is not None:
            self._index.save()

    def close(self) -> None:
        """As of `OpenIndex`."""
        if self._index is not None:
            self._index.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """As of `OpenIndex`; nothing is listed where it looks as it did."""
        seen = self._seen if self._is_new else self._look()
        self._is_new = False
        if self._known is not None:
            self._state = self._known.states.get(extractor.version)
            if self._state is not None and seen is not None and seen.digest == self._known.look:
                return RecordedState(self._state.name, (), 0, extractor.version)
            self._leave_catalogue()
        self._seen = seen
        return self.index.record(extractor, progress)

    def load(self, state: RecordedState, extractor: Extractor, progress: Progress | None = None) -> IndexStatus:
        """As of `OpenIndex`."""
        self._extractor = extractor
        if self._state is None:
            self.status, self._snapshot = self.index.load(state, extractor, progress), self.index.snapshot
            return self.status
        if self.status is None or self.status.snapshot != state.name:
            self.status, self._snapshot = self._state.status, None
        return self.status

    def kept(self, version: str) -> KeptMember | None:
        """The facts that the next opening need not find out; None where a look does not tell whether they hold.

        Settings of a repository count as they were when it was opened, so that one that moved since is not kept.
        """
        if self._known is not None:
            return self._known
        index, seen = self._index, self._seen
        if index is None or seen is None or seen != self._first or self.status is None or index.folder is None:
            return None
        notices = index.source.notices()
        if not index.is_whole or index.notices or any(one.code not in _EVERY_TIME for one in notices):
            return None
        if not is_whole(index.folder, self.status.snapshot) or self._look() != seen:
            return None
        known = self._base if self._base is not None and self._base.look == seen.digest else None
        base = known or KeptMember(seen.digest, self._opener.rules, self.said, {})
        return base.with_state(version, state_kept(self.status, notices, self.facts))

    def _leave_catalogue(self) -> None:
        """Go on with the index, opened anew: it may have been opened at another commit."""
        self.close()
        self._known = self._state = self._index = self._snapshot = self.status = None

    # --- looking -----------------------------------------------------------------------------------------------------

    def changes(self) -> Changes:
        """As of `OpenIndex`."""
        if self._state is None or self._first is None:
            return self.index.changes()
        if self._look() == self._first:
            return Changes()
        before = replace(self._opener, rev=self._first.commit)
        return changes(before(), self._opener(), self.snapshot.all_digests if self.snapshot is not None else {})

    def unread(self, extractor: Extractor) -> Changes | None:
        """As of `OpenIndex`."""
        state = self._known.states.get(extractor.version) if self._known is not None else None
        if state is not None and self._first is not None and self._look() == self._first:
            folder = folder_of(self._cache_dir, self._first.root)
            if is_whole(folder, state.name):
                return Changes()
        return self.index.unread(extractor)
