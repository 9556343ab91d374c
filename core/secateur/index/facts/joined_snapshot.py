"""Joins the snapshots of several repositories into one.

The path of a file is `NAME/path`. Each file keeps the facts, the history and the calls that the index of its own
repository has; edges from one repository into another (`crossing`) are added. Figures that depend on all files (ranks
of hotspots, the mean of the vectors, the rarity of words) are worked out again over all repositories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.crossing import CrossingEdges, add_crossing_edges
from secateur.index.facts.embedding import SemanticSpace
from secateur.index.facts.hotspots import FileChanges, rank_hotspots
from secateur.index.facts.lexical import TermBag
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import PATH_TERMS_LIMIT, Snapshot, pack_notices
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.store.arrayfile import Arrays, join_strings, pack_strings
from secateur.model import Notice

TEXTS = frozenset({"file.language", "file.flags", "file.problems", "file.redactions", "fragment.qualname", "origin"})
"""Arrays that hold packed strings."""

WORD_FIELDS = {"body": False, "names": False, "files": True, "paths": True}
"""Fields of words. True: a document is a file; False: a fragment."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class JoinedSnapshot(Snapshot):
    """See the module docstring."""

    @cached_property
    def own_paths(self) -> Mapping[str, Sequence[str]]:
        by_repository: dict[str, list[str]] = {}
        for path in self.paths:
            name, _, own = path.partition("/")
            by_repository.setdefault(f"{name}/", []).append(own)
        return by_repository

    @cached_property
    def space(self) -> SemanticSpace:
        *total, described = self.arrays["vectors.sums"].tolist()
        return SemanticSpace(self.arrays["vectors"], (np.array(total, dtype=np.int64), described))


def join_snapshots(members: Mapping[str, Snapshot], crossing: CrossingEdges) -> Arrays:
    """Joins snapshots into the arrays of a `JoinedSnapshot`.

    Args:
        members: the repositories by name, in byte order of their paths.
        crossing: the edges from one of them into another.
    """
    parts = [*members.values()]
    files, rows = _begins(len(part.paths) for part in parts), _begins(map(len, parts))
    arrays = {name: np.concatenate([part.arrays[name] for part in parts]) for name in _plain_columns(parts[0])}
    arrays |= {name: join_strings([part.arrays[name] for part in parts]) for name in sorted(TEXTS)}
    arrays["file.path"] = pack_strings([f"{name}/{path}" for name, part in members.items() for path in part.paths])
    arrays["fragment.file"] = _shift([part.file for part in parts], files)
    arrays["unindexed"] = pack_strings(
        [text for name, part in members.items() for path, why in part.unindexed for text in (f"{name}/{path}", why)]
    )
    arrays["notices"] = pack_notices(
        [Notice(notice.code, f"{name}: {notice.message}") for name, part in members.items() for notice in part.notices]
    )
    arrays["calls"] = np.asarray(np.sum([part.arrays["calls"] for part in parts], axis=0))
    for field, of_files in WORD_FIELDS.items():
        words = [_words(name, part, field) for name, part in members.items()]
        arrays |= Postings.join(words, files if of_files else rows).to_arrays(field)
    total, described = SemanticSpace(arrays["vectors"]).sums
    arrays["vectors.sums"] = np.append(total, described)
    return arrays | _commits(parts, files) | _graph(parts, rows, crossing) | _hotspots(parts, arrays)


def _plain_columns(part: Snapshot) -> list[str]:
    """Lists the arrays that are concatenated unchanged."""
    own = TEXTS | {"file.path", "fragment.file", "unindexed", "notices", "calls"}
    groups = {*WORD_FIELDS, "commits", "graph", "hotspots"}
    return [name for name in part.arrays if name not in own and name.partition(".")[0] not in groups]


def _words(name: str, part: Snapshot, field: str) -> Postings:
    """Returns the words of one field; the words of the repository's name are added to every path."""
    if field != "paths":
        return Postings.from_arrays(part.arrays, field)
    paths = [f"{name}/{path}" for path in part.paths]
    if max(map(len, paths), default=0) > PATH_TERMS_LIMIT:  # the name takes room from the end of a path
        return Postings.build(TermBag.of(path[:PATH_TERMS_LIMIT] for path in paths))
    return part.path_words.with_terms(TermBag.of([name]))


def _commits(parts: Sequence[Snapshot], files: Sequence[int]) -> Arrays:
    """Joins the commits: those of the first repository, newest first, then those of the next."""
    firsts, changed = ([part.arrays[f"commits.{name}"] for part in parts] for name in ("first", "file"))
    words = [part.commit_words for part in parts]
    return Postings.join(words, _begins(part.documents for part in words)).to_arrays("commits") | {
        "commits.first": _shift_pointers(firsts, _begins(map(len, changed))),
        "commits.file": _shift(changed, files),
    }


def _graph(parts: Sequence[Snapshot], rows: Sequence[int], crossing: CrossingEdges) -> Arrays:
    graphs = [part.graph.to_arrays() for part in parts]
    edges = _begins(part.graph.edge_count for part in parts)
    begins = {"in_edge": edges, "indices": rows, "in_indices": rows}
    arrays = {}
    for name in graphs[0]:
        columns = [graph[name] for graph in graphs]
        if name.endswith("indptr"):
            arrays[name] = _shift_pointers(columns, edges)
        else:
            arrays[name] = _shift(columns, begins[name]) if name in begins else np.concatenate(columns)
    whole = add_crossing_edges(CodeGraph.from_arrays(arrays), crossing)
    return {f"graph.{name}": array for name, array in whole.to_arrays().items()}


def _hotspots(parts: Sequence[Snapshot], arrays: Arrays) -> Arrays:
    names = [column.name for column in fields(FileChanges)]
    changes = ([part.arrays[f"hotspots.{name}"] for part in parts] for name in names)
    table = rank_hotspots(
        FileChanges(*map(np.concatenate, changes)), arrays["fragment.complexity"], arrays["fragment.file"]
    )
    return {f"hotspots.{column.name}": getattr(table, column.name) for column in fields(table)}


def _begins(sizes: Iterable[int]) -> list[int]:
    """Returns the number at which each repository begins."""
    return [0, *accumulate(sizes)][:-1]


def _shift(columns: Sequence[Array], begins: Sequence[int]) -> Array:
    """Turns the numbers of each repository into numbers of the joined snapshot."""
    return np.concatenate([column + column.dtype.type(begin) for column, begin in zip(columns, begins, strict=True)])


def _shift_pointers(columns: Sequence[Array], begins: Sequence[int]) -> Array:
    """Does the same to the row pointers of CSR arrays, without the first pointer of all repositories but the first: it
    equals the last pointer of the repository before."""
    shifted = [column + column.dtype.type(begin) for column, begin in zip(columns, begins, strict=True)]
    return np.concatenate([shifted[0][:1], *(column[1:] for column in shifted)])
