"""A snapshot of an edited repository from the one before: every array as if it were built anew, at the price of what
changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.facts.extract import Record, decode
from secateur.index.facts.hotspots import FileChanges
from secateur.index.facts.names import NameTable
from secateur.index.facts.snapshot import Snapshot, pack_notices
from secateur.index.facts.snapshot_arrays import (
    FILE_FIELDS,
    Links,
    Read,
    columns,
    digest_column,
    divided,
    finished,
    unindexed_arrays,
    word_bags,
)
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.records import Store
from secateur.index.store.splices import Splice, splice_of
from secateur.model import Notice
from secateur.sources.files import path_bytes


@dataclass(frozen=True, eq=False)
class Edit:
    """The differences between two states."""

    before: Snapshot
    gone: frozenset[str]  # paths that are not there any more, or have another content
    read: Read  # what is new or has another content, in byte order of the paths
    files: Splice  # of the indexed files
    rows: Splice  # of their fragments

    @classmethod
    def of(cls, before: Snapshot, gone: frozenset[str], read: Read) -> Edit:
        """The edit of a snapshot."""
        coming, _ = divided(read)
        known = before.paths
        indexed = {path_bytes(path) for path in gone if path in before.digests}
        files = splice_of([path_bytes(path) for path in known], indexed, [path_bytes(path) for path, _, _ in coming])
        rows = files.within(
            _starts(before.arrays["file.fragments"]), _starts([len(record.facts.fragments) for _, _, record in coming])
        )
        return cls(before, gone, read, files, rows)

    @classmethod
    def stored(
        cls, store: Store, before: Snapshot, gone: frozenset[str], brings: Sequence[tuple[str, bytes]], version: str
    ) -> Edit | None:
        """The edit of a snapshot, with the records of the (path, content digest) that it brings; None where one is
        missing or damaged."""
        records = [record_of(data) for data in stored_records(store, brings, version)]
        read = [
            (path, digest, record) for (path, digest), record in zip(brings, records, strict=True) if record is not None
        ]
        return cls.of(before, gone, read) if len(read) == len(records) else None

    @property
    def coming(self) -> Read:
        """The files that come and are indexed."""
        return divided(self.read)[0]

    @property
    def same_paths(self) -> bool:
        """Tells whether the indexed files are the same, with other contents."""
        return {path for path in self.gone if path in self.before.digests} == {path for path, _, _ in self.coming}

    @property
    def same_links(self) -> bool:
        """Tells whether an edit leaves everything that the call graph is made of."""
        if not self.same_paths:
            return False
        before = self.before.arrays["file.links"][self.files.gone()]
        return before.tobytes() == b"".join(record.links for _, _, record in self.coming)


def stored_records(store: Store, files: Iterable[tuple[str, bytes]], version: str) -> Iterator[bytes | None]:
    """The stored record of each (path, content digest), in order; None where there is none.

    `version`: the first part of a snapshot's origin: the version of the arrays, then that of the records.
    """
    return store.records([(path_bytes(path), digest) for path, digest in files], version.partition("|")[2])


def record_of(data: bytes | None) -> Record | None:
    """The record that was stored; None where it is missing or damaged."""
    try:
        return decode(data) if data is not None else None
    except msgspec.DecodeError:
        return None


def differing(before: Snapshot, present: Sequence[tuple[str, bytes]]) -> tuple[frozenset[str], list[tuple[str, bytes]]]:
    """The difference that an edit makes, as what goes and what comes: paths, and paths with their content digests."""
    known = before.all_digests
    brings = [(path, digest) for path, digest in present if known.get(path) != digest]
    stays = {path for path, _ in present} - {path for path, _ in brings}
    return frozenset(path for path in known if path not in stays), brings


def edited(
    edit: Edit, links: Links, changes: FileChanges, commits: Arrays, notices: Sequence[Notice], origin: Sequence[str]
) -> Snapshot:
    """The snapshot after an edit.

    Args:
        links: the call graph after the edit.
        changes: what the history says of the files after the edit.
        commits: the words of commits and the files they touched; see `snapshot.history_arrays`.
        notices, origin: as in `snapshot.build`.
    """
    before, files, rows = edit.before, edit.files, edit.rows
    texts, new = columns(edit.coming, before.arrays["vectors"].shape[1])
    arrays: Arrays = {}
    for name, items in texts.items():
        arrays[name] = (files if name.startswith("file.") else rows).packed(before.arrays[name], items)
    for name, column in new.items():
        arrays[name] = (files if name.startswith("file.") else rows).column(before.arrays[name], column)
    for field, bag in word_bags(edit.coming).items():
        splice = files if field in FILE_FIELDS else rows
        postings = getattr(before, _POSTINGS[field])
        arrays |= postings.edited(splice.moved(), bag, splice.numbers()).to_arrays(field)
    arrays |= _unindexed(edit) | commits
    arrays["notices"] = pack_notices(notices)
    arrays["origin"] = pack_strings(list(origin))
    after = Snapshot(finished(arrays, links, changes))
    _hand_on(edit, after, texts, new["vectors"])
    return after


_POSTINGS: Mapping[str, str] = {
    "body": "body",
    "docs": "descriptions",
    "names": "names",
    "files": "file_words",
    "paths": "path_words",
}
"""Attribute of `Snapshot` by field."""


def _starts(sizes: npt.NDArray[np.int32] | list[int]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _unindexed(edit: Edit) -> Arrays:
    before = edit.before
    _, coming = divided(edit.read)
    if not coming and not any(path in before.unindexed_digests for path in edit.gone):
        return {name: before.arrays[name] for name in ("unindexed", "unindexed.digest")}
    found = {
        path: (reason, before.unindexed_digests[path]) for path, reason in before.unindexed if path not in edit.gone
    }
    arrays = unindexed_arrays(coming)
    flat = unpack_strings(arrays["unindexed"])
    for (path, digest, _), reason in zip(coming, flat[1::2], strict=True):
        found[path] = reason, digest
    paths = sorted(found, key=path_bytes)
    return {
        "unindexed": pack_strings([text for path in paths for text in (path, found[path][0])]),
        "unindexed.digest": digest_column(found[path][1] for path in paths),
    }


def _hand_on(edit: Edit, after: Snapshot, texts: Mapping[str, list[str]], vectors: npt.NDArray[np.int8]) -> None:
    """Give the new snapshot what the old one has worked out already."""
    known, rows = vars(edit.before), edit.rows
    if "qualnames" in known:
        vars(after)["qualnames"] = rows.items(known["qualnames"], texts["fragment.qualname"])
    if "name_table" in known:
        vars(after)["name_table"] = known["name_table"].edited(
            rows, NameTable(texts["fragment.qualname"]), after.qualnames
        )
    if "space" in known:
        gone = edit.before.arrays["vectors"][rows.gone()]
        vars(after)["space"] = known["space"].edited(after.arrays["vectors"], gone, vectors, rows.column)
