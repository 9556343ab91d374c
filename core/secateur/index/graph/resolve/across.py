"""Finds the edges that lead from a repository into the repositories whose packages it uses.

Each repository resolves its imports as it does alone. If it finds nothing, and the name begins like a package of
another repository that it uses, the finder of that repository looks for the package. All definitions are in one table,
so base classes and return types are followed from one repository into the next.

    edges = links_across([Member(files, uses, calls), Member(...)])
    edges.source, edges.member, edges.target     # of the first member's fragments into those of the others
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from secateur.index.graph.resolve.edges import Edges, How
from secateur.index.graph.resolve.linking import link
from secateur.index.graph.resolve.names import Names, finders, symbols_of
from secateur.index.graph.resolve.symbols import Symbols
from secateur.languages import rules_of
from secateur.languages.ecmascript.imports import MANIFEST
from secateur.languages.packages import list_prefixes, manifests_of
from secateur.languages.syntax.import_targets import Finder, Module, join_path
from secateur.model import Call, FileFacts

GUESSED = (How.LINKAGE, How.UNIQUE_NAME, How.AMBIGUOUS)
"""Rules that use nothing but a name. Between repositories they do not count: only a manifest connects repositories."""

_NOTHING = FileFacts(language="", fragments=())


class Used(NamedTuple):
    """The member that provides a used package, and the folder of the package in it."""

    member: int
    place: str


class Member(Struct, frozen=True):
    """One of the repositories that are resolved together.

    Attributes:
        files: (path, facts without call sites) of the files that count here.
        uses: (language family, name of a package) -> its provider.
        calls: the calls of each file whose edges are wanted, by its position in `files`.
    """

    files: Sequence[tuple[str, FileFacts]]
    uses: Mapping[tuple[str, str], Used]
    calls: Mapping[int, Sequence[Call]]


@dataclass(frozen=True, eq=False)
class EdgesAcross:
    """The edges from the first member into the others.

    Attributes:
        edges: rows are numbers of fragments, counted through the `files` of all members.
        begins: the first number of each member, and the end.
        failed: paths of files of the first member with missing edges.
    """

    edges: Edges
    begins: npt.NDArray[np.int64]
    failed: tuple[str, ...]


def links_across(members: Sequence[Member]) -> EdgesAcross:
    """Finds the edges that lead from the first member into the others."""
    files = [(f"{index}/{path}", facts) for index, member in enumerate(members) for path, facts in member.files]
    member_of = [index for index, member in enumerate(members) for _ in member.files]
    symbols = symbols_of(files)
    names = Names(symbols, _finders(symbols, members, member_of))
    edges, _ = link(names, members[0].calls)
    sizes = [sum(len(facts.fragments) for _, facts in member.files) for member in members]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    across = (edges.source < begins[1]) & (edges.target >= begins[1]) & ~np.isin(edges.how, GUESSED)
    columns = (edges.source, edges.target, edges.kind, edges.confidence, edges.how, edges.count)
    own = [path for path, _ in members[0].files]
    failed = tuple(own[file] for file in edges.failed if file < len(own))
    return EdgesAcross(Edges(*(column[across] for column in columns)), begins, failed)


def _finders(symbols: Symbols, members: Sequence[Member], member_of: Sequence[int]) -> dict[str, Finder]:
    rules = {rules.family: rules for rules in symbols.rules}
    by_member = [finders(_FilesOf(symbols, member_of, index), rules) for index in range(len(members))]
    return {
        family: _FinderAcross([finder[family] for finder in by_member], family, members, member_of) for family in rules
    }


class _FilesOf:
    """The files of one member. Files of the other members keep their numbers but have no names."""

    def __init__(self, symbols: Symbols, member_of: Sequence[int], index: int) -> None:
        mine = [member == index for member in member_of]
        self.paths = symbols.paths
        self.facts = [facts if own else _NOTHING for facts, own in zip(symbols.facts, mine, strict=True)]
        self.family = [family if own else "" for family, own in zip(symbols.family, mine, strict=True)]
        self.modules = symbols.modules
        self.packages = {
            key: package for key, package in symbols.packages.items() if any(mine[file] for file in package.files)
        }


class _FinderAcross:
    """Finds imports of one language family with the finder of the file's own member, then with those of the members
    that provide the packages it uses."""

    def __init__(self, own: Sequence[Finder], family: str, members: Sequence[Member], member_of: Sequence[int]) -> None:
        self._own, self._family, self._members, self._member_of = own, family, members, member_of
        manifests = manifests_of().get(family)
        self._separator = manifests.separator if manifests is not None else ""

    def find_module(self, file: int, name: str, level: int) -> Module | None:
        member = self._member_of[file]
        own = self._own[member].find_module(file, name, level)
        if own is not None or level or not self._separator:
            return own
        for beginning in list_prefixes(name, self._separator):
            used = self._members[member].uses.get((self._family, beginning))
            if used is not None:
                inside = name[len(beginning) :].strip(self._separator).replace(self._separator, "/")
                folder = join_path(str(used.member), used.place)
                return self._own[used.member].find_in_package(folder, beginning, inside)
        return None

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return self._own[self._of(module)].find_submodule(module, name)

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:
        return self._own[int(folder.partition("/")[0])].find_in_package(folder, name, inside)

    def _of(self, module: Module) -> int:
        """Returns the member that a module belongs to."""
        if module.files:
            return self._member_of[module.files[0]]
        head = (module.directory or "").partition("/")[0]
        return int(head) if head.isdecimal() else 0


def counts_here(facts: FileFacts) -> bool:
    """Tells whether a file can connect repositories: its language family has manifests, or it is a manifest itself."""
    return rules_of(facts.language).family in manifests_of() or (
        facts.language == MANIFEST and bool(facts.package or facts.annotations)
    )


def may_count(language: str) -> bool:
    """Tells whether a file of a language may count here, before its facts are read."""
    return language == MANIFEST or rules_of(language).family in manifests_of()
