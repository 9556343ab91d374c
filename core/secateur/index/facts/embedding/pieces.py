"""Reads the data of a package of word vectors: the matrix, mapped into memory, and the vocabulary that cuts words into
pieces. This takes a fraction of the time that the libraries for these files take, and needs none of them."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

_LENGTH_BYTES = 8
_DTYPES = {"F16": "<f2", "F32": "<f4"}
_NEVER = 1 << 30
"""The rank of a pair that is not a piece."""

_BEGINNING = "\u2581"
"""The mark that the vocabulary has before every word."""

_UNKNOWN = 0

SHORT_WORD = 100
"""The most letters for which the simple way of joining is the faster one."""


def read_matrix(path: Path, name: str) -> npt.NDArray[Any]:
    """Maps one array of a safetensors file, which is the length of its head, the head in JSON, and the arrays.

    Raises:
        OSError, ValueError: the file cannot be read, is not a safetensors file, or has no such array.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        head = file.read(size) if size <= path.stat().st_size else b""
    entry = msgspec.json.decode(head, type=dict[str, dict[str, Any]]).get(name, {})
    try:
        dtype, shape, (begin, end) = _DTYPES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{path.name} has no array {name}") from None
    matrix = np.memmap(path, dtype, "r", offset=_LENGTH_BYTES + size + begin, shape=shape)
    if matrix.nbytes != end - begin:
        raise ValueError(f"the array {name} of {path.name} has another size than it says")
    return matrix


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _Tokenizer(msgspec.Struct):
    """The part of a tokenizer's file that is needed."""

    model: _Model


class WordPieces:
    """Cuts words into pieces by byte-pair encoding: it joins the two neighbours whose piece comes first in the
    vocabulary, again and again. Letters that are in no piece stay alone.

    The file also holds a list of joins, which is not needed: every pair that makes a piece may be joined, and the
    number of the piece is the rank of the join.
    """

    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers

    @classmethod
    def read(cls, path: Path) -> WordPieces:
        """Reads a file of the library `tokenizers`. Raises OSError, ValueError."""
        return cls(msgspec.json.decode(path.read_bytes(), type=_Tokenizer).model.vocab)

    def pieces(self, word: str) -> list[int]:
        """Returns the numbers of the pieces of one word without blanks; 0 for letters that are in no piece."""
        parts = [_BEGINNING, *word]
        joined = self._join(parts) if len(word) <= SHORT_WORD else self._join_long(parts)
        return [self._numbers.get(part, _UNKNOWN) for part in joined]

    def _join(self, parts: list[str]) -> list[str]:
        """Joins the parts of a word. Takes quadratic time, which is little for a short word."""
        rank_of = self._numbers.get
        ranks = [rank_of(left + right, _NEVER) for left, right in pairwise(parts)]
        while ranks and (lowest := min(ranks)) < _NEVER:
            at = ranks.index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            if at < len(ranks):
                ranks[at] = rank_of(parts[at] + parts[at + 1], _NEVER)
            if at:
                ranks[at - 1] = rank_of(parts[at - 1] + parts[at], _NEVER)
        return parts

    def _join_long(self, parts: list[str]) -> list[str]:
        """Does the same in n log n time, with a heap of pairs and links between the remaining neighbours."""
        rank_of, end = self._numbers.get, len(parts)
        before, after = list(range(-1, end - 1)), list(range(1, end + 1))
        waiting = [
            (rank, at, left, right)
            for at, (left, right) in enumerate(pairwise(parts))
            if (rank := rank_of(left + right, _NEVER)) < _NEVER
        ]
        heapify(waiting)
        while waiting:
            _, at, left, right = heappop(waiting)
            following = after[at]
            if parts[at] != left or following == end or parts[following] != right:
                continue  # the heap is not cleaned: one of the two has been joined with another part since
            parts[at], parts[following] = left + right, ""
            after[at] = after[following]
            if after[at] < end:
                before[after[at]] = at
            for first in (before[at], at):
                if first >= 0 and after[first] < end:
                    pair = parts[first], parts[after[first]]
                    if (rank := rank_of("".join(pair), _NEVER)) < _NEVER:
                        heappush(waiting, (rank, first, *pair))
        return [part for part in parts if part]
