"""A repository of a workspace while it is open. While its look is the one that the catalogue knows, neither its source
nor its records are opened.

The catalogue of a workspace: facts about its repositories that are kept from one opening to the next.

For each repository it holds a *look* (a digest of its commit and working tree) and what was known at that look: rules,
state, history, warnings. A repository whose look has not changed needs no git, no listing and no database.

The catalogue is a cache: what is damaged or missing is worked out again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from secateur.errors import IndexingError
from secateur.index.facts.history import CommitHistory
from secateur.index.open_index import RepositoryIndex
from secateur.index.store import arrayfile
from secateur.index.store.folder import folder_name, folder_of, remove_leftovers, size_of
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import Changes, RecordedState, changes, unread_files
from secateur.index.update.snapshot_manager import Histories
from secateur.model import Notice
from secateur.progress import Progress
from secateur.settings import Index
from secateur.sources.committed import CommitLook
from secateur.sources.open import CLONED, SHALLOW, SourceOpener
from secateur.sources.source import Source
from secateur.sources.walk import Skip

# Versions of the records for which a repository's state is kept: with and without vectors, by several counters.
KEPT_STATES = 4

_VERSION = 5  # raise it when the content of the catalogue changes

_MEMBERS = "members.catalogue"


class KeptState(msgspec.Struct, frozen=True):
    """A repository as it was recorded: the name of its state, its history and the time that ages are measured from, the
    warnings of its source, and what it does not read."""

    name: str
    history_id: str
    time: int
    notices: tuple[Notice, ...]
    skips: tuple[Skip, ...]


class KeptMember(msgspec.Struct, frozen=True):
    """Holds what is kept of a repository at one look.

    Attributes:
        look: `CommitLook.digest`.
        rules: the rules it is read by, its own among them.
        said: the warning about its own settings; "" if there is no warning.
        states: its state for each version of the records, the newest last.
    """

    look: str
    rules: Index
    said: str
    states: dict[str, KeptState]


@dataclass
class Catalogue:
    """The kept facts about the workspace that one file describes; `members` by name."""

    folder: Path
    members: dict[str, KeptMember] = field(default_factory=dict)

    @classmethod
    def open(cls, cache_dir: Path, path: Path) -> Catalogue:
        """Opens the catalogue of the workspace that a file describes; it is empty if nothing usable is kept."""
        folder = cache_dir / "workspaces" / folder_name(path)
        if (arrays := arrayfile.load(folder / _MEMBERS)) is not None:
            with suppress(msgspec.DecodeError, KeyError):
                version, members = msgspec.msgpack.decode(
                    arrays["members"].tobytes(), type=tuple[int, dict[str, KeptMember]]
                )
                if version == _VERSION:
                    return cls(folder, members)
        return cls(folder)

    def keep(self, members: Mapping[str, KeptMember]) -> None:
        """Replaces all members, for the next opening; a folder that cannot be written stays as it is."""
        self.members = dict(members)
        with suppress(OSError, UnicodeEncodeError):  # a path that is not valid Unicode is read again next time
            data = msgspec.msgpack.encode((_VERSION, self.members))
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            remove_leftovers(self.folder)
            arrayfile.save(self.folder / _MEMBERS, {"members": np.frombuffer(data, dtype=np.uint8)})


_EVERY_TIME = frozenset({CLONED, SHALLOW})  # codes of notices that a source gives at every opening


@dataclass
class MemberIndex:
    """See the module docstring.

    Attributes:
        opener: opens the repository by the user's rules and its own.
        look: takes the look at this moment.
        first: the look when the repository was opened; None if a look cannot tell whether it changes.
        kept: what the catalogue knows about `first`.
        naming: adds the repository's name to errors.
        given: warnings that are known before the opening.
        known: the state that the repository is still in, as the catalogue knows it; None if it was read.
        state: the state that was recorded last; without files if `known` is set.
    """

    opener: SourceOpener
    cache_dir: Path
    look: Callable[[], CommitLook | None]
    first: CommitLook | None
    kept: KeptMember
    naming: Callable[[], AbstractContextManager[None]]
    given: tuple[Notice, ...] = ()
    known: KeptState | None = None
    state: RecordedState | None = None

    def __post_init__(self) -> None:
        self._index: RepositoryIndex | None = None
        self._store: Store | None = None
        self._seen, self._is_new = self.first, True  # the look when the repository was recorded last
        self._has_moved = not self.kept.states
        if self._has_moved:
            self._open()

    def _open(self) -> RepositoryIndex:
        if self._index is None:
            with self.naming():
                self._index = RepositoryIndex(self.opener, self.cache_dir, self.given)
        return self._index

    @property
    def source(self) -> Source:
        return self._open().source

    @property
    def store(self) -> Store:
        """Its records, which are opened without the source if it has not moved."""
        if self._index is None and self.first is not None:
            with suppress(UnwritableIndex):
                self._store = self._store or Store.open(folder_of(self.cache_dir, self.first.root))
                return self._store
        return self._open().store

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """The warnings about its index and its own settings."""
        return self._index.notices if self._index is not None else self.given

    def notices(self) -> Sequence[Notice]:
        """The warnings of its source."""
        return self.known.notices if self.known is not None else self.source.notices()

    def skips(self) -> Sequence[Skip]:
        """The paths that it does not read."""
        return self.known.skips if self.known is not None else self.source.skips()

    @property
    def history_id(self) -> str:
        return self.known.history_id if self.known is not None else self.source.history_id

    @property
    def time(self) -> int:
        """The time that the ages of its commits are measured from."""
        if self.known is not None:
            return self.known.time
        return self.source.time if self.source.commit else 0

    def history(self) -> CommitHistory:
        """Returns its history, from the records if it has not moved."""
        kept = Histories(self.store).load(self.known.history_id) if self.known is not None else None
        return kept if kept is not None else self._open().histories.of(self.source)

    def size(self) -> int:
        if self._index is not None:
            return self._index.size()
        return size_of(folder_of(self.cache_dir, self.first.root)) if self.first is not None else 0

    def close(self) -> None:
        """Closes the files."""
        for opened in (self._index, self._store):
            if opened is not None:
                opened.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def record(self, extractor: Extractor, progress: Progress | None = None) -> RecordedState:
        """Records the source. An unchanged repository is not even listed."""
        if not self._is_new:
            self._seen = self.look()
        self._is_new = False
        unmoved = not self._has_moved and self._seen is not None and self._seen.digest == self.kept.look
        self.known = self.kept.states.get(extractor.version) if unmoved else None
        if self.known is not None:
            self.state = RecordedState(self.known.name, (), 0, extractor.version)
            return self.state
        return self._read(extractor, progress)

    def read_after_all(self, extractor: Extractor) -> RecordedState:
        """Reads a repository that has not moved. Raises IndexingError: it has moved by now."""
        expected = self.known
        self.known = None
        state = self._read(extractor, None)
        if expected is not None and state.name != expected.name:
            raise IndexingError(f"{self.opener.path}: changed while it was opened", hint="run again", code="CHANGED")
        return state

    def _read(self, extractor: Extractor, progress: Progress | None) -> RecordedState:
        if not self._has_moved:  # the source may be at another commit
            self.close()
            self._index, self._store, self._has_moved = None, None, True
        self.state = self._open().record(extractor, progress)
        return self.state

    def to_keep(self, version: str) -> KeptMember | None:
        """Returns the facts for the catalogue; None if a look cannot tell whether they are still true.

        The rules are those that were read at the opening, so nothing is kept of a repository that changed since.
        """
        if not self._has_moved:
            return self.kept
        index, state = self._index, self.state
        if index is None or state is None or self.first is None or self._seen != self.first:
            return None
        notices = index.source.notices()
        if not index.is_whole or index.notices != self.given:
            return None
        # another opening may not give a notice of another code again
        if any(notice.code not in _EVERY_TIME for notice in notices) or self.look() != self._seen:
            return None
        skips = tuple(index.source.skips())
        state_now = KeptState(state.name, self.history_id, self.time, tuple(notices), skips)
        states = [(name, kept) for name, kept in self.kept.states.items() if name != version]
        return replace(self.kept, states=dict([*states, (version, state_now)][-KEPT_STATES:]))

    # --- looking -----------------------------------------------------------------------------------------------------

    def changes(self, indexed: Mapping[str, bytes]) -> Changes:
        """Lists the differences from the state that was read last, whose files have these digests."""
        if self.known is None:
            return changes(self.source, self.opener(), indexed)
        if self.look() == self.first:
            return Changes()
        assert self.first is not None
        return changes(replace(self.opener, rev=self.first.commit)(), self.opener(), indexed)

    def unread(self, extractor: Extractor, before: tuple[str, str], indexed: Mapping[str, bytes]) -> Changes:
        """Lists the differences from a state: (its name, its history), and the digests of its files."""
        kept = None if self._has_moved or self.look() != self.first else self.kept.states.get(extractor.version)
        if kept is not None and kept.name == before[0]:
            return Changes()
        source = self.opener()
        return Changes(unread_files(source, self.store, extractor, indexed), source.history_id != before[1])


def below(name: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the files of one repository, by their paths there."""
    prefix = f"{name}/"
    return {path[len(prefix) :]: digest for path, digest in files.items() if path.startswith(prefix)}
