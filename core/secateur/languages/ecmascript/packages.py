"""Resolves import names of JavaScript and TypeScript by manifests: by aliases of a configuration and by packages of the
repository."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field

from secateur.languages.ecmascript.manifests import BASE, ENTRY, EXTENDS, MANIFEST, PATH
from secateur.languages.syntax.import_targets import Files, folders_above

_PARENTS = 6
"""Most configurations that are followed along `extends`."""

_SOURCES = ("src", "lib", "")
"""Folders of a package that are searched if its entry is a compiled file."""


@dataclass(slots=True)
class _Config:
    """The rules of a configuration for import names; paths are relative to the repository."""

    base: str | None = None
    paths: list[tuple[str, str]] = field(default_factory=list)  # pattern, path
    parents: list[str] = field(default_factory=list)


class Packages:
    """The manifests of a repository."""

    def __init__(self, files: Files) -> None:
        self._entries: dict[str, list[tuple[str, str]]] = {}  # folder of a package -> name inside it, path
        self._folders: dict[str, dict[str, None]] = {}  # name of a package -> folders
        self._configs: dict[str, _Config] = {}  # by path
        for path, facts in zip(files.paths, files.facts, strict=True):
            if facts.language != MANIFEST or not (facts.package or facts.annotations):
                continue
            folder, _, base = path.rpartition("/")
            if base == "package.json":
                self._folders.setdefault(facts.package, {})[folder] = None
                self._entries[folder] = [(rule.name.removeprefix(ENTRY), rule.type) for rule in facts.annotations]
                continue
            config = self._configs[path] = _Config()
            config.base = next((_resolve(folder, rule.type) for rule in facts.annotations if rule.name == BASE), None)
            start = folder if config.base is None else config.base
            config.paths = [
                (rule.name.removeprefix(PATH), _resolve(start, rule.type))
                for rule in facts.annotations
                if rule.name.startswith(PATH)
            ]
            config.parents = [
                _resolve(folder, rule.type)
                for rule in facts.annotations
                if rule.name == EXTENDS and rule.type.startswith(".")
            ]

    def list_paths(self, here: str, name: str) -> Iterator[str]:
        """Yields the paths that `name` may mean in the folder `here`, likeliest first: files with or without suffix,
        or folders."""
        if not self._configs and not self._entries:
            return
        config = self._find_config(here)
        if config is not None:
            for pattern, path in config.paths:
                if (rest := _match_star(pattern, name)) is not None:
                    yield posixpath.normpath(path.replace("*", rest, 1))
            if config.base is not None:
                yield posixpath.normpath(f"{config.base}/{name}".lstrip("/"))
        if name.startswith("#"):
            owner = next((outer for outer in folders_above(here) if outer in self._entries), None)
            if owner is not None:
                yield from self._list_entry_paths(owner, name)
            return
        parts = name.split("/")
        package = "/".join(parts[: 2 if name.startswith("@") else 1])
        folders = self._folders.get(package, {})
        outer = [folder for folder in folders_above(here) if folder in folders]
        for folder in outer or (folders if len(folders) == 1 else ()):
            yield from self.list_paths_inside(folder, "/".join(parts[2 if name.startswith("@") else 1 :]))

    def list_paths_inside(self, folder: str, inside: str) -> Iterator[str]:
        """Yields the paths of a name inside the package in `folder`; "" for the package itself."""
        yield from self._list_entry_paths(folder, f"./{inside}" if inside else ".")
        for source in _SOURCES:
            yield _resolve(folder, posixpath.join(source, inside))
        yield _resolve(folder, posixpath.join(inside, "src"))

    def _list_entry_paths(self, folder: str, asked: str) -> Iterator[str]:
        for pattern, path in self._entries.get(folder, ()):
            if (rest := _match_star(pattern, asked)) is not None:
                target = _resolve(folder, path.replace("*", rest, 1))
                yield target.removesuffix(".d.ts")  # the source is better than its declaration file
                yield target

    def _find_config(self, here: str) -> _Config | None:
        """Returns the nearest configuration of a folder, merged with its parents."""
        for above in folders_above(here):
            for name in ("tsconfig.json", "jsconfig.json"):
                path = f"{above}/{name}".lstrip("/")
                if path in self._configs:
                    return self._merge_config(path)
        return None

    def _merge_config(self, path: str) -> _Config:
        whole, pending, seen = _Config(), [path], 0
        while pending and seen < _PARENTS:
            seen += 1
            path = pending.pop(0)
            config = self._configs.get(path) or self._configs.get(f"{path}.json")
            if config is not None:
                whole.base = config.base if whole.base is None else whole.base
                whole.paths = whole.paths or config.paths
                pending += config.parents
        return whole


def _resolve(folder: str, written: str) -> str:
    """Makes a path from a manifest relative to the repository; "" for the repository itself."""
    path = posixpath.normpath(posixpath.join(folder, written))
    return "" if path == "." else path


def _match_star(pattern: str, name: str) -> str | None:
    """Returns the text that matches the `*` of a pattern, "" without a `*`; None if the name does not match."""
    head, star, tail = pattern.partition("*")
    if not star:
        return "" if name == pattern else None
    if len(name) < len(head) + len(tail) or not (name.startswith(head) and name.endswith(tail)):
        return None
    return name[len(head) : len(name) - len(tail)]
