"""Saves named numpy arrays in one file, with a checksum, and maps them into memory when they are loaded.

The file is: 8 bytes magic, 8 bytes length of the head, 16 bytes checksum of that length and of everything after the
checksum, the head (JSON: name, dtype, shape, offset), the arrays, each aligned to 64 bytes. The checksum is a CRC: it
finds damage, and does not protect from an attacker. The file is renamed into place, so a reader sees the old file or
the new one, never a part of it.

Replaces runs of rows in columns. The unchanged rows are copied in blocks, so that the time depends on the edit.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt

from secateur.index.store.folder import replacing
from secateur.system.files import contents

MAGIC = b"SECATEU3"
_ALIGN = 64
_PREFIX = 32
_CHECKSUM_BYTES = 16

Arrays = dict[str, npt.NDArray[Any]]


def save(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Writes arrays to a file. Raises OSError: the folder cannot be written or is full; nothing is left behind."""
    entries, bodies, offset = [], [], 0
    for name, array in arrays.items():
        body = np.ascontiguousarray(array)
        entries.append({"name": name, "dtype": body.dtype.str, "shape": body.shape, "offset": offset})
        padding = -body.nbytes % _ALIGN
        bodies.append((body, padding))
        offset += body.nbytes + padding
    head = json.dumps(entries).encode()
    head += b" " * (-(_PREFIX + len(head)) % _ALIGN)
    length = len(head).to_bytes(8, "little")
    checksum = crc32(length + head)
    for body, padding in bodies:
        checksum = crc32(bytes(padding), crc32(_bytes(body), checksum))
    with replacing(path) as file:
        file.write(MAGIC + length + checksum.to_bytes(_CHECKSUM_BYTES, "little") + head)
        for body, padding in bodies:
            file.write(_bytes(body))
            file.write(bytes(padding))


def load(path: Path) -> Arrays | None:
    """Maps the arrays of a file, read-only; None if the file is missing or damaged."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < _PREFIX:
                return None
            view = contents(file)
    except OSError:
        return None
    checksum = crc32(memoryview(view)[_PREFIX:], crc32(memoryview(view)[8:16]))
    if view[:8] != MAGIC or view[16:_PREFIX] != checksum.to_bytes(_CHECKSUM_BYTES, "little"):
        return None
    head_size = int.from_bytes(view[8:16], "little")
    entries = json.loads(view[_PREFIX : _PREFIX + head_size])
    base = _PREFIX + head_size
    return {
        entry["name"]: np.frombuffer(
            view, dtype=entry["dtype"], count=prod(entry["shape"]), offset=base + entry["offset"]
        ).reshape(entry["shape"])
        for entry in entries
    }


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def pack_strings(strings: list[str]) -> npt.NDArray[np.uint8]:
    """Packs strings into one array, with NUL between them; a NUL inside a string becomes a space. Any Python string may
    be packed, also one with lone surrogates."""
    joined = "\0".join(text.replace("\0", " ") for text in strings)
    return np.frombuffer((f"{len(strings)}\0" + joined).encode("utf-8", "surrogatepass"), dtype=np.uint8)


def unpack_strings(array: npt.NDArray[np.uint8]) -> list[str]:
    """Unpacks the strings of `pack_strings`."""
    count, _, joined = array.tobytes().decode("utf-8", "surrogatepass").partition("\0")
    return joined.split("\0") if int(count) else []


T = TypeVar("T")


class RowCut(NamedTuple):
    """Replaces the old rows `first..last` (last excluded) by the new rows `new_first..new_last`."""

    first: int
    last: int
    new_first: int
    new_last: int


class Splice:
    """An edit of rows: ascending, disjoint cuts that insert all new rows in order."""

    def __init__(self, cuts: Iterable[RowCut], length: int) -> None:
        """`length`: the number of old rows."""
        self.cuts = tuple(cuts)
        self.before = length
        self.coming = self.cuts[-1].new_last if self.cuts else 0
        self.after = length + sum((cut.new_last - cut.new_first) - (cut.last - cut.first) for cut in self.cuts)

    def column(self, old: npt.NDArray[Any], new: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns the column after the edit; `old` itself if nothing changes."""
        return np.concatenate(self._pieces(old, new)) if self.cuts else old

    def items(self, old: list[T], new: list[T]) -> list[T]:
        """Does the same to a list."""
        out: list[T] = []
        for piece in self._pieces(old, new):
            out += piece
        return out

    def edit_packed(self, old: npt.NDArray[np.uint8], new: list[str]) -> npt.NDArray[np.uint8]:
        """Does the same to strings in the form of `pack_strings`, without unpacking the old ones."""
        if not self.cuts:
            return old
        body = np.append(old[int(np.argmax(old == 0)) + 1 :], np.uint8(0))
        ends = np.concatenate([[0], np.flatnonzero(body == 0) + 1])
        coming = [pack_strings([text])[2:] for text in new]
        zero = np.zeros(1, dtype=np.uint8)
        pieces = [np.frombuffer(f"{self.after}\0".encode(), dtype=np.uint8)]
        at = 0
        for cut in self.cuts:
            pieces.append(body[ends[at] : ends[cut.first]])
            for text in coming[cut.new_first : cut.new_last]:
                pieces += [text, zero]
            at = cut.last
        pieces.append(body[ends[at] : ends[self.before]])
        joined = np.concatenate(pieces)
        return joined[:-1] if self.after else joined

    def map_rows(self) -> npt.NDArray[np.int32]:
        """Returns the new number of each old row; -1 for a removed row."""
        out = np.arange(self.before, dtype=np.int32)
        for cut in self.cuts:
            out[cut.last :] += (cut.new_last - cut.new_first) - (cut.last - cut.first)
        out[self.removed_rows()] = -1
        return out

    def numbers(self) -> npt.NDArray[np.int32]:
        """Returns the number of each new row."""
        shift, out = 0, []
        for cut in self.cuts:
            first = cut.first + shift
            out.append(np.arange(first, first + cut.new_last - cut.new_first, dtype=np.int32))
            shift += (cut.new_last - cut.new_first) - (cut.last - cut.first)
        return np.concatenate(out) if out else np.zeros(0, dtype=np.int32)

    def removed_rows(self) -> npt.NDArray[np.int64]:
        """Returns the removed rows."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(cut.first, cut.last) for cut in self.cuts)])

    def within(self, old_start: npt.NDArray[np.int64], new_start: npt.NDArray[np.int64]) -> Splice:
        """Returns the same edit of the entries of the rows. Old row i holds the entries `old_start[i]..old_start[i+1]`;
        `new_start` says the same of the new rows."""
        olds = (map(int, old_start[[cut.first, cut.last]]) for cut in self.cuts)
        news = (map(int, new_start[[cut.new_first, cut.new_last]]) for cut in self.cuts)
        return Splice((RowCut(*old, *new) for old, new in zip(olds, news, strict=True)), int(old_start[-1]))

    def _pieces(self, old: Any, new: Any) -> list[Any]:
        pieces, at = [], 0
        for cut in self.cuts:
            pieces += [old[at : cut.first], new[cut.new_first : cut.new_last]]
            at = cut.last
        return [*pieces, old[at:]]


def splice_of(before: Sequence[bytes], gone: set[bytes], coming: Sequence[bytes]) -> Splice:
    """Makes the edit of a sorted sequence of keys that removes `gone` and inserts `coming`. `coming` is sorted and
    holds no key of `before` that stays."""
    touched = sorted({bisect_left(before, key) for key in (*gone, *coming)})
    cuts, inserted = [], 0
    for position in touched:
        is_removed = position < len(before) and before[position] in gone
        first = inserted
        while inserted < len(coming) and (
            position == len(before)
            or coming[inserted] < before[position]
            or (is_removed and coming[inserted] == before[position])  # a key with another value takes its old place
        ):
            inserted += 1
        cuts.append(RowCut(position, position + is_removed, first, inserted))
    return Splice(cuts, len(before))
