"""What speaks for each fragment, one column a kind of evidence, each in [0, 1] and unweighted. Weights are `relevance.py`'s business."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from secateur.index.embedding import Embedder
from secateur.index.names import NameMatch
from secateur.index.resolve import TRUSTED, EdgeKind
from secateur.index.snapshot import Snapshot
from secateur.model import FloatArray
from secateur.retrieval.query import Query

PATH_MENTIONED = 0.6
"""A file that is mentioned says less about each of its fragments than a stack frame inside one."""

FRAME_LINE = 0.8
"""A frame's line lies in the fragment; its function's name says more, because lines move between versions."""

COMMITS = 50
"""Commits whose messages are most like the query; further ones resemble everything."""


def evidence(query: Query, snapshot: Snapshot, embedder: Embedder | None, names: NameMatch) -> dict[str, FloatArray]:
    """All columns by name; the names are those of the weights in `[relevance]`."""
    terms = query.terms
    body, name = snapshot.body.score(terms), snapshot.names.score(terms)
    callers, callees = neighbours(snapshot, np.minimum(1.0, body + name + names.exact))
    return {
        "lexical": body,
        "name": np.maximum(name, names.near),
        "description": snapshot.descriptions.score(terms),
        "path": snapshot.path_words.score(terms)[snapshot.file],
        "file": snapshot.file_words.score(terms)[snapshot.file],
        "siblings": siblings(snapshot, body),
        "semantic": _semantic(query, snapshot, embedder),
        "mention": names.exact,
        "place": _places(query, snapshot),
        "history": _history(query, snapshot)[snapshot.file],
        "callers": callers,
        "callees": callees,
    }


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


def neighbours(snapshot: Snapshot, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Per fragment the best score among what calls it, and among what it calls, each times the confidence of the call."""
    graph = snapshot.graph
    callers, callees = np.zeros(len(snapshot)), np.zeros(len(snapshot))
    trusted = np.flatnonzero((graph.confidence >= TRUSTED) & (graph.kind == EdgeKind.CALLS))
    source = np.repeat(np.arange(len(snapshot)), np.diff(graph.indptr))[trusted]
    target, confidence = graph.indices[trusted], graph.confidence[trusted] / 1000
    np.maximum.at(callers, target, score[source] * confidence)
    np.maximum.at(callees, source, score[target] * confidence)
    return callers, callees


def _semantic(query: Query, snapshot: Snapshot, embedder: Embedder | None) -> FloatArray:
    """Similarity with the query; with its title too where it has several lines: a long text is about many things."""
    if embedder is None or not len(snapshot):
        return np.zeros(len(snapshot))
    texts = dict.fromkeys((query.text, query.title))
    similarities = [snapshot.space.similarity(vector) for vector in embedder.embed(list(texts), "query")]
    mean: FloatArray = np.sum(similarities, axis=0) / len(similarities)
    return mean


def _places(query: Query, snapshot: Snapshot) -> FloatArray:
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
                named = np.array([snapshot.qualnames[row].rpartition(".")[2] == function for row in range(rows.start, rows.stop)], dtype=np.bool_)
                column[rows] = np.maximum(column[rows], named)
    return column


def _same_place(path: str, wanted: str) -> bool:
    """The same file, whichever of the two names was written from further up: installed paths end like those of the repository."""
    have, want = path.split("/"), wanted.split("/")
    common = min(len(have), len(want), 2)
    return have[-common:] == want[-common:]


def _rows(snapshot: Snapshot, file: int) -> slice:
    first, last = np.searchsorted(snapshot.file, (file, file + 1))
    return slice(int(first), int(last))


def _history(query: Query, snapshot: Snapshot) -> FloatArray:
    """Per file the best of its commits: how much its message is like the query, less for commits that touched many files."""
    column = np.zeros(len(snapshot.paths))
    first: npt.NDArray[np.int64] = snapshot.arrays["commits.first"]
    file: npt.NDArray[np.int32] = snapshot.arrays["commits.file"]
    score = snapshot.commit_words.score(query.terms)
    best = np.lexsort((np.arange(len(score)), -score))[:COMMITS]
    for commit in best[score[best] > 0]:
        files = file[first[commit] : first[commit + 1]]
        column[files] = np.maximum(column[files], score[commit] / np.sqrt(len(files)))
    return column
