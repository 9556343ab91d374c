"""Relevance of every fragment to a query: a weighted sum of parts that can be printed one by one.

    share = (1 − penalty) · Σ weight · evidence / Σ weight of what the query can have, relevance = share · (1 + HALF)
    / (share + HALF)

The curve only spreads the low end of the scale; every part is scaled with it, the penalty is a part of its own and
negative, so the parts printed always add up to the score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.embedding import Embedder
from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.model import BoolArray, Channel, FloatArray, FragmentKind, IntArray, add_columns
from secateur.retrieval.evidence import evidence, query_vectors
from secateur.retrieval.query import Query
from secateur.retrieval.query_kind import QueryKind
from secateur.retrieval.statistics import statistics
from secateur.selection.priority import HALF, quantised
from secateur.settings import Penalty, Relevance

FACTORS: Mapping[QueryKind, Mapping[str, float]] = {
    # Who writes a name wants its definition: a class is defined by its header, what repeats the name most is seldom the
    # definition, and of copies one is enough.
    QueryKind.SYMBOL: {"penalty.header": 0.0, "penalty.duplicate": 4.0, "lexical": 0.4, "semantic": 0.4},
    QueryKind.PHRASE: {"penalty.header": 0.0, "penalty.duplicate": 4.0},
    # Who asks where something is used knows its definition.
    QueryKind.USAGE: {"mention": 0.0, "name": 0.0, "title_name": 0.0},
    # Few words are like those of many commits. What answers is as long as it is, often called by what holds the words,
    # and may be a class.
    QueryKind.QUESTION: {
        "history": 0.4,
        "lexical_length": 0.5,
        "title_name": 2.0,
        "near": 3.0,
        "penalty.header": 0.5,
    },
    # The words of a message stand in the code that says it.
    QueryKind.MESSAGE: {"history": 0.4, "lexical": 2.0, "lexical_length": 0.5},
    QueryKind.ISSUE: {},
    QueryKind.TRACE: {},
}
"""By kind, the factor on a weight, or on a penalty; 1 for what is not listed."""


def weights_of_kind(weights: Relevance, kind: QueryKind | None) -> Relevance:
    """The weights and penalties for a kind of query; as they are without one. No share of a penalty exceeds 1."""
    factors = FACTORS[kind] if kind else {}
    if not factors:
        return weights
    shares = {
        name: min(1.0, getattr(weights.penalty, name) * factor)
        for key, factor in factors.items()
        if (name := key.removeprefix("penalty.")) != key
    }
    parts = {key: getattr(weights, key) * factor for key, factor in factors.items() if "." not in key}
    return replace(weights, penalty=replace(weights.penalty, **shares), **parts)


EVIDENCE = 0.001
"""Evidence above which a fragment counts as found by words."""

ALWAYS_ASKED = ("lexical", "title", "name", "file")
"""Evidence every query asks for. The rest counts in the divisor only where there is any: a query that names no path
lacks nothing."""

COMPARED = 500
"""Best fragments among which copies are looked for: more than a budget keeps."""

SAME_SIZE = 0.05
"""Tokens by which texts that are nearly the same may differ, as a share of the larger."""

PENALTY = "penalty"
"""Name of the negative part."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Per fragment.

    Attributes:
        parts: weighted; they sum to the relevance.
        channels: bit masks of `Channel`.
        similarity: of the vectors, unweighted.
        present: names of the evidence that any fragment has, and PENALTY where any has one.
    """

    relevance: FloatArray
    parts: dict[str, FloatArray]
    channels: IntArray
    similarity: FloatArray
    present: frozenset[str]


@dataclass(frozen=True, eq=False)
class Texts:
    """Columns by which copies are found. `file`: place of each fragment's path among `paths`."""

    paths: Sequence[str]
    file: npt.NDArray[np.integer]
    tokens: npt.NDArray[np.integer]
    vectors: Vectors

    @classmethod
    def of(cls, snapshot: Snapshot) -> Texts:
        """Those of all fragments of a snapshot."""
        return cls(snapshot.paths, snapshot.file, snapshot.column("tokens"), snapshot.arrays["vectors"])


Rerank = Callable[[IntArray], FloatArray]
"""The similarities that a better model sees between the query and some rows."""


def score(query: Query, snapshot: Snapshot, embedder: Embedder | None, weights: Relevance) -> Scores:
    """Score all fragments of a snapshot, without a look into texts."""
    weights = weights_for(query, weights)
    found = evidence(query, snapshot, query_vectors(query, embedder), weights, statistics(query, snapshot))
    return relevance(found.columns, 1.0 - penalties(query, snapshot, weights.penalty), Texts.of(snapshot), weights)


def weights_for(query: Query, weights: Relevance) -> Relevance:
    """The weights for the kind of the query."""
    return weights_of_kind(weights, query.told.kind if query.told else None)


def relevance(
    columns: Mapping[str, FloatArray],
    kept: FloatArray,
    texts: Texts,
    weights: Relevance,
    rerank: Rerank | None = None,
    present: frozenset[str] = frozenset(),
) -> Scores:
    """Score fragments by their evidence (REQ-GRAG-001: relevance in [0, 1]).

    Args:
        columns: of the evidence.
        kept: the share that penalties leave.
        rerank: a better model, where there is one.
        present: of `Scores`, where these are not all fragments that were searched.
    """
    columns, kept = dict(columns), kept.copy()
    if weights.penalty.duplicate:
        kept[copies(kept * total(columns, weights), texts, weights.duplicate_similarity)] *= (
            1.0 - weights.penalty.duplicate
        )
    if rerank is not None:
        columns["semantic"] = _reranked(kept * total(columns, weights), weights.reranked, rerank)
    channels = _channels(columns, weights)
    found = channels > 0
    present |= {name for name, column in columns.items() if column.any()}
    parts = {
        name: np.where(found, getattr(weights, name) * column, 0.0)
        for name, column in columns.items()
        if getattr(weights, name)
    }
    sums = add_columns([*parts.values()]) if parts else np.zeros(len(kept))
    if (kept < 1).any() or PENALTY in present:
        present |= {PENALTY}
        parts[PENALTY] = sums * (kept - 1.0)
    most = sum(getattr(weights, name) for name in columns if name in ALWAYS_ASKED or name in present) or 1.0
    scale = (1 + HALF) / (sums * kept + HALF * most)
    parts = {name: quantised(column * scale) for name, column in parts.items()}
    whole = quantised(add_columns([*parts.values()])) if parts else sums
    return Scores(np.clip(whole, 0.0, 1.0), parts, channels, columns["semantic"], frozenset(present))


def similarity_alone(columns: Mapping[str, FloatArray], weights: Relevance, rerank: Rerank | None = None) -> Scores:
    """Score fragments by the similarity of the vectors and nothing else; of `weights` thresholds are read."""
    similarity = columns["semantic"]
    if rerank is not None:
        similarity = _reranked(similarity, weights.reranked, rerank)
    channels = _channels({**columns, "semantic": similarity}, weights)
    scores = np.where(similarity > weights.semantic_threshold, quantised(similarity), 0.0)
    return Scores(scores, {"semantic": scores}, channels, similarity, frozenset())


def _reranked(score: FloatArray, most: int, rerank: Rerank) -> FloatArray:
    """The similarity of the best rows as a better model sees it; what it did not see has none."""
    column, best = np.zeros(len(score)), best_rows(score, most)
    column[best] = rerank(best)
    return column


def best_rows(score: FloatArray, most: int) -> IntArray:
    """The `most` best rows, the best first; equal ones in their order."""
    return np.lexsort((np.arange(len(score)), -score))[:most]


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


def copies(score: FloatArray, texts: Texts, least: float) -> IntArray:
    """Rows among the COMPARED best that are nearly the same text as a better one, or as one that is as good and nearer
    to the root; `least` as in `_copies_among`."""
    best = best_rows(score, COMPARED)
    depth = np.array([texts.paths[file].count("/") for file in texts.file[best].tolist()], dtype=np.int64)
    tokens = texts.tokens[best].astype(np.float64)
    return best[_copies_among(score[best], depth, tokens, texts.vectors[best], least=least)]


def _copies_among(
    score: FloatArray, depth: npt.NDArray[Any], tokens: FloatArray, vectors: npt.NDArray[np.int8], *, least: float
) -> BoolArray:
    """Tells which rows are nearly the same text as one with a better score, or with the same that is nearer to the
    root, or comes before it: the cosine of the vectors is `least` or more, and sizes are within a twentieth.

    `depth`: folders above a row's file.
    """
    order = np.lexsort((np.arange(len(score)), depth, -score))
    rows = vectors[order].astype(np.float32)  # sums of products stay below 2 ** 24: exact in any order
    length = np.sqrt((rows * rows).sum(axis=1).astype(np.float64))
    tokens = tokens[order]
    alike = (rows @ rows.T).astype(np.float64) >= least * np.outer(length, length)
    alike &= np.abs(np.subtract.outer(tokens, tokens)) <= SAME_SIZE * np.maximum.outer(tokens, tokens)
    alike &= (length > 0)[:, None]
    found = np.zeros(len(score), dtype=np.bool_)
    found[order[np.tril(alike, -1).any(axis=1)]] = True
    return found


def total(columns: Mapping[str, FloatArray], weights: Relevance) -> FloatArray:
    """Per fragment the weighted sum of its evidence."""
    return add_columns([getattr(weights, name) * column for name, column in columns.items()])


def _channels(columns: Mapping[str, FloatArray], weights: Relevance) -> IntArray:
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
