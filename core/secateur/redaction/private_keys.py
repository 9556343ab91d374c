"""Finds blocks of private keys, also behind prefixes that a log or a diff adds to lines, and also incomplete ones.

A block reaches from its first line to its last. If either is missing, the block consists of the consecutive lines of
base64. Linear in the content.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from secateur.redaction.spans import CredentialSpan
from secateur.redaction.value_looks import entropy

RULE = "private-key"

LONGEST_BLOCK = 64 << 10  # most bytes of a block; the longest keys have 13 KB
_BEGIN = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
)
_END = re.compile(
    rb"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----"
)
_PUTTY = re.compile(rb"Private-Lines: \d{1,3}")
_FRAMES = re.compile(rb"-----(BEGIN|END) ([A-Z0-9 ]{3,40})-----")

_NEW_LINE = re.compile(rb"\r?\n|(?:\\{1,8}r)?\\{1,8}n|<br ?/?>|&#10;")
_RUN = re.compile(rb"[A-Za-z0-9+/=]{16,}")
_LAST_WORD = re.compile(rb"(?:\A|[^A-Za-z0-9+/=])([A-Za-z0-9+/]{2,}={0,2})(?:\\{1,8}[nr]){0,2}[\\\"',;+ \t.)|]{0,8}\Z")
_QUOTED_END = re.compile(rb"[ \t]*([A-Za-z0-9+/]{16,}={0,2})\\*[\"']")
_HEADER = re.compile(rb"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Subject|X-[A-Za-z-]{1,20}): ?[^\n]{1,120}\Z")
_BLANK = re.compile(rb"[^A-Za-z0-9]{0,40}\Z")
_MOST_LINES = 400
_TOUCHING_LINES = 3  # least lines of base64 that count as a key without a first or last line
_HUNK = re.compile(
    rb"@@ -\d{1,7}(?:,\d{1,7})? \+\d{1,7}(?:,\d{1,7})? @@ ([A-Za-z0-9+/]{40,80}={0,2})\r?$", re.MULTILINE
)
_OTHER_FILE = re.compile(
    rb"(?:\+\+\+|---|diff --git)[ \t][^\n]{0,300}"
    rb"\.(?:crt|cer|cert|pub|sig|asc|lock|map|svg|ipynb|css|html?|png|jpe?g|gif|p7b|csr|patch|eml|snap)\"?\s*\Z"
)
# Beginnings of base64 for images, fonts, archives, documents and sounds.
_KNOWN_BEGINNINGS = (
    b"iVBORw0KGgo", b"R0lGOD", b"/9j/", b"UklGR", b"PHN2Zy", b"PD94bW", b"H4sI", b"UEsDB", b"JVBERi", b"d09GR",
    b"AAEAAA", b"Qk0", b"SUkq", b"T2dnUw", b"//uQ", b"SUQz",
)  # fmt: skip

# Names, extensions and addresses in certificates; keys contain none.
_CERTIFICATE = re.compile(rb"\x06\x03\x55[\x04\x1d]|http://|\x06\x0a\x2b\x06\x01\x04\x01")


def find_private_keys(data: bytes) -> Iterator[CredentialSpan]:
    """Yields the blocks of private keys in a content."""
    known_blocks: list[tuple[int, int]] = []
    if b"PRIVATE KEY" in data:
        for start, end in _find_framed_blocks(data):
            known_blocks.append((start, end))
            yield CredentialSpan(start, end, RULE)
    if b"Private-Lines: " in data:
        for putty in _PUTTY.finditer(data):
            end = _end_of_lines(data, putty.end(), min(len(data), putty.end() + LONGEST_BLOCK))
            if end > putty.end():
                known_blocks.append((putty.end(), end))
                yield CredentialSpan(putty.end() + 1, end, RULE)
    for start, end in _find_unframed_blocks(data):
        if not any(start < other_end and other_start < end for other_start, other_end in known_blocks):
            yield CredentialSpan(start, end, RULE)


def _find_framed_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    offset = 0
    while (begin := _BEGIN.search(data, offset)) is not None:
        end = _end_of(data, begin.end())
        if end > begin.end():
            yield begin.start(), end
        yield from _find_block_tails(data, offset, begin.start())
        offset = max(end, begin.end())
    yield from _find_block_tails(data, offset, len(data))


def _end_of(data: bytes, offset: int) -> int:
    """Returns the end of the block whose first line ends at `offset`; `offset` itself if no key follows it."""
    following = data.find(b"-----BEGIN", offset, offset + LONGEST_BLOCK)  # blocks are never nested
    limit = min(len(data), offset + LONGEST_BLOCK) if following < 0 else following
    end = _END.search(data, offset, limit)
    if end is not None and _is_body(data[offset : end.start()]):
        return end.end()
    block_end = _end_of_lines(data, offset, limit)
    if block_end == offset:  # all in one line, with blanks instead of line ends
        body = re.compile(rb"[A-Za-z0-9+/= \\nr]{40,}+").match(data, offset, limit)
        block_end = body.end() if body and len(_RUN.findall(body.group())) else offset
    return block_end


def _is_body(text: bytes) -> bool:
    lines = [line.strip() for line in _NEW_LINE.split(text)]
    if not (lines := [line for line in lines if not _BLANK.match(line)]):
        return False
    good = sum(_ends_with_base64(line) for line in lines)
    return good * 2 >= len(lines) and any(_RUN.search(line) for line in lines)


def _ends_with_base64(line: bytes) -> bool:
    if len(line) > 400:
        runs = _RUN.findall(line)
        return sum(map(len, runs)) * 4 >= len(line) * 3
    if (word := _LAST_WORD.search(line)) is None:
        return False
    size = len(word.group(1))
    return size >= 40 or size * 4 >= len(line) * 3 or (size >= 16 and any(48 <= byte <= 57 for byte in word.group(1)))


def _end_of_lines(data: bytes, offset: int, limit: int) -> int:
    block_end, line, lines, missed = offset, offset, 0, 0
    while line < limit and lines < _MOST_LINES:
        new_line = _NEW_LINE.search(data, line, min(limit, line + 2000))
        stop, after = new_line.span() if new_line else (min(limit, line + 2000), limit)
        text = data[line:stop].strip(b" \t\r")
        word = _LAST_WORD.search(text) if line > offset or text else None
        if word is not None and (len(word.group(1)) >= 40 or _is_short_line(text, word.group(1), block_end > offset)):
            block_end, missed = stop, 0
        elif block_end > offset and (last := _QUOTED_END.match(data, line, stop)):
            return last.end(1)  # end of the string that contains the key
        elif line > offset and not _BLANK.match(text) and not _HEADER.search(text):
            missed += 1
            if missed > (0 if block_end > offset else 1):
                break
        lines, line = lines + 1, after
    return block_end


def _is_short_line(line: bytes, word: bytes, follows: bool) -> bool:
    """Tells whether a line is the shorter last line of a key, or belongs to an incomplete key."""
    has_digit = any(48 <= byte <= 57 or byte in b"+/=" for byte in word)
    alone = len(line.strip(b" \t\"'+-#*>,\\;|")) == len(word)
    return has_digit and len(word) >= (4 if follows and alone else 16)


def _find_block_tails(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int]]:
    for end in _END.finditer(data, start, stop):
        first, lines = end.start(), 0
        line_end = data.rfind(b"\n", start, end.start())
        while line_end >= start and lines < _MOST_LINES:
            line_start = max(data.rfind(b"\n", start, line_end) + 1, start)
            text = data[max(line_start, line_end - 2000) : line_end].strip(b" \t\r")
            word = _LAST_WORD.search(text)
            if word is None or not (len(word.group(1)) >= 40 or _is_short_line(text, word.group(1), lines == 0)):
                break
            first, lines = line_start, lines + 1
            line_end = line_start - 1
        if lines:
            yield first, end.end()


def _find_unframed_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Yields base64 lines with the width of a key's lines, unless a nearby line shows that they are something else."""
    block: list[tuple[int, int, bytes]] = []
    offset = 0
    lines = data.split(b"\n")
    for line in lines if len(max(lines, key=len)) >= 60 else ():
        size = len(line)
        if size >= 60 and line.find(b" ", size - 58) < 0 and (word := _LAST_WORD.search(line, max(0, size - 90))):
            text, at = word.group(1), word.start(1)
            if at == 0 and text.startswith(b"+") and size % 2:  # the sign of a diff
                text, at = text[1:], 1
            if len(text) in (64, 70) or (block and len(text) == len(block[-1][2])):
                block.append((offset + at, offset + word.end(1), text))
                offset += size + 1
                continue
        if block:
            yield from _find_key(data, block, offset, line)
            block = []
        offset += size + 1
    if block:
        yield from _find_key(data, block, len(data), b"")
    if b"@@ -" in data:
        for hunk in _HUNK.finditer(data):
            if _looks_random(hunk.group(1)) and not _is_something_else(data, hunk.start(1), hunk.end(1)):
                yield hunk.span(1)


def _find_key(data: bytes, block: list[tuple[int, int, bytes]], offset: int, line: bytes) -> Iterator[tuple[int, int]]:
    start, end = block[0][0], block[-1][1]
    is_pair = len(block) == 2 and len(block[0][2]) == len(block[1][2])
    if len(block) < _TOUCHING_LINES and not (is_pair and (b"\n@@ -" in data or data.startswith(b"@@ -"))):
        return
    if len(block) > _MOST_LINES or not all(_looks_random(text) for _, _, text in block[:8]):
        return
    if _is_something_else(data, start, end) or _is_known(block):
        return
    last = _LAST_WORD.search(line) if len(line) < 100 else None
    if last is not None and len(line) - len(last.group(1)) <= 8 and _is_short_line(line, last.group(1), follows=True):
        end = offset + last.end(1)
    yield start, end


def _looks_random(text: bytes) -> bool:
    """Tells whether text is base64 of bytes without a pattern, and not hexadecimal."""
    return entropy(text) >= 4.6 and not text.islower() and not text.isupper() and any(48 <= byte <= 57 for byte in text)


def _is_known(block: list[tuple[int, int, bytes]]) -> bool:
    if block[0][2].startswith(_KNOWN_BEGINNINGS):
        return True
    try:
        content = binascii.a2b_base64(b"".join(text[: len(text) // 4 * 4] for _, _, text in block))
    except binascii.Error:
        return False
    printable = sum(32 <= byte < 127 or byte in b"\n\r\t" for byte in content)
    return _CERTIFICATE.search(content) is not None or printable * 10 >= len(content) * 8


def _is_something_else(data: bytes, start: int, end: int) -> bool:
    """Tells whether the text around lines shows that they are not a key but a certificate, a signature, a picture."""
    before = data[max(0, start - LONGEST_BLOCK) : start]
    opening = before.rfind(b"-----BEGIN ")
    if opening > before.rfind(b"-----END ") and b"PRIVATE KEY" not in before[opening : opening + 60]:
        return True
    after = data.find(b"-----END ", end, end + LONGEST_BLOCK)
    next_begin = data.find(b"-----BEGIN ", end, end + LONGEST_BLOCK)
    if after >= 0 and not 0 <= next_begin < after and b"PRIVATE KEY" not in data[after : after + 60]:
        return True
    close = before[-400:]
    if (b"data:" in close and b";base64" in close) or b"sha512-" in close or b"integrity" in close:
        return True
    header = max(before.rfind(b"\n+++ "), before.rfind(b"\ndiff --git "))
    if header < 0 and before[:4] not in (b"diff", b"--- ", b"+++ "):
        return False
    return _OTHER_FILE.match(before[header + 1 : before.find(b"\n", header + 1)]) is not None
