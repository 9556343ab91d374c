"""The catalogue of a workspace: facts of its repositories that are kept from one opening to the next.

Of each the look that it had, and what was found then: its rules, the name of its snapshot, its status. A repository
that looks as it did needs no git, no listing and no database. And the figures that all tell each other, which have to
be gathered from all snapshots, by the names of these; shards that are made of snapshots, merged or split; and of each
shard its outline: the words and names that it holds.

Nothing here is the truth: what is damaged or missing is found out anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from secateur.index.facts.crossing import COLUMNS, VERSION, CrossingEdges
from secateur.index.facts.degraded import SnapshotFacts
from secateur.index.facts.hotspots import RankedValues
from secateur.index.facts.outline import VERSION as OUTLINE_VERSION
from secateur.index.facts.outline import ShardOutline, outline_of
from secateur.index.facts.shard import Shard, SharedFacts
from secateur.index.store import arrayfile
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.atomic_files import remove_leftovers
from secateur.index.store.folder import folder_name
from secateur.index.update.refresh import IndexStatus
from secateur.model import Notice
from secateur.settings import Index

KEPT_STATES = 4
"""Versions of the records, of which each repository has a state: with vectors and without, by several counters."""

KEPT_FACTS = 4
"""Files of shared figures, of states that are switched between."""

_VERSION = 3
"""Changes with what is kept."""

_MEMBERS = "members.arrays"
_SHARED = ".shared"
_DERIVED = ".derived"
_OUTLINE = ".outline"


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

    def shared_facts(self, names: Sequence[str]) -> SharedFacts | None:
        """The figures that the shards of snapshots tell each other, by texts that say which; None where they are not
        kept."""
        arrays = arrayfile.load(self._place(names))
        if arrays is None:
            return None
        return facts_in(arrays)

    def keep_shared(self, names: Sequence[str], facts: SharedFacts) -> None:
        """Keep the figures that the shards of snapshots tell each other."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            arrayfile.save(self._place(names), arrays_of(facts))
            self._forget(_SHARED, {self._place(names).name}, KEPT_FACTS - 1)

    def derived(self, names: Sequence[str]) -> Arrays | None:
        """The arrays of a shard that is made of the snapshots of repositories, by texts that say of which and how; None
        where they are not kept."""
        return arrayfile.load(self._derived(names))

    def keep_derived(self, names: Sequence[str], arrays: Arrays) -> Arrays:
        """Keep the arrays of such a shard; the same as they are mapped, or as they are where they cannot be written."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            arrayfile.save(self._derived(names), arrays)
            return self.derived(names) or arrays
        return arrays

    def outline(self, names: Sequence[str], shard: Shard) -> ShardOutline:
        """The outline of a shard, by texts that say which it is; made and kept where it is not."""
        path = self._outline(names)
        arrays = arrayfile.load(path)
        if arrays is not None:
            with suppress(KeyError):
                return ShardOutline.from_arrays(arrays)
        outline = outline_of(shard)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            arrayfile.save(path, outline.to_arrays())
        return outline

    def sweep(self, derived: Collection[Sequence[str]], outlined: Collection[Sequence[str]]) -> None:
        """Remove shards and outlines besides these, once there are as many others: of states that are switched
        between."""
        self._forget(_DERIVED, {self._derived(names).name for names in derived}, len(derived))
        self._forget(_OUTLINE, {self._outline(names).name for names in outlined}, len(outlined))

    def _place(self, names: Sequence[str]) -> Path:
        return self.folder / f"{_named([f'{VERSION}', *names])}{_SHARED}"

    def _derived(self, names: Sequence[str]) -> Path:
        return self.folder / f"{_named(names)}{_DERIVED}"

    def _outline(self, names: Sequence[str]) -> Path:
        return self.folder / f"{_named([f'{OUTLINE_VERSION}', *names])}{_OUTLINE}"

    def _forget(self, suffix: str, used: Collection[str], others: int) -> None:
        """Remove files with a suffix besides those in use and so many others, the newest."""
        with suppress(OSError):
            found = [path for path in self.folder.glob(f"*{suffix}") if path.name not in used]
            if len(found) > others:
                found.sort(key=lambda path: (-path.stat().st_mtime, path.name))
                for path in found[others:]:
                    path.unlink(missing_ok=True)


def arrays_of(facts: SharedFacts) -> Arrays:
    """The figures that shards tell each other, as arrays to be kept; `facts_in` is the inverse."""
    total, described = facts.vectors
    arrays: Arrays = {
        "sizes": np.array([facts.fragments, described], dtype=np.int64),
        "terms": facts.terms,
        "frequency": facts.frequency,
        "vectors": total,
        "churns": np.stack([facts.churns.values, facts.churns.counts]),
        "complexities": np.stack([facts.complexities.values, facts.complexities.counts]),
        "crossing.said": pack_strings(list(facts.crossing.said)),
    }
    return arrays | {f"crossing.{name}": getattr(facts.crossing, name) for name in COLUMNS}


def facts_in(arrays: Arrays) -> SharedFacts | None:
    """The figures that arrays hold; None where they hold none."""
    with suppress(KeyError, ValueError):
        fragments, described = arrays["sizes"].tolist()
        return SharedFacts(
            terms=arrays["terms"],
            frequency=arrays["frequency"],
            fragments=fragments,
            vectors=(arrays["vectors"], described),
            churns=RankedValues(*arrays["churns"]),
            complexities=RankedValues(*arrays["complexities"]),
            crossing=CrossingEdges.of(
                {name: arrays[f"crossing.{name}"] for name in COLUMNS}, unpack_strings(arrays["crossing.said"])
            ),
        )
    return None


def _named(texts: Sequence[str]) -> str:
    """A name that stands for texts, and for the layout of what is kept."""
    data = repr((_VERSION, *texts)).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).hexdigest()


def state_kept(status: IndexStatus, notices: Sequence[Notice], facts: SnapshotFacts) -> KeptState:
    """A state as an opening finds it that reads nothing."""
    unread = replace(status, read=0, reused=status.read + status.reused)
    return KeptState(status.snapshot, unread, tuple(notices), facts)
