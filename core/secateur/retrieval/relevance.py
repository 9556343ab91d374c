"""Relevance of every fragment to a query: a weighted sum of parts that can be printed one by one.

    share = (1 − penalty) · Σ weight · evidence / Σ weight of what the query can have, relevance = share · (1 + HALF)
    / (share + HALF)

The curve only spreads the low end of the scale; every part is scaled with it, the penalty is a part of its own and
negative, so the parts printed always add up to the score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from secateur.index.facts.embedding import Embedder
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.model import Channel, FloatArray, FragmentKind, IntArray
from secateur.retrieval.evidence import Lines, evidence, flagged
from secateur.retrieval.kind_weights import weights_of_kind
from secateur.retrieval.query import Query
from secateur.retrieval.rerank import Reranker
from secateur.selection.priority import HALF, quantised
from secateur.settings import Penalty, Relevance

EVIDENCE = 0.001
"""Evidence above which a fragment counts as found by words."""

ALWAYS_ASKED = ("lexical", "title", "name", "file")
"""Evidence every query asks for. The rest counts in the divisor only where there is any: a query that names no path
lacks nothing."""

COMPARED = 500
"""Best fragments among which copies are looked for: more than a budget keeps."""

SAME_SIZE = 0.05

PENALTY = "penalty"
"""Name of the negative part."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Per fragment of the snapshot."""

    relevance: FloatArray
    parts: dict[str, FloatArray]  # weighted; sum to relevance
    channels: IntArray  # bit mask of Channel
    similarity: FloatArray  # of the vectors, unweighted
    suggestions: dict[str, list[str]]  # near names taken, by identifier of the query


def score(
    query: Query,
    snapshot: Snapshot,
    embedder: Embedder | None,
    weights: Relevance,
    lines: Lines | None = None,
    reranker: Reranker | None = None,
    *,
    vectors_alone: bool = False,
) -> Scores:
    """Score all fragments (REQ-GRAG-001: relevance in [0, 1]).

    Args:
        lines: of a file by its path; without it, texts are not looked into.
        vectors_alone: relevance is the similarity of the vectors and nothing else; of `weights` the threshold is read.

    Raises:
        EmbeddingError: the reranker's model or server failed.
    """
    weights = weights_of_kind(weights, query.told.kind if query.told else None)
    names = snapshot.name_table.match(query.identifiers, query.plain)
    columns = evidence(query, snapshot, embedder, names, weights, lines)
    factor = 1.0 - penalties(query, snapshot, weights.penalty)
    if weights.penalty.duplicate:
        duplicates = copies(factor * _total(columns, weights), snapshot, weights.duplicate_similarity)
        factor[duplicates] *= 1.0 - weights.penalty.duplicate
    if reranker is not None:
        first = columns["semantic"] if vectors_alone else factor * _total(columns, weights)
        best = np.lexsort((np.arange(len(first)), -first))[: weights.reranked]
        columns["semantic"] = np.zeros(len(snapshot))
        columns["semantic"][best] = reranker.similarity(query.text, best)
    channels = _channels(columns, weights)
    if vectors_alone:
        similarity = np.where(columns["semantic"] > weights.semantic_threshold, quantised(columns["semantic"]), 0.0)
        return Scores(similarity, {"semantic": similarity}, channels, columns["semantic"], names.suggestions)
    found = channels > 0
    parts = {
        name: np.where(found, getattr(weights, name) * column, 0.0)
        for name, column in columns.items()
        if getattr(weights, name)
    }
    total = np.sum(list(parts.values()), axis=0) if parts else np.zeros(len(snapshot))
    if (factor < 1).any():
        parts[PENALTY] = total * (factor - 1.0)
    most = (
        sum(getattr(weights, name) for name, column in columns.items() if name in ALWAYS_ASKED or column.any()) or 1.0
    )
    scale = (1 + HALF) / (total * factor + HALF * most)
    parts = {name: quantised(column * scale) for name, column in parts.items()}
    relevance = quantised(np.sum(list(parts.values()), axis=0)) if parts else total
    return Scores(np.clip(relevance, 0.0, 1.0), parts, channels, columns["semantic"], names.suggestions)


def penalties(query: Query, snapshot: Snapshot, shares: Penalty) -> FloatArray:
    """Per fragment the share of its relevance it loses for what it is; kinds of file the query asks for lose
    nothing."""
    kept = np.ones(len(snapshot))
    for kind in ("test", "documentation", "example", "vendored", "generated"):
        share = getattr(shares, kind)
        if share and kind not in query.asks:
            kept *= np.where(flagged(snapshot, kind), 1.0 - share, 1.0)
    kinds = snapshot.column("kind")
    prose = 0.0 if "documentation" in query.asks else shares.prose
    for kind, share in (
        (FragmentKind.CLASS, shares.header),
        (FragmentKind.REGION, shares.region),
        (FragmentKind.SECTION, prose),
        (FragmentKind.BLOCK, prose),
    ):
        if share:
            kept *= np.where(kinds == KINDS.index(kind), 1.0 - share, 1.0)
    return 1.0 - kept


def copies(score: FloatArray, snapshot: Snapshot, least: float) -> IntArray:
    """Rows among the COMPARED best that are nearly the same text as a better one, or as one that is as good and nearer
    to the root: the cosine of the vectors is `least` or more, and sizes are within a twentieth."""
    best = np.lexsort((np.arange(len(score)), -score))[:COMPARED]
    depth = np.array([snapshot.paths[file].count("/") for file in snapshot.file[best].tolist()], dtype=np.int64)
    best = best[np.lexsort((best, depth, -score[best]))]
    vectors = snapshot.space.matrix[best].astype(np.float32)  # sums of products stay below 2 ** 24: exact in any order
    length = np.sqrt((vectors * vectors).sum(axis=1).astype(np.float64))
    tokens = snapshot.column("tokens")[best].astype(np.float64)
    alike = (vectors @ vectors.T).astype(np.float64) >= least * np.outer(length, length)
    alike &= np.abs(np.subtract.outer(tokens, tokens)) <= SAME_SIZE * np.maximum.outer(tokens, tokens)
    alike &= (length > 0)[:, None]
    return best[np.tril(alike, -1).any(axis=1)]


def _total(columns: dict[str, FloatArray], weights: Relevance) -> FloatArray:
    total: FloatArray = np.sum([getattr(weights, name) * column for name, column in columns.items()], axis=0)
    return total


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
