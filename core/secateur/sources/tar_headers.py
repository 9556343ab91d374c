"""Parses the headers of a tar: a block of 512 bytes before each content, and pax fields, which are stored like
contents.

    kind, size = read_header(block)
    fields = pax_fields(content)
    path_of(block, fields)

Each function takes linear time. Raises ValueError for an invalid header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from secateur.sources.files import path_text

BLOCK_BYTES = 512
OLD_FILE, FOLDER, OLD_SPARSE, LONG_NAME, LONG_LINK, PAX_FOR_ALL = b"\0", b"5", b"S", b"L", b"K", b"g"
FILES = frozenset({OLD_FILE, b"0", b"7", OLD_SPARSE})
LINKS = frozenset({b"1", b"2"})
WITHOUT_CONTENT = LINKS | {b"3", b"4", FOLDER, b"6"}  # whatever size the header says
HOLDS_FIELDS = frozenset({LONG_NAME, LONG_LINK, PAX_FOR_ALL, b"x", b"X"})
IS_EXTENDED, IS_EXTENDED_AGAIN = 482, 504  # bytes of an old sparse header, and of the blocks behind it

_CHECKSUM, _SIZE = slice(148, 156), slice(124, 136)
_NAME, _FOLDER_OF_NAME = slice(0, 100), slice(345, 500)
_GNU_MAGIC, _MAGIC_OFFSET = b"ustar  \0", 257
_HERE = re.compile(rb"(?:\./)+")
_LENGTH = re.compile(rb"([0-9]{1,7}) ")
_DIGITS = re.compile(rb"[0-9]{0,19}")
_SPARSE = b"GNU.sparse."


def read_header(block: bytes) -> tuple[bytes, int]:
    """Returns the type and the size from a header."""
    summed = block[: _CHECKSUM.start] + b" " * 8 + block[_CHECKSUM.stop :]
    signed = sum(summed) - 256 * sum(byte > 127 for byte in summed)  # as some writers do
    size = _read_number(block[_SIZE])
    if _read_number(block[_CHECKSUM]) not in (sum(summed), signed) or size < 0:
        raise ValueError("not a tar header")
    return block[156:157], size


def pax_fields(content: bytes) -> dict[bytes, bytes]:
    """Returns the fields that locate an entry and its content: `path`, `size`, and fields of sparse files."""
    fields: dict[bytes, bytes] = {}
    start = 0
    while start < len(content) and content[start]:  # some writers pad the header
        length = _LENGTH.match(content, start)
        end = start + int(length[1]) if length else 0
        key, sign, value = content[length.end() if length else 0 : max(0, end - 1)].partition(b"=")
        if not key or not sign or content[end - 1 : end] != b"\n" or (key == b"size" and not _DIGITS.fullmatch(value)):
            raise ValueError("not a pax header")
        if key in (b"path", b"size") or key.startswith(_SPARSE):
            fields[key] = value
        start = end
    return fields


def path_of(block: bytes, fields: Mapping[bytes, bytes]) -> str:
    """Returns the path of an entry, without a leading `./`."""
    name, folder = (_cut_at_nul(block[part]) for part in (_NAME, _FOLDER_OF_NAME))
    if folder and not block.startswith(_GNU_MAGIC, _MAGIC_OFFSET):  # GNU stores dates in this field
        name = folder + b"/" + name
    name = fields.get(_SPARSE + b"name") or fields.get(b"path") or name
    here = _HERE.match(name)
    return path_text(name[here.end() :] if here else name)


def long_name(content: bytes) -> dict[bytes, bytes]:
    """Returns the field that GNU's header for long names stands for."""
    return {b"path": _cut_at_nul(content)}


def is_sparse(kind: bytes, fields: Mapping[bytes, bytes]) -> bool:
    """Tells whether the content of an entry is stored without its holes."""
    return kind == OLD_SPARSE or any(key.startswith(_SPARSE) for key in fields)


def _cut_at_nul(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _read_number(field: bytes) -> int:
    if field[0] == 0x80:  # too large for digits
        return int.from_bytes(field[1:], "big")
    return int(_cut_at_nul(field).strip() or b"0", 8)
