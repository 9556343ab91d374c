"""The version of everything that reads files: our own version and the versions of the grammars. Every cache key
contains it."""

from __future__ import annotations

from functools import cache

from secateur.distributions import version_of
from secateur.languages import languages

_OUTPUT_NUMBER = 17
"""Increase it when the facts of the same file with the same grammars change."""


@cache
def parser_version() -> str:
    """Returns a version that changes whenever `parse_file` may return other facts for a file."""
    return f"{_OUTPUT_NUMBER}/{grammar_versions()}"


def grammar_versions() -> str:
    """Returns the versions of charset-normalizer, tree-sitter and all grammar wheels, in a fixed order."""
    wheels = sorted({traits.grammar.wheel for traits in languages().values() if traits.grammar})
    return ",".join(version_of(wheel) or "none" for wheel in ["charset-normalizer", "tree-sitter", *wheels])
