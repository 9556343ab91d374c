"""Reads the manifests of JavaScript and TypeScript: `package.json`, `tsconfig.json`, `jsconfig.json`.

`read_manifest` reads how import names are resolved inside a repository. A manifest has no code, so these rules become
annotations of its first fragment: `#entry ./hooks` is the file of a package's `hooks`, `#path @/*` the path for names
that match the pattern, `#base` the folder in which names are looked up, `#extends` another configuration.

`ScriptManifests` reads the packages that a repository provides and requires.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from secateur.languages.packages import Package, is_never_installed
from secateur.languages.syntax.import_targets import folder_of
from secateur.model import Annotation, FileFacts

MANIFEST = "json"
"""The language of manifests. Its other files have sections only."""

ENTRY, PATH, BASE, EXTENDS = "#entry ", "#path ", "#base", "#extends"

_PACKAGE = "package.json"
_CONFIG = re.compile(r"(?:ts|js)config(?:\.[\w.-]+)?\.json")
_MAIN = ("source", "module", "main", "types", "typings", "browser")
_LARGEST = 256 * 1024
_MOST_RULES = 1000
_LONGEST_NAME = 1000
_SURROGATES = re.compile("[\ud800-\udfff]")
_DEEPEST = 8
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*+"?)|,(?=\s*+[}\]])', re.DOTALL)
"""Both patterns let an unclosed quote or comment end with the text: otherwise each one would be searched to the end
again, which takes quadratic time."""

_REQUIREMENTS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


def read_manifest(path: str, text: str) -> tuple[str, tuple[Annotation, ...]]:
    """Returns the name of the package and the rules for import names; ("", ()) for an unreadable or any other file."""
    base = path.rpartition("/")[2]
    if len(text) > _LARGEST or not (base == _PACKAGE or _CONFIG.fullmatch(base)):
        return "", ()
    try:
        manifest = json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text)))
    except (ValueError, RecursionError):
        return "", ()
    if not isinstance(manifest, dict):
        return "", ()
    rules = _read_package(manifest) if base == _PACKAGE else _read_config(manifest)
    name = manifest.get("name") if base == _PACKAGE else ""
    annotations = (Annotation(0, key, value) for key, value in rules if _is_name(key + value))
    return (
        name if isinstance(name, str) and _is_name(name) else "",
        tuple(dict.fromkeys(islice(annotations, _MOST_RULES))),
    )


def _is_name(text: str) -> bool:
    """Tells whether a text can be a name. JSON can spell lone surrogates, which no file name or record contains."""
    return len(text) <= _LONGEST_NAME and not _SURROGATES.search(text)


def _read_package(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _MAIN:
        if isinstance(manifest.get(name), str):
            yield f"{ENTRY}.", manifest[name]
    for field in ("exports", "imports"):
        targets = manifest.get(field)
        by_name = isinstance(targets, dict) and all(key.startswith((".", "#")) for key in targets)
        for key, value in targets.items() if isinstance(targets, dict) and by_name else ((".", targets),):
            for target in _list_leaves(value):
                yield ENTRY + key, target


def _list_leaves(value: object, depth: int = 0) -> Iterator[str]:
    """Yields the paths in nested conditions and alternatives."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _list_leaves(inner, depth + 1)


def _read_config(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for parent in _list_leaves(manifest.get("extends")):
        yield EXTENDS, parent
    options = manifest.get("compilerOptions")
    if not isinstance(options, dict):
        return
    if isinstance(options.get("baseUrl"), str):
        yield BASE, options["baseUrl"]
    paths = options.get("paths")
    for pattern, targets in paths.items() if isinstance(paths, dict) else ():
        for target in _list_leaves(targets):
            yield PATH + pattern, target


class ScriptManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"package\.json")
    separator = "/"

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:  # noqa: ARG002 - all are read alike
        """Returns the package and its requirements. Raises ValueError for an unreadable manifest."""
        manifest = json.loads(text)
        tables = (manifest.get(key) for key in _REQUIREMENTS)
        requirements = [name for table in tables if isinstance(table, dict) for name in table]
        name = manifest.get("name")
        return name if isinstance(name, str) else "", requirements

    def list_packages(
        self,
        files: Sequence[tuple[str, FileFacts]],  # noqa: ARG002 - package.json is enough
        distributions: Mapping[str, str],
    ) -> Iterator[Package]:
        """Yields the package of each manifest; of two with one name, the one nearer to the root. Other repositories
        use it only if they require it."""
        known: set[str] = set()
        for path, name in distributions.items():
            if name and name not in known and not is_never_installed(folder_of(path)):
                known.add(name)
                yield Package("js", name, folder_of(path), name, is_plain=False)

    def list_imports(self, facts: FileFacts) -> Iterator[str]:
        """Yields imported names that are not paths."""
        modules = (statement.module for statement in facts.imports)
        return (module for module in modules if module and not module.startswith((".", "/", "#")))
