"""The evidence for each fragment, one column a kind, each in [0, 1] and unweighted. Weights are `relevance.py`'s
business."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from secateur.index.facts.embedding import Embedder
from secateur.index.facts.names import NameMatch
from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.resolve import TRUSTED, EdgeKind
from secateur.model import FloatArray
from secateur.retrieval.named_code import definitions, usages
from secateur.retrieval.query import Query

PATH_MENTIONED = 0.6
"""A file that is mentioned says less about each of its fragments than a stack frame inside one."""

FRAME_LINE = 0.8
"""A frame's line lies in the fragment; its function's name says more, because lines move between versions."""

NAMED_BY = 20.0
"""Sum of idf at which words of the query in a name or a path say all they can: two rare words, or four common ones."""

TITLE_SHARE = 2 / 3
"""Of the similarity with a query of several lines: a long text is about many things, its first line about one."""


def evidence(
    query: Query, snapshot: Snapshot, embedder: Embedder | None, names: NameMatch, commits: int
) -> dict[str, FloatArray]:
    """All columns by name; the names are those of the weights in `[relevance]`.

    Args:
        commits: most commits of the history that are evidence for their files.
    """
    terms = query.terms
    body, name = snapshot.body.score(terms), held_words(snapshot.names, terms)
    found = np.minimum(1.0, body + name + names.exact)
    calls = Calls.of(snapshot)
    return {
        "lexical": body,
        "title": snapshot.body.score(query.title_terms),
        "name": np.maximum(name, names.near),
        "description": snapshot.descriptions.score(terms),
        "path": held_words(snapshot.path_words, terms)[snapshot.file],
        "file": snapshot.file_words.score(terms)[snapshot.file],
        "siblings": siblings(snapshot, body),
        "semantic": _semantic(query, snapshot, embedder),
        "mention": names.exact,
        "definition": definitions(query, snapshot),
        "usage": usages(query, snapshot),
        "location": _locations(query, snapshot),
        "history": _history(query, snapshot, commits)[snapshot.file],
        "callers": calls.callers(found),
        "callees": calls.callees(found),
        "tests": calls.callers(np.where(flagged(snapshot, "test"), found, 0.0)),
    }


def flagged(snapshot: Snapshot, flag: str) -> npt.NDArray[np.bool_]:
    """Per fragment whether its file is of a kind: "test", "generated", ..."""
    files = np.array([flag in flags for flags in snapshot.flags], dtype=np.bool_)
    return np.asarray(files[snapshot.file], dtype=np.bool_)


def held_words(postings: Postings, terms: Sequence[tuple[int, float]]) -> FloatArray:
    """Per document how much its few words are words of the query, rare ones more; however long the query is, and
    whatever else it says."""
    held = np.zeros(postings.documents)
    for term, _ in terms:
        held[postings.holders(term)] += postings.idf(term)
    return np.minimum(1.0, held / NAMED_BY)


def siblings(snapshot: Snapshot, score: FloatArray) -> FloatArray:
    """Per fragment the best score among the other fragments of its file; 0 where it is alone."""
    if not len(score):
        return score
    starts = np.flatnonzero(np.diff(snapshot.file, prepend=-1))
    sizes = np.diff(np.append(starts, len(score)))
    best = np.repeat(np.maximum.reduceat(score, starts), sizes)
    at_best = np.flatnonzero(score == best)
    _, firsts = np.unique(snapshot.file[at_best], return_index=True)
    first = at_best[firsts]
    others = score.copy()
    others[first] = 0.0
    out = best
    out[first] = np.maximum.reduceat(others, starts)
    return out


@dataclass(frozen=True, slots=True)
class Calls:
    """Trusted calls as columns."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int32]
    confidence: FloatArray

    @classmethod
    def of(cls, snapshot: Snapshot) -> Calls:
        graph = snapshot.graph
        trusted = np.flatnonzero((graph.confidence >= TRUSTED) & (graph.kind == EdgeKind.CALLS))
        source = np.repeat(np.arange(len(snapshot)), np.diff(graph.indptr))[trusted]
        return cls(source, graph.indices[trusted], graph.confidence[trusted] / 1000)

    def callers(self, score: FloatArray) -> FloatArray:
        """Per fragment the best score among what calls it, each times the confidence of the call."""
        best = np.zeros(len(score))
        np.maximum.at(best, self.target, score[self.source] * self.confidence)
        return best

    def callees(self, score: FloatArray) -> FloatArray:
        """Per fragment the best score among what it calls, each times the confidence of the call."""
        best = np.zeros(len(score))
        np.maximum.at(best, self.source, score[self.target] * self.confidence)
        return best


def _semantic(query: Query, snapshot: Snapshot, embedder: Embedder | None) -> FloatArray:
    """Similarity with the query, most of it with its first line."""
    if embedder is None or not len(snapshot):
        return np.zeros(len(snapshot))
    whole, title = (snapshot.space.similarity(vector) for vector in embedder.embed([query.text, query.title], "query"))
    return np.asarray((1 - TITLE_SHARE) * whole + TITLE_SHARE * title, dtype=np.float64)


def _locations(query: Query, snapshot: Snapshot) -> FloatArray:
    """Paths and stack frames the query writes out."""
    column = np.zeros(len(snapshot))
    if not query.paths and not query.frames:
        return column
    by_name: dict[str, list[int]] = {}
    for number, path in enumerate(snapshot.paths):
        by_name.setdefault(path.rpartition("/")[2], []).append(number)
    for wanted in query.paths:
        for number in by_name.get(wanted.rpartition("/")[2], []):
            if _same_place(snapshot.paths[number], wanted):
                rows = _rows(snapshot, number)
                column[rows] = np.maximum(column[rows], PATH_MENTIONED)
    for wanted, line, function in query.frames:
        for number in by_name.get(wanted.rpartition("/")[2], []):
            if not _same_place(snapshot.paths[number], wanted):
                continue
            rows = _rows(snapshot, number)
            inside = (snapshot.line_start[rows] <= line) & (snapshot.line_end[rows] >= line)
            column[rows] = np.maximum(column[rows], np.where(inside, FRAME_LINE, 0.0))
            if function:
                named = np.array(
                    [snapshot.qualnames[row].rpartition(".")[2] == function for row in range(rows.start, rows.stop)],
                    dtype=np.bool_,
                )
                column[rows] = np.maximum(column[rows], named)
    return column


def _same_place(path: str, wanted: str) -> bool:
    """The same file, whichever of the two names was written from further up: installed paths end like those of the
    repository."""
    have, want = path.split("/"), wanted.split("/")
    common = min(len(have), len(want), 2)
    return have[-common:] == want[-common:]


def _rows(snapshot: Snapshot, file: int) -> slice:
    first, last = np.searchsorted(snapshot.file, (file, file + 1))
    return slice(int(first), int(last))


def _history(query: Query, snapshot: Snapshot, commits: int) -> FloatArray:
    """Per file the best of its commits: how much its message is like the query, less for commits that touched many
    files."""
    column = np.zeros(len(snapshot.paths))
    first: npt.NDArray[np.int64] = snapshot.arrays["commits.first"]
    file: npt.NDArray[np.int32] = snapshot.arrays["commits.file"]
    score = snapshot.commit_words.score(query.terms)
    best = np.lexsort((np.arange(len(score)), -score))[:commits]
    for commit in best[score[best] > 0]:
        files = file[first[commit] : first[commit + 1]]
        column[files] = np.maximum(column[files], score[commit] / np.sqrt(len(files)))
    return column
