"""The languages: one module or package for each, or for a few that share most of what they are.

A module of this package that has `LANGUAGES` is one: nothing else lists them. What they share in reading trees lies in
`syntax/`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from secateur.languages.traits import LanguageTraits, NameRules


@cache
def languages() -> dict[str, LanguageTraits]:
    """All languages by name, in alphabetical order."""
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    known: list[LanguageTraits] = [traits for module in modules for traits in getattr(module, "LANGUAGES", ())]
    return {traits.name: traits for traits in sorted(known, key=lambda traits: traits.name)}


def traits_of(language: str) -> LanguageTraits:
    """The traits of a language; the defaults for one that is not known."""
    return languages().get(language) or LanguageTraits(name=language)


@cache
def rules_of(language: str) -> NameRules:
    """The rules by which names of a language are resolved; a language without rules is a family of its own."""
    return traits_of(language).rules or NameRules(family=language)
