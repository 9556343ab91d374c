"""Saves and loads the snapshots of an index on disk.

A snapshot is saved whole (`NAME.arrays`) or as a delta to a whole one (`NAME.BASE.delta`). A delta holds only what
cannot be made quickly from the records of the edited files. A delta is ignored if its base or one of its records is
missing or damaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secateur.index import update
from secateur.index.facts.history import FileChanges
from secateur.index.facts.snapshot import Snapshot, unpack_notices
from secateur.index.facts.snapshot_arrays import Links, digest_column
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.store import arrayfile
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.records import RecordStore, UnwritableIndex
from secateur.sources.files import path_bytes

if TYPE_CHECKING:
    import secateur.index.update.edits  # noqa: F401 - the type checker needs to see it

KEPT_SNAPSHOTS = 4  # snapshots that are kept, so that switching between branches makes none again


class StoredSnapshot(NamedTuple):
    """A snapshot from disk, and the whole snapshot that it is or was made from."""

    snapshot: Snapshot
    base: str
    whole: Snapshot


class SnapshotFiles:
    """The snapshots in the folder of a store."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    def holds(self, name: str) -> bool:
        """Tells whether a file of a state is on disk; it may be damaged."""
        return self._store.kept is not None and any(self._store.kept.glob(f"{name}.*"))

    def any(self) -> bool:
        """Tells whether any state is on disk."""
        return bool(_newest_first(self._store.kept))

    def load(self, name: str, version: str) -> StoredSnapshot | None:
        """Loads a state; None if it was not saved or cannot be used."""
        if (folder := self._store.kept) is None:
            return None
        return self._whole(folder, name, version) or self._first(sorted(folder.glob(f"{name}.*.delta")), version)

    def newest(self, version: str) -> StoredSnapshot | None:
        """Loads the state that was saved last, if its versions are the same."""
        return self._first(_newest_first(self._store.kept), version)

    def save(self, name: str, snapshot: Snapshot) -> bool:
        """Saves a state whole. Returns False if the store is in memory. Raises IndexingError."""
        return self._write(f"{name}.arrays", dict(snapshot.arrays))

    def save_edited(
        self,
        name: str,
        snapshot: Snapshot,
        base: str,
        whole: Snapshot,
        gone: frozenset[str],
        coming: Sequence[tuple[str, bytes]],
    ) -> bool:
        """Saves a state as a delta to a whole one; `gone` and `coming` are the differences that `edits.compare` found.
        Returns and raises like `save`."""
        arrays = {name: array for name, array in snapshot.arrays.items() if name.startswith(_DELTA)}
        commits = {name: array for name, array in snapshot.arrays.items() if name.startswith("commits.")}
        if not all(np.array_equal(array, whole.arrays[name]) for name, array in commits.items()):
            arrays |= commits
        arrays["gone"] = pack_strings(sorted(gone, key=path_bytes))
        arrays["changed"] = pack_strings([path for path, _ in coming])
        arrays["changed.digest"] = digest_column(digest for _, digest in coming)
        return self._write(f"{name}.{base}.delta", arrays)

    def _first(self, paths: Sequence[Path], version: str) -> StoredSnapshot | None:
        return next((stored for path in paths if (stored := self._read(path, version)) is not None), None)

    def _read(self, path: Path, version: str) -> StoredSnapshot | None:
        name, _, base = path.name.removesuffix(path.suffix).partition(".")
        if not base:
            return self._whole(path.parent, name, version)
        delta = _load_arrays(path, version)
        stored = self._whole(path.parent, base, version) if delta is not None else None
        if delta is None or stored is None:
            return None
        after = self._apply(stored.whole, delta)
        return StoredSnapshot(after, base, stored.whole) if after is not None else None

    def _whole(self, folder: Path, name: str, version: str) -> StoredSnapshot | None:
        if (arrays := _load_arrays(folder / f"{name}.arrays", version)) is None:
            return None
        snapshot = Snapshot(arrays)
        return StoredSnapshot(snapshot, name, snapshot)

    def _apply(self, whole: Snapshot, delta: Arrays) -> Snapshot | None:
        """Applies a delta to its base; None if a record is missing."""
        paths, gone = unpack_strings(delta["changed"]), frozenset(unpack_strings(delta["gone"]))
        coming = [(path, digest.tobytes()) for path, digest in zip(paths, delta["changed.digest"], strict=True)]
        origin = unpack_strings(delta["origin"])
        edit = update.edits.Edit.from_records(self._store, whole, gone, coming, origin[0])
        if edit is None:
            return None
        graph = CodeGraph.from_arrays(
            {name.removeprefix("graph."): array for name, array in delta.items() if name.startswith("graph.")}
        )
        commits = {name: delta.get(name, array) for name, array in whole.arrays.items() if name.startswith("commits.")}
        links = Links(graph, delta["file.calls"])
        notices, extra = unpack_notices(delta["notices"]), {n: delta[n] for n in delta if n.startswith("workspace.")}
        return update.edits.apply_edit(edit, links, Snapshot(delta).changes, commits, notices, origin, extra)

    def _write(self, name: str, arrays: Arrays) -> bool:
        if self._store.folder is None:
            return False
        path = self._store.folder / name
        try:
            arrayfile.save(path, arrays)
        except OSError as error:
            raise UnwritableIndex.of(f"{path}: ", error.strerror or str(error)) from error
        others = [other for other in _newest_first(path.parent) if other != path]
        kept = [path, *others[: KEPT_SNAPSHOTS - 1]]
        bases = {one.name.split(".")[1] + ".arrays" for one in kept if one.suffix == ".delta"}
        for other in others[KEPT_SNAPSHOTS - 1 :]:
            if other.name not in bases:
                other.unlink(missing_ok=True)
        return True


_DELTA = (
    "workspace.",
    "graph.",
    "notices",
    "origin",
    "file.calls",
    *(f"hotspots.{column.name}" for column in fields(FileChanges)),
)


def _load_arrays(path: Path, version: str) -> Arrays | None:
    arrays = arrayfile.load(path)
    usable = arrays is not None and "origin" in arrays and unpack_strings(arrays["origin"])[0] == version
    return arrays if usable else None


def _newest_first(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    paths = [path for suffix in ("arrays", "delta") for path in folder.glob(f"*.{suffix}")]
    return sorted(paths, key=lambda path: (-_read_modification_time(path), path.name))


def _read_modification_time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process has removed it
        return 0.0
