"""A snapshot of an edited repository from the one before: every array as if it were built anew, at the price of what
changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from secateur.index.facts.extract import DIGEST_BYTES
from secateur.index.facts.hotspots import FileChanges
from secateur.index.facts.names import NameTable
from secateur.index.facts.snapshot import (
    FILE_FIELDS,
    Links,
    Read,
    Snapshot,
    columns,
    divided,
    finished,
    unindexed_arrays,
    word_bags,
)
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.index.store.splices import Splice, splice_of
from secateur.model import Notice
from secateur.sources.files import path_bytes


@dataclass(frozen=True, eq=False)
class Edit:
    """What differs between two states."""

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

    @property
    def coming(self) -> Read:
        """What comes and is indexed."""
        return divided(self.read)[0]

    @property
    def same_paths(self) -> bool:
        """Whether the indexed files are the same, with other contents."""
        return {path for path in self.gone if path in self.before.digests} == {path for path, _, _ in self.coming}

    @property
    def same_links(self) -> bool:
        """Whether nothing changed of what the call graph is made of."""
        if not self.same_paths:
            return False
        before = self.before.arrays["file.links"][self.files.gone()]
        return before.tobytes() == b"".join(record.links for _, _, record in self.coming)


def differing(before: Snapshot, present: Sequence[tuple[str, bytes]]) -> tuple[frozenset[str], list[tuple[str, bytes]]]:
    """What an edit takes away and what it brings: paths, and paths with their content digests."""
    known = before.digests | before.unindexed_digests
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
    arrays["notices"] = pack_strings([text for notice in notices for text in (notice.code, notice.message)])
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
    digests = np.frombuffer(b"".join(found[path][1] for path in paths), dtype=np.uint8).reshape(
        len(paths), DIGEST_BYTES
    )
    return {
        "unindexed": pack_strings([text for path in paths for text in (path, found[path][0])]),
        "unindexed.digest": digests,
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
