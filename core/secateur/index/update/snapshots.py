"""The snapshot a process works with: brought from state to state in memory, kept on disk for the next process.

On disk a state is either whole (`NAME.arrays`) or what an edit makes of a whole one (`NAME.BASE.delta`): what cannot be
worked out again from the records of the edited files in a moment. A delta whose base is gone or damaged, or whose
records are, is passed over. Nothing here is the truth: whatever cannot be used is put together anew from the records.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import numpy as np

from secateur.index.facts.extract import DIGEST_BYTES, Record, decode, decode_facts
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.hotspots import FileChanges, file_changes
from secateur.index.facts.snapshot import LINKS_FAILED, Links, Snapshot, build, history_arrays
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.store import arrayfile
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.update.edits import Edit, differing, edited
from secateur.index.update.graph_update import Linker, bare
from secateur.model import Call, Notice
from secateur.progress import Progress
from secateur.sources.files import path_bytes
from secateur.sources.source import HISTORY_INCOMPLETE, Source

HISTORY_COMMITS = 50_000
"""Commits read for hotspots: with a half-life of 180 days older ones weigh nothing."""

MOST_NEWS = 5_000
"""Commits that are put before a history that is known; where more came, all of it is read again."""

KEPT_SNAPSHOTS = 4
KEPT_HISTORIES = 4
"""Of branches that are switched between."""

MOST_EDITED = 0.2
"""Share of the files above which an edited snapshot is put together anew."""

LARGEST_DELTA = 0.02
"""Share of the files above which an edited snapshot is saved whole: a delta is worked out by every process that loads
it."""

FEW = 20
"""Files that are always few."""

Repair = Callable[[Mapping[str, bytes]], list[tuple[str, bytes, Record]]]
"""Reads files again whose records are missing or damaged: path -> digest of the content they are to have."""


class SnapshotManager:
    """Holds the snapshot of one state and makes the next one of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._name = ""
        self._snapshot: Snapshot | None = None
        self._linker: Linker | None = None  # in the state of the snapshot
        self._saved: tuple[str, Snapshot] | None = None  # the whole state on disk that the snapshot was edited from
        self._unsaved = False
        self._histories: dict[str, CommitHistory] = {}

    # --- from state to state ------------------------------------------------------------------------------------------

    def at(
        self,
        name: str,
        present: Sequence[tuple[str, bytes]],
        origin: tuple[str, str, str],
        source: Source,
        dimension: int,
        repair: Repair,
        tell: Progress,
    ) -> Snapshot:
        """The snapshot of a state.

        Args:
            name: of the state.
            present: (path, content digest) of its files, in byte order of the paths; all have records.
            origin: the version of the records and the arrays, the history that was read, the time ages are measured
            from. dimension: of the vectors.

        Raises:
            IndexingError: the snapshot cannot be written, or a file whose record has to be made again has changed.
        """
        if self._snapshot is not None and self._name == name:
            return self._snapshot
        with _uncollected():
            return self._made(name, present, origin, source, dimension, repair, tell)

    def _made(
        self,
        name: str,
        present: Sequence[tuple[str, bytes]],
        origin: Sequence[str],
        source: Source,
        dimension: int,
        repair: Repair,
        tell: Progress,
    ) -> Snapshot:
        found = self._edit(self._snapshot, present, origin, source, FEW) or self._load(name, origin)
        if found is None:
            self._drop()
            found = self._edit(self.newest(origin[0]), present, origin, source, max(FEW, MOST_EDITED * len(present)))
        if found is None:
            self._drop()
            tell("linking", 0, len(present))
            found = self._build(present, origin, source, dimension, repair)
            tell("saving", 0, 1)
            self._saved = (name, found) if self._write(name, found) else None
            self._unsaved = False
        self._name, self._snapshot = name, found
        return found

    def save(self) -> None:
        """Keep the snapshot for the next process, if that is not done.

        Raises:
            IndexingError: it cannot be written.
        """
        if not self._unsaved or self._snapshot is None:
            return
        self._unsaved = False
        if self._saved is not None:
            base, whole = self._saved
            present = [*self._snapshot.digests.items(), *self._snapshot.unindexed_digests.items()]
            gone, brings = differing(whole, present)
            if len(gone | {path for path, _ in brings}) <= max(FEW, LARGEST_DELTA * len(present)):
                self._write_file(f"{self._name}.{base}.delta", _delta(self._snapshot, whole, gone, brings))
                return
        if self._write(self._name, self._snapshot):
            self._saved = self._name, self._snapshot

    def _drop(self) -> None:
        self._snapshot = self._linker = self._saved = None
        self._name = ""

    def _build(
        self,
        present: Sequence[tuple[str, bytes]],
        origin: Sequence[str],
        source: Source,
        dimension: int,
        repair: Repair,
    ) -> Snapshot:
        wanted = [(path_bytes(path), digest) for path, digest in present]
        files: list[tuple[str, bytes, Record]] = []
        damaged: dict[str, bytes] = {}
        for (path, digest), data in zip(present, self._store.records(wanted, _fingerprint(origin)), strict=True):
            record = _decoded(data)
            if record is None:
                damaged[path] = digest
            else:
                files.append((path, digest, record))
        if damaged:
            files += repair(damaged)
            files.sort(key=lambda file: path_bytes(file[0]))
        return build(files, self._history(source), source.time, dimension, _incomplete(source), origin)

    def _edit(
        self,
        before: Snapshot | None,
        present: Sequence[tuple[str, bytes]],
        origin: Sequence[str],
        source: Source,
        most: float,
    ) -> Snapshot | None:
        """The snapshot of a state made from another; None where that is not worth it, or a record is missing."""
        if before is None or unpack_strings(before.arrays["origin"])[0] != origin[0]:
            return None
        if any(notice.code == LINKS_FAILED for notice in before.notices):
            return None  # what an edit leaves alone would stay without its notice
        gone, brings = differing(before, present)
        if max(len(gone), len(brings)) > most:
            return None
        edit = self._planned(before, gone, brings, origin)
        links = self._links(edit, origin) if edit else None
        if edit is None or links is None:
            return None
        changes, commits = self._changes(edit, origin, source)
        self._unsaved = True
        return edited(edit, links, changes, commits, _incomplete(source), origin)

    def _planned(
        self, before: Snapshot, gone: frozenset[str], brings: Sequence[tuple[str, bytes]], origin: Sequence[str]
    ) -> Edit | None:
        wanted = [(path_bytes(path), digest) for path, digest in brings]
        records = [_decoded(data) for data in self._store.records(wanted, _fingerprint(origin))]
        read = [
            (path, digest, record) for (path, digest), record in zip(brings, records, strict=True) if record is not None
        ]
        return Edit.of(before, gone, read) if len(read) == len(records) else None

    def _links(self, edit: Edit, origin: Sequence[str]) -> Links | None:
        """The call graph after an edit; None where a record is missing."""
        if edit.same_links:
            return Links(edit.before.graph, edit.before.arrays["file.calls"])
        if self._linker is None:
            self._linker = self._linker_at(edit, origin)
        linker, self._linker = self._linker, None  # stays away if anything goes wrong
        if linker is None:
            return None
        fingerprint = _fingerprint(origin)
        digests = edit.before.digests

        def calls_of(numbers: Sequence[int]) -> Mapping[int, Sequence[Call]]:
            wanted = [(path_bytes(linker.paths[number]), digests[linker.paths[number]]) for number in numbers]
            found = zip(numbers, self._store.records(wanted, fingerprint), strict=True)
            return {number: decode_facts(data).calls for number, data in found if data is not None}

        try:
            links = linker.relinked(
                edit.before, edit.files, edit.rows, [(path, record) for path, _, record in edit.coming], calls_of
            )
        except (
            Exception
        ):  # a record is missing or damaged, or the linker cannot: all is linked anew, which gives the same
            return None
        self._linker = linker
        return links

    def _linker_at(self, edit: Edit, origin: Sequence[str]) -> Linker | None:
        """A linker in the state before an edit; the old facts of edited files may be forgotten, those of all others
        must be there."""
        paths = edit.before.paths
        wanted = [(path_bytes(path), edit.before.digests[path]) for path in paths]
        facts = []
        for path, data in zip(paths, self._store.records(wanted, _fingerprint(origin)), strict=True):
            try:
                facts.append(bare(decode_facts(data)) if data is not None else None)
            except msgspec.DecodeError:
                facts.append(None)
            if facts[-1] is None and path not in edit.gone:
                return None
        return Linker(paths, facts)

    def _changes(self, edit: Edit, origin: Sequence[str], source: Source) -> tuple[FileChanges, Arrays]:
        """What the history says of the files after an edit: as before where it and they are the same."""
        arrays = edit.before.arrays
        if edit.same_paths and unpack_strings(arrays["origin"])[1:] == list(origin[1:]) and not edit.before.notices:
            same = FileChanges(*(arrays[f"hotspots.{name}"] for name in _FILE_CHANGES))
            return same, {name: arrays[name] for name in arrays if name.startswith("commits.")}
        history = self._history(source)
        paths = edit.files.items(edit.before.paths, [path for path, _, _ in edit.coming])
        touched = history.files(paths)
        return file_changes(history.times, history.start, touched, source.time, len(paths)), history_arrays(
            history, touched
        )

    # --- history ------------------------------------------------------------------------------------------------------

    def _history(self, source: Source) -> CommitHistory:
        """History of the source's commit, kept if it was read to its end; put before a known one where that led to
        it."""
        wanted = source.history_id
        if not wanted:
            return CommitHistory.of(list(source.history(limit=HISTORY_COMMITS)))
        if wanted not in self._histories:
            history = self._stored_history(wanted)
            if history is None:
                history = self._continued(source) or CommitHistory.of(list(source.history(limit=HISTORY_COMMITS)))
                if _incomplete(source):
                    return history
                self._keep_history(wanted, history)
            self._histories = {wanted: history}
        return self._histories[wanted]

    def _stored_history(self, wanted: str) -> CommitHistory | None:
        stored = self._store.get_blob("history", wanted)
        with suppress(msgspec.DecodeError):
            return CommitHistory.decode(stored) if stored is not None else None
        return None

    def _keep_history(self, name: str, history: CommitHistory) -> None:
        with self._store.writing():
            self._store.put_blobs("history", {name: history.encode()}, most=KEPT_HISTORIES)
            known = [name, *(old for old in self._known_histories() if old != name)]
            self._store.put_blobs("histories", {"": msgspec.msgpack.encode(known[:KEPT_HISTORIES])})

    def _known_histories(self) -> list[str]:
        stored = self._store.get_blob("histories", "")
        with suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode(stored, type=list[str]) if stored is not None else []
        return []

    def _continued(self, source: Source) -> CommitHistory | None:
        """A known history with the commits that came since, exactly as it would be read; None where there is none."""
        cut = source.history_id.partition(":")[2]
        for name in self._known_histories():
            commit, _, other_cut = name.partition(":")
            news = source.news(commit, MOST_NEWS) if cut == other_cut else None
            known = self._stored_history(name) if news else None
            # behind a merge, which commits are the last that are read does not follow from those read before
            if news and known is not None and (news[1] or len(known) + len(news[0]) <= HISTORY_COMMITS):
                return known.after(CommitHistory.of(news[0]), HISTORY_COMMITS)
        return None

    def holds(self, name: str) -> bool:
        """Whether a state is on disk, or was when the last process looked."""
        return self._store.kept is not None and any(self._store.kept.glob(f"{name}.*"))

    # --- on disk ------------------------------------------------------------------------------------------------------

    def _load(self, name: str, origin: Sequence[str]) -> Snapshot | None:
        """A state that was saved; None if none was, or it cannot be used."""
        if self._store.kept is None:
            return None
        found = self._loaded(self._store.kept / f"{name}.arrays", origin[0])
        for path in () if found else self._store.kept.glob(f"{name}.*.delta"):
            found = found or self._loaded(path, origin[0])
        return found

    def newest(self, version: str) -> Snapshot | None:
        """The state that was saved last, with the same version of everything."""
        for path in _newest_first(self._store.kept):
            found = self._loaded(path, version)
            if found is not None:
                return found
        return None

    def _loaded(self, path: Path, version: str) -> Snapshot | None:
        name, _, base = path.name.removesuffix(path.suffix).partition(".")
        arrays = arrayfile.load(path)
        if arrays is None or "origin" not in arrays or unpack_strings(arrays["origin"])[0] != version:
            return None
        whole = Snapshot(arrays)
        if base:
            found = self._loaded(path.with_name(f"{base}.arrays"), version)
            after = self._applied(found, arrays) if found else None
            if found is None or after is None:
                return None
            self._drop()
            self._saved, self._unsaved = (base, found), False
            return after
        self._drop()
        self._saved, self._unsaved = (name, whole), False
        return whole

    def _applied(self, whole: Snapshot, delta: Arrays) -> Snapshot | None:
        """What a delta makes of its base; None where a record it needs is gone."""
        paths = unpack_strings(delta["changed"])
        brings = [(path, digest.tobytes()) for path, digest in zip(paths, delta["changed.digest"], strict=True)]
        origin = unpack_strings(delta["origin"])
        edit = self._planned(whole, frozenset(unpack_strings(delta["gone"])), brings, origin)
        if edit is None:
            return None
        graph = CodeGraph.from_arrays(
            {name.removeprefix("graph."): array for name, array in delta.items() if name.startswith("graph.")}
        )
        commits = {name: delta.get(name, array) for name, array in whole.arrays.items() if name.startswith("commits.")}
        flat = unpack_strings(delta["notices"])
        notices = [Notice(code, message) for code, message in zip(flat[::2], flat[1::2], strict=True)]
        changes = FileChanges(*(delta[f"hotspots.{name}"] for name in _FILE_CHANGES))
        return edited(edit, Links(graph, delta["file.calls"]), changes, commits, notices, origin)

    def _write(self, name: str, snapshot: Snapshot) -> bool:
        return self._write_file(f"{name}.arrays", snapshot.arrays)

    def _write_file(self, name: str, arrays: Arrays) -> bool:
        """Whether there is a folder to write to."""
        if self._store.folder is None:
            return False
        path = self._store.folder / name
        try:
            arrayfile.save(path, arrays)
        except OSError as error:
            raise UnwritableIndex.of(f"{path}: ", error.strerror or str(error)) from error
        _forget_old(path)
        return True


_FILE_CHANGES = ("revisions", "units", "latest")
_DELTA = ("graph.", "notices", "origin", "file.calls", *(f"hotspots.{name}" for name in _FILE_CHANGES))


def _delta(snapshot: Snapshot, whole: Snapshot, gone: frozenset[str], brings: Sequence[tuple[str, bytes]]) -> Arrays:
    """What of a snapshot cannot be worked out from a whole one and the records of the files that differ."""
    arrays = {name: array for name, array in snapshot.arrays.items() if name.startswith(_DELTA)}
    commits = {name: array for name, array in snapshot.arrays.items() if name.startswith("commits.")}
    if not all(np.array_equal(array, whole.arrays[name]) for name, array in commits.items()):
        arrays |= commits
    arrays["gone"] = pack_strings(sorted(gone, key=path_bytes))
    arrays["changed"] = pack_strings([path for path, _ in brings])
    arrays["changed.digest"] = np.frombuffer(b"".join(digest for _, digest in brings), dtype=np.uint8).reshape(
        len(brings), DIGEST_BYTES
    )
    return arrays


def _decoded(data: bytes | None) -> Record | None:
    try:
        return decode(data) if data is not None else None
    except msgspec.DecodeError:
        return None


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the search for garbage in cycles: it goes through all tables of names again and again while they are
    made, and takes half of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _fingerprint(origin: Sequence[str]) -> str:
    """The version of the records: the origin's first part is that and the version of the arrays."""
    return origin[0].partition("|")[2]


def _incomplete(source: Source) -> list[Notice]:
    return [notice for notice in source.notices() if notice.code == HISTORY_INCOMPLETE]


def _newest_first(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    paths = [path for suffix in ("arrays", "delta") for path in folder.glob(f"*.{suffix}")]
    return sorted(paths, key=lambda path: (-_modified(path), path.name))


def _forget_old(newest: Path) -> None:
    """Keep the newest states, and what they are made from."""
    others = [path for path in _newest_first(newest.parent) if path != newest]
    kept = [newest, *others[: KEPT_SNAPSHOTS - 1]]
    bases = {path.name.split(".")[1] + ".arrays" for path in kept if path.suffix == ".delta"}
    for path in others[KEPT_SNAPSHOTS - 1 :]:
        if path.name not in bases:
            path.unlink(missing_ok=True)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process removed it
        return 0.0
