"""Recognises the language of a file: by its name, its extension, the first bytes of scripts and of ambiguous C headers.

Anything unknown is "text".
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from secateur.languages import languages

_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z]+)")

HEAD_BYTES = 16384
"""Bytes of a file's beginning that are examined to distinguish C++ headers from C headers."""

_HEAD_OF_SCRIPT = 256


class _Signs(Struct, frozen=True):
    """Maps each sign of a language to the language."""

    extensions: dict[str, str]
    file_names: dict[str, str]
    file_prefixes: dict[str, str]
    interpreters: dict[str, str]
    claims: dict[str, tuple[re.Pattern[bytes], str]]  # by extension


@cache
def _collect_signs() -> _Signs:
    known = languages().values()
    return _Signs(
        {sign: traits.name for traits in known for sign in traits.extensions.split()},
        {sign: traits.name for traits in known for sign in traits.file_names.split()},
        {sign: traits.name for traits in known for sign in traits.file_prefixes.split()},
        {sign: traits.name for traits in known for sign in traits.interpreters.split()},
        {sign: (traits.claims, traits.name) for traits in known if traits.claims for sign in traits.claimed.split()},
    )


def language_of(path: str, head: bytes = b"") -> str:
    """Returns the language of the file at `path` ("/" between folders), "text" if it is unknown.

    `head` is the beginning of its bytes (`HEAD_BYTES` are enough); without it scripts that have no extension are "text"
    and `.h` is "c".
    """
    signs = _collect_signs()
    name = path.rsplit("/", 1)[-1].lower()
    if language := signs.file_names.get(name):
        return language
    if language := next((known for prefix, known in signs.file_prefixes.items() if name.startswith(prefix)), None):
        return language
    stem, dot, extension = name.rpartition(".")
    if dot and stem and (language := signs.extensions.get(extension)):
        claim, claimant = signs.claims.get(extension, (None, ""))
        return claimant if claim and claim.search(head[:HEAD_BYTES]) else language
    script = _SHEBANG.match(head[:_HEAD_OF_SCRIPT])
    return signs.interpreters.get(script[1].decode("ascii").lower(), "text") if script else "text"
