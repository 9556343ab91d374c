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
        self._by_name: dict[str, list[tuple[str, Module]]] = {}  # "a.b" -> [(root, module)]
        for place, module in self._at.items():
            for root in folders_above(folder_of(place)):
                if root not in packages:
                    self._by_name.setdefault(place[len(root) :].lstrip("/").replace("/", "."), []).append(
                        (root, module)
                    )
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
        found = self._by_name.get(name)
        if not found:
            return None
        roots = dict(reversed(found))
        for root in folders_above(here):
            if root in roots:
                return roots[root]
        if name.partition(".")[0] in STANDARD:
            return None
        conventional = [module for root, module in found if posixpath.basename(root) in SOURCE_ROOTS]
        return conventional[0] if conventional else found[0][1] if len(found) == 1 else None

    def submodule(self, module: Module, name: str) -> Module | None:
        return None if module.directory is None else self._at.get(join_path(module.directory, name))

    def offered(self, place: str, name: str, inside: str) -> Module | None:
        return self._at.get(join_path(place, name.replace(".", "/"), inside))
