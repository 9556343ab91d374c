"""The catalogue of a workspace: facts of its repositories that are kept from one opening to the next.

Of each the look that it had, and what was found then: its rules, the name of its snapshot, its status. A repository
that looks as it did needs no git, no listing and no database. And the arrays of all their snapshots, joined: one file
that is mapped, by the names of these.

Nothing here is the truth: what is damaged or missing is found out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

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
"""Versions of the records, of which each repository has a state: with vectors and without, by several counters."""

KEPT_JOINED = 2
"""Joined snapshots, of states that are switched between."""

_VERSION = 4
"""Changes with what is kept."""

_MEMBERS = "members.arrays"
_JOINED = ".joined"


class KeptState(msgspec.Struct, frozen=True):
    """A repository as it was indexed: the name of its snapshot, its status, what its source warned of, and the facts of
    the snapshot that every answer needs."""

    name: str
    status: IndexStatus
    notices: tuple[Notice, ...]
    facts: SnapshotFacts


class KeptMember(msgspec.Struct, frozen=True):
    """A repository with a look.

    Attributes:
        look: `CommitLook.digest`.
        rules: by which it is read, its own among them; `said`: of its own settings, "" for nothing.
        states: by version of the records, the newest last.
    """

    look: str
    rules: Index
    said: str
    states: dict[str, KeptState]

    def with_state(self, version: str, state: KeptState) -> KeptMember:
        """The same with another state of a version."""
        states = [(name, one) for name, one in self.states.items() if name != version]
        return msgspec.structs.replace(self, states=dict([*states, (version, state)][-KEPT_STATES:]))


@dataclass
class MemberLook:
    """The look of a repository of a workspace while it is open, and what the catalogue has of that look.

    Attributes:
        opener: by the user's rules and its own.
        now: the look at any time; `first`: when it was opened, None where a look does not tell.
        opened: what is kept of the look `first`, if there is one.
        naming: has errors say which repository they are about.
        member: `opened`, as long as it holds; None where it has no state.
        seen: the look when it was recorded last.
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
        """The state in which it still is, looked at anew; None where that is not known."""
        if not self._is_new:
            self.seen = self.now()
        self._is_new = False
        if self.member is None or self.seen is None or self.seen.digest != self.member.look:
            return None
        return self.member.states.get(version)

    def before(self) -> Source:
        """The repository as it was when it was opened."""
        assert self.first is not None
        return replace(self.opener, rev=self.first.commit)()


@dataclass
class Catalogue:
    """The kept facts of the workspace of one file; `members` by name."""

    folder: Path
    members: dict[str, KeptMember] = field(default_factory=dict)

    @classmethod
    def open(cls, cache_dir: Path, path: Path, beside: str = "") -> Catalogue:
        """The catalogue of the workspace that a file names; an empty one where nothing of use is kept.

        `beside`: the name of another one of the same workspace, which others read.
        """
        folder = cache_dir / "workspaces" / folder_name(path) / beside
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
        """Keep these for the next opening, in the place of all; where they cannot be written, nothing is."""
        self.members = dict(members)
        with suppress(OSError, UnicodeEncodeError):  # a path that is no text is found out anew
            data = msgspec.msgpack.encode((_VERSION, self.members))
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            remove_leftovers(self.folder)
            arrayfile.save(self.folder / _MEMBERS, {"members": np.frombuffer(data, dtype=np.uint8)})

    def joined(self, states: Mapping[str, str]) -> Arrays | None:
        """The arrays of the joined snapshot of repositories in these states; None where they are not kept."""
        return arrayfile.load(self._joined(states))

    def keep_joined(self, states: Mapping[str, str], arrays: Arrays) -> Arrays:
        """Keep the arrays of a joined snapshot; the same as they are mapped, or as they are where they cannot be
        written."""
        path = self._joined(states)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            remove_leftovers(self.folder)
            arrayfile.save(path, arrays)
            kept = sorted(
                self.folder.glob(f"*{_JOINED}"), key=lambda one: (one != path, -one.stat().st_mtime, one.name)
            )
            for old in kept[KEPT_JOINED:]:
                old.unlink(missing_ok=True)
            return arrayfile.load(path) or arrays
        return arrays

    def _joined(self, states: Mapping[str, str]) -> Path:
        named = repr((_VERSION, VERSION, [*states.items()])).encode("utf-8", "surrogatepass")
        return self.folder / f"{blake2b(named, digest_size=16).hexdigest()}{_JOINED}"


def state_kept(status: IndexStatus, notices: Sequence[Notice], facts: SnapshotFacts) -> KeptState:
    """A state as an opening finds it that reads nothing."""
    unread = replace(status, read=0, reused=status.read + status.reused)
    return KeptState(status.snapshot, unread, tuple(notices), facts)
