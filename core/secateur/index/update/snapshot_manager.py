"""Manages the snapshot of a process: moves it from state to state in memory, and saves it for the next process.

A snapshot that cannot be used is made again from the records. The history of a source is read once, and extended when
commits come.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index import update
from secateur.index.facts.extract import Record, decode_facts
from secateur.index.facts.history import CommitHistory, FileChanges, file_changes
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import LINKS_FAILED, Links, build, history_arrays
from secateur.index.store.arrayfile import Arrays
from secateur.index.store.records import RecordStore, Store
from secateur.index.update.snapshot_files import SnapshotFiles, StoredSnapshot
from secateur.model import Call, FileFacts, Notice
from secateur.progress import Progress
from secateur.sources.files import path_bytes
from secateur.sources.git import HISTORY_LIMIT
from secateur.sources.source import HISTORY_INCOMPLETE, Source

if TYPE_CHECKING:
    from secateur.index.graph.resolve.members import Members
    from secateur.index.update.edits import Edit
    from secateur.index.update.graph_update import Linker


MOST_EDITED = 0.2  # the share of changed files above which a snapshot is built again instead of edited

# The share of changed files above which an edited snapshot is saved whole: every process that loads a delta has to
# apply it.
LARGEST_DELTA = 0.02

FEW = 20  # up to this many changed files, both shares do not matter
FactsOfFiles = Sequence[tuple[str, FileFacts]]  # (path, facts) of files

# Reads files again whose records are missing or damaged; takes path -> digest of the expected content.
Repair = Callable[[Mapping[str, bytes]], list[tuple[str, bytes, Record]]]


class SnapshotInputs(Protocol):
    """Everything that a snapshot is made of besides the records of its files."""

    def history(self) -> tuple[CommitHistory, int | npt.NDArray[np.int64]]:
        """Returns the history, and the time that ages are measured from; see `file_changes`."""

    def notices(self) -> list[Notice]:
        """Returns the warnings about the history."""

    def keeps_members(self, edit: Edit) -> bool:
        """Tells whether the members of a workspace provide and use the same packages after an edit."""

    def link_members(self, edit: Edit | None, files: Callable[[], FactsOfFiles]) -> tuple[Members | None, bool]:
        """Returns the members of a workspace for the resolver (None for one repository), and whether they use the same
        packages of each other as before the edit. `files`: returns the facts of all files after the edit."""

    def extra(self) -> Arrays:
        """Returns the arrays that only the snapshot of a workspace has."""


@dataclass
class RepositoryInputs:
    """The inputs of one repository."""

    source: Source
    histories: Histories

    def history(self) -> tuple[CommitHistory, int]:
        return self.histories.of(self.source), self.source.time

    def notices(self) -> list[Notice]:
        return incomplete(self.source)

    def keeps_members(self, edit: Edit) -> bool:  # noqa: ARG002
        return True

    def link_members(self, edit: Edit | None, files: Callable[[], FactsOfFiles]) -> tuple[None, bool]:  # noqa: ARG002
        return None, True

    def extra(self) -> Arrays:
        return {}


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Switches the search for cyclic garbage off. It would visit the growing tables of names again and again, and take
    half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class SnapshotManager:
    """Holds the snapshot of one state, and makes the snapshot of the next state from it."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self._files = SnapshotFiles(store)
        self._name = ""
        self._snapshot: Snapshot | None = None
        self._linker: Linker | None = None  # has the state of the snapshot
        self._saved: tuple[str, Snapshot] | None = None  # the whole state on disk that the snapshot was edited from
        self._unsaved = False

    def find(self, name: str, version: str) -> Snapshot | None:
        """Returns the snapshot of a state if it is in memory or on disk. `version`: that of the arrays."""
        if self._snapshot is None or self._name != name:
            if (stored := self._files.load(name, version)) is None:
                return None
            self._snapshot, self._name = self._begin_with(stored), name
        return self._snapshot

    def newest(self, version: str) -> Snapshot | None:
        """Returns the snapshot in memory, else the one that was saved last."""
        if self._snapshot is not None and self._snapshot.origin[0] == version:
            return self._snapshot
        self._snapshot, self._name = self._begin_with(self._files.newest(version)), ""
        return self._snapshot

    @_without_garbage_collection()
    def at(
        self,
        name: str,
        present: Sequence[tuple[str, bytes]],
        origin: tuple[str, str, str],
        inputs: SnapshotInputs,
        dimension: int,
        repair: Repair,
        tell: Progress,
    ) -> Snapshot:
        """Returns the snapshot of a state.

        Args:
            name: the name of the state.
            present: (path, content digest) of its files, in byte order of the paths; all have records.
            origin: the version of the arrays and the records, the history, and the time ages are measured from.
            inputs: everything else that the snapshot is made of.
            dimension: the dimension of the vectors.

        Raises:
            IndexingError: the snapshot cannot be written, or a file has changed whose record must be made again.
        """
        if self._snapshot is not None and self._name == name:
            return self._snapshot
        # the cheapest way first: edit the snapshot in memory, load this state, edit the newest on disk, build
        if (snapshot := self._edit(self._snapshot, present, origin, inputs, FEW)) is None:
            snapshot = self._begin_with(self._files.load(name, origin[0]))
        if snapshot is None:
            newest = self._begin_with(self._files.newest(origin[0]))
            snapshot = self._edit(newest, present, origin, inputs, max(FEW, MOST_EDITED * len(present)))
        if snapshot is None:
            self._drop()
            tell("linking", 0, 0)
            snapshot = self._build(present, origin, inputs, dimension, repair)
            tell("saving", 0, 0)
            self._saved = (name, snapshot) if self._files.save(name, snapshot) else None
            self._unsaved = False
        self._name, self._snapshot = name, snapshot
        return snapshot

    def save(self) -> None:
        """Saves the snapshot for the next process, if it is not saved yet. Raises IndexingError: it cannot be
        written."""
        if not self._unsaved or self._snapshot is None:
            return
        self._unsaved = False
        if self._saved is not None:
            base, whole = self._saved
            present = list(self._snapshot.all_digests.items())
            gone, coming = update.edits.compare(whole, present)
            if len(gone | {path for path, _ in coming}) <= max(FEW, LARGEST_DELTA * len(present)):
                self._files.save_edited(self._name, self._snapshot, base, whole, gone, coming)
                return
        if self._files.save(self._name, self._snapshot):
            self._saved = self._name, self._snapshot

    def _drop(self) -> None:
        self._snapshot = self._linker = self._saved = None
        self._name = ""

    def _begin_with(self, stored: StoredSnapshot | None) -> Snapshot | None:
        self._drop()
        if stored is None:
            return None
        self._saved, self._unsaved = (stored.base, stored.whole), False
        return stored.snapshot

    def _build(
        self,
        present: Sequence[tuple[str, bytes]],
        origin: Sequence[str],
        inputs: SnapshotInputs,
        dimension: int,
        repair: Repair,
    ) -> Snapshot:
        files: list[tuple[str, bytes, Record]] = []
        damaged: dict[str, bytes] = {}
        stored = update.edits.read_records(self._store, present, origin[0])
        for (path, digest), data in zip(present, stored, strict=True):
            if (record := update.edits.record_of(data)) is None:
                damaged[path] = digest
            else:
                files.append((path, digest, record))
        if damaged:
            files += repair(damaged)
            files.sort(key=lambda file: path_bytes(file[0]))
        indexed = [(path, record.facts) for path, _, record in files if record.indexed]
        members, _ = inputs.link_members(None, lambda: indexed)
        snapshot = build(files, *inputs.history(), dimension, inputs.notices(), origin, members)
        return Snapshot({**snapshot.arrays, **inputs.extra()})

    def _edit(
        self,
        before: Snapshot | None,
        present: Sequence[tuple[str, bytes]],
        origin: Sequence[str],
        inputs: SnapshotInputs,
        most: float,
    ) -> Snapshot | None:
        """Edits a snapshot into that of another state; None if more than `most` files differ or a record is missing."""
        if before is None or before.origin[0] != origin[0]:
            return None
        if any(notice.code == LINKS_FAILED for notice in before.notices):
            return None  # the unaffected files would keep their missing edges
        gone, coming = update.edits.compare(before, present)
        if max(len(gone), len(coming)) > most:
            return None
        edit = update.edits.Edit.from_records(self._store, before, gone, coming, origin[0])
        links = self._links(edit, origin, inputs) if edit else None
        if edit is None or links is None:
            return None
        changes, commits = self._changes(edit, origin, inputs)
        self._unsaved = True
        return update.edits.apply_edit(edit, links, changes, commits, inputs.notices(), origin, inputs.extra())

    def _links(self, edit: Edit, origin: Sequence[str], inputs: SnapshotInputs) -> Links | None:
        """Makes the call graph after an edit; None if a record is missing."""
        if edit.same_links and inputs.keeps_members(edit):
            return Links(edit.before.graph, edit.before.arrays["file.calls"])
        if self._linker is None:
            self._linker = self._linker_at(edit, origin)
        linker, self._linker = self._linker, None  # after an error it must not be used again
        if linker is None:
            return None
        digests = edit.before.digests

        def calls_of(numbers: Sequence[int]) -> Mapping[int, Sequence[Call]]:
            wanted = [(linker.paths[file_number], digests[linker.paths[file_number]]) for file_number in numbers]
            records = zip(numbers, update.edits.read_records(self._store, wanted, origin[0]), strict=True)
            return {file_number: decode_facts(data).calls for file_number, data in records if data is not None}

        try:
            coming = [(path, record) for path, _, record in edit.coming]
            members, same_uses = inputs.link_members(edit, lambda: linker.facts_after(edit.files, coming))
            links = linker.relink(edit.before, edit.files, edit.rows, coming, calls_of, members, same_uses=same_uses)
        except Exception:  # a record is missing or the linker failed: a new build gives the same graph
            return None
        self._linker = linker
        return links

    def _linker_at(self, edit: Edit, origin: Sequence[str]) -> Linker | None:
        """Makes a linker in the state before an edit; None if facts are missing. The old facts of edited files may be
        missing."""
        paths = edit.before.paths
        facts = []
        wanted = edit.before.digests.items()
        for (path, _), data in zip(wanted, update.edits.read_records(self._store, wanted, origin[0]), strict=True):
            try:
                facts.append(update.graph_update.bare(decode_facts(data)) if data is not None else None)
            except msgspec.DecodeError:
                facts.append(None)
            if facts[-1] is None and path not in edit.gone:
                return None
        return update.graph_update.Linker(paths, facts)

    def _changes(self, edit: Edit, origin: Sequence[str], inputs: SnapshotInputs) -> tuple[FileChanges, Arrays]:
        """Works out the changes of each file in the history after an edit. If the files and the history are the same,
        so are the changes."""
        before = edit.before
        if edit.same_paths and before.origin[1:] == list(origin[1:]) and not before.notices:
            commits = {name: array for name, array in before.arrays.items() if name.startswith("commits.")}
            return before.changes, commits
        history, now = inputs.history()
        paths = edit.files.items(before.paths, [path for path, _, _ in edit.coming])
        touched = history.files(paths)
        return file_changes(history.times, history.start, touched, now, len(paths)), history_arrays(history, touched)


# The most commits that are put before a known history. If more came, the whole history is read again.
MOST_NEWS = 5_000

KEPT_HISTORIES = 4  # histories that are kept, so that switching between branches reads none again


class Histories:
    """The histories of a store, by the id of their commit."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[str, CommitHistory] | None = None

    def of(self, source: Source) -> CommitHistory:
        """Returns the history of the source's commit, and keeps it if it was read to its end."""
        if not (wanted := source.history_id):
            return _read(source)
        if self._last is None or self._last[0] != wanted:
            if (history := self.load(wanted)) is None:
                history = self._extend_known(source) or _read(source)
                if incomplete(source):
                    return history
                with self._store.writing():
                    self._store.put_blobs("history", {wanted: history.encode()}, most=KEPT_HISTORIES)
                    known = [wanted, *(old for old in self._list_known() if old != wanted)]
                    self._store.put_blobs("histories", {"": msgspec.msgpack.encode(known[:KEPT_HISTORIES])})
            self._last = wanted, history
        return self._last[1]

    def load(self, name: str) -> CommitHistory | None:
        """Loads the kept history of a commit."""
        data = self._store.get_blob("history", name)
        with suppress(msgspec.DecodeError):
            return CommitHistory.decode(data) if data is not None else None
        return None

    def _list_known(self) -> list[str]:
        data = self._store.get_blob("histories", "")
        with suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode(data, type=list[str]) if data is not None else []
        return []

    def _extend_known(self, source: Source) -> CommitHistory | None:
        """Extends a known history by the commits that came since, exactly as if it were read; None if that is
        impossible."""
        cut = source.history_id.partition(":")[2]
        for name in self._list_known():
            commit, _, other_cut = name.partition(":")
            news = source.new_commits(commit, MOST_NEWS) if cut == other_cut else None
            known = self.load(name) if news else None
            # with a merge among the new commits, the limit may cut other commits than a new reading would
            if news and known is not None and (news[1] or len(known) + len(news[0]) <= HISTORY_LIMIT):
                return known.after(CommitHistory.of(news[0]), HISTORY_LIMIT)
        return None


def incomplete(source: Source) -> list[Notice]:
    """Returns the notices of the source about a history that could not be read to its end."""
    return [notice for notice in source.notices() if notice.code == HISTORY_INCOMPLETE]


def _read(source: Source) -> CommitHistory:
    return CommitHistory.of(list(source.history()))
