"""Reads what a package of word vectors carries as data: the matrix, mapped into memory, and the vocabulary that cuts
words into pieces. A fraction of the time, and none of the packages, of the libraries that these files are for."""

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
"""Rank of a pair that is no piece."""

_BEGINNING = "\u2581"
"""Stands before every word, as the vocabulary was made."""

_UNKNOWN = 0

SHORT_WORD = 100
"""Letters up to which joining in the plain way is the faster one."""


def read_matrix(path: Path, name: str) -> npt.NDArray[Any]:
    """One array of a safetensors file: its head is JSON behind its length, the arrays follow.

    Raises:
        OSError, ValueError: the file cannot be read, or is none, or has no such array.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        head = file.read(size) if size <= path.stat().st_size else b""
    entry = msgspec.json.decode(head, type=dict[str, dict[str, Any]]).get(name, {})
    try:
        dtype, shape, (begin, end) = _DTYPES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{path.name} has no array {name}") from None
    found = np.memmap(path, dtype, "r", offset=_LENGTH_BYTES + size + begin, shape=shape)
    if found.nbytes != end - begin:
        raise ValueError(f"the array {name} of {path.name} has another size than it says")
    return found


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _Tokenizer(msgspec.Struct):
    """The part of a tokenizer's file that is needed."""

    model: _Model


class WordPieces:
    """Cuts words into pieces by byte-pair encoding: of two neighbours that are a piece together, those whose piece is
    first in the vocabulary are joined first. Letters that are no piece stay apart.

    Every pair of pieces that make a piece may be joined, and pieces are numbered in the order in which they are, so the
    list of joins that the file also holds says nothing more.
    """

    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers

    @classmethod
    def read(cls, path: Path) -> WordPieces:
        """From a file of the library `tokenizers`. Raises OSError, ValueError."""
        return cls(msgspec.json.decode(path.read_bytes(), type=_Tokenizer).model.vocab)

    def pieces(self, word: str) -> list[int]:
        """The numbers of the pieces of one word, which holds no blank; 0 for what is none."""
        parts = [_BEGINNING, *word]
        joined = self._joined(parts) if len(word) <= SHORT_WORD else self._joined_long(parts)
        return [self._numbers.get(part, _UNKNOWN) for part in joined]

    def _joined(self, parts: list[str]) -> list[str]:
        """The parts after all joins: the time is the square of their number, and little for words."""
        number = self._numbers.get
        ranks = [number(left + right, _NEVER) for left, right in pairwise(parts)]
        while ranks and (lowest := min(ranks)) < _NEVER:
            at = ranks.index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            if at < len(ranks):
                ranks[at] = number(parts[at] + parts[at + 1], _NEVER)
            if at:
                ranks[at - 1] = number(parts[at - 1] + parts[at], _NEVER)
        return parts

    def _joined_long(self, parts: list[str]) -> list[str]:
        """The same for any number of parts: a heap of pairs, and links to the neighbours that are left."""
        number, end = self._numbers.get, len(parts)
        before, after = list(range(-1, end - 1)), list(range(1, end + 1))
        waiting = [
            (rank, at, left, right)
            for at, (left, right) in enumerate(pairwise(parts))
            if (rank := number(left + right, _NEVER)) < _NEVER
        ]
        heapify(waiting)
        while waiting:
            _, at, left, right = heappop(waiting)
            following = after[at]
            if parts[at] != left or following == end or parts[following] != right:
                continue  # one of the two was joined with something else
            parts[at], parts[following] = left + right, ""
            after[at] = after[following]
            if after[at] < end:
                before[after[at]] = at
            for first in (before[at], at):
                if first >= 0 and after[first] < end:
                    pair = parts[first], parts[after[first]]
                    if (rank := number("".join(pair), _NEVER)) < _NEVER:
                        heappush(waiting, (rank, first, *pair))
        return [part for part in parts if part]
