"""The languages: one module or package for each, or for a few similar ones.

Every module of this package that has `LANGUAGES` is loaded; there is no other list. Code that all languages share for
reading trees lies in `syntax/`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from secateur.languages.traits import LanguageTraits, NameRules


@cache
def languages() -> dict[str, LanguageTraits]:
    """Returns all languages by name, in alphabetical order."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    known: list[LanguageTraits] = [traits for module in modules for traits in getattr(module, "LANGUAGES", ())]
    return {traits.name: traits for traits in sorted(known, key=lambda traits: traits.name)}


def traits_of(language: str) -> LanguageTraits:
    """Returns the traits of a language; the defaults for an unknown language."""
    return languages().get(language) or LanguageTraits(name=language)


@cache
def rules_of(language: str) -> NameRules:
    """Returns the rules that resolve names of a language. A language without rules is its own family."""
    return traits_of(language).rules or NameRules(family=language)
