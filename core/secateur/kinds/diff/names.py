"""The paths in the lines of a diff: quoting, prefixes, and the one line that names two paths with nothing but a space
between."""

from __future__ import annotations

import re

from secateur.sources.files import path_text

NULL = "/dev/null"

_LETTERS = (("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"))
_PREFIXES = (*_LETTERS, ("w/", "i/"), ("b/", "a/"), ("1/", "2/"))
"""Prefixes that git puts before the two paths: by default and with `diff.mnemonicPrefix`; with `-R`, and for
comparisons without a repository."""

_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPED = re.compile(r'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def unquoted(quoted: str) -> str:
    """The path behind the inside of a C string as git writes it: escapes stand for bytes."""
    pieces = _ESCAPED.split(quoted)
    raw = bytearray()
    for place, piece in enumerate(pieces):
        if place % 2:
            raw.append(_ESCAPES[piece] if piece in _ESCAPES else int(piece, 8))
        else:
            raw += piece.encode("utf-8", "surrogateescape" if _escapable(piece) else "surrogatepass")
    return path_text(bytes(raw))


def readable(header: str) -> str:
    """The lines before the first hunk with names as git writes them where `core.quotePath` is off: letters of other
    scripts are no octal numbers."""

    def plain(match: re.Match[str]) -> str:
        name = unquoted(match[1])
        return name if "\\" in match[1] and name.isprintable() and not {'"', "\\"} & set(name) else match[0]

    return _QUOTED.sub(plain, header) if "\\" in header else header


def named(field: str) -> str:
    """The path in a line that holds one: quoted, or up to a tab (a time stamp follows, or nothing, where a name holds
    spaces)."""
    field = field.removesuffix("\r")
    whole = _QUOTED.match(field)
    return unquoted(whole[1]) if whole else field.partition("\t")[0]


def both_named(fields: str) -> tuple[str, str] | None:
    """The two paths of `diff --git A B`; None where the line does not tell where one ends.

    Names without quotes may hold spaces. Where only this line names the file, both are the same but for their prefixes.
    """
    fields = fields.removesuffix("\r")
    if '"' in fields:
        first = _QUOTED.match(fields)
        if first:
            return (
                (unquoted(first[1]), named(fields[first.end() + 1 :]))
                if fields[first.end() : first.end() + 1] == " "
                else None
            )
        cut = fields.find(' "')
        return (fields[:cut], named(fields[cut + 1 :])) if cut > 0 else None
    half = len(fields) // 2
    if len(fields) % 2 and fields[half] == " ":
        one, other = fields[:half], fields[half + 1 :]
        if one == other or any(
            one[2:] == other[2:] and one.startswith(a) and other.startswith(b) for a, b in _PREFIXES
        ):
            return one, other
    parts = fields.split(" ")
    return (parts[0], parts[1]) if len(parts) == 2 else None


def without_prefixes(old: str, new: str) -> tuple[str, str]:
    """Both paths without the pair of prefixes git puts before them; `/dev/null` stays. Paths that have no such pair
    stay as they are."""
    if NULL in (old, new):
        known = {prefix for pair in _LETTERS for prefix in pair}
        old, new = (path[2:] if path != NULL and path[:2] in known else path for path in (old, new))
        return old, new
    for one, other in _PREFIXES:
        if old.startswith(one) and new.startswith(other):
            return old[2:], new[2:]
    return old, new


def _escapable(text: str) -> bool:
    """Tells whether its lone surrogates all stand for bytes."""
    return (
        not any(0xD800 <= ord(char) < 0xDC80 or 0xDCFF < ord(char) < 0xE000 for char in text)
        if not text.isascii()
        else True
    )
