"""Several repositories as one snapshot: the arrays of their own indexes, joined.

The path of a file is `NAME/path`. Each file keeps the facts that its own repository's index has of it, its history
included; calls lead where they lead there, and from one repository into another (`crossing`). What depends on all files
together (ranks of hotspots, the mean of the vectors, how rare words are) is worked out from all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.crossing import CrossingEdges, crossed
from secateur.index.facts.embedding import SemanticSpace
from secateur.index.facts.hotspots import FileChanges, HotspotTable, RankedValues, ranked
from secateur.index.facts.lexical import TermBag
from secateur.index.facts.names import name_ends
from secateur.index.facts.postings import Postings, TermCounts
from secateur.index.facts.snapshot import FOREIGN, PATH_TERMS_LIMIT, Snapshot, pack_notices
from secateur.index.facts.workspace_statistics import COUNTED, WorkspaceStatistics, path_ends
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.store.arrayfile import Arrays, join_strings, pack_strings
from secateur.model import Notice

TEXTS = frozenset({"file.language", "file.flags", "file.problems", "file.redactions", "fragment.qualname", "origin"})
"""Arrays of texts."""

WORD_FIELDS = {"body": False, "names": False, "docs": False, "files": True, "paths": True}
"""Fields of words, and whether their documents are files."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class JoinedSnapshot(Snapshot):
    """See the module docstring."""

    @cached_property
    def own_paths(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for path in self.paths:
            name, _, own = path.partition("/")
            found.setdefault(f"{name}/", []).append(own)
        return found

    @cached_property
    def space(self) -> SemanticSpace:
        *total, described = self.arrays["vectors.sums"].tolist()
        return SemanticSpace(self.arrays["vectors"], (np.array(total, dtype=np.int64), described))


@dataclass(frozen=True, eq=False)
class PartSnapshot(JoinedSnapshot):
    """Some repositories of a workspace that is larger: what depends on all of its files is that of the whole."""

    statistics: WorkspaceStatistics

    @property
    def whole(self) -> WorkspaceStatistics:
        return self.statistics

    @cached_property
    def hotspots(self) -> HotspotTable:
        among = self.statistics.churns, self.statistics.complexities
        return ranked(self.changes, self.column("complexity"), self.file, among)

    @cached_property
    def space(self) -> SemanticSpace:
        return SemanticSpace(self.arrays["vectors"], self.statistics.vectors)


def statistics_of(snapshot: Snapshot) -> WorkspaceStatistics:
    """The figures of one snapshot, which may be a part of a workspace."""
    own = [path for path, flags in zip(snapshot.paths, snapshot.flags, strict=True) if not flags & FOREIGN]
    fields = [TermCounts.of(field) for field in snapshot.word_fields]
    names = TermCounts.of_terms(name_ends(snapshot.qualnames), len(snapshot))
    paths = [TermCounts.of_terms(path_ends(some), len(some)) for some in (snapshot.paths, own)]
    return WorkspaceStatistics(
        dict(zip(COUNTED, (*fields, names, *paths), strict=True)),
        SemanticSpace(snapshot.arrays["vectors"]).sums,
        RankedValues.of(snapshot.arrays["hotspots.units"]),
        RankedValues.of(snapshot.column("complexity")),
    )


def join_snapshots(members: Mapping[str, Snapshot], crossing: CrossingEdges) -> Arrays:
    """The arrays of a `JoinedSnapshot`.

    Args:
        members: the repositories by name, in byte order of their paths.
        crossing: what leads from one of them into another.
    """
    parts = [*members.values()]
    files, rows = _begins(len(part.paths) for part in parts), _begins(map(len, parts))
    arrays = {name: np.concatenate([part.arrays[name] for part in parts]) for name in _columns(parts[0])}
    arrays |= {name: join_strings([part.arrays[name] for part in parts]) for name in sorted(TEXTS)}
    arrays["file.path"] = pack_strings([f"{name}/{path}" for name, part in members.items() for path in part.paths])
    arrays["fragment.file"] = _moved([part.file for part in parts], files)
    arrays["unindexed"] = pack_strings(
        [text for name, part in members.items() for path, why in part.unindexed for text in (f"{name}/{path}", why)]
    )
    arrays["notices"] = pack_notices(
        [Notice(one.code, f"{name}: {one.message}") for name, part in members.items() for one in part.notices]
    )
    arrays["calls"] = np.asarray(np.sum([part.arrays["calls"] for part in parts], axis=0))
    for field, of_files in WORD_FIELDS.items():
        words = [_words(name, part, field) for name, part in members.items()]
        arrays |= Postings.joined(words, files if of_files else rows).to_arrays(field)
    total, described = SemanticSpace(arrays["vectors"]).sums
    arrays["vectors.sums"] = np.append(total, described)
    return arrays | _commits(parts, files) | _graph(parts, rows, crossing) | _hotspots(parts, arrays)


def _columns(part: Snapshot) -> list[str]:
    """The arrays that only stand behind each other."""
    own = TEXTS | {"file.path", "fragment.file", "unindexed", "notices", "calls"}
    groups = {*WORD_FIELDS, "commits", "graph", "hotspots"}
    return [name for name in part.arrays if name not in own and name.partition(".")[0] not in groups]


def _words(name: str, part: Snapshot, field: str) -> Postings:
    """The words of a repository by field; those of its name are words of every path."""
    if field != "paths":
        return Postings.from_arrays(part.arrays, field)
    paths = [f"{name}/{path}" for path in part.paths]
    if max(map(len, paths), default=0) > PATH_TERMS_LIMIT:  # the name takes the place of what is cut
        return Postings.build(TermBag.of(path[:PATH_TERMS_LIMIT] for path in paths))
    return part.path_words.with_terms(TermBag.of([name]))


def _commits(parts: Sequence[Snapshot], files: Sequence[int]) -> Arrays:
    """The commits of the first repository, then those of the next, each newest first."""
    firsts, changed = ([part.arrays[f"commits.{name}"] for part in parts] for name in ("first", "file"))
    words = [part.commit_words for part in parts]
    return Postings.joined(words, _begins(part.documents for part in words)).to_arrays("commits") | {
        "commits.first": _pointers(firsts, _begins(map(len, changed))),
        "commits.file": _moved(changed, files),
    }


def _graph(parts: Sequence[Snapshot], rows: Sequence[int], crossing: CrossingEdges) -> Arrays:
    graphs = [part.graph.to_arrays() for part in parts]
    edges = _begins(part.graph.edge_count for part in parts)
    moved = {"in_edge": edges, "indices": rows, "in_indices": rows}
    arrays = {}
    for name in graphs[0]:
        columns = [graph[name] for graph in graphs]
        if name.endswith("indptr"):
            arrays[name] = _pointers(columns, edges)
        else:
            arrays[name] = _moved(columns, moved[name]) if name in moved else np.concatenate(columns)
    whole = crossed(CodeGraph.from_arrays(arrays), crossing)
    return {f"graph.{name}": array for name, array in whole.to_arrays().items()}


def _hotspots(parts: Sequence[Snapshot], arrays: Arrays) -> Arrays:
    names = [column.name for column in fields(FileChanges)]
    changes = ([part.arrays[f"hotspots.{name}"] for part in parts] for name in names)
    table = ranked(FileChanges(*map(np.concatenate, changes)), arrays["fragment.complexity"], arrays["fragment.file"])
    return {f"hotspots.{column.name}": getattr(table, column.name) for column in fields(table)}


def _begins(sizes: Iterable[int]) -> list[int]:
    """The first number of each of several lots."""
    return [0, *accumulate(sizes)][:-1]


def _moved(columns: Sequence[Array], begins: Sequence[int]) -> Array:
    """Numbers of several repositories as numbers of all."""
    return np.concatenate([column + column.dtype.type(begin) for column, begin in zip(columns, begins, strict=True)])


def _pointers(columns: Sequence[Array], begins: Sequence[int]) -> Array:
    """The same of the pointers of CSR arrays, of which each repository has one more than rows."""
    moved = [column + column.dtype.type(begin) for column, begin in zip(columns, begins, strict=True)]
    return np.concatenate([moved[0][:1], *(column[1:] for column in moved)])
