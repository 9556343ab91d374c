"""The snapshots of repositories as files of a store."""

from __future__ import annotations

from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.arrayfile import Arrays
from secateur.index.store.snapshot_store import SnapshotStore
from secateur.index.update.refresh import state_of


def snapshot_file(state: str) -> str:
    """The file of a repository's snapshot in the store."""
    return f"{state}.arrays"


def file_of_arrays(arrays: Arrays) -> str:
    """The file that a repository's snapshot is kept in, worked out from what it holds."""
    return snapshot_file(state_of(Snapshot(arrays)))


def snapshot_in(store: SnapshotStore, file: str) -> Snapshot:
    """The snapshot of a repository. Raises SecateurError: it is not in the store, or damaged there."""
    return Snapshot(store.needed(file, file_of_arrays))
