"""Resolves imports of Python."""

from __future__ import annotations

import posixpath

from secateur.languages.python import STANDARD
from secateur.languages.syntax.import_targets import Files, Module, folder_of, folders_above, join_path

SOURCE_ROOTS = ("src", "lib", "python", "source")
"""Folders that are import roots by convention; they are preferred."""


class PythonFinder:
    """Finds modules, which are files, and packages, which are directories with or without `__init__.py`. Directories
    that are not packages are import roots."""

    def __init__(self, files: Files, family: str) -> None:
        self._paths = files.paths
        self._at: dict[str, Module] = {}  # "a/b" -> module or package
        packages: set[str] = set()
        directories: dict[str, None] = {}
        for file, path in enumerate(files.paths):
            if files.family[file] != family:
                continue
            stem, module = path.rpartition(".")[0], files.modules[file]
            directories.update(dict.fromkeys(folders_above(folder_of(path))))
            if posixpath.basename(stem) == "__init__":
                stem = folder_of(stem)
                packages.add(stem)
                module.directory = stem
                self._at[stem] = module
            elif path.endswith(".py"):
                self._at[stem] = module
            else:
                self._at.setdefault(stem, module)
        for directory in directories:
            if directory and directory not in self._at:
                self._at[directory] = Module(directory, directory=directory, language="python")
        self._packages = packages
        self._by_end: dict[str, list[str]] = {}  # last name, and last two names, of a module -> paths
        for stem in self._at:
            names = stem.replace("/", ".").rsplit(".", 2)
            for end in {names[-1], ".".join(names[-2:])}:
                self._by_end.setdefault(end, []).append(stem)
        self._by_name: dict[str, tuple[dict[str, Module], Module | None]] = {}
        self._memo: dict[tuple[str, str], Module | None] = {}

    def find_module(self, file: int, name: str, level: int) -> Module | None:
        here = folder_of(self._paths[file])
        if level:
            above = folders_above(here)
            if level > len(above):
                return None
            return self._at.get(join_path(above[level - 1], name.replace(".", "/")))
        key = (here, name)
        if key not in self._memo:
            self._memo[key] = self._find_absolute(here, name)
        return self._memo[key]

    def _find_absolute(self, here: str, name: str) -> Module | None:
        if name not in self._by_name:
            self._by_name[name] = self._find_by_roots(name)
        by_root, elsewhere = self._by_name[name]
        for root in folders_above(here) if by_root else ():
            if root in by_root:
                return by_root[root]
        return None if name.partition(".")[0] in STANDARD else elsewhere

    def _find_by_roots(self, name: str) -> tuple[dict[str, Module], Module | None]:
        """Returns the modules with a name by import root, and the module for files outside these roots."""
        candidates: list[tuple[str, Module]] = []
        for stem in self._by_end.get(".".join(name.rsplit(".", 2)[-2:]), ()):
            start = len(stem) - len(name)
            if stem.replace("/", ".").endswith(name) and (start == 0 or stem[start - 1 : start] == "/"):
                root = stem[: max(0, start - 1)]
                if root not in self._packages:
                    candidates.append((root, self._at[stem]))
        conventional = [module for root, module in candidates if posixpath.basename(root) in SOURCE_ROOTS]
        alone = [module for _, module in candidates] if len(candidates) == 1 else []
        return dict(reversed(candidates)), next(iter(conventional + alone), None)

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return None if module.directory is None else self._at.get(join_path(module.directory, name))

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:
        return self._at.get(join_path(folder, name.replace(".", "/"), inside))
