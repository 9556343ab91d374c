"""The languages: one module or package for each, or for a few similar ones; and how that of a file is recognised.

Every module of this package that has `LANGUAGES` is loaded; there is no other list. Code that all languages share for
reading trees lies in `syntax/`.
"""

import re
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from secateur.distributions import version_of
from secateur.languages.traits import LanguageTraits, NameRules

_OUTPUT_NUMBER = 21  # increase it when the facts of the same file with the same grammars change
HEAD_BYTES = 16384  # bytes of a file's beginning that are examined to distinguish C++ headers from C headers

_HEAD_OF_SCRIPT = 256
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z]+)")


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


def language_of(path: str, head: bytes = b"") -> str:
    """Returns the language of the file at `path` ("/" between folders): by its name, its extension, the first bytes of
    scripts and of ambiguous C headers; "text" if it is unknown.

    `head` is the beginning of its bytes (`HEAD_BYTES` are enough); without it scripts that have no extension are "text"
    and `.h` is "c".
    """
    name = path.rsplit("/", 1)[-1].lower()
    known = _signs("file_names").get(name) or next(
        (traits for prefix, traits in _signs("file_prefixes").items() if name.startswith(prefix)), None
    )
    stem, dot, extension = name.rpartition(".")
    extensions = _signs("extensions")
    longer = f"{stem.rpartition('.')[2]}.{extension}"  # "blade.php"
    if known is None and dot and stem and (known := extensions.get(longer) or extensions.get(extension)):
        claimant = _signs("claimed").get(extension)
        if claimant is not None and claimant.claims is not None and claimant.claims.search(head[:HEAD_BYTES]):
            known = claimant
    if known is None and (script := _SHEBANG.match(head[:_HEAD_OF_SCRIPT])):
        known = _signs("interpreters").get(script[1].decode("ascii").lower())
    return known.name if known is not None else "text"


@cache
def _signs(field: str) -> dict[str, LanguageTraits]:
    return {sign: traits for traits in languages().values() for sign in getattr(traits, field).split()}


@cache
def parser_version() -> str:
    """Returns a version that changes whenever `parse_file` may return other facts for a file: our own, and those of
    charset-normalizer, tree-sitter and all grammars. Every cache key contains it."""
    wheels = sorted({traits.grammar.wheel for traits in languages().values() if traits.grammar})
    versions = (version_of(wheel) or "none" for wheel in ["charset-normalizer", "tree-sitter", *wheels])
    return f"{_OUTPUT_NUMBER}/{','.join(versions)}"
