"""The inputs of a workspace's snapshot besides the records of its files: histories, and the packages by which
repositories use each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from secateur.index.facts.extract import digest_of
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot import MEMBER_STATES, UNREAD, Snapshot
from secateur.index.graph.resolve.members import Members
from secateur.index.member_index import MemberIndex, below
from secateur.index.store.arrayfile import Arrays, pack_strings
from secateur.index.update.edits import Edit
from secateur.index.update.snapshot_manager import FactsOfFiles
from secateur.languages import rules_of
from secateur.languages.packages import ManifestPackages, manifests_of, packages_of
from secateur.model import FileFacts, IntArray, Notice
from secateur.render.page import listed
from secateur.sources.source import HISTORY_INCOMPLETE


@dataclass
class WorkspaceInputs:
    """The inputs of a workspace's snapshot; see `SnapshotInputs`. `present`: the digest of each file."""

    members: Mapping[str, MemberIndex]
    present: Mapping[str, bytes]
    _packages: Mapping[str, ManifestPackages] = field(default_factory=dict)

    def history(self) -> tuple[CommitHistory, IntArray]:
        of_each = {name: member.history() for name, member in self.members.items()}
        times = [member.time for member in self.members.values()]
        return CommitHistory.join(of_each), np.repeat(
            np.array(times, dtype=np.int64), [len(history) for history in of_each.values()]
        )

    def notices(self) -> list[Notice]:
        return [
            Notice(notice.code, f"{name}: {notice.message}")
            for name, member in self.members.items()
            for notice in member.notices()
            if notice.code == HISTORY_INCOMPLETE
        ]

    def keeps_members(self, edit: Edit) -> bool:
        self._packages = _packages_in(edit.before)
        changed = [path.rpartition("/")[2] for path in (*edit.gone, *(path for path, _, _ in edit.read))]
        return [*self._packages] == [*self.members] and not any(
            manifests.names.fullmatch(name) for manifests in manifests_of().values() for name in changed
        )

    def link_members(self, edit: Edit | None, files: Callable[[], FactsOfFiles]) -> tuple[Members, bool]:
        before = _packages_in(edit.before) if edit is not None else {}
        changed = (*edit.gone, *(path for path, _, _ in edit.read)) if edit is not None else ()
        moved = {path.partition("/")[0] for path in changed}
        wanted = [name for name in self.members if name in moved or name not in before]
        facts: dict[str, list[tuple[str, FileFacts]]] = {name: [] for name in wanted}
        for path, known in files() if wanted else ():
            name, _, own = path.partition("/")
            if name in facts:
                facts[name].append((own, known))
        self._packages = {
            name: self._find_packages(name, facts[name]) if name in facts else before[name] for name in self.members
        }
        members = Members(self._packages)
        return members, edit is not None and [*before] == [*self.members] and members.uses == Members(before).uses

    def _find_packages(self, name: str, files: FactsOfFiles) -> ManifestPackages:
        digests, source = below(name, self.present), self.members[name].source

        def read(paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
            for path, data in source.read(paths):  # a file that changed since it was recorded is read next time
                yield path, data if data is not None and digest_of(data) == digests[path] else None

        return packages_of(digests, files, lambda facts: rules_of(facts.language).family, read)

    def extra(self) -> Arrays:
        states = [
            text
            for name, member in self.members.items()
            for text in (name, member.state.name if member.state else "", member.history_id)
        ]
        unread = [
            f"{name}: {listed(list(packages.unread))} cannot be read as a manifest."
            for name, packages in self._packages.items()
            if packages.unread
        ]
        data = _ENCODER.encode(self._packages)
        return {
            MEMBER_STATES: pack_strings(states),
            UNREAD: pack_strings(unread),
            _PACKAGES: np.frombuffer(data, dtype=np.uint8),
        }


_PACKAGES = "workspace.packages"  # array of the packages of each repository

_ENCODER = msgspec.msgpack.Encoder(order="deterministic")


def _packages_in(snapshot: Snapshot) -> dict[str, ManifestPackages]:
    return msgspec.msgpack.decode(snapshot.arrays[_PACKAGES].tobytes(), type=dict[str, ManifestPackages])
