"""Packages that repositories provide to each other: their names in manifests, their folders, and who requires them.

A repository provides the packages that its manifests describe: `pyproject.toml`, `setup.cfg`, `setup.py`,
`package.json`, `go.mod`, `pom.xml`, `build.gradle`. An unreadable manifest is ignored and listed in `unread`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Protocol

import msgspec

from secateur.languages import languages
from secateur.languages.syntax.names import words
from secateur.model import FileFacts

LARGEST = 256 * 1024  # most bytes of a manifest that is read
MOST_MANIFESTS = 2_000  # most manifests of one repository that are read, nearest to its root first
MOST_NAMES = 100_000  # most packages, imports or requirements of one repository that are stored
LONGEST = 300  # most characters of a name

# Folders whose contents are never installed: only the repository itself uses packages in them.
NEVER_INSTALLED = words(
    """
__fixtures__ __tests__ benchmark benchmarks build demo demos dist doc docs example examples fixtures node_modules sample
samples scripts test testing tests third_party vendor
"""
)


class Package(msgspec.Struct, frozen=True, order=True):
    """A package that other repositories can import.

    Attributes:
        family: the family of languages that can import it.
        name: the beginning of its imports: "werkzeug", "@shop/money", "github.com/spf13/pflag", "com.acme.money".
        folder: the folder in which its names are looked up; "" for the top of the repository.
        distribution: the name by which manifests require it; "" if unknown.
        is_plain: an import is enough to use it, without a requirement: no other distribution has its name.
    """

    family: str
    name: str
    folder: str
    distribution: str
    is_plain: bool


class ManifestPackages(msgspec.Struct, frozen=True):
    """The packages that a repository provides, requires and imports.

    Attributes:
        required: (family, distribution) of the requirements in its manifests.
        imported: (family, dotted or slashed name) of the imports in its files, without relative ones.
        unread: manifests that could not be read.
    """

    provided: tuple[Package, ...] = ()
    required: frozenset[tuple[str, str]] = frozenset()
    imported: frozenset[tuple[str, str]] = frozenset()
    unread: tuple[str, ...] = ()


class Manifests(Protocol):
    """The manifests of a family of languages.

    Attributes:
        names: matches the base names of manifests.
        separator: separates the parts of imported names.
    """

    names: re.Pattern[str]
    separator: str

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:
        """Returns the distribution that a manifest describes ("" for none) and the ones it requires. Raises
        ValueError."""

    def list_packages(
        self, files: Sequence[tuple[str, FileFacts]], distributions: Mapping[str, str]
    ) -> Iterator[Package]:
        """Yields the packages of a repository. `distributions`: path of a manifest → its distribution."""

    def list_imports(self, facts: FileFacts) -> Iterator[str]:
        """Yields the imported names of a file that may belong to a package."""


@cache
def manifests_of() -> dict[str, Manifests]:
    """Returns the manifest readers by family of languages."""
    readers: dict[str, Manifests] = {}
    for traits in languages().values():
        if traits.rules is not None and traits.rules.manifests and traits.rules.family not in readers:
            module, _, name = traits.rules.manifests.partition(":")
            readers[traits.rules.family] = getattr(import_module(module), name)()
    return readers


def packages_of(
    paths: Iterable[str],
    files: Sequence[tuple[str, FileFacts]],
    family_of: Callable[[FileFacts], str],
    read: Callable[[Sequence[str]], Iterable[tuple[str, bytes | None]]],
) -> ManifestPackages:
    """Returns the packages that a repository provides, requires and imports.

    Args:
        paths: the paths of all files, indexed or not.
        files: path and facts of the files whose family has manifests.
        family_of: returns the family of a file.
        read: yields the contents of files.
    """
    provided: list[Package] = []
    required: set[tuple[str, str]] = set()
    imported: set[tuple[str, str]] = set()
    unread: list[str] = []
    for family, manifests in manifests_of().items():
        own_files = [(path, facts) for path, facts in files if family_of(facts) == family]
        if not own_files:
            continue
        distributions: dict[str, str] = {}
        candidates = [path for path in paths if manifests.names.fullmatch(path.rpartition("/")[2])]
        for path, data in read(sorted(candidates, key=lambda path: (path.count("/"), path))[:MOST_MANIFESTS]):
            try:
                if data is None or len(data) > LARGEST:
                    raise ValueError("too large, or gone")
                distributions[path], requirements = manifests.read(path, data.decode("utf-8-sig"))
                required.update((family, name) for name in requirements if is_name(name))
            except (ValueError, TypeError, AttributeError, KeyError, RecursionError):  # a manifest may have any shape
                unread.append(path)
        if distributions:
            packages = (
                package
                for package in manifests.list_packages(files, distributions)
                if is_name(package.name) and is_name(package.folder, 0)
            )
            provided += islice(packages, MOST_NAMES)
        names = (name for _, facts in own_files for name in manifests.list_imports(facts) if is_name(name))
        imported.update((family, name) for name in names)
    return ManifestPackages(
        tuple(sorted(set(provided))),
        frozenset(sorted(required)[:MOST_NAMES]),
        frozenset(sorted(imported)[:MOST_NAMES]),
        tuple(sorted(unread)),
    )


def is_name(text: object, least: int = 1) -> bool:
    """Tells whether a value from a manifest is a valid name of a package."""
    return isinstance(text, str) and least <= len(text) <= LONGEST and text.isprintable()


def list_prefixes(name: str, separator: str) -> Iterator[str]:
    """Yields a name and its prefixes, longest first: `a.b.c`, `a.b`, `a`."""
    while name:
        yield name
        name = name.rpartition(separator)[0]


def is_never_installed(folder: str) -> bool:
    """Tells whether the contents of a folder are never installed."""
    return not NEVER_INSTALLED.isdisjoint(folder.lower().split("/"))
