"""Resolves the module name in an import to a file, package or directory of the repository.

No build file is read: import roots are inferred from the tree of files. A finder returns a `Module`, or None if the
repository does not contain it. It is built in time linear in the number of paths, and looks names up in dictionaries.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import Protocol

from secateur.model import FileFacts, Import

Gids = tuple[int, ...]  # definitions, by the index of their fragment in the repository


@dataclass(slots=True, eq=False)
class Module:
    """A container of names: a file, a package, a directory of modules."""

    name: str
    files: list[int] = field(default_factory=list)
    names: dict[str, Gids] = field(default_factory=dict)  # top-level definitions
    variables: dict[str, tuple[int, str]] = field(default_factory=dict)  # name -> (file, type as written)
    objects: dict[str, Module] = field(default_factory=dict)  # variables that hold functions by name
    imports: dict[str, tuple[int, Import]] = field(default_factory=dict)  # local name -> (file, import)
    exports: dict[str, tuple[int, Import]] = field(default_factory=dict)  # of these, what other files can import
    stars: list[tuple[int, Import]] = field(default_factory=list)
    directory: str | None = None  # with its submodules
    language: str = ""  # of a folder without files
    family: str = ""  # of a folder without files


EXTERNAL = Module("<outside the repository>")  # stands for all modules of other repositories
Target = Gids | Module | None  # the meaning of a name: definitions, a module, EXTERNAL, or None (unknown)


def use_dots(text: str) -> str:
    """Converts `a::b`, `a\\b`, `a->b` and `a?.b` to `a.b`."""
    if text.isidentifier():
        return text
    for separator in ("::", "\\", "->", "?.", "!."):
        text = text.replace(separator, ".")
    return text.strip(".")


class Files(Protocol):
    """The facts of a repository's files for a finder; a file is its index."""

    paths: list[str]
    facts: list[FileFacts]
    family: list[str]
    modules: list[Module]
    packages: dict[tuple[str, str], Module]  # (family, package or directory) -> its names


class Finder(Protocol):
    """Finds modules for files of one language family. In most languages, files have no submodules."""

    def find_module(self, file: int, name: str, level: int) -> Module | None:
        """Returns the module that `name`, after `level` dots, means in a file."""

    def find_submodule(self, module: Module, name: str) -> Module | None:  # noqa: ARG002
        """Returns the module `name` inside `module`."""
        return None

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:  # noqa: ARG002
        """Returns a module that other repositories import from a package of this repository.

        `folder`, `name`: of the package; `inside`: path of the module in it, with `/`; "" for the package itself.
        """
        return None


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def folders_above(directory: str) -> list[str]:
    """Returns the directory and all directories above, innermost first; "" is the repository."""
    out = [directory]
    while directory:
        directory = folder_of(directory)
        out.append(directory)
    return out


def join_path(*parts: str) -> str:
    return "/".join(part for part in parts if part)


class PathFinder(Finder):
    """Finds modules of C, C++, Ruby and others by path: relative to the file, or as the end of only one path in the
    repository."""

    def __init__(self, files: Files) -> None:
        self._paths = files.paths
        self._at = dict(zip(files.paths, files.modules, strict=True))
        self._by_name: dict[str, list[str]] = {}
        for path in files.paths:
            self._by_name.setdefault(posixpath.basename(path), []).append(path)
        self._tails: dict[str, Module | None] = {}

    def find_module(self, file: int, name: str, level: int) -> Module | None:  # noqa: ARG002
        path = self._paths[file]
        for spelling in (name, name + posixpath.splitext(path)[1]):
            path_from_here = posixpath.normpath(join_path(folder_of(path), spelling))
            if path_from_here in self._at:
                return self._at[path_from_here]
            tail = posixpath.normpath(spelling)
            if tail not in self._tails:
                matches = [
                    known
                    for known in self._by_name.get(posixpath.basename(tail), ())
                    if known == tail or known.endswith("/" + tail)
                ]
                self._tails[tail] = self._at[matches[0]] if len(matches) == 1 else None
            if module := self._tails[tail]:
                return module
        return None


class PackageFinder(Finder):
    """Finds modules of Java, C#, PHP by the packages and namespaces that files declare."""

    def __init__(self, files: Files, family: str) -> None:
        self._packages = {name: package for (kind, name), package in files.packages.items() if kind == family}

    def find_module(self, file: int, name: str, level: int) -> Module | None:  # noqa: ARG002
        return self._packages.get(use_dots(name))

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return self._packages.get(f"{module.name}.{name}")

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:  # noqa: ARG002 - files declare it
        return self._packages.get(".".join(filter(None, (name, inside.replace("/", ".")))))
