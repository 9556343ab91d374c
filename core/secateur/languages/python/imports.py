"""Resolves imports of Python."""

from __future__ import annotations

import posixpath

from secateur.languages.python import STANDARD
from secateur.languages.syntax.import_targets import Files, Module, folder_of, folders_above, join_path

SOURCE_ROOTS = ("src", "lib", "python", "source")
"""Folders that hold import roots by convention; they win where several would do."""


class PythonFinder:
    """Modules are files, packages are directories with or without `__init__.py`; roots are directories that are not
    packages themselves."""

    def __init__(self, files: Files, family: str) -> None:
        self._paths = files.paths
        self._at: dict[str, Module] = {}  # "a/b" -> module or package
        packages: set[str] = set()
        directories: dict[str, None] = {}
        for number, path in enumerate(files.paths):
            if files.family[number] != family:
                continue
            stem, module = path.rpartition(".")[0], files.modules[number]
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
        self._by_end: dict[str, list[str]] = {}  # the last name, and the last two, of a module -> places
        for place in self._at:
            names = place.replace("/", ".").rsplit(".", 2)
            for end in {names[-1], ".".join(names[-2:])}:
                self._by_end.setdefault(end, []).append(place)
        self._named: dict[str, tuple[dict[str, Module], Module | None]] = {}
        self._memo: dict[tuple[str, str], Module | None] = {}

    def module(self, number: int, name: str, level: int) -> Module | None:
        here = folder_of(self._paths[number])
        if level:
            above = folders_above(here)
            if level > len(above):
                return None
            return self._at.get(join_path(above[level - 1], name.replace(".", "/")))
        key = (here, name)
        if key not in self._memo:
            self._memo[key] = self._absolute(here, name)
        return self._memo[key]

    def _absolute(self, here: str, name: str) -> Module | None:
        if name not in self._named:
            self._named[name] = self._seen_from_roots(name)
        by_root, elsewhere = self._named[name]
        for root in folders_above(here) if by_root else ():
            if root in by_root:
                return by_root[root]
        return None if name.partition(".")[0] in STANDARD else elsewhere

    def _seen_from_roots(self, name: str) -> tuple[dict[str, Module], Module | None]:
        """The modules that have a name, each by the root it has it from, and the one for all who lie below none."""
        found: list[tuple[str, Module]] = []
        for place in self._by_end.get(".".join(name.rsplit(".", 2)[-2:]), ()):
            start = len(place) - len(name)
            if place.replace("/", ".").endswith(name) and (start == 0 or place[start - 1 : start] == "/"):
                root = place[: max(0, start - 1)]
                if root not in self._packages:
                    found.append((root, self._at[place]))
        conventional = [module for root, module in found if posixpath.basename(root) in SOURCE_ROOTS]
        alone = [module for _, module in found] if len(found) == 1 else []
        return dict(reversed(found)), next(iter(conventional + alone), None)

    def submodule(self, module: Module, name: str) -> Module | None:
        return None if module.directory is None else self._at.get(join_path(module.directory, name))

    def offered(self, place: str, name: str, inside: str) -> Module | None:
        return self._at.get(join_path(place, name.replace(".", "/"), inside))
