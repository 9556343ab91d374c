"""Turns bytes into text and lines, by the rule with which every module counts lines.

Lines end at "\\n", as in git, and a "\\r" before it is no part of the line. In a text without "\\n" they end at "\\r".
Form feeds and Unicode separators end none, and a final line break opens no further line.
"""

from __future__ import annotations

import codecs

from secateur.encodings import as_utf8
from secateur.languages.syntax.notebook_text import notebook_text

DAMAGED_TEXT = "invalid_utf8"
"""Problem of a file with bytes that are no text."""


def decode(data: bytes) -> tuple[str, bool]:
    """`(text, damaged)`, of any encoding that `as_utf8` reads; `damaged` says that invalid bytes were replaced by
    U+FFFD.

    A byte order mark is not part of the text. Never raises.
    """
    data = as_utf8(data).removeprefix(codecs.BOM_UTF8)
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", errors="replace"), True


def read_text(path: str, data: bytes) -> tuple[str, bool]:
    """The text of a file as it is cut and shown, and `damaged`, as `decode`: a notebook is its cells, line by line."""
    text, damaged = decode(data)
    return (notebook_text(text) if path.lower().endswith(".ipynb") else text), damaged


def split_lines(text: str) -> list[str]:
    """Returns the lines of `text` without their line breaks; line number n (from 1) is element n - 1. Empty text has no
    lines."""
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.rstrip("\r") for line in lines] if "\r" in text else lines
