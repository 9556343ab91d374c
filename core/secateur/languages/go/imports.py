"""Resolves imports of Go, and reads from `go.mod` which modules a repository provides and requires."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from secateur.languages.go import STANDARD
from secateur.languages.packages import Package, is_never_installed
from secateur.languages.syntax.import_targets import Files, Finder, Module, folder_of, join_path
from secateur.model import FileFacts


class GoFinder(Finder):
    """Finds packages, which are directories. The module path of `go.mod` is inferred from imports that end with a
    directory of the repository."""

    def __init__(self, files: Files, family: str) -> None:
        self._by_directory: dict[str, Module] = {}
        for (package_family, key), package in files.packages.items():
            directory, _, declared = key.rpartition(":")
            # An external test package shares the directory of the package it tests, which counts.
            if package_family == family and (directory not in self._by_directory or not declared.endswith("_test")):
                self._by_directory[directory] = package
        suffixes: dict[str, list[str]] = {}
        for directory in self._by_directory:
            parts = directory.split("/")
            for start in range(len(parts)):
                suffixes.setdefault("/".join(parts[start:]), []).append(directory)
        own_facts = (facts for file, facts in enumerate(files.facts) if files.family[file] == family)
        votes: Counter[tuple[str, str]] = Counter()
        for name in sorted({statement.module for facts in own_facts for statement in facts.imports}):
            parts = name.split("/")
            for start in range(1, len(parts) if parts[0] not in STANDARD else 0):
                inside = "/".join(parts[start:])
                for directory in suffixes.get(inside, ()):
                    votes["/".join(parts[:start]), directory.removesuffix(inside).rstrip("/")] += 1
        # Prefers the prefix that explains most imports, then the one nearest to the root of the repository.
        self._roots = sorted(votes, key=lambda vote: (-votes[vote], len(vote[1]), vote))
        self._votes = votes
        self._find = cache(self._find_package)

    def find_module(self, file: int, name: str, level: int) -> Module | None:  # noqa: ARG002 - no import is relative
        return self._find(name)

    def _find_package(self, name: str) -> Module | None:
        parts = name.split("/")
        if parts[0] in STANDARD:
            return None
        best = self._votes[self._roots[0]] if self._roots else 0
        for prefix, root in self._roots:
            if name == prefix:
                return self._by_directory.get(root)
            if name.startswith(prefix + "/"):
                inside = name[len(prefix) + 1 :]
                # If few imports share a prefix, a common last name such as "errors" is not enough evidence.
                is_likely = self._votes[prefix, root] * 4 >= best or "/" in inside
                if is_likely and (package := self._by_directory.get(join_path(root, inside))):
                    return package
        return None

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:  # noqa: ARG002
        return self._by_directory.get(join_path(folder, inside))


_MODULE = re.compile(r"^[^\S\n]*module\s+\"?([^\s\"/][^\s\"]*)", re.MULTILINE)
_REQUIREMENT = re.compile(r"^[^\S\n]*(?:require\s+)?([\w.-][\w-]*+\.[\w.-]+/\S+)\s+v\d", re.MULTILINE)


class GoManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"go\.mod")
    separator = "/"

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:  # noqa: ARG002 - all are read alike
        """Returns the module and its requirements. Never raises."""
        name = _MODULE.search(text)
        return name[1] if name else "", _REQUIREMENT.findall(text)

    def list_packages(
        self,
        files: Sequence[tuple[str, FileFacts]],  # noqa: ARG002 - go.mod is enough
        distributions: Mapping[str, str],
    ) -> Iterator[Package]:
        """Yields the module of each manifest. No other module has its path."""
        for path, name in distributions.items():
            if name and not is_never_installed(folder_of(path)):
                yield Package("go", name, folder_of(path), name, is_plain=True)

    def list_imports(self, facts: FileFacts) -> Iterator[str]:
        """Yields the paths of imported packages."""
        return (statement.module for statement in facts.imports)
