"""Resolves import names of JavaScript and TypeScript by manifests: aliases of a configuration, packages of the
repository."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field

from secateur.languages.ecmascript.manifests import BASE, ENTRY, EXTENDS, MANIFEST, PATH
from secateur.languages.syntax.import_targets import Files, folders_above

_PARENTS = 6
"""Configurations that extend one another that are followed."""

_SOURCES = ("src", "lib", "")
"""Folders of a package that are looked into where its entry is a file that is built."""


@dataclass(slots=True)
class _Config:
    """The rules of a configuration for import names; places are relative to the repository."""

    base: str | None = None
    paths: list[tuple[str, str]] = field(default_factory=list)  # pattern, place
    parents: list[str] = field(default_factory=list)


class Packages:
    """The manifests of a repository."""

    def __init__(self, files: Files) -> None:
        self._entries: dict[str, list[tuple[str, str]]] = {}  # folder of a package -> what it is asked for, place
        self._folders: dict[str, dict[str, None]] = {}  # name of a package -> folders
        self._configs: dict[str, _Config] = {}  # path -> what it says
        for path, facts in zip(files.paths, files.facts, strict=True):
            if facts.language != MANIFEST or not (facts.package or facts.annotations):
                continue
            folder, _, base = path.rpartition("/")
            if base == "package.json":
                self._folders.setdefault(facts.package, {})[folder] = None
                self._entries[folder] = [(said.name.removeprefix(ENTRY), said.type) for said in facts.annotations]
                continue
            config = self._configs[path] = _Config()
            config.base = next((_place(folder, said.type) for said in facts.annotations if said.name == BASE), None)
            start = folder if config.base is None else config.base
            config.paths = [
                (said.name.removeprefix(PATH), _place(start, said.type))
                for said in facts.annotations
                if said.name.startswith(PATH)
            ]
            config.parents = [
                _place(folder, said.type)
                for said in facts.annotations
                if said.name == EXTENDS and said.type.startswith(".")
            ]

    def places(self, here: str, name: str) -> Iterator[str]:
        """Paths at which `name`, imported in the folder `here`, may lie: files with or without their suffix, folders;
        likeliest first."""
        if not self._configs and not self._entries:
            return
        config = self._config_of(here)
        if config is not None:
            for pattern, place in config.paths:
                if (rest := _matched(pattern, name)) is not None:
                    yield posixpath.normpath(place.replace("*", rest, 1))
            if config.base is not None:
                yield posixpath.normpath(f"{config.base}/{name}".lstrip("/"))
        if name.startswith("#"):
            owner = next((outer for outer in folders_above(here) if outer in self._entries), None)
            if owner is not None:
                yield from self._entered(owner, name)
            return
        parts = name.split("/")
        package = "/".join(parts[: 2 if name.startswith("@") else 1])
        folders = self._folders.get(package, {})
        holding = [folder for folder in folders_above(here) if folder in folders]
        for folder in holding or (folders if len(folders) == 1 else ()):
            yield from self.inside(folder, "/".join(parts[2 if name.startswith("@") else 1 :]))

    def inside(self, folder: str, inside: str) -> Iterator[str]:
        """The same for what is imported of the package in `folder`; "": the package itself."""
        yield from self._entered(folder, f"./{inside}" if inside else ".")
        for source in _SOURCES:
            yield _place(folder, posixpath.join(source, inside))
        yield _place(folder, posixpath.join(inside, "src"))

    def _entered(self, folder: str, asked: str) -> Iterator[str]:
        for pattern, place in self._entries.get(folder, ()):
            if (rest := _matched(pattern, asked)) is not None:
                target = _place(folder, place.replace("*", rest, 1))
                yield target.removesuffix(".d.ts")  # rather what is declared than its declaration
                yield target

    def _config_of(self, here: str) -> _Config | None:
        """The configuration of a folder: the nearest, with what it extends."""
        for above in folders_above(here):
            for name in ("tsconfig.json", "jsconfig.json"):
                path = f"{above}/{name}".lstrip("/")
                if path in self._configs:
                    return self._whole(path)
        return None

    def _whole(self, path: str) -> _Config:
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


def _place(folder: str, written: str) -> str:
    """A place written in a manifest, relative to the repository; "" for the repository itself."""
    place = posixpath.normpath(posixpath.join(folder, written))
    return "" if place == "." else place


def _matched(pattern: str, name: str) -> str | None:
    """The text that `*` stands for in a pattern, "" where there is none; None if the name does not look so."""
    head, star, tail = pattern.partition("*")
    if not star:
        return "" if name == pattern else None
    return (
        name[len(head) : len(name) - len(tail)]
        if len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)
        else None
    )
