"""Decodes texts before they are searched for credentials, and maps the findings back.

`decode_json` undoes the escapes of JSON strings. A finding then lies inside one string, so the file stays valid JSON
after its removal. `decode_escapes` undoes all others: terminal colours, characters without width, escapes of URLs, of
HTML, of Markdown and of languages, joints of two literals, and base64 of text. It contains only lines with such
escapes, so other lines cost nothing."""

from __future__ import annotations

import binascii
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from secateur.redaction.spans import CredentialSpan

_STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_JSON_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_WITHOUT_WIDTH = frozenset((0xAD, *range(0x200B, 0x2010), 0x2060, 0xFEFF))
_PLAIN = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b" ", b"f": b" "}

_ESCAPE = re.compile(
    rb"""
      \x1b\[[0-9;?]{0,40}+[A-Za-z]
    | \xe2\x80[\x8b-\x8f] | \xe2\x81\xa0 | \xef\xbb\xbf | \xc2\xad
    | %(?P<url>[2-7][0-9A-Fa-f])
    | &\#(?P<decimal>[0-9]{2,3});
    | &\#[xX](?P<entity>[2-7][0-9A-Fa-f]);
    | &(?P<named>amp|lt|gt|quot|apos);
    | \\(?P<markdown>[_*])
    | \\(?:u00|x)(?P<code>[2-7][0-9A-Fa-f])
    | (?P<quote>["'])(?:[ \t]{0,40}+[+.&][ \t]{0,40}+(?:\\?\r?\n[-+ \t]{0,80}+)?
        |[ \t]{0,40}+\\?\r?\n[-+ \t]{0,80}+(?:[+.&][ \t]{0,40}+)?|[ \t]{1,40}+)[bfr]?(?P=quote)
    | \\\r?\n[ \t]{0,80}+
    | (?<![A-Za-z0-9+/_=.-])(?P<base64>[A-Za-z0-9+/]{24,5400}+={0,2})(?![A-Za-z0-9+/_-])
    """,
    re.VERBOSE,
)
_JOINT = r"(?:[ \t]{{1,40}}+|[ \t]{{0,40}}+\\?\r?\n[-+ \t]{{0,80}}+)?[+.&]?[ \t\r\n]{{0,80}}+[bfr]?{0}"
# Beginnings of escapes; each starts with a byte that is fast to find.
_SIGNS = tuple(
    re.compile(pattern.encode("latin-1"))
    for pattern in (
        "\x1b\\[", "\xe2(?:\x80[\x8b-\x8f]|\x81\xa0)", "\xef\xbb\xbf", "\xc2\xad", "%[2-7][0-9A-Fa-f]",
        "&(?:#|amp;|lt;|gt;|quot;|apos;)",
        r"\\(?:[_*\r\n]|u00[2-7]|x[2-7])", '"(?!")' + _JOINT.format('"'), "'(?!')" + _JOINT.format("'"),
    )
)  # fmt: skip

_ENTITIES = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}

_BASE64 = bytes(byte if (chr(byte).isalnum() and byte < 128) or byte in b"+/=" else 0x20 for byte in range(256))
LEAST_BASE64, MOST_BASE64 = 24, 5400  # least and most bytes of base64 that is decoded: the most are 4 KB of text


class View(Struct, frozen=True):
    """Bytes with some parts replaced.

    Attributes:
        text: the result, which is searched.
        text_starts, text_ends: positions of the replacements in `text`; `data_starts`, `data_ends`: in the original.
        string_starts, string_ends: contents of strings in the original; each credential stays within one of them.
    """

    text: bytes
    text_starts: array[int]
    text_ends: array[int]
    data_starts: array[int]
    data_ends: array[int]
    string_starts: array[int] = field(default_factory=lambda: array("q"))
    string_ends: array[int] = field(default_factory=lambda: array("q"))

    def spans(self, spans: Iterable[CredentialSpan]) -> Iterator[CredentialSpan]:
        """Converts spans of the text to spans of the original bytes."""
        for span in spans:
            start, end = self._start(span.start), self._end(span.end)
            if self.string_starts:
                string = bisect_right(self.string_starts, start) - 1
                if string < 0 or start >= self.string_ends[string]:
                    continue
                end = min(end, self.string_ends[string])
            if start < end:
                yield CredentialSpan(start, end, span.rule)

    def _start(self, offset: int) -> int:
        index = bisect_right(self.text_starts, offset) - 1
        if index < 0:
            return offset
        if offset < self.text_ends[index]:
            return self.data_starts[index]
        return self.data_ends[index] + offset - self.text_ends[index]

    def _end(self, offset: int) -> int:
        index = bisect_left(self.text_starts, offset) - 1
        if index < 0:
            return offset
        return self.data_ends[index] + max(0, offset - self.text_ends[index])


def _replace_parts(data: bytes, replacements: Iterable[tuple[int, int, bytes]]) -> View:
    """Returns the view of the bytes with the given parts, in order, replaced."""
    starts, ends, data_starts, data_ends = (array("q") for _ in range(4))
    parts: list[bytes] = []
    offset = length = 0
    for start, end, plain in replacements:
        parts += (data[offset:start], plain)
        length += start - offset
        starts.append(length)
        length += len(plain)
        ends.append(length)
        data_starts.append(start)
        data_ends.append(end)
        offset = end
    parts.append(data[offset:])
    return View(b"".join(parts), starts, ends, data_starts, data_ends)


# --- JSON -------------------------------------------------------------------------------------------------------------


def is_json(data: bytes) -> bool:
    """Tells whether bytes are one JSON object or list."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def decode_json(data: bytes) -> View | None:
    """Returns the view of JSON or JSON lines without the escapes of their strings; None for any other data."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    pieces = [(0, len(data))] if is_json(data) else []
    offset = 0
    for line in () if pieces else data.split(b"\n"):
        if is_json(line):
            pieces.append((offset, offset + len(line)))
        offset += len(line) + 1
    if not pieces:
        return None
    strings = [string.span(1) for start, end in pieces for string in _STRING.finditer(data, start, end)]
    view = _replace_parts(data, _find_json_escapes(data, strings))
    between = zip((0, *(end for _, end in pieces)), (*(start for start, _ in pieces), len(data)), strict=True)
    bounds = sorted([*strings, *((start, end) for start, end in between if start < end)])  # text outside of JSON
    return replace(
        view,
        string_starts=array("q", (start for start, _ in bounds)),
        string_ends=array("q", (end for _, end in bounds)),
    )


def _find_json_escapes(data: bytes, strings: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, bytes]]:
    for start, end in strings:
        if data.find(b"\\", start, end) >= 0:
            for escape in _JSON_ESCAPE.finditer(data, start, end):
                letter = data[escape.start() + 1 : escape.start() + 2]
                plain = _PLAIN.get(letter, letter)
                if letter == b"u":
                    code = int(escape.group()[2:], 16)
                    plain = bytes((code,)) if code < 128 else b" "  # credentials never hold other characters
                    if code in _WITHOUT_WIDTH:
                        plain = b""
                yield *escape.span(), plain


# --- all other escapes ------------------------------------------------------------------------------------------------


def decode_escapes(data: bytes) -> View | None:
    """Returns the view of the lines with escapes, decoded; None if no line has one."""
    lines = list(_find_escape_lines(data))
    return _replace_parts(data, _list_decodings(data, lines)) if lines else None


def _find_escape_lines(data: bytes) -> Iterator[tuple[int, int]]:
    """Yields the spans of lines that hold an escape; adjacent lines form one span."""
    signs = [sign.span() for pattern in _SIGNS for sign in pattern.finditer(data)]
    offset = 0
    for word in data.translate(_BASE64).split():
        if LEAST_BASE64 <= len(word) <= MOST_BASE64 and _decode_base64(word) is not None:
            offset = data.find(word, offset)
            signs.append((offset, offset + len(word)))
    run_start = run_end = -1
    for first, last in sorted(signs):
        if last <= run_end:
            continue
        start = data.rfind(b"\n", max(run_end, 0), first) + 1 or max(run_end, 0)
        end = data.find(b"\n", last)
        if run_start >= 0 and start > run_end + 1:
            yield run_start, run_end
            run_start = -1
        run_start, run_end = start if run_start < 0 else run_start, len(data) if end < 0 else end
    if run_start >= 0:
        yield run_start, run_end


def _list_decodings(data: bytes, lines: list[tuple[int, int]]) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    for start, end in lines:
        if start > offset:
            yield offset, start, b"\n"
        for escape in _ESCAPE.finditer(data, start, end):
            if (plain := _decode_escape(escape)) is not None:
                yield *escape.span(), plain
        offset = end
    if offset < len(data):
        yield offset, len(data), b"\n"


def _decode_escape(escape: re.Match[bytes]) -> bytes | None:
    if (kind := escape.lastgroup) is None or kind == "quote":
        return b""
    value = escape.group(kind)
    if kind == "markdown":
        return value
    if kind == "named":
        return _ENTITIES[value]
    if kind == "decimal":
        code = int(value)
        return bytes((code,)) if 32 <= code < 127 else b" "
    if kind == "base64":
        return _decode_base64(value)
    return bytes((int(value, 16),))


def _decode_base64(value: bytes) -> bytes | None:
    """Returns the text that base64 bytes encode; None for anything else."""
    body = value.rstrip(b"=")
    if len(body) % 4 == 1 or (body.isalpha() and body.islower()):
        return None
    try:
        text = binascii.a2b_base64(body + b"=" * (-len(body) % 4))
    except binascii.Error:
        return None
    text = text.rstrip(b"\n")
    is_text = text and text.isascii() and text.translate(None, b"\n\t\r").decode().isprintable()
    return text.replace(b"\r", b"") if is_text else None
