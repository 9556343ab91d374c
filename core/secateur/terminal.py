"""Makes text from outside safe to print, and measures and cuts text by terminal cells.

`visible` is applied once, where text enters a screen or a message: its result cannot move the cursor, switch a
terminal's modes, reverse the reading order, or hide. Replaced characters stay recognisable: C0 characters become their
control pictures (`␛`), others the code point in angle brackets (`<U+202E>`), a byte that was not UTF-8 its value
(`<FF>`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from secateur.recognised import without_recognised

TAB = "    "  # Replaces a tab. Later columns do not line up, but no text jumps.

ELLIPSIS = "…"

_CONTROL_PICTURES = 0x2400
_DELETE_PICTURE = "\u2421"
_ESCAPED_BYTE = 0xDC00  # a byte b that was not UTF-8 travels as U+DC00 + b

# Combining marks without a script: any number of them can stack on one letter and cover neighbouring lines.
_STACKING = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"

_AT_ONCE = 1 << 20  # characters that are replaced in one call, which Ctrl-C waits for
_FEW_KINDS = 8  # so many different characters are replaced one after the other, which is faster than a table

_STACKING_LIMIT = 3  # most marks per letter: no written language needs more of these

_HARMFUL = "".join(
    (
        "\x80-\x9f",  # C1
        "\u00ad\u034f\u061c\u070f\u0890\u0891\u08e2\u0600-\u0605\u06dd",  # soft hyphen, joiners and signs of format
        "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0",  # fillers and selectors without a shape
        "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb",  # zero width, line separators, bidi, annotations
        "\ud800-\udfff",  # lone surrogates
        "\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff",  # private use, noncharacters
        # format characters of rare scripts
        "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a",
        "\U000e0000-\U000e0fff",  # tags and selectors: whole hidden sentences
        "\U000f0000-\U0010ffff",  # private use
    )
)
_STACKED = re.compile(f"([{_STACKING}]{{{_STACKING_LIMIT}}})([{_STACKING}]+)")


@cache
def _harmful(kept: str, in_ascii: bool) -> re.Pattern[str]:
    """Returns the pattern of replaced characters in ASCII text, or in any text, if the characters `kept` stay."""
    characters = "".join(chr(code) for code in (*range(0x20), 0x7F) if chr(code) not in kept)
    return re.compile(f"[{characters}{'' if in_ascii else _HARMFUL}]")


def visible(text: str, *, keep_newlines: bool = False, keep_tabs: bool = False) -> str:
    """Replaces every character of `text` that would control a terminal or be invisible. Idempotent.

    With `keep_newlines` lines stay lines (`\\r\\n` becomes `\\n`); otherwise the result is one line. With `keep_tabs`
    tabs stay; otherwise each becomes four spaces. Recognised credentials are replaced too, because a later check
    could not find them in a text that has been cut.
    """
    text = without_recognised(text)
    if keep_newlines and "\r\n" in text:
        text = text.replace("\r\n", "\n")
    harmful = _harmful("\n" * keep_newlines + "\t" * keep_tabs, text.isascii())
    if harmful.search(text):  # a table takes a tenth of the time of a call per character, and few kinds still less
        table = {ord(char): _substitute(ord(char)) for char in set(text) if harmful.match(char)}
        if len(table) <= _FEW_KINDS:
            for code, shown in table.items():
                text = text.replace(chr(code), shown)
        else:
            text = "".join(text[at : at + _AT_ONCE].translate(table) for at in range(0, len(text), _AT_ONCE))
    if text.isascii():
        return text
    return _STACKED.sub(lambda match: match[1] + "".join(_substitute(ord(mark)) for mark in match[2]), text)


def _substitute(code: int) -> str:
    if code == 0x09:
        return TAB
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return _DELETE_PICTURE
    if _ESCAPED_BYTE + 0x80 <= code <= _ESCAPED_BYTE + 0xFF:
        return f"<{code - _ESCAPED_BYTE:02X}>"
    return f"<U+{code:04X}>"


def cell_width(text: str) -> int:
    """Counts the terminal cells of visible text: two for East Asian wide characters, none for combining marks, else
    one."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def clip(text: str, width: int) -> str:
    """Cuts `text` to `width` cells at its end, and marks the cut with an ellipsis. Expects visible text."""
    if width <= 0:
        return ""
    if len(text) <= width and cell_width(text) <= width:
        return text
    used = end = 0
    room = width - 1
    for position, char in enumerate(text):
        used += _cells(char)
        if used > width:
            return text[:end] + ELLIPSIS
        if used <= room:
            end = position + 1
    return text


def clip_left(text: str, width: int) -> str:
    """Cuts `text` to `width` cells at its start ("…sts/test_money.py"). Expects visible text."""
    if width <= 0:
        return ""
    if len(text) <= width and cell_width(text) <= width:
        return text
    used = 0
    start = len(text)
    room = width - 1
    for position in range(len(text) - 1, -1, -1):
        cells = _cells(text[position])
        used += cells
        if used > width:
            return ELLIPSIS + text[start:]
        if used <= room and cells:  # a combining mark must not move to the ellipsis
            start = position
    return text


@lru_cache(maxsize=4096)
def _cells(char: str) -> int:
    if (
        unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff"
    ):  # marks, and Korean vowels that join the letter before
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
