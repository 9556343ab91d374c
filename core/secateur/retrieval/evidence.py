"""The evidence for each fragment, one column a kind, each in [0, 1] and unweighted. Weights are `relevance.py`'s
business."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from secateur.index.facts.embedding import Embedder
from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.postings import WordField
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.index.graph.resolve import TRUSTED, EdgeKind
from secateur.model import FloatArray, FragmentKind, IntArray, add_columns
from secateur.retrieval.named_code import definitions, held_words, spelled_names, usages
from secateur.retrieval.phrase_evidence import READ, phrase_holders, quoted_messages
from secateur.retrieval.placed_evidence import named_files, trace_frames
from secateur.retrieval.query import Query
from secateur.retrieval.statistics import QueryStatistics
from secateur.settings import Relevance

FIRST_PASS: Mapping[str, float] = {"lexical": 2.0, "title": 0.3, "name": 0.3, "semantic": 0.6, "mention": 0.3}
"""Weights by which the fragments are chosen around which others are looked for. Fixed, so that these columns do not
change with the weights."""

SEEDS = 15
"""Best fragments of that first look from which calls are followed."""

STEPS = 3
"""Calls followed from them, either way."""

DECAY = 0.6
"""The share of the one before that each further call counts."""

FOLLOWED = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


def first_look(columns: Mapping[str, FloatArray], kept: FloatArray) -> FloatArray:
    """Per fragment what its own words, names and meaning say; `kept` is what its kind leaves of that."""
    return np.asarray(
        kept * add_columns([weight * columns[name] for name, weight in FIRST_PASS.items()]), dtype=np.float64
    )


def walk_seeds(snapshot: Snapshot, score: FloatArray) -> IntArray:
    """The SEEDS best functions, methods and classes, the best first."""
    kinds = np.isin(snapshot.column("kind"), [KINDS.index(kind) for kind in FOLLOWED])
    best = np.flatnonzero(kinds & (score > 0))
    return best[np.lexsort((best, -score[best]))][:SEEDS]


def walk_by_calls(snapshot: Snapshot, score: FloatArray, seeds: IntArray) -> FloatArray:
    """Per fragment how much of a walk along calls from the seeds comes by. Steps to one of many count less."""
    graph, column = snapshot.graph, np.zeros(len(snapshot))
    if not len(seeds):
        return column
    trusted = np.flatnonzero((graph.confidence >= TRUSTED) & (graph.kind == EdgeKind.CALLS))
    nodes = graph.node_count
    source = np.repeat(np.arange(nodes), np.diff(graph.indptr))[trusted]
    target = graph.indices[trusted].astype(np.int64)
    degree = np.bincount(source, minlength=nodes) + np.bincount(target, minlength=nodes)
    share = 1.0 / np.sqrt(np.maximum(1, degree))
    at = np.zeros(nodes)
    at[seeds] = score[seeds]
    weight = 1.0
    for _ in range(STEPS):
        sent = at * share
        called = np.bincount(target, weights=sent[source], minlength=nodes)
        at = share * (called + np.bincount(source, weights=sent[target], minlength=nodes))
        weight *= DECAY
        column += weight * at
    return column


def near_by_calls(walked: FloatArray, most: float) -> FloatArray:
    """The share that comes by each fragment of the most that comes by any, as its root: so that the few next to all of
    the seeds do not hide the others."""
    return np.asarray(np.sqrt(walked / most)) if most > 0 else walked


Lines = Callable[[str], list[str]]

ELSEWHERE = 0.15
"""The share that counts of a test, a document or code of others where the best fragments are looked for."""

TITLE_SHARE = 2 / 3
"""Of the similarity with a query of several lines: a long text is about many things, its first line about one."""


@dataclass(frozen=True, eq=False)
class BestFew:
    """The few best of something (commits, fragments) on which a column of evidence rests.

    Attributes:
        keys: of each, the best first: the smallest of the first keys are best, then of the second.
        most: how many of all that is searched are taken.
        column: the evidence where so many of the first are taken.
    """

    keys: tuple[FloatArray, ...]
    most: int
    column: Callable[[int], FloatArray]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence for all fragments of a snapshot.

    Attributes:
        columns: by name; the names are those of the weights in `[relevance]`.
        few: by name, of the columns that rest on the best few of all that is searched. That of `near` is not a share of
            the most yet.
    """

    columns: dict[str, FloatArray]
    few: dict[str, BestFew]


def evidence(
    query: Query,
    snapshot: Snapshot,
    vectors: Sequence[Vectors] | None,
    weights: Relevance,
    known: QueryStatistics,
    lines: Lines | None = None,
    *,
    whole: bool = False,
) -> Evidence:
    """The evidence for all fragments. Columns that cost something are left out where their weight is 0.

    Args:
        vectors: of the query and of its first line; None where vectors are not compared.
        known: what the query knows of all that is searched.
        lines: of a file by its path, for what is looked for in texts.
        whole: all columns, whatever their weights.
    """
    terms, fields, names = query.terms, known.fields, known.names
    body, name = fields.body.score(terms, weights.lexical_length), held_words(fields.names, terms)
    of_all, of_title = _similarities(snapshot, vectors)
    few = {"history": _history(query, snapshot, fields.commit_words, weights.history_commits)}
    columns = {
        "lexical": body,
        "title": fields.body.score(query.title_terms, weights.lexical_length),
        "name": np.maximum(name, names.near),
        "path": held_words(fields.path_words, terms)[snapshot.file],
        "file": fields.file_words.score(terms)[snapshot.file],
        "semantic": (1 - TITLE_SHARE) * of_all + TITLE_SHARE * of_title,
        "mention": names.exact,
        "definition": definitions(query, snapshot, fields.names),
        "usage": usages(query, snapshot),
        "history": _whole(few["history"]),
        "named_file": named_files(query, snapshot, known.places)[snapshot.file],
        "trace": trace_frames(query, snapshot, known.places),
    }

    def counts(name: str) -> bool:
        return whole or bool(getattr(weights, name))

    if counts("title_name"):
        columns["title_name"] = spelled_names(fields.names, query.title_terms)
    if counts("phrase"):
        few["phrase"] = _phrase(query, snapshot, fields.body, lines)
        columns["phrase"] = _whole(few["phrase"])
    if counts("near"):
        few["near"] = _near(snapshot, first_look(columns, _kept_at_first(query, snapshot)))
        walked = _whole(few["near"])
        columns["near"] = near_by_calls(walked, walked.max(initial=0.0))
    return Evidence(columns, few)


def _whole(few: BestFew) -> FloatArray:
    return few.column(len(few.keys[0]))


def _kept_at_first(query: Query, snapshot: Snapshot) -> FloatArray:
    """Per fragment the share that counts where the best are looked for."""
    kept = np.ones(len(snapshot))
    for kind in ("test", "documentation", "example", "vendored", "generated"):
        if kind not in query.asks:
            kept = np.where(snapshot.flagged(kind), ELSEWHERE, kept)
    return kept


def _near(snapshot: Snapshot, score: FloatArray) -> BestFew:
    """The part of a walk along calls from the best fragments that comes by each."""
    seeds = walk_seeds(snapshot, score)
    return BestFew((-score[seeds],), SEEDS, lambda count: walk_by_calls(snapshot, score, seeds[:count]))


def _phrase(query: Query, snapshot: Snapshot, body: WordField, lines: Lines | None) -> BestFew:
    """The messages that the query quotes, of the fragments that hold most of its phrases."""
    if lines is None:
        return BestFew((np.zeros(0),), READ, lambda _: np.zeros(len(snapshot)))
    rows, held = phrase_holders(query, snapshot, body)
    column = quoted_messages(query, snapshot, body, lines, rows)
    tokens = snapshot.column("tokens")[rows].astype(np.float64)
    place = np.full(len(snapshot), len(rows))
    place[rows] = np.arange(len(rows))
    return BestFew((-held, tokens), READ, lambda count: np.where(place < count, column, 0.0))


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


def _history(query: Query, snapshot: Snapshot, words: WordField, most: int) -> BestFew:
    """Per fragment the best of its file's commits, the `most` that are most like the query: how much its message is
    like it, less for commits that touched many files."""
    first: npt.NDArray[np.int64] = snapshot.arrays["commits.first"]
    file: npt.NDArray[np.int32] = snapshot.arrays["commits.file"]
    score = words.score(query.terms)
    best = np.lexsort((np.arange(len(score)), -score))[:most]
    best = best[score[best] > 0]

    def column(count: int) -> FloatArray:
        of_files = np.zeros(len(snapshot.paths))
        for commit in best[:count].tolist():
            files = file[first[commit] : first[commit + 1]]
            of_files[files] = np.maximum(of_files[files], score[commit] / np.sqrt(len(files)))
        return of_files[snapshot.file]

    return BestFew((-score[best],), most, column)
