"""Resolves imports of JavaScript and TypeScript."""

from __future__ import annotations

import posixpath

from secateur.languages.ecmascript.packages import Packages
from secateur.languages.syntax.import_targets import Files, Module, folder_of, folders_above, join_path

_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro", ".d.ts")
_EMITTED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""Suffixes a TypeScript import writes for the file that will be emitted, and the source it means."""


class ScriptFinder:
    """JavaScript and TypeScript: relative paths, `index` files, what manifests say, else `@/` and `~/`, paths from the
    root, packages by folder name."""

    def __init__(self, files: Files, family: str) -> None:
        self._paths = files.paths
        self._at: dict[str, Module] = {}
        self._entry: dict[str, list[str]] = {}  # folder name -> folders that have an index file or a src/index file
        self._packages = Packages(files)
        for number, path in enumerate(files.paths):
            if files.family[number] != family:
                continue
            self._at[path] = files.modules[number]
            folder, _, base = path.rpartition("/")
            if base.startswith("index."):
                owner = folder_of(folder) if posixpath.basename(folder) == "src" else folder
                known = self._entry.setdefault(posixpath.basename(owner), [])
                if owner not in known:
                    known.append(owner)
        self._memo: dict[tuple[str, str], Module | None] = {}

    def module(self, number: int, name: str, level: int) -> Module | None:  # noqa: ARG002 - dots are in the name
        key = (folder_of(self._paths[number]), name)
        if key not in self._memo:
            self._memo[key] = self._find(*key)
        return self._memo[key]

    def _find(self, here: str, name: str) -> Module | None:
        if name.startswith("."):
            place = posixpath.normpath(join_path(here, name))
            return None if place.startswith("..") else self._file("" if place == "." else place)
        for place in self._packages.places(here, name):
            if found := self._file(place):
                return found
        if name.startswith(("@/", "~/", "#/", "$lib/")):
            rest = name.partition("/")[2]
            roots = ("src", "", "app", "src/lib")
            candidates = [join_path(above, root, rest) for above in folders_above(here) for root in roots]
        elif "/" in name and not name.startswith(("/", "@")):
            candidates = [join_path(above, name) for above in folders_above(here)]
        else:
            candidates = []
        for place in candidates:
            if found := self._file(place):
                return found
        package, _, inside = (
            name.removeprefix("@").partition("/") if not name.startswith("@") else name.partition("/")[2].partition("/")
        )
        folders = self._entry.get(package, ()) if name.startswith("@") and not name.startswith("@/") else ()
        if len(folders) == 1:
            return self._file(join_path(folders[0], inside)) or self._file(join_path(folders[0], "src", inside))
        return None

    def _file(self, place: str) -> Module | None:
        if place in self._at:
            return self._at[place]
        stem, dot, suffix = place.rpartition(".")
        for source in _EMITTED.get(dot + suffix, ()):
            if stem + source in self._at:
                return self._at[stem + source]
        for suffix in _SUFFIXES:
            if place and place + suffix in self._at:
                return self._at[place + suffix]
        for suffix in _SUFFIXES:
            index = join_path(place, "index" + suffix)
            if index in self._at:
                return self._at[index]
        return None

    def submodule(self, module: Module, name: str) -> Module | None:  # noqa: ARG002
        return None

    def offered(self, place: str, name: str, inside: str) -> Module | None:  # noqa: ARG002
        return next(filter(None, map(self._file, self._packages.inside(place, inside))), None)
