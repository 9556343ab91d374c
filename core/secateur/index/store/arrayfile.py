"""Saves named numpy arrays in one file, with a checksum, and maps them into memory when they are loaded.

The file is: 8 bytes magic, 8 bytes length of the head, 16 bytes checksum of that length and of everything after the
checksum, the head (JSON: name, dtype, shape, offset), the arrays, each aligned to 64 bytes. The checksum is a CRC: it
finds damage, and does not protect from an attacker. The file is renamed into place, so a reader sees the old file or
the new one, never a part of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any
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
