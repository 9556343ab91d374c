"""The evidence for each fragment, one column a kind, each in [0, 1] and unweighted. Weights are `relevance.py`'s
business."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from secateur.index.facts.embedding import Embedder
from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.postings import WordField
from secateur.index.facts.shard import Shard
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.resolve import TRUSTED, EdgeKind
from secateur.model import FloatArray, distinct
from secateur.retrieval.linked_shards import figures_around, graph_around
from secateur.retrieval.named_code import definitions, usages
from secateur.retrieval.named_evidence import held_words, spelled_names
from secateur.retrieval.nearby_evidence import first_look, near_by_calls
from secateur.retrieval.phrase_evidence import quoted_messages
from secateur.retrieval.placed_evidence import named_files, trace_frames, written_places
from secateur.retrieval.query import Query
from secateur.retrieval.rounds import BestCommits, Rounds, at_once
from secateur.retrieval.statistics import QueryStatistics
from secateur.settings import Relevance

Lines = Callable[[str], list[str]]

ELSEWHERE = 0.15
"""The share that counts of a test, a document or code of others where the best fragments are looked for."""

TITLE_SHARE = 2 / 3
"""Of the similarity with a query of several lines: a long text is about many things, its first line about one."""


def evidence(
    query: Query,
    snapshot: Snapshot,
    vectors: Sequence[Vectors] | None,
    weights: Relevance,
    known: QueryStatistics,
    lines: Lines | None = None,
    *,
    whole: bool = False,
) -> Rounds[dict[str, FloatArray]]:
    """Columns of one shard by name; the names are those of the weights in `[relevance]`. Those of `further` are left
    out where their weight is 0.

    Args:
        vectors: of the query and of its first line; None where vectors are not compared.
        known: what the query knows of all shards.
        lines: of a file by its path, for what is looked for in texts.
        whole: all columns, whatever their weights.
    """
    terms, fields, names = query.terms, known.fields, known.names
    body, name = fields.body.score(terms, weights.lexical_length), held_words(fields.names, terms)
    found = np.minimum(1.0, body + name + names.exact)
    calls = Calls.of(snapshot)
    linked = yield from figures_around(snapshot, found, np.where(snapshot.flagged("test"), found, 0.0))
    of_all, of_title = _similarities(snapshot, vectors)
    columns = {
        "lexical": body,
        "title": fields.body.score(query.title_terms, weights.lexical_length),
        "name": np.maximum(name, names.near),
        "description": fields.descriptions.score(terms),
        "path": held_words(fields.path_words, terms)[snapshot.file],
        "file": fields.file_words.score(terms)[snapshot.file],
        "siblings": siblings(snapshot, body),
        "semantic": (1 - TITLE_SHARE) * of_all + TITLE_SHARE * of_title,
        "mention": names.exact,
        "definition": definitions(query, snapshot, fields.names),
        "usage": (yield from usages(query, snapshot, known.defining)),
        "location": written_places(query, snapshot, known.places),
        "history": (yield from _history(query, snapshot, fields.commit_words, weights.history_commits))[snapshot.file],
        "callees": calls.callees(linked[0]),
        "tests": calls.callers(linked[1]),
    }
    if whole or weights.title_meaning:
        columns["title_meaning"] = of_title
    for column, made in further(query, snapshot, columns, known, lines).items():
        if whole or getattr(weights, column):
            columns[column] = yield from made()
    return columns


def further(
    query: Query, snapshot: Snapshot, columns: Mapping[str, FloatArray], known: QueryStatistics, lines: Lines | None
) -> dict[str, Callable[[], Rounds[FloatArray]]]:
    """The columns that cost something and are made only where they count; what they are made of is in `columns`."""

    @cache
    def first() -> FloatArray:
        kept = np.ones(len(snapshot))
        for kind in ("test", "documentation", "example", "vendored", "generated"):
            if kind not in query.asks:
                kept = np.where(snapshot.flagged(kind), ELSEWHERE, kept)
        return first_look(columns, kept)

    def named_file() -> FloatArray:
        return named_files(query, snapshot, known.places, known.named_files)[snapshot.file]

    return {
        "title_name": lambda: at_once(spelled_names(known.fields.names, query.title_terms)),
        "phrase": lambda: (
            quoted_messages(query, snapshot, known.fields.body, lines) if lines else at_once(np.zeros(len(snapshot)))
        ),
        "named_file": lambda: at_once(named_file()),
        "trace": lambda: at_once(trace_frames(query, snapshot, known.places, known.own_frames)),
        "near": lambda: near_by_calls(snapshot, first()),
    }


def siblings(snapshot: Snapshot, score: FloatArray) -> FloatArray:
    """Per fragment the best score among the other fragments of its file; 0 where it is alone."""
    if not len(score):
        return score
    starts = np.flatnonzero(np.diff(snapshot.file, prepend=-1))
    sizes = np.diff(np.append(starts, len(score)))
    best = np.repeat(np.maximum.reduceat(score, starts), sizes)
    at_best = np.flatnonzero(score == best)
    _, firsts, _ = distinct(snapshot.file[at_best])
    first = at_best[firsts]
    others = score.copy()
    others[first] = 0.0
    out = best
    out[first] = np.maximum.reduceat(others, starts)
    return out


@dataclass(frozen=True, slots=True)
class Calls:
    """Trusted calls as columns, over the nodes of `graph_around`; `own`: those of them that are the shard's rows."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int32]
    confidence: FloatArray
    own: slice

    @classmethod
    def of(cls, snapshot: Snapshot) -> Calls:
        graph, own = graph_around(snapshot)
        trusted = np.flatnonzero((graph.confidence >= TRUSTED) & (graph.kind == EdgeKind.CALLS))
        source = np.repeat(np.arange(graph.node_count), np.diff(graph.indptr))[trusted]
        return cls(source, graph.indices[trusted], graph.confidence[trusted] / 1000, own)

    def callers(self, score: FloatArray) -> FloatArray:
        """Per fragment the best score among what calls it, each times the confidence of the call; `score` is that of
        all nodes."""
        best = np.zeros(len(score))
        np.maximum.at(best, self.target, score[self.source] * self.confidence)
        return best[self.own]

    def callees(self, score: FloatArray) -> FloatArray:
        """Per fragment the best score among what it calls, each times the confidence of the call; `score` as for
        `callers`."""
        best = np.zeros(len(score))
        np.maximum.at(best, self.source, score[self.target] * self.confidence)
        return best[self.own]


def query_vectors(query: Query, embedder: Embedder | None) -> Sequence[Vectors] | None:
    """The vectors of a query and of its first line, in English where they were translated; None without an embedder."""
    if embedder is None:
        return None
    return list(embedder.embed([query.translated or query.text, query.title], "query"))


def _similarities(snapshot: Snapshot, vectors: Sequence[Vectors] | None) -> tuple[FloatArray, FloatArray]:
    """Similarity with the whole query, and with its first line."""
    if vectors is None or not len(snapshot):
        return np.zeros(len(snapshot)), np.zeros(len(snapshot))
    whole, title = snapshot.space.similarities(vectors)
    return whole, title


def _history(query: Query, snapshot: Snapshot, words: WordField, most: int) -> Rounds[FloatArray]:
    """Per file the best of its commits, the `most` that are most like the query: how much its message is like it, less
    for commits that touched many files."""
    column = np.zeros(len(snapshot.paths))
    first: npt.NDArray[np.int64] = snapshot.arrays["commits.first"]
    file: npt.NDArray[np.int32] = snapshot.arrays["commits.file"]
    name, before = (snapshot.name, snapshot.files_before) if isinstance(snapshot, Shard) else ("", 0)
    score = words.score(query.terms)
    best = np.lexsort((np.arange(len(score)), -score))[:most]
    best = best[score[best] > 0]
    chosen: BestCommits = yield BestCommits(name, best, score[best], most)
    for commit, alike in zip(chosen.commits.tolist(), chosen.score.tolist(), strict=True):
        files = file[first[commit] : first[commit + 1]]
        here = files[(files >= before) & (files < before + len(column))] - before
        column[here] = np.maximum(column[here], alike / np.sqrt(len(files)))
    return column
