"""SCIP indexes made by hand: as much of protobuf as they need."""

from __future__ import annotations

from collections.abc import Iterable

Place = tuple[int, int, int]
"""Line and columns, from 0."""


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def chunk(field: int, data: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(data)) + data


def occurrence(place: Iterable[int], symbol: str, roles: int = 0) -> bytes:
    return chunk(
        2, chunk(1, b"".join(map(varint, place))) + chunk(2, symbol.encode()) + (number(3, roles) if roles else b"")
    )


def implements(symbol: str, base: str) -> bytes:
    return chunk(3, chunk(1, symbol.encode()) + chunk(4, chunk(1, base.encode()) + number(3, 1)))


def document(path: str, *parts: bytes, encoding: int = 0) -> bytes:
    return chunk(2, chunk(1, path.encode()) + b"".join(parts) + (number(6, encoding) if encoding else b""))


def index(*documents: bytes) -> bytes:
    return chunk(1, chunk(3, b"file:///somewhere")) + b"".join(documents)


def place_of(text: str, marked: str, nth: int = 0) -> Place:
    """Where the `nth` occurrence of `marked` stands in a text, columns in UTF-16."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(marked, at + 1)
    line = text.count("\n", 0, at)
    before = text[text.rfind("\n", 0, at) + 1 : at]
    start = len(before.encode("utf-16-le")) // 2
    return line, start, start + len(marked.encode("utf-16-le")) // 2
