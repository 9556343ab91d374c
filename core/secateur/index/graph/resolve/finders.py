"""Makes the finders of imports, one for each language family of a repository."""

from __future__ import annotations

from importlib import import_module

from secateur.languages.syntax.import_targets import Files, Finder, PathFinder
from secateur.languages.traits import NameRules


def finders(files: Files, rules: dict[str, NameRules]) -> dict[str, Finder]:
    """Returns a finder for each language family in `rules`."""
    by_path = PathFinder(files)
    return {family: _finder(rules[family], files) or by_path for family in rules}


def _finder(rules: NameRules, files: Files) -> Finder | None:
    if not rules.finder:
        return None
    module, _, name = rules.finder.partition(":")
    finder: Finder = getattr(import_module(module), name)(files, rules.family)
    return finder
