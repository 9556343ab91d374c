"""Works out what leads from one repository of a workspace into another, once for each state of them.

A repository uses a package of another where one of its files imports a name that begins like it, no package of its own
does, and it is clear whose it is: the one that its manifests require, else the only one of that name that goes by the
name it is required by. What it uses is resolved together with what that uses in turn (`resolve.across`). The result is
kept with the index of the repository that uses, by the states of all that took part.
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

from secateur.index.facts.crossing import COLUMNS, VERSION, CrossingEdges
from secateur.index.facts.extract import decode_facts, digest_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.resolve.across import Member, Used, counts_here, links_across, may_count
from secateur.index.open_index import OpenIndex
from secateur.index.store.records import Store, UnwritableIndex
from secateur.index.update.edits import stored_records
from secateur.languages import rules_of
from secateur.languages.packages import ManifestPackages, Package, beginnings, is_aside, manifests_of, packages_of
from secateur.languages.syntax.import_targets import folder_of, join_path
from secateur.model import Call, FileFacts
from secateur.render.notices import listed

MOST_FRAGMENTS = 400_000
"""Fragments of others that one repository is resolved together with, those it uses itself before what these use."""

KEPT = 8
"""States of which results are kept."""

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
    """Edges as they are kept and sent, column by column; `member`: of each target, its place among those that took
    part; `said`: what is missing."""

    columns: dict[str, bytes]
    member: bytes = b""
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class LinkQuestion:
    """The question for what leads out of one repository into those that it uses; plain values.

    Attributes:
        members: numbers of the repositories that are resolved together, the one asked about at the head.
        states: names of their snapshots.
        uses: by member the packages that it uses, with the place of each provider in `members`.
        packages: of each member.
        said: what is left out.
    """

    members: tuple[int, ...]
    states: tuple[str, ...]
    uses: tuple[Mapping[tuple[str, str], Used], ...]
    packages: tuple[ManifestPackages, ...]
    said: tuple[str, ...]


class SizedMember(NamedTuple):
    """A repository by what it takes to put edges together; `state` is the name of its snapshot."""

    name: str
    state: str
    fragments: int


@dataclass(frozen=True)
class _Using:
    """The packages that each repository uses, by its number: (family, name) -> (number of whose it is, package)."""

    uses: Sequence[Mapping[tuple[str, str], tuple[int, Package]]]

    def reached(self, number: int) -> list[int]:
        """The repositories that one uses, nearest first, itself at the head."""
        found = [number]
        for one in found:
            found += sorted({other for other, _ in self.uses[one].values()} - set(found))
        return found


def crossing_of(members: Sequence[LinkedMember]) -> CrossingEdges:
    """The edges between repositories, which are in byte order of their paths."""
    if len(members) < 2:
        return CrossingEdges.of({})
    linking = Linking(members)
    sized = [SizedMember(one.name, one.state, len(one.snapshot)) for one in members]
    packages = [linking.packages(number) for number in range(len(members))]
    return united_crossing(sized, packages, lambda questions: map(linking.links, questions))


def united_crossing(
    members: Sequence[SizedMember],
    packages: Sequence[ManifestPackages],
    answered: Callable[[Sequence[LinkQuestion]], Iterable[FoundLinks]],
) -> CrossingEdges:
    """The edges between repositories, with joined numbers as rows.

    Args:
        packages: of each member.
        answered: gives what is found for each question.
    """
    using = _Using(_uses(packages))
    begins = np.cumsum([0, *(member.fragments for member in members)])
    said = [
        f"{member.name}: {listed(list(one.unread))} cannot be read as a manifest."
        for member, one in zip(members, packages, strict=True)
        if one.unread
    ]
    reached = [using.reached(number) for number in range(len(members))]
    questions = [_question(members, packages, using, some) for some in reached if len(some) > 1]
    parts = []
    for question, found in zip(questions, answered(questions), strict=True):
        whose = np.array(question.members)[np.frombuffer(found.member, dtype=np.int32)]
        moved = {"source": begins[question.members[0]], "target": begins[whose]}
        parts.append({name: _column(found, name) + moved.get(name, 0) for name in COLUMNS})
        said += [f"{members[question.members[0]].name}: {one}" for one in (*question.said, *found.said)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS if parts}
    edges = CrossingEdges.of(columns, said)
    return edges.taken(np.lexsort((edges.target, edges.kind, edges.source)))


def _question(
    members: Sequence[SizedMember], packages: Sequence[ManifestPackages], using: _Using, reached: Sequence[int]
) -> LinkQuestion:
    taken, left, size = [reached[0]], list[int](), 0
    for one in reached[1:]:
        size += members[one].fragments
        (taken if size <= MOST_FRAGMENTS else left).append(one)
    names = listed([members[one].name for one in left])
    said = f"calls into {names} are not followed: with what else it uses that is too much to resolve together."
    return LinkQuestion(
        tuple(taken),
        tuple(members[one].state for one in taken),
        tuple(
            {
                key: Used(taken.index(other), package.place)
                for key, (other, package) in using.uses[one].items()
                if other in taken
            }
            for one in taken
        ),
        tuple(packages[one] for one in taken),
        (said,) if left else (),
    )


@dataclass
class Linking:
    """The work that reads records; `members` by number."""

    members: Mapping[int, LinkedMember] | Sequence[LinkedMember]
    _facts: dict[int, Files] = field(default_factory=dict)

    def packages(self, number: int) -> ManifestPackages:
        """The packages of one repository, kept with its index."""
        member = self.members[number]
        data = member.store.get_blob("packages", f"{VERSION}.{member.state}")
        with suppress(msgspec.DecodeError):
            if data is not None:
                return msgspec.msgpack.decode(data, type=ManifestPackages)
        found = packages_of(
            member.snapshot.all_digests,
            self._files(number),
            lambda facts: rules_of(facts.language).family,
            lambda paths: self._unchanged(number, paths),
        )
        _keep(member.store, "packages", f"{VERSION}.{member.state}", msgspec.msgpack.encode(found))
        return found

    def links(self, question: LinkQuestion) -> FoundLinks:
        """The edges of the first of some repositories into the others, with rows as numbers; kept with its index."""
        store = self.members[question.members[0]].store
        used = (f"{key}{used}" for some in question.uses for key, used in sorted(some.items()))
        name = _digest(*question.states, *used)
        found = _stored(store, "across", name)
        if found is None:
            found = self._resolved(question)
            _keep(store, "across", name, msgspec.msgpack.encode(found))
        return found

    def _resolved(self, question: LinkQuestion) -> FoundLinks:
        parts, rows = [], []
        for place, one in enumerate(question.members):
            snapshot, files = self.members[one].snapshot, self._files(one)
            starts = np.cumsum([0, *snapshot.arrays["file.fragments"].tolist()])
            numbers = {path: number for number, path in enumerate(snapshot.paths)}
            chosen = [file for file in files if not place or _offered(file, question.packages[place])]
            rows += [np.arange(starts[numbers[path]], starts[numbers[path] + 1]) for path, _ in chosen]
            calls = self._calls(one, [path for path, _ in chosen]) if not place else {}
            parts.append(Member(chosen, question.uses[place], calls))
        try:
            found = links_across(parts)
        except Exception:  # a fault of the resolver costs the calls of one repository into others
            return FoundLinks({}, said=("its calls into other repositories could not be followed.",))
        row = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
        member = np.searchsorted(found.begins, found.edges.target, side="right") - 1
        edges = replace(found.edges, source=row[found.edges.source], target=row[found.edges.target])
        return FoundLinks(
            {name: getattr(edges, name).astype(dtype).tobytes() for name, dtype in COLUMNS.items()},
            member.astype(np.int32).tobytes(),
            (f"some calls of {listed(list(found.failed))} into others could not be followed.",) if found.failed else (),
        )

    def _files(self, number: int) -> Files:
        """The files of a repository that count, with what the resolver reads of them but calls."""
        if number not in self._facts:
            while sum(len(self.members[one].snapshot) for one in self._facts) > MOST_FRAGMENTS:
                del self._facts[next(iter(self._facts))]
            snapshot = self.members[number].snapshot
            likely = [
                path
                for path, language in zip(snapshot.paths, snapshot.languages, strict=True)
                if may_count(language)  # records of the others need not be read
            ]
            self._facts[number] = [
                (path, replace(facts, calls=(), problems=()))
                for path, facts in self._read(number, likely)
                if counts_here(facts)
            ]
        return self._facts[number]

    def _unchanged(self, number: int, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Contents of files as they were indexed; None for others."""
        digests = self.members[number].snapshot.all_digests
        for path, data in self.members[number].index.source.read(paths):
            yield path, data if data is not None and digest_of(data) == digests[path] else None

    def _calls(self, number: int, paths: Sequence[str]) -> dict[int, Sequence[Call]]:
        return {place: facts.calls for place, (_, facts) in enumerate(self._read(number, paths))}

    def _read(self, number: int, paths: Sequence[str]) -> list[tuple[str, FileFacts]]:
        """The facts recorded of files; none of one whose record is missing or damaged."""
        member = self.members[number]
        digests = member.snapshot.digests
        wanted = [(path, digests[path]) for path in paths]
        found = []
        for (path, _), data in zip(
            wanted, stored_records(member.store, wanted, member.snapshot.origin[0]), strict=True
        ):
            with suppress(msgspec.DecodeError):
                if data is not None:
                    found.append((path, decode_facts(data)))
        return found


def _uses(packages: Sequence[ManifestPackages]) -> list[dict[tuple[str, str], tuple[int, Package]]]:
    """The packages of others that each uses."""
    offered: dict[tuple[str, str], list[tuple[int, Package]]] = {}
    for number, one in enumerate(packages):
        for package in one.provided:
            offered.setdefault((package.family, package.name), []).append((number, package))
    separators = {family: manifests.separator for family, manifests in manifests_of().items()}
    found = []
    for number, one in enumerate(packages):
        uses: dict[tuple[str, str], tuple[int, Package]] = {}
        for family, written in one.imported:
            for name in beginnings(written, separators[family]):
                key = family, name
                if key in uses:
                    break
                if key in offered:
                    meant = _meant(number, offered[key], one.required)
                    if meant is not None:
                        uses[key] = meant
                    break
        found.append(dict(sorted(uses.items())))
    return found


def _meant(
    number: int, offered: Sequence[tuple[int, Package]], required: frozenset[tuple[str, str]]
) -> tuple[int, Package] | None:
    """The one package that repository `number` means by a name; None for its own, and where that is not clear."""
    if any(other == number for other, _ in offered):
        return None
    needed = [one for one in offered if (one[1].family, one[1].distribution) in required]
    plain = [one for one in offered if one[1].is_plain]
    for some in (needed, plain):
        if some:
            return some[0] if len({other for other, _ in some}) == 1 else None
    return None


def _offered(file: tuple[str, FileFacts], packages: ManifestPackages) -> bool:
    """Tells whether a file of a repository can be meant by others: in Python what lies in a package, in Java what is
    no test."""
    path, facts = file
    family = rules_of(facts.language).family
    if family != "python":
        return family != "java" or not is_aside(folder_of(path))
    stem = path.rpartition(".")[0]
    return any(
        f"{stem}/".startswith(f"{join_path(one.place, one.name.replace('.', '/'))}/")
        for one in packages.provided
        if one.family == "python"
    )


def _digest(*parts: str) -> str:
    text = "\0".join((str(VERSION), *parts))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _stored(store: Store, kind: str, name: str) -> FoundLinks | None:
    data = store.get_blob(kind, name)
    with suppress(msgspec.DecodeError):
        return msgspec.msgpack.decode(data, type=FoundLinks) if data is not None else None
    return None


def _keep(store: Store, kind: str, name: str, data: bytes) -> None:
    with suppress(UnwritableIndex), store.writing():  # else it is worked out again the next time
        store.put_blobs(kind, {name: data}, most=KEPT)


def _column(kept: FoundLinks, name: str) -> npt.NDArray[np.generic]:
    return np.frombuffer(kept.columns.get(name, b""), dtype=COLUMNS[name])
