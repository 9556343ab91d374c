"""Blocks of private keys, also such as are cut off at one side: a log or a hunk may begin or end within one.

A block goes from its first line to its last. Where the last is missing, it ends with the last line of base64, and where
the first is missing, it begins with the first of them. Linear in the content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from secateur.redaction.spans import CredentialSpan

RULE = "private-key"

LONGEST_BLOCK = 64 << 10
"""Bytes of a block; the longest keys have 13 KB."""

_BEGIN = re.compile(rb"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(rb"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(rb"(?:[A-Za-z0-9+/=:,.\s\\\"'#*>|-]|\([A-Za-z0-9. ]{1,40}\))*+")
"""The text between the two: base64, headers such as `Proc-Type: 4,ENCRYPTED`, quotes and escapes of a language."""

_LEAST = re.compile(rb"[A-Za-z0-9+/=]{16}")
_BASE64_LINE = re.compile(rb"[ \t]*[-+ ]?[ \t\"'#*>]*[A-Za-z0-9+/]{16,80}={0,2}[\\nr\"', \t+]*\r?\Z")
_MOST_LINES = 200


def private_keys(data: bytes) -> Iterator[CredentialSpan]:
    """The blocks of private keys in a content."""
    if b"PRIVATE KEY" not in data:
        return
    place = 0
    while (begin := _BEGIN.search(data, place)) is not None:
        end = _end_of(data, begin.end())
        if end > begin.end():
            yield CredentialSpan(begin.start(), end, RULE)
        yield from _tails(data, place, begin.start())
        place = max(end, begin.end())
    yield from _tails(data, place, len(data))


def _end_of(data: bytes, place: int) -> int:
    """The end of the block whose first line ends at `place`; `place` itself where no key follows it."""
    following = data.find(b"-----BEGIN", place, place + LONGEST_BLOCK)  # of which no block holds another
    limit = min(len(data), place + LONGEST_BLOCK) if following < 0 else following
    body = _BODY.match(data, place, limit)
    stop = body.end() if body else place
    end = _END.search(data, place, min(stop + 64, len(data)))
    if end is not None and end.start() <= stop:
        return end.end() if _LEAST.search(data, place, end.start()) else place
    found = place
    line = place
    while line < stop:  # no last line: what looks like base64 belongs to it
        after = data.find(b"\n", line, limit)
        after = limit if after < 0 else after
        text = data[line:after]
        if line > place and text.strip() and not _BASE64_LINE.match(text):
            break
        if _LEAST.search(text):
            found = after
        line = after + 1
    return min(found, stop) if found > place else place


def _tails(data: bytes, start: int, stop: int) -> Iterator[CredentialSpan]:
    """The ends of blocks whose first line is not there."""
    for end in _END.finditer(data, start, stop):
        first, lines = end.start(), 0
        line_end = data.rfind(b"\n", start, end.start())
        while line_end >= start and lines < _MOST_LINES:
            line_start = data.rfind(b"\n", start, line_end) + 1 or start
            if not _BASE64_LINE.match(data[line_start:line_end]):
                break
            first, lines = line_start, lines + 1
            line_end = line_start - 1
        if lines:
            yield CredentialSpan(first, end.end(), RULE)
