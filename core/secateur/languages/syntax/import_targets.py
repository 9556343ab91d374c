"""Resolves an import: from a module's name, as each language writes it, to a file, package or directory of the
repository.

No build file is read: import roots are inferred from the tree itself. A finder answers with a `Module`, or None where
the name is not of this repository. Each is built in time linear in the number of paths and answers from dictionaries.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import Protocol

from secateur.model import FileFacts, Import

Gids = tuple[int, ...]
"""Definitions, by the index of their fragment in the repository."""


@dataclass(slots=True, eq=False)
class Module:
    """A container of names: a file, a package, a directory of modules."""

    name: str
    files: list[int] = field(default_factory=list)
    names: dict[str, Gids] = field(default_factory=dict)  # top-level definitions
    variables: dict[str, tuple[int, str]] = field(default_factory=dict)  # name -> (file, type as written)
    imports: dict[str, tuple[int, Import]] = field(default_factory=dict)  # local name -> (file, import)
    exports: dict[str, tuple[int, Import]] = field(
        default_factory=dict
    )  # the same for names that other files can import from here
    stars: list[tuple[int, Import]] = field(default_factory=list)
    directory: str | None = None  # with its submodules
    language: str = ""  # of a folder without files


EXTERNAL = Module("<outside the repository>")
"""Everything that is defined elsewhere."""

Target = Gids | Module | None
"""The meaning of a name: definitions, a module, EXTERNAL, or None (unknown)."""


def dotted(text: str) -> str:
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
    """Finds modules for files of one language family."""

    def module(self, number: int, name: str, level: int) -> Module | None:
        """Returns the module that `name` means, in the file with index `number` and after `level` dots."""

    def submodule(self, module: Module, name: str) -> Module | None:
        """Returns the module `name` inside `module`."""

    def offered(self, place: str, name: str, inside: str) -> Module | None:
        """Returns the module that other repositories import from a package of this one: `inside`, with `/`, in the
        package `name` at `place`; "" for the package itself."""


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


class PathFinder:
    """Finds modules of C, C++, Ruby and others by a path: relative to the file, or the end of exactly one path of the
    repository."""

    def __init__(self, files: Files) -> None:
        self._paths = files.paths
        self._at = dict(zip(files.paths, files.modules, strict=True))
        self._by_name: dict[str, list[str]] = {}
        for path in files.paths:
            self._by_name.setdefault(posixpath.basename(path), []).append(path)
        self._tails: dict[str, Module | None] = {}

    def module(self, number: int, name: str, level: int) -> Module | None:  # noqa: ARG002
        path = self._paths[number]
        for spelling in (name, name + posixpath.splitext(path)[1]):
            place = posixpath.normpath(join_path(folder_of(path), spelling))
            if place in self._at:
                return self._at[place]
            tail = posixpath.normpath(spelling)
            if tail not in self._tails:
                same = [
                    known
                    for known in self._by_name.get(posixpath.basename(tail), ())
                    if known == tail or known.endswith("/" + tail)
                ]
                self._tails[tail] = self._at[same[0]] if len(same) == 1 else None
            if found := self._tails[tail]:
                return found
        return None

    def submodule(self, module: Module, name: str) -> Module | None:  # noqa: ARG002
        return None

    def offered(self, place: str, name: str, inside: str) -> Module | None:  # noqa: ARG002
        return None


class PackageFinder:
    """Finds modules of Java, C#, PHP by the packages and namespaces that files declare."""

    def __init__(self, files: Files, family: str) -> None:
        self._packages = {name: package for (kind, name), package in files.packages.items() if kind == family}

    def module(self, number: int, name: str, level: int) -> Module | None:  # noqa: ARG002
        return self._packages.get(dotted(name))

    def submodule(self, module: Module, name: str) -> Module | None:
        return self._packages.get(f"{module.name}.{name}")

    def offered(self, place: str, name: str, inside: str) -> Module | None:  # noqa: ARG002 - declared in the files
        return self._packages.get(".".join(filter(None, (name, inside.replace("/", ".")))))
