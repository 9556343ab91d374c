"""Tells which names of an archive can be a file below one folder on every system."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from secateur.sources.files import DEEPEST, path_bytes

_LONGEST_PART, _LONGEST_PATH = 255, 1024  # bytes: what Linux and macOS take
_OF_GIT = frozenset({".git", "git~1"})
"""Names of the folder of git, also as Windows and macOS take them: it would be read as a repository."""


def unfit_reason(name: str) -> str:
    """Returns the reason why a name cannot be used; "" if it can."""
    parts = name.split("/")
    if name.startswith(("/", "\\")) or name[1:2] == ":":
        return "an absolute name"
    if ".." in parts:
        return "a name that leads out"
    if "\\" in name or "\0" in name or any(part in ("", ".") for part in parts):
        return "an odd name"
    if len(path_bytes(name)) > _LONGEST_PATH or len(parts) > DEEPEST + 1:
        return "a name that is too long"
    if any(len(path_bytes(part)) > _LONGEST_PART for part in parts):
        return "a name that is too long"
    if any(normalize_name(part) in _OF_GIT for part in parts):
        return "data of git"
    return ""


@lru_cache(1 << 12)  # the folders of one archive come again and again
def normalize_name(name: str) -> str:
    """Returns a form that is equal for names that some system takes for the same, such as names in another case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold()).rstrip(". ")
