"""Turns bytes into text and lines, by the rule with which every module counts lines.

Lines end at "\\n" and nowhere else, as in git: a "\\r" before it stays part of the line, form feeds and Unicode
separators do not end one, and a final "\\n" opens no further line.
"""

from __future__ import annotations

import codecs


def decode(data: bytes) -> tuple[str, bool]:
    """`(text, damaged)`: UTF-8, or UTF-16 when a byte order mark says so; `damaged` says that invalid bytes were
    replaced by U+FFFD.

    A byte order mark is not part of the text. Never raises.
    """
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode(data[2:], "utf-16-le" if data.startswith(codecs.BOM_UTF16_LE) else "utf-16-be")
    return _decode(data, "utf-8")


def _decode(data: bytes, encoding: str) -> tuple[str, bool]:
    try:
        return data.decode(encoding), False
    except UnicodeDecodeError:
        return data.decode(encoding, errors="replace"), True


def split_lines(text: str) -> list[str]:
    """Returns the lines of `text` without their "\\n"; line number n (from 1) is element n - 1. Empty text has no
    lines."""
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
