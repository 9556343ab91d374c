"""Replaces runs of rows in columns. The unchanged rows are copied in blocks, so that the time depends on the edit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from secateur.index.store.arrayfile import pack_strings

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
