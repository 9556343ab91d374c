"""Turns bytes into text and lines. All modules count lines by this rule.

Lines end at "\\n", as in git, and a "\\r" before it is not part of the line. In a text without "\\n" they end at "\\r".
Form feeds and Unicode separators do not end a line, and a final line break does not start one.
"""

from __future__ import annotations

import codecs

from secateur.encodings import as_utf8
from secateur.languages.syntax.notebook_text import show_notebook

DAMAGED_TEXT = "invalid_utf8"
"""Problem of a file with bytes that are not text."""


def decode(data: bytes) -> tuple[str, bool]:
    """Returns `(text, damaged)` for any encoding that `as_utf8` reads. `damaged`: U+FFFD replaced invalid bytes.

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
    """Returns the text of a file and `damaged`, as `decode` does; a notebook is shown as its cells."""
    text, damaged = decode(data)
    return (show_notebook(text) if path.lower().endswith(".ipynb") else text), damaged


def split_lines(text: str) -> list[str]:
    """Returns the lines of `text` without their line breaks; line number n (from 1) is element n - 1. Empty text has no
    lines."""
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.rstrip("\r") for line in lines] if "\r" in text else lines
