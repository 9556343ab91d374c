"""Detects sources that must not reach the parser because of an expression that never ends.

If such an expression ends in an error, tree-sitter's recovery takes memory quadratic in its length, in one step that no
callback can stop: 9 KB of `x=>` took 3 GB in Java and C, as did `a=*` in TypeScript; 8 KB of `a/*` took 0.9 GB in
Python. Code written by people stays far below the limit.
"""

from __future__ import annotations

import re

from secateur.languages.traits import LanguageTraits

_LONG_STRETCH = 2000
"""Bytes without a bracket, comma or semicolon above which operators are counted."""

_MOST_OPERATORS = 600
"""Most operators in such a stretch; the parser then takes about 180 MB at worst."""

_ENDS = bytes.maketrans(b"{},()[]", b";;;;;;;")
_OPENING = (b"(", b"[", b"{")
_CLOSING = (b")", b"]", b"}")
_OPERATOR = re.compile(rb"\w\s*[^\w\s]")

_QUOTED = rb"\"[^\"\n]*\"|'[^'\n]*'"
C_SILENT = re.compile(rb"//[^\n]*|^[ \t]*#[^\n]*|" + _QUOTED, re.MULTILINE)
JAVA_SILENT = re.compile(rb"//[^\n]*|" + _QUOTED)
SCRIPT_SILENT = re.compile(rb"//[^\n]*|`[^`]*`|" + _QUOTED)
PYTHON_SILENT = re.compile(rb"#[^\n]*|\"\"\".*?\"\"\"|'''.*?'''|" + _QUOTED, re.DOTALL)
SHELL_SILENT = re.compile(rb"(?:^|(?<=\s))#[^\n]*|" + _QUOTED, re.MULTILINE)
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)


def is_endless(source: bytes, traits: LanguageTraits) -> bool:
    """True if parsing `source` could exhaust memory. Comments and strings do not count as operators."""
    if traits.silent is None or not _find_stretches(source):
        return False
    if traits.lines_end_statements:
        code = _mark_line_ends(traits.silent.sub(b"", source))
    else:
        # The parser ignores a comment that is never closed, and searching for its end each time would be slow.
        end = source.rfind(b"*/") + 2 if b"*/" in source else 0
        code = traits.silent.sub(b"", _COMMENT.sub(b"", source[:end]) + source[end:])
    return any(len(_OPERATOR.findall(stretch)) > _MOST_OPERATORS for stretch in _find_stretches(code))


def _mark_line_ends(code: bytes) -> bytes:
    """Returns `code` with a semicolon after each line that no bracket or backslash continues."""
    depth = 0
    parts: list[bytes] = []
    for line in code.split(b"\n"):
        depth = max(0, depth + sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING)))
        parts += (line, b"\n" if depth or line.endswith(b"\\") else b";")
    return b"".join(parts)


def _find_stretches(source: bytes) -> list[bytes]:
    """Returns the long stretches of `source` without brackets, commas and semicolons."""
    return [stretch for stretch in source.translate(_ENDS).split(b";") if len(stretch) > _LONG_STRETCH]
