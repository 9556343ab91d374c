"""Looks up the ranks of tokens directly in a file, without unpacking it or building a table.

The build of this package makes the file from a published one. It holds little-endian 32-bit numbers: the number of
tokens, the number of slots, the end of each token in the bytes of all tokens, and the slots of a hash table by CRC-32
with linear probing (0: empty, else the rank + 1). Then follow the bytes of all tokens, in the order of their ranks.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from zlib import crc32

_HEAD = struct.Struct("<II")
_NUMBER = 4  # bytes

FULLEST = 1.25
"""The least number of slots per token. With fewer, looking up bytes that are not a token takes many steps."""

NEVER = 1 << 30
"""The rank of bytes that are not a token."""


def pack(tokens: Sequence[bytes]) -> bytes:
    """Makes the file of tokens, which are in the order of their ranks from 0."""
    slots = 1
    while slots < len(tokens) * FULLEST:
        slots *= 2
    table = [0] * slots
    for rank, token in enumerate(tokens):
        at = crc32(token) & slots - 1
        while table[at]:
            at = (at + 1) & slots - 1
        table[at] = rank + 1
    ends, end = [], 0
    for token in tokens:
        end += len(token)
        ends.append(end)
    return _HEAD.pack(len(tokens), slots) + struct.pack(f"<{len(ends) + slots}I", *ends, *table) + b"".join(tokens)


class RankTable:
    """Looks up ranks in the bytes of such a file."""

    def __init__(self, data: bytes) -> None:
        """Raises ValueError: the bytes are not such a file, or the machine is not little-endian."""
        if sys.byteorder != "little" or len(data) < _HEAD.size:
            raise ValueError("not a table of ranks for this machine")
        count, slots = _HEAD.unpack_from(data)
        numbers = _HEAD.size + (count + slots) * _NUMBER
        if not slots or slots & (slots - 1) or numbers > len(data):
            raise ValueError("not a table of ranks")
        view = memoryview(data)
        self._ends = view[_HEAD.size : _HEAD.size + count * _NUMBER].cast("I")
        self._slots = view[_HEAD.size + count * _NUMBER : numbers].cast("I")
        self._tokens = data[numbers:]
        self._mask = slots - 1

    def rank(self, token: bytes) -> int:
        """Returns the rank of a token; NEVER for bytes that are not a token."""
        slots, ends, mask = self._slots, self._ends, self._mask
        at = crc32(token) & mask
        while slot := slots[at]:
            rank: int = slot - 1
            if self._tokens[ends[rank - 1] if rank else 0 : ends[rank]] == token:
                return rank
            at = (at + 1) & mask
        return NEVER
