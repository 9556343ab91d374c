"""The repositories of a workspace, as the resolver sees them.

Each member resolves its names and imports as it does alone. If it finds nothing, and an import begins like a package
that another member provides, the finder of that member looks for the package. Member A uses a package of member B if a
file of A imports a name that begins like the package, and no package of A does. If several members provide the name,
the one that A's manifests require is meant; else the only one whose distribution has the name of the package.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from secateur.index.graph.resolve.edges import Edges, How
from secateur.index.graph.resolve.symbols import Symbols
from secateur.languages import rules_of
from secateur.languages.packages import ManifestPackages, Package, is_never_installed, list_prefixes, manifests_of
from secateur.languages.syntax.import_targets import Finder, Module, folder_of, join_path
from secateur.model import BoolArray, FileFacts, IntArray

# Rules that use nothing but a name. Between members they do not count: only a manifest connects members.
GUESSED = (How.LINKAGE, How.UNIQUE_NAME, How.AMBIGUOUS)


@dataclass(frozen=True, eq=False)
class Members:
    """The members of a workspace in byte order of their paths, and the packages of each."""

    packages: Mapping[str, ManifestPackages]

    @cached_property
    def names(self) -> list[str]:
        return [*self.packages]

    @cached_property
    def uses(self) -> list[dict[tuple[str, str], tuple[int, Package]]]:
        """The packages of others that each member uses: (family, name) -> (number of the provider, package)."""
        of_each = [*self.packages.values()]
        providers: dict[tuple[str, str], list[tuple[int, Package]]] = {}
        for member, own in enumerate(of_each):
            for package in own.provided:
                providers.setdefault((package.family, package.name), []).append((member, package))
        separators = {family: manifests.separator for family, manifests in manifests_of().items()}
        used_by_each = []
        for member, own in enumerate(of_each):
            uses: dict[tuple[str, str], tuple[int, Package]] = {}
            for family, written in own.imported:
                for name in list_prefixes(written, separators[family]):
                    key = family, name
                    if key in uses:
                        break
                    if key in providers:
                        known = providers[key]
                        needed = [one for one in known if (one[1].family, one[1].distribution) in own.required]
                        chosen = needed or [one for one in known if one[1].is_plain]
                        clear = len({index for index, _ in chosen}) == 1
                        if clear and all(index != member for index, _ in known):  # it is not a package of its own
                            uses[key] = chosen[0]
                        break  # a longer name that is provided hides the shorter ones
            used_by_each.append(dict(sorted(uses.items())))
        return used_by_each

    @cached_property
    def reach(self) -> BoolArray:
        """For each member a row that tells which members it uses, directly or through others; itself too."""
        reach = np.eye(len(self.names), dtype=np.bool_)
        for member in range(len(self.names)):
            pending = [member]
            while pending:
                for provider, _ in self.uses[pending.pop()].values():
                    if not reach[member, provider]:
                        reach[member, provider] = True
                        pending.append(provider)
        return reach

    def of_files(self, paths: Sequence[str]) -> IntArray:
        """Returns the number of each file's member. `paths` begin with the names of members."""
        numbers = {name: member for member, name in enumerate(self.names)}
        return np.array([numbers[path.partition("/")[0]] for path in paths], dtype=np.int64)


class Visibility:
    """Tells which definitions an edge from a member may lead to: its own, and what others can import of the members
    that it reaches."""

    def __init__(self, members: Members, symbols: Symbols) -> None:
        self._reach, self._file_of = members.reach, symbols.file_of
        self.of_file = members.of_files(symbols.member_of)
        packages = [*members.packages.values()]
        files = zip(symbols.paths, symbols.facts, self.of_file.tolist(), strict=True)
        self._importable = np.array(
            [_is_importable(path, facts, packages[member]) for path, facts, member in files], dtype=np.bool_
        )

    def sees(self, member: int, gid: int) -> bool:
        """Tells whether a member may use a definition."""
        file = self._file_of[gid]
        own = self.of_file[file]
        return bool(member == own or (self._reach[member, own] and self._importable[file]))

    def select(self, edges: Edges) -> Edges:
        """Returns the edges that may be."""
        file_of = np.array(self._file_of, dtype=np.int64)
        target = file_of[edges.target]
        source_member, target_member = self.of_file[file_of[edges.source]], self.of_file[target]
        across = self._reach[source_member, target_member] & self._importable[target] & ~np.isin(edges.how, GUESSED)
        kept = (source_member == target_member) | across
        columns = ("source", "target", "kind", "confidence", "how", "count")
        return replace(edges, **{name: getattr(edges, name)[kept] for name in columns})


def _is_importable(path: str, facts: FileFacts, packages: ManifestPackages) -> bool:
    family = rules_of(facts.language).family
    if family != "python":
        return family != "java" or not is_never_installed(folder_of(path))
    stem = path.rpartition(".")[0]
    return any(
        f"{stem}/".startswith(f"{join_path(package.folder, package.name.replace('.', '/'))}/")
        for package in packages.provided
        if package.family == "python"
    )


class FilesOfMember:
    """The files of one member, for its finders; see `Files`. `first` is the number of its first file."""

    def __init__(self, symbols: Symbols, name: str) -> None:
        self.first = bisect_left(symbols.member_of, f"{name}/", key=lambda member: f"{member}/")
        own = slice(self.first, self.first + symbols.member_of.count(name))
        self.paths, self.facts = symbols.paths[own], symbols.facts[own]
        self.family, self.modules = symbols.family[own], symbols.modules[own]
        families = {*self.family}
        self.packages = {key: package for key, package in symbols.packages.items() if key[0] in families}


class MemberFinder:
    """Finds imports with the finder of a member, then with those of the members whose packages it uses.

    Args:
        uses: the finder of the provider by the name of a package, and the folder of the package.
    """

    def __init__(self, own: Finder, first: int, separator: str, uses: Mapping[str, tuple[Finder, str]]) -> None:
        self._own, self._first, self._separator, self._uses = own, first, separator, uses

    def find_module(self, file: int, name: str, level: int) -> Module | None:
        own = self._own.find_module(file - self._first, name, level)
        if own is not None or level or not self._separator:
            return own
        for beginning in list_prefixes(name, self._separator):
            if (used := self._uses.get(beginning)) is not None:
                finder, folder = used
                return finder.find_in_package(
                    folder, beginning, name[len(beginning) :].strip(self._separator).replace(self._separator, "/")
                )
        return None

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return self._own.find_submodule(module, name)

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:
        return self._own.find_in_package(folder, name, inside)
