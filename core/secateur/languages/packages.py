"""Packages that repositories provide to each other: what manifests call them, where they lie, what requires them.

A repository provides a package where a manifest of it says so: `pyproject.toml`, `setup.cfg`, `setup.py`,
`package.json`, `go.mod`, `pom.xml`, `build.gradle`. One that cannot be read costs what it says, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Protocol

import msgspec

from secateur.languages import languages
from secateur.languages.syntax.names import words
from secateur.model import FileFacts

LARGEST = 256 * 1024
"""Bytes of a manifest that is read."""

MOST_MANIFESTS = 2_000
"""Manifests of one repository that are read, those nearest to its root first."""

MOST_NAMES = 100_000
"""Names of one kind that one repository may say."""

LONGEST = 300
"""Characters of a name."""

ASIDE = words(
    """
__fixtures__ __tests__ benchmark benchmarks build demo demos dist doc docs example examples fixtures node_modules sample
samples scripts test testing tests third_party vendor
"""
)
"""Folders of which nothing is installed: packages in them are for the repository itself."""


class Package(msgspec.Struct, frozen=True, order=True):
    """Something that others can import.

    Attributes:
        family: of the languages that import it.
        name: imports of it begin so: "werkzeug", "@shop/money", "github.com/spf13/pflag", "com.acme.money".
        place: the folder that its names are looked up from; "" for the repository.
        distribution: manifests require it by this name; "" where none says it.
        is_plain: its own name is the one it is required by, or belongs to nobody else: an import says enough.
    """

    family: str
    name: str
    place: str
    distribution: str
    is_plain: bool


class ManifestPackages(msgspec.Struct, frozen=True):
    """The packages of a repository, and what it has to do with those of others.

    Attributes:
        required: (family, distribution) that its manifests name.
        imported: (family, dotted or slashed name) that its files import, relative imports aside.
        unread: manifests that could not be read.
    """

    provided: tuple[Package, ...] = ()
    required: frozenset[tuple[str, str]] = frozenset()
    imported: frozenset[tuple[str, str]] = frozenset()
    unread: tuple[str, ...] = ()


class Manifests(Protocol):
    """The manifests of a family of languages.

    Attributes:
        names: matches the base names of the files that are read.
        separator: between the parts of names that imports write.
    """

    names: re.Pattern[str]
    separator: str

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:
        """The distribution that a manifest describes, "" for none, and those it requires. Raises ValueError."""

    def provided(self, files: Sequence[tuple[str, FileFacts]], said: Mapping[str, str]) -> Iterator[Package]:
        """The packages of a repository; `said`: by manifest the distribution it describes."""

    def imports(self, facts: FileFacts) -> Iterator[str]:
        """The names that a file imports and that may be of a package."""


@cache
def manifests_of() -> dict[str, Manifests]:
    """By family of languages what reads its manifests, where there are any."""
    found: dict[str, Manifests] = {}
    for traits in languages().values():
        if traits.rules is not None and traits.rules.manifests and traits.rules.family not in found:
            module, _, name = traits.rules.manifests.partition(":")
            found[traits.rules.family] = getattr(import_module(module), name)()
    return found


def packages_of(
    paths: Iterable[str],
    files: Sequence[tuple[str, FileFacts]],
    family_of: Callable[[FileFacts], str],
    read: Callable[[Sequence[str]], Iterable[tuple[str, bytes | None]]],
) -> ManifestPackages:
    """The packages of a repository.

    Args:
        paths: of all files, indexed or counted.
        files: path and facts of those of a family that has manifests.
        family_of: of the facts of a file.
        read: gives the contents of files by their paths.
    """
    provided: list[Package] = []
    required: set[tuple[str, str]] = set()
    imported: set[tuple[str, str]] = set()
    unread: list[str] = []
    for family, manifests in manifests_of().items():
        mine = [(path, facts) for path, facts in files if family_of(facts) == family]
        if not mine:
            continue
        said: dict[str, str] = {}
        named = [path for path in paths if manifests.names.fullmatch(path.rpartition("/")[2])]
        nearest = sorted(named, key=lambda path: (path.count("/"), path))[:MOST_MANIFESTS]
        for path, data in read(nearest):
            try:
                if data is None or len(data) > LARGEST:
                    raise ValueError("too large, or gone")
                said[path], needs = manifests.read(path, data.decode("utf-8-sig"))
                required.update((family, name) for name in needs if is_name(name))
            except (ValueError, TypeError, AttributeError, KeyError, RecursionError):  # of any shape, by anybody
                unread.append(path)
        if said:
            found = (one for one in manifests.provided(files, said) if is_name(one.name) and is_name(one.place, 0))
            provided += (one for _, one in zip(range(MOST_NAMES), found, strict=False))
        names = (name for _, facts in mine for name in manifests.imports(facts) if is_name(name))
        imported.update((family, name) for name in names)
    few = sorted(imported)[:MOST_NAMES], sorted(required)[:MOST_NAMES]
    return ManifestPackages(tuple(sorted(set(provided))), frozenset(few[1]), frozenset(few[0]), tuple(sorted(unread)))


def is_name(text: object, least: int = 1) -> bool:
    """Tells whether something read can name a package."""
    return isinstance(text, str) and least <= len(text) <= LONGEST and text.isprintable()


def beginnings(name: str, separator: str) -> Iterator[str]:
    """A name and all it begins with, the longest first: `a.b.c`, `a.b`, `a`."""
    while name:
        yield name
        name = name.rpartition(separator)[0]


def is_aside(folder: str) -> bool:
    """Tells whether a folder is one of which nothing is installed, or lies in one."""
    return not ASIDE.isdisjoint(folder.lower().split("/"))
