"""The catalogue of a workspace: facts about its repositories that are kept from one opening to the next.

For each repository it holds a *look* (a digest of its commit and working tree) and what was known at that look: rules,
state, history, warnings. A repository whose look has not changed needs no git, no listing and no database.

The catalogue is a cache: what is damaged or missing is worked out again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from secateur.index.store import arrayfile
from secateur.index.store.atomic_files import remove_leftovers
from secateur.index.store.folder import folder_name
from secateur.model import Notice
from secateur.settings import Index
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
