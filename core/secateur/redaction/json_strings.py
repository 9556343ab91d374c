"""JSON as credentials are looked for in it: the texts of its strings, without escapes, and the way back to the bytes.

A key that follows `\\n` in a string, or holds `\\u002b`, is found as in any text, and what is taken out is part of one
string, so that the file stays the JSON that it was.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from secateur.redaction.spans import CredentialSpan

_STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b" ", b"f": b" "}


@dataclass(frozen=True)
class JsonView:
    """Bytes with every escape of their JSON strings undone.

    Attributes:
        text: what is looked through.
        places: pairs of arrays: where an escape ends in `text`, and where in the bytes.
    """

    text: bytes
    in_text: array[int]
    in_data: array[int]
    starts: array[int]  # of the strings' contents, in the bytes
    ends: array[int]

    def spans(self, found: Iterable[CredentialSpan]) -> list[CredentialSpan]:
        """Spans of the text as spans of the bytes, each within one string; what lies in none is left out."""
        out = []
        for span in found:
            start, end = self._place(span.start), self._place(span.end)
            string = bisect_right(self.starts, start) - 1
            if string >= 0 and start < self.ends[string]:
                out.append(CredentialSpan(start, min(end, self.ends[string]), span.rule))
        return out

    def _place(self, place: int) -> int:
        """The place in the bytes of a place in the text."""
        number = bisect_right(self.in_text, place) - 1
        return place if number < 0 else self.in_data[number] + place - self.in_text[number]


def is_json(data: bytes) -> bool:
    """Tells whether bytes are one JSON object or list."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def view_of(data: bytes) -> JsonView:
    """The view of bytes that are JSON."""
    starts, ends = array("q"), array("q")
    in_text, in_data = array("q"), array("q")
    parts: list[bytes] = []
    place = length = 0
    for string in _STRING.finditer(data):
        starts.append(string.start(1))
        ends.append(string.end(1))
        if b"\\" not in string.group(1):
            continue
        for escape in _ESCAPE.finditer(data, *string.span(1)):
            plain = _meaning(escape.group())
            parts += [data[place : escape.start()], plain]
            length += escape.start() - place + len(plain)
            place = escape.end()
            in_text.append(length)
            in_data.append(place)
    parts.append(data[place:])
    return JsonView(b"".join(parts) if in_text else data, in_text, in_data, starts, ends)


def _meaning(escape: bytes) -> bytes:
    """One byte for an escape, so that places stay simple: what no credential holds is a blank."""
    if escape[1:2] != b"u":
        return _PLAIN.get(escape[1:2], escape[1:2])
    code = int(escape[2:], 16)
    return bytes((code,)) if code < 128 else b" "
