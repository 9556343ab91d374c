"""The snapshots of repositories as files of a store."""

from __future__ import annotations

from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.arrayfile import Arrays
from secateur.index.store.snapshot_store import SnapshotStore
from secateur.index.update.refresh import state_of


def snapshot_file(state: str) -> str:
    """Names the file of a repository's snapshot in the store."""
    return f"{state}.arrays"


def file_of_arrays(arrays: Arrays) -> str:
    """Names the file of a repository's snapshot from the content of its arrays."""
    return snapshot_file(state_of(Snapshot(arrays)))


def snapshot_in(store: SnapshotStore, file: str) -> Snapshot:
    """Reads the snapshot of a repository. Raises SecateurError: it is missing or damaged in the store."""
    return Snapshot(store.require(file, file_of_arrays))
