"""Computes the relevance of every fragment to a query: a weighted sum of parts that can be printed one by one.

    share = (1 − penalty) · Σ weight · evidence / Σ weight of what the query can have, relevance = share · (1 + HALF)
    / (share + HALF)

The curve only spreads the low end of the scale; every part is scaled with it, the penalty is a part of its own and
negative, so the parts printed always add up to the score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from secateur.index.facts.embedding.vectors import Embedder, Vectors
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.model import Channel, FloatArray, FragmentKind, IntArray, add_columns
from secateur.retrieval.evidence.collect import collect_evidence, embed_query, statistics
from secateur.retrieval.query import Query
from secateur.retrieval.query_kind import QueryKind
from secateur.selection.priority import HALF, quantised
from secateur.settings import Penalty, Relevance

# The first line of an issue names the part of a system that its path names too; a few words occur in many paths.
SHORT = {"path": 0.4}

# By kind: the factor on a weight or on a penalty. A weight that is not listed has the factor 1.
FACTORS: Mapping[QueryKind, Mapping[str, float]] = {
    # A user who writes a name wants its definition. A header defines its class; the fragment that repeats the name most
    # is seldom the definition; one of several copies is enough.
    QueryKind.SYMBOL: {**SHORT, "penalty.header": 0.0, "penalty.duplicate": 4.0, "lexical": 0.4, "semantic": 0.4},
    QueryKind.PHRASE: {**SHORT, "penalty.header": 0.0, "penalty.duplicate": 4.0},
    # A user who asks where something is used knows its definition.
    QueryKind.USAGE: {**SHORT, "mention": 0.0, "name": 0.0, "title_name": 0.0},
    # A few words resemble the words of many commits, so history counts less. The name of the answer often stands
    # in the query, and the answer may be a class, so headers lose less.
    QueryKind.QUESTION: {**SHORT, "history": 0.4, "title_name": 2.0, "penalty.header": 0.5},
    # The words of a message stand in the code that says it.
    QueryKind.MESSAGE: {**SHORT, "history": 0.4, "lexical": 2.0},
}

SEMANTIC_THRESHOLD = 0.25  # similarity above which a fragment is a match by meaning; lower values say nothing
RERANKED = 100  # best candidates that a better model compares with the query: each takes it some 10 ms
DUPLICATE_SIMILARITY = 0.95  # cosine of two fragments' vectors above which the worse one is a near duplicate


def weights_of_kind(weights: Relevance, kind: QueryKind | None) -> Relevance:
    """Adapts the weights and penalties to a kind of query; without a kind they stay as they are. No share of a penalty
    exceeds 1."""
    factors = FACTORS.get(kind, {}) if kind else {}
    if not factors:
        return weights
    shares = {
        name: min(1.0, getattr(weights.penalty, name) * factor)
        for key, factor in factors.items()
        if (name := key.removeprefix("penalty.")) != key
    }
    parts = {key: getattr(weights, key) * factor for key, factor in factors.items() if "." not in key}
    return structs.replace(weights, penalty=structs.replace(weights.penalty, **shares), **parts)


# Kinds of query whose answer may lie in any of several files, which a pack had better show.
SPREAD_KINDS = frozenset({QueryKind.QUESTION, QueryKind.PHRASE})

# Best fragments that keep their relevance, however many of them one file has: often they answer together.
FIRST_PLACES = 10

FURTHER = 0.5  # behind the first places: the factor on a fragment whose file has a better one
EVIDENCE_THRESHOLD = 0.001  # a fragment with more lexical or name evidence than this counts as found by that channel

# Evidence that every query asks for. Other evidence counts in the divisor only if some fragment has it: a query that
# names no path loses nothing.
ALWAYS_ASKED = ("lexical", "title", "name", "file")

COMPARED = 500  # copies are looked for among this many of the best fragments: more than a budget keeps
SAME_SIZE = 0.05  # texts that are nearly the same may differ in tokens by this share of the larger one
PENALTY = "penalty"  # name of the part that is negative


class Scores(Struct, frozen=True, eq=False):
    """Holds the scores of fragments.

    Attributes:
        parts: the weighted parts, whose sum is the relevance.
        channels: bit masks of `Channel`.
        similarity: of the vectors, unweighted.
    """

    relevance: FloatArray
    parts: dict[str, FloatArray]
    channels: IntArray
    similarity: FloatArray


class Texts(Struct, frozen=True, eq=False):
    """Holds the columns that finding copies needs. `file` is the position of each fragment's path among `paths`."""

    paths: Sequence[str]
    file: npt.NDArray[np.integer]
    tokens: npt.NDArray[np.integer]
    vectors: Vectors

    @classmethod
    def of(cls, snapshot: Snapshot) -> Texts:
        """Returns the columns of all fragments of a snapshot."""
        return cls(snapshot.paths, snapshot.file, snapshot.column("tokens"), snapshot.arrays["vectors"])


# Computes the similarity of some rows with the query, as a better model sees it.
Rerank = Callable[[IntArray], FloatArray]


def score(query: Query, snapshot: Snapshot, embedder: Embedder | None, weights: Relevance) -> Scores:
    """Scores all fragments of a snapshot without looking into their texts."""
    weights = weights_for(query, weights)
    evidence = collect_evidence(query, snapshot, embed_query(query, embedder), weights, statistics(query, snapshot))
    return relevance(evidence, 1.0 - penalties(query, snapshot, weights.penalty), Texts.of(snapshot), weights)


def weights_for(query: Query, weights: Relevance) -> Relevance:
    """Returns the weights for the kind of the query."""
    return weights_of_kind(weights, query.recognised.kind if query.recognised else None)


def relevance(
    columns: Mapping[str, FloatArray], kept: FloatArray, texts: Texts, weights: Relevance, rerank: Rerank | None = None
) -> Scores:
    """Scores fragments by their evidence (REQ-GRAG-001: relevance in [0, 1]); one that no channel found scores 0.

    Args:
        columns: the columns of the evidence.
        kept: the share that penalties leave.
        rerank: scores rows with a better model, if the settings name one.
    """
    columns, kept = dict(columns), kept.copy()
    if weights.penalty.duplicate:
        kept[copies(kept * total(columns, weights), texts)] *= 1.0 - weights.penalty.duplicate
    if rerank is not None:
        columns["semantic"] = _rerank_best(kept * total(columns, weights), rerank)
    channels = _channels(columns)
    has_channel = channels > 0
    present = {name for name, column in columns.items() if column.any()}
    parts = {
        name: np.where(has_channel, getattr(weights, name) * column, 0.0)
        for name, column in columns.items()
        if getattr(weights, name)
    }
    sums = add_columns([*parts.values()]) if parts else np.zeros(len(kept))
    if (kept < 1).any():
        parts[PENALTY] = sums * (kept - 1.0)
    most = sum(getattr(weights, name) for name in columns if name in ALWAYS_ASKED or name in present) or 1.0
    scale = (1 + HALF) / (sums * kept + HALF * most)
    parts = {name: quantised(column * scale) for name, column in parts.items()}
    whole = quantised(add_columns([*parts.values()])) if parts else sums
    return Scores(np.clip(whole, 0.0, 1.0), parts, channels, columns["semantic"])


def spread_files(query: Query, scores: Scores, files: npt.NDArray[np.integer]) -> Scores:
    """Halves the relevance of further fragments of a file, behind the first places and among the COMPARED best, so that
    a pack holds more of the files that may answer. `files`: a number for the file of each fragment."""
    if query.recognised is None or query.recognised.kind not in SPREAD_KINDS:
        return scores
    further = find_further(scores.relevance, files)
    lost = np.zeros(len(files))
    lost[further] = quantised((FURTHER - 1.0) * scores.relevance[further])
    penalty = quantised(scores.parts.get(PENALTY, np.zeros(len(files))) + lost)
    return structs.replace(
        scores, relevance=quantised(scores.relevance + lost), parts=scores.parts | {PENALTY: penalty}
    )


def find_further(score: FloatArray, files: npt.NDArray[np.integer]) -> IntArray:
    """Returns the rows among the COMPARED best that are behind the first places and behind a better row of their
    file."""
    best = best_rows(score, COMPARED)
    further = np.ones(len(best), dtype=np.bool_)
    further[np.unique(files[best], return_index=True)[1]] = False
    further[:FIRST_PLACES] = False
    return best[further]


def similarity_alone(columns: Mapping[str, FloatArray], rerank: Rerank | None = None) -> Scores:
    """Scores fragments by the similarity of the vectors alone."""
    similarity = columns["semantic"]
    if rerank is not None:
        similarity = _rerank_best(similarity, rerank)
    channels = _channels({**columns, "semantic": similarity})
    scores = np.where(similarity > SEMANTIC_THRESHOLD, quantised(similarity), 0.0)
    return Scores(scores, {"semantic": scores}, channels, similarity)


def _rerank_best(score: FloatArray, rerank: Rerank) -> FloatArray:
    column, best = np.zeros(len(score)), best_rows(score, RERANKED)
    column[best] = rerank(best)
    return column


def best_rows(score: FloatArray, most: int) -> IntArray:
    """Returns the `most` best rows, the best first; equal rows keep their order."""
    return np.lexsort((np.arange(len(score)), -score))[:most]


def penalties(query: Query, snapshot: Snapshot, shares: Penalty) -> FloatArray:
    """Returns the share of its relevance that each fragment loses because of its kind. The kinds of file that the query
    asks for lose nothing."""
    kept = np.ones(len(snapshot))
    kinds = snapshot.column("kind")
    files = ("test", "documentation", "example", "vendored", "generated")
    by_kind = {kind: getattr(shares, kind) for kind in files if kind not in query.asks}
    prose = 0.0 if "documentation" in query.asks else shares.prose
    by_kind |= {FragmentKind.CLASS: shares.header, FragmentKind.REGION: shares.region}
    by_kind |= {FragmentKind.SECTION: prose, FragmentKind.BLOCK: prose}
    for kind, share in by_kind.items():
        if share:
            here = kinds == KINDS.index(kind) if isinstance(kind, FragmentKind) else snapshot.flagged(kind)
            kept *= np.where(here, 1.0 - share, 1.0)
    return 1.0 - kept


def copies(score: FloatArray, texts: Texts) -> IntArray:
    """Finds copies among the COMPARED best rows. A copy has nearly the same text as a better row; or as an equally good
    one nearer to the root; or as one of the same score and depth and a smaller number. Two texts are nearly the same if
    the cosine of their vectors is DUPLICATE_SIMILARITY or more, and their sizes differ by a twentieth at most."""
    best = best_rows(score, COMPARED)
    depth = np.array([texts.paths[file].count("/") for file in texts.file[best].tolist()], dtype=np.int64)
    order = best[np.lexsort((np.arange(len(best)), depth, -score[best]))]
    rows = texts.vectors[order].astype(np.float32)  # sums of products stay below 2 ** 24: exact in any order
    length = np.sqrt((rows * rows).sum(axis=1).astype(np.float64))
    tokens = texts.tokens[order].astype(np.float64)
    alike = (rows @ rows.T).astype(np.float64) >= DUPLICATE_SIMILARITY * np.outer(length, length)
    alike &= np.abs(np.subtract.outer(tokens, tokens)) <= SAME_SIZE * np.maximum.outer(tokens, tokens)
    alike &= (length > 0)[:, None]
    return order[np.tril(alike, -1).any(axis=1)]


def total(columns: Mapping[str, FloatArray], weights: Relevance) -> FloatArray:
    """Returns the weighted sum of evidence for each fragment."""
    return add_columns([getattr(weights, name) * column for name, column in columns.items()])


def _channels(columns: Mapping[str, FloatArray]) -> IntArray:
    """Returns the channels that found each fragment. A fragment that only its surroundings speak for has no channel."""
    channels = np.zeros(len(columns["lexical"]), dtype=np.int64)
    for channel, has_evidence in (
        (Channel.LEXICAL, columns["lexical"] > EVIDENCE_THRESHOLD),
        (Channel.NAME, _best_of(columns, "name", "path", "definition") > EVIDENCE_THRESHOLD),
        (Channel.MENTION, _best_of(columns, "mention", "named_file", "trace", "usage") > 0),
        (Channel.SEMANTIC, columns["semantic"] > SEMANTIC_THRESHOLD),
    ):
        channels |= np.where(has_evidence, 1 << channel, 0)
    return channels


def _best_of(columns: Mapping[str, FloatArray], *names: str) -> FloatArray:
    return np.asarray(np.max([columns[name] for name in names], axis=0), dtype=np.float64)
