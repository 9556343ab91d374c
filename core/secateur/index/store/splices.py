"""Columns of which some runs of rows are replaced: what stays is copied in blocks, so that an edit costs what it
changes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from secateur.index.store.arrayfile import pack_strings

T = TypeVar("T")


class RowCut(NamedTuple):
    """Rows `first..last` of what was there (last excluded) are replaced by rows `new_first..new_last` of what comes."""

    first: int
    last: int
    new_first: int
    new_last: int


class Splice:
    """Cuts, ascending and disjoint, that take all rows of what comes, in order."""

    def __init__(self, cuts: Iterable[RowCut], length: int) -> None:
        """`length`: rows there were."""
        self.cuts = tuple(cuts)
        self.before = length
        self.coming = self.cuts[-1].new_last if self.cuts else 0
        self.after = length + sum((cut.new_last - cut.new_first) - (cut.last - cut.first) for cut in self.cuts)

    def column(self, old: npt.NDArray[Any], new: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The column after the edit; `old` itself where nothing changes."""
        if not self.cuts:
            return old
        return np.concatenate(self._pieces(old, new))

    def items(self, old: list[T], new: list[T]) -> list[T]:
        """The same for a list."""
        out: list[T] = []
        for piece in self._pieces(old, new):
            out += piece
        return out

    def packed(self, old: npt.NDArray[np.uint8], new: list[str]) -> npt.NDArray[np.uint8]:
        """The same for strings in the form of `pack_strings`."""
        if not self.cuts:
            return old
        head = int(np.argmax(old == 0)) + 1
        body = np.append(old[head:], np.uint8(0))
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

    def moved(self) -> npt.NDArray[np.int32]:
        """New number of each row there was; -1 for those that go."""
        out = np.arange(self.before, dtype=np.int32)
        for cut in self.cuts:
            out[cut.last :] += (cut.new_last - cut.new_first) - (cut.last - cut.first)
        out[self.gone()] = -1
        return out

    def numbers(self) -> npt.NDArray[np.int32]:
        """Number of each row that comes."""
        shift, out = 0, []
        for cut in self.cuts:
            out.append(
                np.arange(cut.new_first, cut.new_last, dtype=np.int32) + np.int32(cut.first + shift - cut.new_first)
            )
            shift += (cut.new_last - cut.new_first) - (cut.last - cut.first)
        return np.concatenate(out) if out else np.zeros(0, dtype=np.int32)

    def gone(self) -> npt.NDArray[np.int64]:
        """The rows that go."""
        return (
            np.concatenate([np.arange(cut.first, cut.last) for cut in self.cuts])
            if self.cuts
            else np.zeros(0, dtype=np.int64)
        )

    def within(self, old_start: npt.NDArray[np.int64], new_start: npt.NDArray[np.int64]) -> Splice:
        """The same edit of what the rows hold: row i held `old_start[i]..old_start[i+1]`, what comes holds
        `new_start`."""
        cuts = (
            RowCut(
                int(old_start[cut.first]),
                int(old_start[cut.last]),
                int(new_start[cut.new_first]),
                int(new_start[cut.new_last]),
            )
            for cut in self.cuts
        )
        return Splice(cuts, int(old_start[-1]))

    def _pieces(self, old: Any, new: Any) -> list[Any]:
        pieces, at = [], 0
        for cut in self.cuts:
            pieces += [old[at : cut.first], new[cut.new_first : cut.new_last]]
            at = cut.last
        return [*pieces, old[at:]]


def splice_of(before: Sequence[bytes], gone: set[bytes], coming: Sequence[bytes]) -> Splice:
    """The edit of a sorted sequence of keys: `gone` go, `coming` (sorted; none of `before` that stays) come."""
    touched = sorted({bisect_left(before, key) for key in (*gone, *coming)})
    cuts, taken = [], 0
    for position in touched:
        goes = position < len(before) and before[position] in gone
        here = taken
        while taken < len(coming) and (
            position == len(before) or coming[taken] < before[position] or (goes and coming[taken] == before[position])
        ):
            taken += 1
        cuts.append(RowCut(position, position + goes, here, taken))
    return Splice(cuts, len(before))
