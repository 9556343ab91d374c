"""The version of everything read from files, which is part of every cache key: our version and those of the
grammars."""

from __future__ import annotations

from functools import cache

from secateur.distributions import version_of
from secateur.languages import languages

_OUTPUT_NUMBER = 17
"""Is raised when the same file and grammars give other facts than before."""


@cache
def parser_version() -> str:
    """Returns a version that changes whenever `parse_file` may give other facts for a file; part of every cache key."""
    return f"{_OUTPUT_NUMBER}/{grammar_versions()}"


def grammar_versions() -> str:
    """Returns the versions of what detects encodings, of tree-sitter and of all grammar wheels, in a fixed order; part
    of every cache key."""
    wheels = sorted({traits.grammar.wheel for traits in languages().values() if traits.grammar})
    return ",".join(version_of(wheel) or "none" for wheel in ["charset-normalizer", "tree-sitter", *wheels])
