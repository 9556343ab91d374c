"""The version of what is read out of files, which is part of every cache key: ours, and those of the grammars."""

from __future__ import annotations

from functools import cache

from secateur.distributions import version_of
from secateur.languages import languages

_OUTPUT_NUMBER = 11
"""Goes up when the same file and grammars give other facts than before."""


@cache
def parser_version() -> str:
    """Changes whenever `parse_file` may give other facts for the same file; part of every cache key."""
    return f"{_OUTPUT_NUMBER}/{grammar_versions()}"


def grammar_versions() -> str:
    """Installed versions of tree-sitter and of all grammar wheels, in a fixed order; part of every cache key."""
    wheels = sorted({traits.grammar.wheel for traits in languages().values() if traits.grammar})
    return ",".join(version_of(wheel) or "none" for wheel in ["tree-sitter", *wheels])
