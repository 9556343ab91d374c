"""Makes the snapshot of an edited repository from the snapshot before. The arrays equal those of a new build, but the
time depends on the size of the edit.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.facts import snapshot_arrays
from secateur.index.facts.extract import Record, decode
from secateur.index.facts.history import FileChanges
from secateur.index.facts.names import NameTable
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import Snapshot, pack_notices
from secateur.index.store.arrayfile import Arrays, Splice, pack_strings, splice_of, unpack_strings
from secateur.index.store.records import RecordStore
from secateur.model import Notice
from secateur.sources.files import path_bytes


@dataclass(frozen=True, eq=False)
class Edit:
    """The differences between two states."""

    before: Snapshot
    gone: frozenset[str]  # removed paths, and paths with another content
    read: snapshot_arrays.Read  # new files, and files with another content, in byte order of the paths
    files: Splice  # the edit of the indexed files
    rows: Splice  # the edit of their fragments

    @classmethod
    def of(cls, before: Snapshot, gone: frozenset[str], read: snapshot_arrays.Read) -> Edit:
        """Makes the edit of a snapshot."""
        coming, _ = snapshot_arrays.split_unindexed(read)
        known = before.paths
        indexed = {path_bytes(path) for path in gone if path in before.digests}
        files = splice_of([path_bytes(path) for path in known], indexed, [path_bytes(path) for path, _, _ in coming])
        rows = files.within(
            _starts(before.arrays["file.fragments"]), _starts([len(record.facts.fragments) for _, _, record in coming])
        )
        return cls(before, gone, read, files, rows)

    @classmethod
    def from_records(
        cls,
        store: RecordStore,
        before: Snapshot,
        gone: frozenset[str],
        coming: Sequence[tuple[str, bytes]],
        version: str,
    ) -> Edit | None:
        """Makes the edit from the stored records of the coming (path, content digest); None if one is missing or
        damaged."""
        records = [record_of(data) for data in read_records(store, coming, version)]
        read = [
            (path, digest, record) for (path, digest), record in zip(coming, records, strict=True) if record is not None
        ]
        return cls.of(before, gone, read) if len(read) == len(records) else None

    @property
    def coming(self) -> snapshot_arrays.Read:
        """The new and changed files that are indexed."""
        return snapshot_arrays.split_unindexed(self.read)[0]

    @property
    def same_paths(self) -> bool:
        """True if the edit changes contents only, and neither adds nor removes an indexed file."""
        return {path for path in self.gone if path in self.before.digests} == {path for path, _, _ in self.coming}

    @property
    def same_links(self) -> bool:
        """True if the edit changes no fact that the call graph depends on."""
        if not self.same_paths:
            return False
        before = self.before.arrays["file.links"][self.files.removed_rows()]
        return before.tobytes() == b"".join(record.links for _, _, record in self.coming)


def read_records(store: RecordStore, files: Iterable[tuple[str, bytes]], version: str) -> Iterator[bytes | None]:
    """Yields the stored record of each (path, content digest), in order; None for a missing one.

    `version`: the first part of a snapshot's origin, which is the version of the arrays, then that of the records.
    """
    return store.records([(path_bytes(path), digest) for path, digest in files], version.partition("|")[2])


def record_of(data: bytes | None) -> Record | None:
    """Decodes a stored record; None if it is missing or damaged."""
    try:
        return decode(data) if data is not None else None
    except msgspec.DecodeError:
        return None


def compare(before: Snapshot, present: Sequence[tuple[str, bytes]]) -> tuple[frozenset[str], list[tuple[str, bytes]]]:
    """Compares a snapshot with the present files. Returns the paths that are gone or changed, and (path, content
    digest) of the files that are new or changed."""
    known = before.all_digests
    coming = [(path, digest) for path, digest in present if known.get(path) != digest]
    unchanged = {path for path, _ in present} - {path for path, _ in coming}
    return frozenset(path for path in known if path not in unchanged), coming


def apply_edit(
    edit: Edit,
    links: snapshot_arrays.Links,
    changes: FileChanges,
    commits: Arrays,
    notices: Sequence[Notice],
    origin: Sequence[str],
    extra: Arrays,
) -> Snapshot:
    """Makes the snapshot after an edit.

    Args:
        links: the call graph after the edit.
        changes: the changes of each file in the history after the edit.
        commits: the words of commits and the files they touched; see `snapshot_arrays.history_arrays`.
        notices, origin: see `snapshot_arrays.build`.
        extra: arrays that only some snapshots have.
    """
    before, files, rows = edit.before, edit.files, edit.rows
    texts, new = snapshot_arrays.columns(edit.coming, before.arrays["vectors"].shape[1])
    arrays: Arrays = {}
    for name, items in texts.items():
        arrays[name] = (files if name.startswith("file.") else rows).edit_packed(before.arrays[name], items)
    for name, column in new.items():
        arrays[name] = (files if name.startswith("file.") else rows).column(before.arrays[name], column)
    for field, bag in snapshot_arrays.word_bags(edit.coming).items():
        splice = files if field in snapshot_arrays.FILE_FIELDS else rows
        postings = Postings.from_arrays(before.arrays, field)
        arrays |= postings.edit(splice.map_rows(), bag, splice.numbers()).to_arrays(field)
    arrays |= _edit_unindexed(edit) | commits | extra
    arrays["notices"] = pack_notices(notices)
    arrays["origin"] = pack_strings(list(origin))
    after = Snapshot(snapshot_arrays.add_links(arrays, links, changes))
    _hand_on_tables(edit, after, texts, new["vectors"])
    return after


def _starts(sizes: npt.NDArray[np.int32] | list[int]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _edit_unindexed(edit: Edit) -> Arrays:
    before = edit.before
    _, coming = snapshot_arrays.split_unindexed(edit.read)
    if not coming and not any(path in before.unindexed_digests for path in edit.gone):
        return {name: before.arrays[name] for name in ("unindexed", "unindexed.digest")}
    entries = {
        path: (reason, before.unindexed_digests[path]) for path, reason in before.unindexed if path not in edit.gone
    }
    flat = unpack_strings(snapshot_arrays.unindexed_arrays(coming)["unindexed"])
    for (path, digest, _), reason in zip(coming, flat[1::2], strict=True):
        entries[path] = reason, digest
    paths = sorted(entries, key=path_bytes)
    return {
        "unindexed": pack_strings([text for path in paths for text in (path, entries[path][0])]),
        "unindexed.digest": snapshot_arrays.digest_column(entries[path][1] for path in paths),
    }


def _hand_on_tables(edit: Edit, after: Snapshot, texts: Mapping[str, list[str]], vectors: npt.NDArray[np.int8]) -> None:
    known, rows = vars(edit.before), edit.rows
    if "qualnames" in known:
        vars(after)["qualnames"] = rows.items(known["qualnames"], texts["fragment.qualname"])
    if "name_table" in known:
        vars(after)["name_table"] = known["name_table"].edit(
            rows, NameTable(texts["fragment.qualname"]), after.qualnames
        )
    if "space" in known:
        gone = edit.before.arrays["vectors"][rows.removed_rows()]
        vars(after)["space"] = known["space"].edit(after.arrays["vectors"], gone, vectors, rows.column)
