"""Finds the edges that lead from one repository of a workspace into another, once for each state of the repositories.

Repository A uses a package of repository B if a file of A imports a name that begins like the package, and no package
of A does. If several repositories provide the name, the one that A's manifests require is meant; else the only one
whose distribution has the name of the package. A is resolved together with all repositories that it uses, directly or
through others (`resolve.across`). The result is kept with the index of A, under the states of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from secateur.index.facts.crossing import COLUMNS, VERSION, CrossingEdges
from secateur.index.facts.extract import decode_facts, digest_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.resolve.across import Member, Used, counts_here, links_across, may_count
from secateur.index.open_index import OpenIndex
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.update.edits import read_records
from secateur.languages import rules_of
from secateur.languages.packages import (
    ManifestPackages,
    Package,
    is_never_installed,
    list_prefixes,
    manifests_of,
    packages_of,
)
from secateur.languages.syntax.import_targets import folder_of, join_path
from secateur.model import Call, FileFacts
from secateur.render.page import listed

MOST_FRAGMENTS = 400_000
"""Fragments of other repositories that one repository is resolved together with. The nearest repositories come
first."""

KEPT = 8
"""Results that are kept, one for each state."""

Files = Sequence[tuple[str, FileFacts]]


@dataclass(frozen=True, eq=False)
class LinkedMember:
    """A repository of a workspace; `state` is the name of its snapshot."""

    name: str
    state: str
    snapshot: Snapshot
    index: OpenIndex

    @property
    def store(self) -> Store:
        """The records of its files."""
        return self.index.store


class FoundLinks(msgspec.Struct, frozen=True):
    """The edges as they are kept and sent, column by column. `member` holds the position of each target's repository
    in `LinkQuestion.members`; `warnings` say what is missing."""

    columns: dict[str, bytes]
    member: bytes = b""
    warnings: tuple[str, ...] = ()


class LinkQuestion(Struct, frozen=True):
    """Asks which edges lead from one repository into those that it uses. Holds plain values.

    Attributes:
        members: numbers of the repositories that are resolved together. The first one is the one asked about.
        states: names of their snapshots.
        uses: the packages that each member uses, with the position of the provider in `members`.
        packages: the packages of each member.
        warnings: what is left out.
    """

    members: tuple[int, ...]
    states: tuple[str, ...]
    uses: tuple[Mapping[tuple[str, str], Used], ...]
    packages: tuple[ManifestPackages, ...]
    warnings: tuple[str, ...]


class SizedMember(NamedTuple):
    """The name, state and size of a repository; `state` is the name of its snapshot."""

    name: str
    state: str
    fragments: int


class _UsedPackages(Struct, frozen=True):
    """The packages that each repository uses, by its number: (family, name) -> (number of the provider, package)."""

    uses: Sequence[Mapping[tuple[str, str], tuple[int, Package]]]

    def list_reachable(self, start: int) -> list[int]:
        """Lists a repository and those that it uses, directly or through others, nearest first."""
        reachable = [start]
        for member in reachable:  # the list grows while it is read: a breadth-first search
            reachable += sorted({provider for provider, _ in self.uses[member].values()} - set(reachable))
        return reachable


def find_crossing_edges(members: Sequence[LinkedMember]) -> CrossingEdges:
    """Finds the edges between repositories, which are in byte order of their paths."""
    if len(members) < 2:
        return CrossingEdges.of({})
    linking = Linking(members)
    sized = [SizedMember(member.name, member.state, len(member.snapshot)) for member in members]
    packages = [linking.packages(member_index) for member_index in range(len(members))]
    return collect_crossing_edges(sized, packages, lambda questions: map(linking.find_links, questions))


def collect_crossing_edges(
    members: Sequence[SizedMember],
    packages: Sequence[ManifestPackages],
    answer: Callable[[Sequence[LinkQuestion]], Iterable[FoundLinks]],
) -> CrossingEdges:
    """Collects the edges between repositories; their rows are numbers in the joined snapshot.

    Args:
        packages: the packages of each member.
        answer: returns the edges for each question.
    """
    used = _UsedPackages(_find_uses(packages))
    begins = np.cumsum([0, *(member.fragments for member in members)])
    warnings = [
        f"{member.name}: {listed(list(own.unread))} cannot be read as a manifest."
        for member, own in zip(members, packages, strict=True)
        if own.unread
    ]
    reachable = [used.list_reachable(member_index) for member_index in range(len(members))]
    questions = [_make_question(members, packages, used, numbers) for numbers in reachable if len(numbers) > 1]
    parts = []
    for question, links in zip(questions, answer(questions), strict=True):
        owner = np.array(question.members)[np.frombuffer(links.member, dtype=np.int32)]
        shifts = {"source": begins[question.members[0]], "target": begins[owner]}
        parts.append({name: _column(links, name) + shifts.get(name, 0) for name in COLUMNS})
        asked_about = members[question.members[0]].name
        warnings += [f"{asked_about}: {warning}" for warning in (*question.warnings, *links.warnings)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS if parts}
    edges = CrossingEdges.of(columns, warnings)
    return edges.select(np.lexsort((edges.target, edges.kind, edges.source)))


def _make_question(
    members: Sequence[SizedMember], packages: Sequence[ManifestPackages], used: _UsedPackages, reachable: Sequence[int]
) -> LinkQuestion:
    taken, left_out, size = [reachable[0]], list[int](), 0
    for member_index in reachable[1:]:
        size += members[member_index].fragments
        (taken if size <= MOST_FRAGMENTS else left_out).append(member_index)
    names = listed([members[member_index].name for member_index in left_out])
    warning = f"calls into {names} are not followed: with what else it uses that is too much to resolve together."
    return LinkQuestion(
        tuple(taken),
        tuple(members[member_index].state for member_index in taken),
        tuple(
            {
                key: Used(taken.index(provider), package.folder)
                for key, (provider, package) in used.uses[member_index].items()
                if provider in taken
            }
            for member_index in taken
        ),
        tuple(packages[member_index] for member_index in taken),
        (warning,) if left_out else (),
    )


@dataclass
class Linking:
    """Answers questions from the records of the repositories; `members` by number."""

    members: Mapping[int, LinkedMember] | Sequence[LinkedMember]
    _facts: dict[int, Files] = field(default_factory=dict)

    def packages(self, member_index: int) -> ManifestPackages:
        """Finds the packages of one repository, and keeps them with its index."""
        member = self.members[member_index]
        data = member.store.get_blob("packages", f"{VERSION}.{member.state}")
        with suppress(msgspec.DecodeError):
            if data is not None:
                return msgspec.msgpack.decode(data, type=ManifestPackages)
        manifest_packages = packages_of(
            member.snapshot.all_digests,
            self._files(member_index),
            lambda facts: rules_of(facts.language).family,
            lambda paths: self._read_unchanged(member_index, paths),
        )
        _keep(member.store, "packages", f"{VERSION}.{member.state}", msgspec.msgpack.encode(manifest_packages))
        return manifest_packages

    def find_links(self, question: LinkQuestion) -> FoundLinks:
        """Finds the edges of the first repository into the others, and keeps them with its index."""
        store = self.members[question.members[0]].store
        used = (f"{key}{used}" for uses in question.uses for key, used in sorted(uses.items()))
        name = _digest(*question.states, *used)
        links = _load_links(store, "across", name)
        if links is None:
            links = self._resolve(question)
            _keep(store, "across", name, msgspec.msgpack.encode(links))
        return links

    def _resolve(self, question: LinkQuestion) -> FoundLinks:
        parts, rows = [], []
        for position, member_index in enumerate(question.members):
            is_first = position == 0
            snapshot, files = self.members[member_index].snapshot, self._files(member_index)
            starts = np.cumsum([0, *snapshot.arrays["file.fragments"].tolist()])
            file_numbers = {path: file for file, path in enumerate(snapshot.paths)}
            chosen = [file for file in files if is_first or _is_importable(file, question.packages[position])]
            rows += [np.arange(starts[file_numbers[path]], starts[file_numbers[path] + 1]) for path, _ in chosen]
            # only the first repository's edges are wanted, so the calls of the others stay unread
            calls = self._calls(member_index, [path for path, _ in chosen]) if is_first else {}
            parts.append(Member(chosen, question.uses[position], calls))
        try:
            across = links_across(parts)
        except Exception:  # a fault of the resolver costs the calls of one repository into others
            return FoundLinks({}, warnings=("its calls into other repositories could not be followed.",))
        row = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
        member = np.searchsorted(across.begins, across.edges.target, side="right") - 1
        edges = replace(across.edges, source=row[across.edges.source], target=row[across.edges.target])
        failed = f"some calls of {listed(list(across.failed))} into others could not be followed."
        return FoundLinks(
            {name: getattr(edges, name).astype(dtype).tobytes() for name, dtype in COLUMNS.items()},
            member.astype(np.int32).tobytes(),
            (failed,) if across.failed else (),
        )

    def _files(self, member_index: int) -> Files:
        """Reads the files of a repository that count here, without their calls."""
        if member_index not in self._facts:
            while sum(len(self.members[known].snapshot) for known in self._facts) > MOST_FRAGMENTS:
                del self._facts[next(iter(self._facts))]
            snapshot = self.members[member_index].snapshot
            likely = [
                path
                for path, language in zip(snapshot.paths, snapshot.languages, strict=True)
                if may_count(language)  # records of the others need not be read
            ]
            self._facts[member_index] = [
                (path, structs.replace(facts, calls=(), problems=()))
                for path, facts in self._read(member_index, likely)
                if counts_here(facts)
            ]
        return self._facts[member_index]

    def _read_unchanged(self, member_index: int, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yields the contents of files; None for a file that changed since it was indexed."""
        digests = self.members[member_index].snapshot.all_digests
        for path, data in self.members[member_index].index.source.read(paths):
            yield path, data if data is not None and digest_of(data) == digests[path] else None

    def _calls(self, member_index: int, paths: Sequence[str]) -> dict[int, Sequence[Call]]:
        return {position: facts.calls for position, (_, facts) in enumerate(self._read(member_index, paths))}

    def _read(self, member_index: int, paths: Sequence[str]) -> list[tuple[str, FileFacts]]:
        """Reads the recorded facts of files, without the files whose record is missing or damaged."""
        member = self.members[member_index]
        digests = member.snapshot.digests
        wanted = [(path, digests[path]) for path in paths]
        read = []
        for (path, _), data in zip(wanted, read_records(member.store, wanted, member.snapshot.origin[0]), strict=True):
            with suppress(msgspec.DecodeError):
                if data is not None:
                    read.append((path, decode_facts(data)))
        return read


def _find_uses(packages: Sequence[ManifestPackages]) -> list[dict[tuple[str, str], tuple[int, Package]]]:
    """Finds the packages of other repositories that each repository uses."""
    providers: dict[tuple[str, str], list[tuple[int, Package]]] = {}
    for member_index, own in enumerate(packages):
        for package in own.provided:
            providers.setdefault((package.family, package.name), []).append((member_index, package))
    separators = {family: manifests.separator for family, manifests in manifests_of().items()}
    used_by_each = []
    for member_index, own in enumerate(packages):
        uses: dict[tuple[str, str], tuple[int, Package]] = {}
        for family, written in own.imported:
            for name in list_prefixes(written, separators[family]):
                key = family, name
                if key in uses:
                    break
                if key in providers:
                    provider = _choose_provider(member_index, providers[key], own.required)
                    if provider is not None:
                        uses[key] = provider
                    break  # a longer name that is provided hides the shorter ones
        used_by_each.append(dict(sorted(uses.items())))
    return used_by_each


def _choose_provider(
    importer: int, providers: Sequence[tuple[int, Package]], required: frozenset[tuple[str, str]]
) -> tuple[int, Package] | None:
    """Returns the provider of a package that an importer means; None for a package of its own or an unclear name."""
    if any(index == importer for index, _ in providers):
        return None
    needed = [(index, package) for index, package in providers if (package.family, package.distribution) in required]
    plain = [(index, package) for index, package in providers if package.is_plain]
    for candidates in (needed, plain):
        if candidates:
            return candidates[0] if len({index for index, _ in candidates}) == 1 else None
    return None


def _is_importable(file: tuple[str, FileFacts], packages: ManifestPackages) -> bool:
    """Tells whether other repositories can import a file: in Python it lies in a package, in Java it is not a test."""
    path, facts = file
    family = rules_of(facts.language).family
    if family != "python":
        return family != "java" or not is_never_installed(folder_of(path))
    stem = path.rpartition(".")[0]
    return any(
        f"{stem}/".startswith(f"{join_path(package.folder, package.name.replace('.', '/'))}/")
        for package in packages.provided
        if package.family == "python"
    )


def _digest(*parts: str) -> str:
    text = "\0".join((str(VERSION), *parts))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _load_links(store: Store, kind: str, name: str) -> FoundLinks | None:
    data = store.get_blob(kind, name)
    with suppress(msgspec.DecodeError):
        return msgspec.msgpack.decode(data, type=FoundLinks) if data is not None else None
    return None


def _keep(store: Store, kind: str, name: str, data: bytes) -> None:
    with suppress(UnwritableIndex), store.writing():  # an index that cannot be written works it out again next time
        store.put_blobs(kind, {name: data}, most=KEPT)


def _column(kept: FoundLinks, name: str) -> npt.NDArray[np.generic]:
    return np.frombuffer(kept.columns.get(name, b""), dtype=COLUMNS[name])
