"""Relevance of every fragment to a query: a weighted sum of parts that can be printed one by one.

Each part is in [0, 1] before its weight. The sum is cut at 1 by scaling its parts, so the parts printed always add up to the score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from secateur.index.embedding import Embedder
from secateur.index.names import NameMatch
from secateur.index.snapshot import Snapshot
from secateur.model import QUANTUM, Channel, FloatArray, IntArray
from secateur.retrieval.query import Query
from secateur.retrieval.rerank import RERANKED, Reranker
from secateur.settings import Relevance

LEXICAL_EXPONENT = 0.5
"""The share of the query's information a fragment holds, as its square root: half of the words is a good match, not half a match."""

EVIDENCE = 0.02
"""Weighted lexical, name, path or mention score above which a fragment counts as found by words."""

SEMANTIC_EVIDENCE = 0.25
"""Similarity above which a fragment counts as found by meaning alone; below it everything resembles everything."""


PATH_MENTION = 0.5
"""A file that is mentioned says less about each of its fragments than a mentioned name."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Per fragment of the snapshot."""

    relevance: FloatArray
    parts: dict[str, FloatArray]  # weighted; sum to relevance
    channels: IntArray  # bit mask of Channel
    suggestions: dict[str, list[str]]  # near names taken, by identifier of the query


def score(query: Query, snapshot: Snapshot, embedder: Embedder | None, weights: Relevance, reranker: Reranker | None = None) -> Scores:
    """Score all fragments (REQ-GRAG-001: relevance in [0, 1]).

    Raises:
        EmbeddingError: the reranker's model or server failed.
    """
    names = snapshot.name_table.match(query.identifiers)
    raw = {
        "lexical": snapshot.body.score(query.terms) ** LEXICAL_EXPONENT,
        "name": np.maximum(snapshot.names.score(query.terms), names.near),
        "path": snapshot.path_words.score(query.terms)[snapshot.file],
        "mention": _mentions(query, snapshot, names),
        "semantic": _semantic(query, snapshot, embedder),
    }
    if reranker is not None:
        first = np.sum([getattr(weights, name) * column for name, column in raw.items()], axis=0)
        best = np.lexsort((np.arange(len(first)), -first))[:RERANKED]
        raw["semantic"] = np.zeros(len(snapshot))
        raw["semantic"][best] = reranker.similarity(query.text, best)
    return _combined(raw, names, weights)


def _combined(raw: dict[str, FloatArray], names: NameMatch, weights: Relevance) -> Scores:
    parts = {name: getattr(weights, name) * column for name, column in raw.items()}
    total = np.sum(list(parts.values()), axis=0)
    scale = np.where(total > 1, 1 / np.maximum(total, 1), 1.0)
    parts = {name: np.round(column * scale / QUANTUM) * QUANTUM for name, column in parts.items()}
    relevance = np.minimum(1.0, np.round(np.sum(list(parts.values()), axis=0) / QUANTUM) * QUANTUM)
    channels = np.zeros(len(relevance), dtype=np.int64)
    for channel, found in (
        (Channel.LEXICAL, raw["lexical"] > EVIDENCE),
        (Channel.NAME, np.maximum(raw["name"], raw["path"]) > EVIDENCE),
        (Channel.MENTION, np.maximum(names.exact, raw["mention"]) > 0),
        (Channel.SEMANTIC, raw["semantic"] > SEMANTIC_EVIDENCE),
    ):
        channels |= np.where(found, 1 << channel, 0)
    found = channels > 0
    return Scores(np.where(found, relevance, 0.0), {name: np.where(found, column, 0.0) for name, column in parts.items()}, channels, names.suggestions)


def _mentions(query: Query, snapshot: Snapshot, names: NameMatch) -> FloatArray:
    """Names and paths the query writes out. A path counts for every fragment of its file, less than a name for its fragment."""
    column = names.exact.copy()
    if query.paths:
        per_file = np.array([max((_path_match(path, wanted) for wanted in query.paths), default=0.0) for path in snapshot.paths])
        column = np.maximum(column, PATH_MENTION * per_file[snapshot.file])
    return column


def _path_match(path: str, wanted: str) -> float:
    return 1.0 if path == wanted or path.endswith("/" + wanted) or wanted.endswith("/" + path) else 0.0


def _semantic(query: Query, snapshot: Snapshot, embedder: Embedder | None) -> FloatArray:
    if embedder is None or not len(snapshot):
        return np.zeros(len(snapshot))
    return snapshot.space.similarity(embedder.embed([query.text], "query")[0])
