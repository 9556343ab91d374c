"""Reads import names from the manifests of JavaScript and TypeScript: `package.json`, `tsconfig.json`, `jsconfig.json`.

A manifest has no code, so what it says is kept as annotations of its first fragment: `#entry ./hooks` is the place that
a package's `hooks` is imported from, `#path @/*` where names that look so lie, `#base` the folder names start from,
`#extends` another configuration.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from secateur.model import Annotation

MANIFEST = "json"
"""The language of manifests; of no other file of it anything is known but sections."""

ENTRY, PATH, BASE, EXTENDS = "#entry ", "#path ", "#base", "#extends"

_PACKAGE = "package.json"
_CONFIG = re.compile(r"(?:ts|js)config(?:\.[\w.-]+)?\.json")
_MAIN = ("source", "module", "main", "types", "typings", "browser")
_LARGEST = 256 * 1024
_MOST = 1000
_HALVES = re.compile("[\ud800-\udfff]")
_DEEPEST = 8
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*+"?)|,(?=\s*+[}\]])', re.DOTALL)
"""Every quote or comment that begins also ends here, at the end of the text if need be: otherwise each quote or comment
that never closes is tried to the end again."""


def read_manifest(path: str, text: str) -> tuple[str, tuple[Annotation, ...]]:
    """(name of the package, what the manifest says); ("", ()) for any other file and for one that cannot be read."""
    base = path.rpartition("/")[2]
    if len(text) > _LARGEST or not (base == _PACKAGE or _CONFIG.fullmatch(base)):
        return "", ()
    try:
        read = json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text)))
    except (ValueError, RecursionError):
        return "", ()
    if not isinstance(read, dict):
        return "", ()
    said = _package(read) if base == _PACKAGE else _config(read)
    name = read.get("name") if base == _PACKAGE else ""
    found = (Annotation(0, key, value) for key, value in said if _is_name(key + value))
    return name if isinstance(name, str) and _is_name(name) else "", tuple(
        dict.fromkeys(item for _, item in zip(range(_MOST), found, strict=False))
    )


def _is_name(text: str) -> bool:
    """Tells whether a text can name anything: JSON can spell halves of characters, which no file can be called and no
    record hold."""
    return len(text) <= _MOST and not _HALVES.search(text)


def _package(read: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _MAIN:
        if isinstance(read.get(name), str):
            yield f"{ENTRY}.", read[name]
    for field in ("exports", "imports"):
        listed = read.get(field)
        by_name = isinstance(listed, dict) and all(key.startswith((".", "#")) for key in listed)
        for key, value in listed.items() if isinstance(listed, dict) and by_name else ((".", listed),):
            for target in _leaves(value):
                yield ENTRY + key, target


def _leaves(value: object, depth: int = 0) -> Iterator[str]:
    """The places among conditions and alternatives."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner, depth + 1)


def _config(read: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for parent in _leaves(read.get("extends")):
        yield EXTENDS, parent
    options = read.get("compilerOptions")
    if not isinstance(options, dict):
        return
    if isinstance(options.get("baseUrl"), str):
        yield BASE, options["baseUrl"]
    paths = options.get("paths")
    for pattern, targets in paths.items() if isinstance(paths, dict) else ():
        for target in _leaves(targets):
            yield PATH + pattern, target
