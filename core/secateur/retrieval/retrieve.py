"""The slow phase: query -> Pool. Score every fragment, take anchors, follow calls, gather what `select` needs as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from secateur.index.embedding import Embedder
from secateur.index.graph import Reach
from secateur.index.snapshot import Snapshot
from secateur.model import UNREACHABLE, Channel, FloatArray, IntArray, Notice, Pool
from secateur.reporting.costs import PackCosts
from secateur.reporting.layouts import Item
from secateur.retrieval.preference import FILE_NAME, preference_notices, preference_scores
from secateur.retrieval.query import Query
from secateur.retrieval.relevance import Scores, score
from secateur.retrieval.rerank import Reranker
from secateur.settings import Settings
from secateur.tokens import Counter

RELEVANCE_FLOOR = 0.02
"""With `pool = all`, fragments below this are noise and are not candidates."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Everything a retrieval reads besides the query: one state of a repository and how it is counted."""

    snapshot: Snapshot
    embedder: Embedder | None
    counter: Counter
    commit: str
    format: str
    preferences: Mapping[str, float]  # pattern of symbol ids -> preference in [0, 1]
    preferences_file: str = FILE_NAME  # where they are from
    notices: tuple[Notice, ...] = ()  # of whoever prepared the query
    reranker: Reranker | None = None  # a better model for the best candidates

    @property
    def model(self) -> str:
        """The embedding model the answer rests on; "none" without."""
        embedder = self.reranker.embedder if self.reranker else self.embedder
        return embedder.id if embedder else "none"


def retrieve(query: Query, retrieval: Retrieval, settings: Settings) -> Pool:
    """Candidates of a query with all their signals (REQ-GRAG-001, REQ-GRAG-002).

    `pool = anchors`: the top_k most relevant fragments and what calls lead to within max_depth. `pool = all`: every fragment with
    relevance besides, up to pool_cap; anchors then only root the distance. What is pinned is a candidate of every query.
    """
    snapshot = retrieval.snapshot
    scores = score(query, snapshot, retrieval.embedder, settings.relevance, retrieval.reranker)
    anchors = _anchors(scores.relevance, snapshot, settings.graph_rag.top_k)
    depth = settings.graph_rag.max_depth if settings.graph_rag.enabled else 0
    reach = snapshot.graph.bfs([int(row) for row in anchors], depth)
    rows = np.asarray(reach.nodes, dtype=np.int64)
    if settings.relevance.pool == "all":
        rows = _with_relevant(rows, scores.relevance, settings.relevance.pool_cap)
    if settings.pins:
        pinned = np.array([snapshot.row_of(symbol) for symbol in settings.pins], dtype=np.int64)
        rows = np.union1d(rows, pinned[pinned >= 0])
    rows = rows[np.lexsort((rows, snapshot.column("tokens")[rows], -scores.relevance[rows]))]
    return _pool(query, retrieval, settings, scores, reach, anchors, rows)


def _anchors(relevance: FloatArray, snapshot: Snapshot, top_k: int) -> IntArray:
    """The top_k rows with relevance, best first; ties by size, path, line."""
    candidates = np.flatnonzero(relevance > 0)
    if len(candidates) > top_k:
        floor = np.partition(relevance[candidates], -top_k)[-top_k]
        candidates = candidates[relevance[candidates] >= floor]
    order = np.lexsort((candidates, snapshot.column("tokens")[candidates], -relevance[candidates]))
    return candidates[order][:top_k]


def _with_relevant(reached: IntArray, relevance: FloatArray, cap: int) -> IntArray:
    relevant = np.flatnonzero(relevance > RELEVANCE_FLOOR)
    if len(relevant) > cap:
        relevant = relevant[np.lexsort((relevant, -relevance[relevant]))][:cap]
    return np.union1d(reached, relevant)


def _pool(query: Query, retrieval: Retrieval, settings: Settings, scores: Scores, reach: Reach, anchors: IntArray, rows: IntArray) -> Pool:
    snapshot = retrieval.snapshot
    names = snapshot.qualnames
    place = np.full(len(snapshot) + 1, -1, dtype=np.int64)  # one slot more: index -1 stays "nowhere"
    place[rows] = np.arange(len(rows))
    distance = np.full(len(snapshot), UNREACHABLE, dtype=np.int64)
    distance[reach.nodes] = reach.depth + 1
    via = np.full(len(snapshot), -1, dtype=np.int64)
    via[reach.nodes] = reach.via
    step = dict(zip((int(node) for node in reach.nodes), reach.via_edge, strict=True))
    anchor = np.zeros(len(snapshot), dtype=np.bool_)
    anchor[anchors] = True
    tokens = _column(snapshot, "tokens", rows)
    sig_tokens = _column(snapshot, "sig_tokens", rows)
    hotspots = snapshot.hotspots
    symbols = [snapshot.symbol_id(int(row)) for row in rows]
    pool = Pool(
        query=query.text,
        source=_source(retrieval, settings),
        counter=retrieval.counter.name,
        commit=retrieval.commit,
        symbol_id=symbols,
        path=[snapshot.paths[file] for file in snapshot.file[rows]],
        qualname=[names[row] for row in rows],
        kind=[str(snapshot.kind(row)) for row in rows],
        language=[snapshot.languages[file] for file in snapshot.file[rows]],
        line_start=_column(snapshot, "line_start", rows),
        line_end=_column(snapshot, "line_end", rows),
        tokens=tokens,
        cost=tokens,
        sig_start=_column(snapshot, "sig_start", rows),
        sig_end=_column(snapshot, "sig_end", rows),
        sig_tokens=sig_tokens,
        sig_cost=sig_tokens,
        relevance=scores.relevance[rows],
        hotspot=hotspots.score[rows],
        distance=distance[rows],
        preference=preference_scores(symbols, retrieval.preferences) if settings.preference.enabled else np.zeros(len(rows)),
        parts={
            "relevance": {name: column[rows] for name, column in scores.parts.items()},
            "hotspot": {"churn rank": hotspots.churn_rank[rows], "complexity rank": hotspots.complexity_rank[rows]},
        },
        channels=_channels(scores, reach, settings, rows),
        anchor=anchor[rows],
        via=place[via[rows]],
        via_edge=[step.get(int(row), "") for row in rows],
        overhead=0,
        warnings=_warnings(query, retrieval, settings, scores, rows, symbols),
        facts=_facts(query, retrieval, scores, reach),
    )
    return _priced(pool, retrieval, rows)


def _column(snapshot: Snapshot, name: str, rows: IntArray) -> IntArray:
    return snapshot.column(name)[rows].astype(np.int64)


def _priced(pool: Pool, retrieval: Retrieval, snapshot_rows: IntArray) -> Pool:
    """The pool with what each row costs in the pack at most, whole and as its signature: text, heading, fence."""
    costs = PackCosts(retrieval.counter, retrieval.format)
    columns = zip(pool.path, pool.line_start.tolist(), pool.line_end.tolist(), pool.kind, pool.qualname, strict=True)
    backticks, cdata_ends = retrieval.snapshot.column("wrapping")[snapshot_rows].astype(np.int64).T
    wrapper = costs.wrappers(costs.headings(Item(*values) for values in columns), pool.language, backticks, cdata_ends)
    has_signature = retrieval.snapshot.column("has_sig")[snapshot_rows]
    return replace(
        pool,
        cost=pool.tokens + wrapper,
        sig_cost=np.where(has_signature, pool.sig_tokens + wrapper + costs.signature_mark, 0),
        overhead=costs.overhead(pool.query, pool.warnings),
    )


def _channels(scores: Scores, reach: Reach, settings: Settings, rows: IntArray) -> IntArray:
    """How each candidate was found. In the anchors pool what only calls lead to is there because of the calls, whatever words it holds."""
    channels = scores.channels.copy()
    reached = reach.nodes[reach.depth > 0]
    if settings.relevance.pool == "anchors":
        channels[reached] = 1 << Channel.GRAPH
    else:
        channels[reached] |= 1 << Channel.GRAPH
        weak = reached[scores.relevance[reached] <= RELEVANCE_FLOOR]
        channels[weak] = 1 << Channel.GRAPH
    return channels[rows]


def _source(retrieval: Retrieval, settings: Settings) -> str:
    """What really ran (specs README, point 8)."""
    if retrieval.embedder is None:
        return "keyword"
    return "graph-rag" if settings.graph_rag.enabled else "embedding"


def _warnings(query: Query, retrieval: Retrieval, settings: Settings, scores: Scores, rows: IntArray, symbols: list[str]) -> tuple[Notice, ...]:
    notices = list(retrieval.notices)
    if retrieval.embedder is None:
        notices.append(Notice("no_vectors", "No embedding model is in use: found by words, names and calls alone (source: keyword)."))
    if not len(retrieval.snapshot):
        notices.append(Notice("nothing_indexed", "No text was found to index here."))
    elif query.empty:
        notices.append(Notice("empty_query", "The query holds no word to look for."))
    elif not len(rows):
        notices.append(Notice("no_match", "Nothing in this repository matches the query."))
    elif scores.relevance[rows].max() < settings.relevance.low:
        notices.append(Notice("low_relevance", f"The best match has relevance {scores.relevance[rows].max():.2f}: the query may not be about this repository."))
    unknown = [symbol for symbol in dict.fromkeys((*settings.pins, *settings.excludes, *settings.boosts)) if retrieval.snapshot.row_of(symbol) < 0]
    if unknown:
        notices.append(Notice("unknown_symbol", f"Nothing here is called {', '.join(unknown)}; ids look like path/file.py::Class.method."))
    if settings.preference.enabled and len(retrieval.snapshot):
        notices += preference_notices(retrieval.preferences_file, retrieval.preferences, symbols, retrieval.snapshot)
    for written, near in scores.suggestions.items():
        notices.append(Notice("near_name", f"No definition is named {written}; taken as near: {', '.join(near)}."))
    return tuple(notices)


def _facts(query: Query, retrieval: Retrieval, scores: Scores, reach: Reach) -> dict[str, Any]:
    snapshot = retrieval.snapshot
    return {
        "files": len(snapshot.paths),
        "fragments": len(snapshot),
        "relevant": int((scores.relevance > 0).sum()),
        "embedding": retrieval.model,
        "terms": {word: snapshot.body.frequency(term) for (word, _), (term, _) in zip(query.words, query.terms, strict=True)},
        "hubs": [snapshot.symbol_id(hub) for hub in reach.hubs],
    }
