"""Resolves the names of a repository that uses packages of others: the edges that lead from it into them.

Each repository finds what it imports as it does alone. Where it finds nothing, and the name begins like a package of
another that it uses, the other's finder is asked for that package. All definitions are in one table, so that what is
inherited and what calls return is followed from one repository into the next.

    edges = links_across([Member(files, uses, calls), Member(...)])
    edges.source, edges.member, edges.target     # of the first member's fragments into those of the others
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from secateur.index.graph.resolve.edges import Edges, How
from secateur.index.graph.resolve.finders import finders
from secateur.index.graph.resolve.linking import link
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.index.graph.resolve.symbols import Symbols
from secateur.languages import rules_of
from secateur.languages.ecmascript.manifests import MANIFEST
from secateur.languages.packages import beginnings, manifests_of
from secateur.languages.syntax.import_targets import Finder, Module, join_path
from secateur.model import Call, FileFacts

GUESSED = (How.LINKAGE, How.UNIQUE_NAME, How.AMBIGUOUS)
"""Rules that go by a name alone: between repositories a manifest leads, and nothing else."""

_NOTHING = FileFacts(language="", fragments=())


class Used(NamedTuple):
    """A package that a repository uses: of which member, and where in it."""

    member: int
    place: str


@dataclass(frozen=True)
class Member:
    """A repository among those that are resolved together.

    Attributes:
        files: path and facts, without call sites, of its files that count here.
        uses: by (language family, name of a package) where it is.
        calls: of each file whose calls are wanted, by its position in `files`.
    """

    files: Sequence[tuple[str, FileFacts]]
    uses: Mapping[tuple[str, str], Used]
    calls: Mapping[int, Sequence[Call]]


@dataclass(frozen=True, eq=False)
class EdgesAcross:
    """Edges of the first of several members into the others.

    Attributes:
        edges: their numbers are those of the fragments of `files`, one member's behind the other's.
        begins: the first number of each member, and the end.
        failed: paths of files of the first member of which some edges are missing.
    """

    edges: Edges
    begins: npt.NDArray[np.int64]
    failed: tuple[str, ...]


def links_across(members: Sequence[Member]) -> EdgesAcross:
    """The edges that lead from the first member into the others."""
    files = [(f"{number}/{path}", facts) for number, one in enumerate(members) for path, facts in one.files]
    member = [number for number, one in enumerate(members) for _ in one.files]
    symbols = symbols_of(files)
    names = Names(symbols, _finders(symbols, members, member))
    found, _ = link(names, members[0].calls)
    sizes = [sum(len(facts.fragments) for _, facts in one.files) for one in members]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kept = (found.source < begins[1]) & (found.target >= begins[1]) & ~np.isin(found.how, GUESSED)
    columns = (found.source, found.target, found.kind, found.confidence, found.how, found.count)
    own = [path for path, _ in members[0].files]
    failed = tuple(own[number] for number in found.failed if number < len(own))
    return EdgesAcross(Edges(*(column[kept] for column in columns)), begins, failed)


def _finders(symbols: Symbols, members: Sequence[Member], member: Sequence[int]) -> dict[str, Finder]:
    rules = {rules.family: rules for rules in symbols.rules}
    own = [finders(_FilesOf(symbols, member, number), rules) for number in range(len(members))]
    return {family: _FinderAcross([one[family] for one in own], family, members, member) for family in rules}


class _FilesOf:
    """The files of one member as those of a repository alone: files of others have no name or meaning in it."""

    def __init__(self, symbols: Symbols, member: Sequence[int], number: int) -> None:
        mine = [one == number for one in member]
        self.paths = symbols.paths
        self.facts = [facts if own else _NOTHING for facts, own in zip(symbols.facts, mine, strict=True)]
        self.family = [family if own else "" for family, own in zip(symbols.family, mine, strict=True)]
        self.modules = symbols.modules
        self.packages = {
            key: package for key, package in symbols.packages.items() if any(mine[file] for file in package.files)
        }


class _FinderAcross:
    """The finders of one family: that of the member a file belongs to, then those of the packages it uses."""

    def __init__(self, own: Sequence[Finder], family: str, members: Sequence[Member], member: Sequence[int]) -> None:
        self._own, self._family, self._members, self._member = own, family, members, member
        manifests = manifests_of().get(family)
        self._separator = manifests.separator if manifests is not None else ""

    def module(self, number: int, name: str, level: int) -> Module | None:
        member = self._member[number]
        found = self._own[member].module(number, name, level)
        if found is not None or level or not self._separator:
            return found
        for beginning in beginnings(name, self._separator):
            used = self._members[member].uses.get((self._family, beginning))
            if used is not None:
                inside = name[len(beginning) :].strip(self._separator).replace(self._separator, "/")
                place = join_path(str(used.member), used.place)
                return self._own[used.member].offered(place, beginning, inside)
        return None

    def submodule(self, module: Module, name: str) -> Module | None:
        return self._own[self._of(module)].submodule(module, name)

    def offered(self, place: str, name: str, inside: str) -> Module | None:
        return self._own[int(place.partition("/")[0])].offered(place, name, inside)

    def _of(self, module: Module) -> int:
        """The member that a module belongs to."""
        if module.files:
            return self._member[module.files[0]]
        head = (module.directory or "").partition("/")[0]
        return int(head) if head.isdecimal() else 0


def counts_here(facts: FileFacts) -> bool:
    """Tells whether a file counts where repositories are resolved together: it is of a family whose manifests are
    read, or is a manifest that its finder reads."""
    return rules_of(facts.language).family in manifests_of() or (
        facts.language == MANIFEST and bool(facts.package or facts.annotations)
    )


def may_count(language: str) -> bool:
    """Tells whether a file of a language may count, before its facts are read."""
    return language == MANIFEST or rules_of(language).family in manifests_of()
