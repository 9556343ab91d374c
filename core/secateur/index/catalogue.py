"""The catalogue of a workspace: facts about its repositories that are kept from one opening to the next.

For each repository it holds a *look* (a digest of its commit and working tree) and what was known at that look: rules,
name of the snapshot, status. A repository whose look has not changed needs no git, no listing and no database. The
catalogue also holds the joined arrays of all snapshots, in one file that is mapped.

The catalogue is a cache: what is damaged or missing is worked out again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from secateur.index.facts.crossing import VERSION
from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.store import arrayfile
from secateur.index.store.arrayfile import Arrays
from secateur.index.store.atomic_files import remove_leftovers
from secateur.index.store.folder import folder_name
from secateur.index.update.refresh import IndexStatus
from secateur.model import Notice
from secateur.settings import Index
from secateur.sources.commit_look import CommitLook
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source

KEPT_STATES = 4
"""Versions of the records for which a repository's state is kept: with and without vectors, by several counters."""

KEPT_JOINED = 2
"""Joined snapshots that are kept, so that switching between states of a workspace joins nothing again."""

_VERSION = 4
"""Raise it when the content of the catalogue changes."""

_MEMBERS = "members.arrays"
_JOINED = ".joined"


class KeptState(msgspec.Struct, frozen=True):
    """A repository as it was indexed: the name of its snapshot, its status, the warnings of its source, and the facts
    of the snapshot that every answer needs."""

    name: str
    status: IndexStatus
    notices: tuple[Notice, ...]
    facts: SnapshotFacts


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

    def with_state(self, version: str, state: KeptState) -> KeptMember:
        """Returns a copy with another state of a version."""
        states = [(name, kept) for name, kept in self.states.items() if name != version]
        return msgspec.structs.replace(self, states=dict([*states, (version, state)][-KEPT_STATES:]))


@dataclass
class MemberLook:
    """The look of a repository of a workspace while it is open, and what the catalogue knows about that look.

    Attributes:
        opener: opens the repository by the user's rules and its own.
        now: takes the look at this moment.
        first: the look when the repository was opened; None if a look cannot tell whether it changes.
        opened: what the catalogue knows about `first`.
        naming: adds the repository's name to errors.
        member: `opened` as long as it is true; None if it has no state.
        seen: the look when the repository was recorded last.
    """

    opener: SourceOpener
    now: Callable[[], CommitLook | None]
    first: CommitLook | None
    opened: KeptMember
    naming: Callable[[], AbstractContextManager[None]]

    def __post_init__(self) -> None:
        self.member: KeptMember | None = self.opened if self.opened.states else None
        self.seen, self._is_new = self.first, True

    def state(self, version: str) -> KeptState | None:
        """Takes a new look, and returns the state the repository is still in; None if that is not known."""
        if not self._is_new:
            self.seen = self.now()
        self._is_new = False
        if self.member is None or self.seen is None or self.seen.digest != self.member.look:
            return None
        return self.member.states.get(version)

    def before(self) -> Source:
        """Returns the repository as it was when it was opened."""
        assert self.first is not None
        return replace(self.opener, rev=self.first.commit)()


@dataclass
class Catalogue:
    """The kept facts about the workspace that one file describes; `members` by name."""

    folder: Path
    members: dict[str, KeptMember] = field(default_factory=dict)

    @classmethod
    def open(cls, cache_dir: Path, path: Path) -> Catalogue:
        """Opens the catalogue of the workspace that a file describes; it is empty if nothing usable is kept."""
        folder = cache_dir / "workspaces" / folder_name(path)
        arrays = arrayfile.load(folder / _MEMBERS)
        if arrays is not None:
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

    def load_joined(self, states: Mapping[str, str]) -> Arrays | None:
        """Loads the arrays of the joined snapshot of repositories in these states; None if they are not kept."""
        return arrayfile.load(self._joined_path(states))

    def keep_joined(self, states: Mapping[str, str], arrays: Arrays) -> Arrays:
        """Keeps the arrays of a joined snapshot, and returns them mapped from the file. Arrays that cannot be written
        are returned unchanged."""
        path = self._joined_path(states)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            remove_leftovers(self.folder)
            arrayfile.save(path, arrays)
            kept = sorted(
                self.folder.glob(f"*{_JOINED}"), key=lambda file: (file != path, -file.stat().st_mtime, file.name)
            )
            for old in kept[KEPT_JOINED:]:
                old.unlink(missing_ok=True)
            return arrayfile.load(path) or arrays
        return arrays

    def _joined_path(self, states: Mapping[str, str]) -> Path:
        key = repr((_VERSION, VERSION, [*states.items()])).encode("utf-8", "surrogatepass")
        return self.folder / f"{blake2b(key, digest_size=16).hexdigest()}{_JOINED}"


def make_kept_state(status: IndexStatus, notices: Sequence[Notice], facts: SnapshotFacts) -> KeptState:
    """Makes the state that the next opening reports, which reads no file."""
    unread = replace(status, read=0, reused=status.read + status.reused)
    return KeptState(status.snapshot, unread, tuple(notices), facts)
