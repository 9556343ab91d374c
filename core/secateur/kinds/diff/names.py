"""Parses the paths in the lines of a diff: quotes, prefixes, and `diff --git A B`, where only a space parts two
paths."""

from __future__ import annotations

import re

from secateur.sources.files import path_text

NULL = "/dev/null"

_LETTERS = (("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"))
# Prefixes that git puts before the two paths: by default, with `diff.mnemonicPrefix`, with `-R`, and without a
# repository.
_PREFIXES = (*_LETTERS, ("w/", "i/"), ("b/", "a/"), ("1/", "2/"))

_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPED = re.compile(r'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_BEGUN = re.compile(r'"((?:[^"\\]|\\.)*+)("?)')  # also matches a text that does not end, whose quotes are read once


def unquote(quoted: str) -> str:
    """Decodes the inside of a quoted path as git writes it: escapes stand for bytes."""
    pieces = _ESCAPED.split(quoted)
    raw = bytearray()
    for index, piece in enumerate(pieces):
        if index % 2:
            raw.append(_ESCAPES[piece] if piece in _ESCAPES else int(piece, 8))
        else:
            lone = any(0xD800 <= ord(char) < 0xDC80 or 0xDCFF < ord(char) < 0xE000 for char in piece)  # not a byte
            raw += piece.encode("utf-8", "surrogatepass" if lone else "surrogateescape")
    return path_text(bytes(raw))


def unquote_header(header: str) -> str:
    """Rewrites the names in a header as with `core.quotePath` off: letters of other scripts instead of octal
    numbers."""

    def plain(match: re.Match[str]) -> str:
        name = unquote(match[1]) if match[2] and "\\" in match[1] else ""
        return name if name and name.isprintable() and not {'"', "\\"} & set(name) else match[0]

    return _BEGUN.sub(plain, header) if "\\" in header else header


def parse_name(field: str) -> str:
    """Parses the path in a header line: quoted, or up to a tab, which a time stamp may follow."""
    field = field.removesuffix("\r")
    whole = _QUOTED.match(field)
    return unquote(whole[1]) if whole else field.partition("\t")[0]


def parse_git_names(fields: str) -> tuple[str, str] | None:
    """Parses the two paths of `diff --git A B`; None if it is not clear where the first ends.

    Names without quotes may hold spaces. If only this line names the file, both paths differ only in their prefixes.
    """
    fields = fields.removesuffix("\r")
    if '"' in fields:
        first = _QUOTED.match(fields)
        if first:
            apart = fields[first.end() : first.end() + 1] == " "
            return (unquote(first[1]), parse_name(fields[first.end() + 1 :])) if apart else None
        cut = fields.find(' "')
        return (fields[:cut], parse_name(fields[cut + 1 :])) if cut > 0 else None
    half = len(fields) // 2
    if len(fields) % 2 and fields[half] == " ":
        first_half, second_half = fields[:half], fields[half + 1 :]
        if first_half == second_half or any(
            first_half[2:] == second_half[2:] and first_half.startswith(a) and second_half.startswith(b)
            for a, b in _PREFIXES
        ):
            return first_half, second_half
    parts = fields.split(" ")
    return (parts[0], parts[1]) if len(parts) == 2 else None


def strip_prefixes(old: str, new: str) -> tuple[str, str]:
    """Strips the pair of prefixes that git puts before both paths. `/dev/null` and paths without such a pair stay."""
    if NULL in (old, new):
        known = {prefix for pair in _LETTERS for prefix in pair}
        old, new = (path[2:] if path != NULL and path[:2] in known else path for path in (old, new))
        return old, new
    for old_prefix, new_prefix in _PREFIXES:
        if old.startswith(old_prefix) and new.startswith(new_prefix):
            return old[2:], new[2:]
    return old, new
