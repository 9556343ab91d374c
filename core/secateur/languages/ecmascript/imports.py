"""Resolves imports of JavaScript and TypeScript."""

from __future__ import annotations

import posixpath

from secateur.languages.ecmascript.packages import Packages
from secateur.languages.syntax.import_targets import Files, Module, folder_of, folders_above, join_path

_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro", ".d.ts")
_EMITTED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""Suffixes of the compiled files that TypeScript imports contain, and suffixes of their sources."""


class ScriptFinder:
    """Finds modules by relative paths, `index` files and manifests, or else by `@/` and `~/`, paths from the root, and
    packages by folder name."""

    def __init__(self, files: Files, family: str) -> None:
        self._paths = files.paths
        self._at: dict[str, Module] = {}
        self._entries: dict[str, list[str]] = {}  # folder name -> folders that have an index file or a src/index file
        self._packages = Packages(files)
        for file, path in enumerate(files.paths):
            if files.family[file] != family:
                continue
            self._at[path] = files.modules[file]
            folder, _, base = path.rpartition("/")
            if base.startswith("index."):
                owner = folder_of(folder) if posixpath.basename(folder) == "src" else folder
                known = self._entries.setdefault(posixpath.basename(owner), [])
                if owner not in known:
                    known.append(owner)
        self._memo: dict[tuple[str, str], Module | None] = {}

    def find_module(self, file: int, name: str, level: int) -> Module | None:  # noqa: ARG002 - dots are in the name
        key = (folder_of(self._paths[file]), name)
        if key not in self._memo:
            self._memo[key] = self._find(*key)
        return self._memo[key]

    def _find(self, here: str, name: str) -> Module | None:
        if name.startswith("."):
            path = posixpath.normpath(join_path(here, name))
            if path.startswith(".."):
                return None
            return self._find_file("" if path == "." else path)
        for path in self._packages.list_paths(here, name):
            if module := self._find_file(path):
                return module
        if name.startswith(("@/", "~/", "#/", "$lib/")):
            rest = name.partition("/")[2]
            roots = ("src", "", "app", "src/lib")
            candidates = [join_path(above, root, rest) for above in folders_above(here) for root in roots]
        elif "/" in name and not name.startswith(("/", "@")):
            candidates = [join_path(above, name) for above in folders_above(here)]
        else:
            candidates = []
        for path in candidates:
            if module := self._find_file(path):
                return module
        if not name.startswith("@") or name.startswith("@/"):
            return None
        package, _, inside = name.partition("/")[2].partition("/")
        folders = self._entries.get(package, ())
        if len(folders) == 1:
            return self._find_file(join_path(folders[0], inside)) or self._find_file(
                join_path(folders[0], "src", inside)
            )
        return None

    def _find_file(self, path: str) -> Module | None:
        if path in self._at:
            return self._at[path]
        stem, dot, suffix = path.rpartition(".")
        for source in _EMITTED.get(dot + suffix, ()):
            if stem + source in self._at:
                return self._at[stem + source]
        for suffix in _SUFFIXES:
            if path and path + suffix in self._at:
                return self._at[path + suffix]
        for suffix in _SUFFIXES:
            index = join_path(path, "index" + suffix)
            if index in self._at:
                return self._at[index]
        return None

    def find_submodule(self, module: Module, name: str) -> Module | None:  # noqa: ARG002
        return None

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:  # noqa: ARG002
        return next(filter(None, map(self._find_file, self._packages.list_paths_inside(folder, inside))), None)
