"""Relevance of every fragment to a query: a weighted sum of parts that can be printed one by one.

    share = (1 − penalty) · Σ weight · evidence / Σ weight of what the query can have, relevance = share · (1 + HALF)
    / (share + HALF)

The curve only spreads the low end of the scale; every part is scaled with it, the penalty is a part of its own and
negative, so the parts printed always add up to the score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from secateur.index.facts.embedding import Embedder
from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.model import Channel, FloatArray, FragmentKind, IntArray, summed
from secateur.retrieval.copies import COMPARED
from secateur.retrieval.evidence import Lines, evidence, query_vectors
from secateur.retrieval.kind_weights import weights_of_kind
from secateur.retrieval.query import Query
from secateur.retrieval.rounds import AlikeRows, DocumentTexts, LargestFigures, Rounds, alone, best_rows
from secateur.retrieval.statistics import QueryStatistics, statistics
from secateur.selection.priority import HALF, quantised
from secateur.settings import Penalty, Relevance

EVIDENCE = 0.001
"""Evidence above which a fragment counts as found by words."""

ALWAYS_ASKED = ("lexical", "title", "name", "file")
"""Evidence every query asks for. The rest counts in the divisor only where there is any: a query that names no path
lacks nothing."""

PENALTY = "penalty"
"""Name of the negative part."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Per fragment of the snapshot."""

    known: QueryStatistics  # of all that was searched
    relevance: FloatArray
    parts: dict[str, FloatArray]  # weighted; sum to relevance
    channels: IntArray  # bit mask of Channel
    similarity: FloatArray  # of the vectors, unweighted


def score(query: Query, snapshot: Snapshot, embedder: Embedder | None, weights: Relevance) -> Scores:
    """Score all fragments of a snapshot alone, without a look into texts."""
    return alone(scored(query, snapshot, query_vectors(query, embedder), weights))


def scored(
    query: Query,
    snapshot: Snapshot,
    vectors: Sequence[Vectors] | None,
    weights: Relevance,
    lines: Lines | None = None,
    document: Callable[[int], str] | None = None,
    *,
    vectors_alone: bool = False,
) -> Rounds[Scores]:
    """Score all fragments of a shard (REQ-GRAG-001: relevance in [0, 1]).

    Args:
        vectors: of the query (`query_vectors`).
        lines: of a file by its path; without it, texts are not looked into.
        document: of a row, what a better model compares the query with, where there is one; it replies to
            `DocumentTexts`.
        vectors_alone: relevance is the similarity of the vectors and nothing else; of `weights` the threshold is read.
    """
    weights = weights_of_kind(weights, query.told.kind if query.told else None)
    known = yield from statistics(query, snapshot, phrases=lines is not None and bool(weights.phrase))
    columns = yield from evidence(query, snapshot, vectors, weights, known, lines)
    factor = 1.0 - penalties(query, snapshot, weights.penalty)
    if weights.penalty.duplicate:
        duplicates = yield from copies(factor * _total(columns, weights), snapshot, weights.duplicate_similarity)
        factor[duplicates] *= 1.0 - weights.penalty.duplicate
    if document is not None:
        first = columns["semantic"] if vectors_alone else factor * _total(columns, weights)
        best = yield from best_rows(first, weights.reranked)
        columns["semantic"] = np.zeros(len(snapshot))
        columns["semantic"][best] = yield DocumentTexts([document(row) for row in best.tolist()])
    channels = _channels(columns, weights)
    if vectors_alone:
        similarity = np.where(columns["semantic"] > weights.semantic_threshold, quantised(columns["semantic"]), 0.0)
        return Scores(known, similarity, {"semantic": similarity}, channels, columns["semantic"])
    found = channels > 0
    here = [(factor < 1).any(), *(column.any() for column in columns.values())]
    penalised, *there = ((yield LargestFigures(np.array(here, dtype=np.float64))) > 0).tolist()
    parts = {
        name: np.where(found, getattr(weights, name) * column, 0.0)
        for name, column in columns.items()
        if getattr(weights, name)
    }
    total = summed([*parts.values()]) if parts else np.zeros(len(snapshot))
    if penalised:
        parts[PENALTY] = total * (factor - 1.0)
    asked = (name for name, some in zip(columns, there, strict=True) if name in ALWAYS_ASKED or some)
    most = sum(getattr(weights, name) for name in asked) or 1.0
    scale = (1 + HALF) / (total * factor + HALF * most)
    parts = {name: quantised(column * scale) for name, column in parts.items()}
    relevance = quantised(summed([*parts.values()])) if parts else total
    return Scores(known, np.clip(relevance, 0.0, 1.0), parts, channels, columns["semantic"])


def penalties(query: Query, snapshot: Snapshot, shares: Penalty) -> FloatArray:
    """Per fragment the share of its relevance it loses for what it is; kinds of file the query asks for lose
    nothing."""
    kept = np.ones(len(snapshot))
    kinds = snapshot.column("kind")
    for kind, share in penalised_kinds(query, shares).items():
        here = kinds == KINDS.index(kind) if isinstance(kind, FragmentKind) else snapshot.flagged(kind)
        kept *= np.where(here, 1.0 - share, 1.0)
    return 1.0 - kept


def penalised_kinds(query: Query, shares: Penalty) -> dict[str, float]:
    """By kind of file or of fragment the share of its relevance that it loses, of those that lose any."""
    files = ("test", "documentation", "example", "vendored", "generated")
    found = {kind: getattr(shares, kind) for kind in files if kind not in query.asks}
    prose = 0.0 if "documentation" in query.asks else shares.prose
    found |= {FragmentKind.CLASS: shares.header, FragmentKind.REGION: shares.region}
    found |= {FragmentKind.SECTION: prose, FragmentKind.BLOCK: prose}
    return {kind: share for kind, share in found.items() if share}


def copies(score: FloatArray, snapshot: Snapshot, least: float) -> Rounds[IntArray]:
    """Rows among the COMPARED best that are nearly the same text as a better one, or as one that is as good and nearer
    to the root; `least` as in `copies_among`."""
    best = yield from best_rows(score, COMPARED)
    depth = np.array([snapshot.paths[file].count("/") for file in snapshot.file[best].tolist()], dtype=np.int64)
    tokens = snapshot.column("tokens")[best].astype(np.float64)
    found = yield AlikeRows(score[best], depth, tokens, snapshot.space.matrix[best], least)
    return best[found]


def _total(columns: dict[str, FloatArray], weights: Relevance) -> FloatArray:
    return summed([getattr(weights, name) * column for name, column in columns.items()])


def _channels(columns: dict[str, FloatArray], weights: Relevance) -> IntArray:
    """By which ways each fragment was found; what only its surroundings speak for was not."""
    channels = np.zeros(len(columns["lexical"]), dtype=np.int64)
    for channel, found in (
        (Channel.LEXICAL, columns["lexical"] > EVIDENCE),
        (Channel.NAME, np.maximum(np.maximum(columns["name"], columns["path"]), columns["definition"]) > EVIDENCE),
        (Channel.MENTION, np.maximum(np.maximum(columns["mention"], columns["location"]), columns["usage"]) > 0),
        (Channel.SEMANTIC, columns["semantic"] > weights.semantic_threshold),
    ):
        channels |= np.where(found, 1 << channel, 0)
    return channels
