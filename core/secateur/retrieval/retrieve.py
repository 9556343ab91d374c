"""The slow phase: query -> Pool. Score every fragment, take anchors, follow calls, gather what `select` needs as
columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from secateur.errors import EmbeddingError, UsageError
from secateur.index.facts.embedding import Embedder
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, Reach
from secateur.model import UNREACHABLE, BoolArray, Channel, FloatArray, IntArray, Notice, Pool, Redaction, united
from secateur.redaction.spans import restored_spans
from secateur.render.costs import PackCosts
from secateur.render.layouts import LONGEST_LABEL, Item
from secateur.retrieval.condensing import condensed
from secateur.retrieval.evidence import Lines
from secateur.retrieval.preference import Preferences, preference_notices, preference_scores
from secateur.retrieval.query import Query
from secateur.retrieval.relevance import Scores, score
from secateur.retrieval.rerank import Reranker
from secateur.retrieval.statements import with_statements
from secateur.settings import Relevance, Settings
from secateur.terminal import clip, visible
from secateur.tokens import Counter

MODELLESS = ("none", "static")
"""Values of `embedding.model` with which a search asks no model."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Everything a retrieval reads besides the query: one state of a repository and how it is counted."""

    snapshot: Snapshot
    embedder: Embedder | None
    counter: Counter
    commit: str
    format: str
    preferences: Preferences
    notices: tuple[Notice, ...] = ()  # of whoever prepared the query
    lines: Lines | None = None  # of a file by its path; raises RepositoryError where it changed
    reranker: Reranker | None = None  # a better model for the best candidates
    partial: dict[str, int] | None = None  # how much of the repository the snapshot is; None: all of it

    @property
    def model(self) -> str:
        """The embedding model the answer rests on; "none" without."""
        embedder = self.reranker.embedder if self.reranker else self.embedder
        return embedder.id if embedder else "none"


def retrieve(query: Query, retrieval: Retrieval, settings: Settings) -> Pool:
    """Candidates of a query with all their signals (REQ-GRAG-001, REQ-GRAG-002).

    `pool = anchors`: the top_k most relevant fragments and what calls lead to within max_depth. `pool = all`: every
    fragment with relevance besides, up to pool_cap; anchors then only root the distance. What is pinned is a candidate
    of every query.
    """
    snapshot = retrieval.snapshot
    vectors_alone = settings.graph_rag.anchors == "embedding"
    if vectors_alone and retrieval.embedder is None:
        raise UsageError(
            "graph_rag.anchors = embedding needs vectors, and embedding.model is none",
            hint="set embedding.model, or graph_rag.anchors = mixed",
        )
    vectors = (None, None) if query.empty else (retrieval.embedder, retrieval.reranker)
    scores = score(
        query,
        snapshot,
        vectors[0],
        settings.relevance,
        retrieval.lines,
        vectors[1],
        vectors_alone=vectors_alone,
    )
    eligible = scores.relevance > 0 if vectors_alone else _eligible(scores, query, snapshot, settings.relevance)
    anchors = _anchors(scores.relevance, eligible, snapshot, settings.graph_rag.top_k)
    depth = settings.graph_rag.max_depth if settings.graph_rag.enabled else 0
    reach = snapshot.graph.bfs([int(row) for row in anchors], depth, hub_cap=settings.graph_rag.hub_limit)
    rows = np.asarray(reach.nodes, dtype=np.int64)
    if settings.relevance.pool == "all" and len(anchors):
        rows = _with_relevant(rows, scores.relevance, settings.relevance)
    if settings.pins:
        pinned = np.array([snapshot.row_of(symbol) for symbol in settings.pins], dtype=np.int64)
        rows = united(rows, pinned[pinned >= 0])
    rows = rows[np.lexsort((rows, snapshot.column("tokens")[rows], -scores.relevance[rows]))]
    return _pool(query, retrieval, settings, scores, reach, anchors, rows)


def retrieve_with_model(
    query: Query, retrieval: Retrieval, settings: Settings, reranker: Callable[[], Reranker]
) -> Pool:
    """The candidates, the best of them scored by the model that the settings name, if they name one. Where it fails
    the static vectors answer alone, and a notice says so."""
    if settings.embedding.model in MODELLESS:
        return retrieve(query, retrieval, settings)
    try:
        return retrieve(query, replace(retrieval, reranker=reranker()), settings)
    except EmbeddingError as error:
        said = f"{error.message.removesuffix('.')}. Found with the static vectors instead."
        failed = Notice("embedding_failed", said)
        return retrieve(query, replace(retrieval, notices=(*retrieval.notices, failed)), settings)


def _eligible(scores: Scores, query: Query, snapshot: Snapshot, rules: Relevance) -> BoolArray:
    """The rows that may be anchors: a fragment with a word, name or path of the query, or a strong similarity.

    Where the best of them stays below `no_match_threshold` there is none, unless most of the query occurs here: a word
    that every fragment has makes none of them relevant, and is no reason to find nothing.
    """
    worded = (scores.channels & ~(1 << Channel.SEMANTIC)) > 0
    eligible: BoolArray = (scores.relevance > 0) & (worded | (scores.similarity >= rules.min_similarity))
    answered = scores.relevance[eligible].max(initial=0.0) >= rules.no_match_threshold
    answered = answered or _occurring(query, snapshot) >= rules.known_terms_share
    return eligible if answered else np.zeros_like(eligible)


def _occurring(query: Query, snapshot: Snapshot) -> float:
    """Share of the query's terms that occur here."""
    terms = query.terms
    return sum(snapshot.body.frequency(term) > 0 for term, _ in terms) / len(terms) if terms else 0.0


def _anchors(relevance: FloatArray, eligible: BoolArray, snapshot: Snapshot, top_k: int) -> IntArray:
    """The top_k eligible rows, best first; ties by size, path, line."""
    candidates = np.flatnonzero(eligible)
    if len(candidates) > top_k:
        least = np.partition(relevance[candidates], -top_k)[-top_k]
        candidates = candidates[relevance[candidates] >= least]
    order = np.lexsort((candidates, snapshot.column("tokens")[candidates], -relevance[candidates]))
    return candidates[order][:top_k]


def _with_relevant(reached: IntArray, relevance: FloatArray, rules: Relevance) -> IntArray:
    relevant = np.flatnonzero(relevance > rules.min_relevance)
    if len(relevant) > rules.pool_cap:
        relevant = relevant[np.lexsort((relevant, -relevance[relevant]))][: rules.pool_cap]
    return united(reached, relevant)


def _pool(
    query: Query,
    retrieval: Retrieval,
    settings: Settings,
    scores: Scores,
    reach: Reach,
    anchors: IntArray,
    rows: IntArray,
) -> Pool:
    snapshot = retrieval.snapshot
    names = snapshot.qualnames
    place = np.full(len(snapshot) + 1, -1, dtype=np.int64)  # one slot more: index -1 stays "nowhere"
    place[rows] = np.arange(len(rows))
    callers, callees = (
        _depths(
            snapshot.graph.search([int(row) for row in anchors], int(reach.depth.max(initial=0)), (way,)), len(snapshot)
        )
        for way in (Direction.CALLED_BY, Direction.CALLS)
    )
    distance = np.full(len(snapshot), UNREACHABLE, dtype=np.int64)
    distance[reach.nodes] = reach.depth + 1
    predecessor = np.full(len(snapshot), -1, dtype=np.int64)
    predecessor[reach.nodes] = reach.predecessor
    step = dict(zip((int(node) for node in reach.nodes), reach.predecessor_edge, strict=True))
    anchor = np.zeros(len(snapshot), dtype=np.bool_)
    anchor[anchors] = True
    tokens = _column(snapshot, "tokens", rows)
    sig_tokens = _column(snapshot, "sig_tokens", rows)
    hotspots = snapshot.hotspots
    symbols = [snapshot.symbol_id(int(row)) for row in rows]
    pool = Pool(
        query=query.text,
        source=_source(query, retrieval, settings, anchors),
        anchored_by=_anchored_by(query, retrieval, settings),
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
        preference=(
            preference_scores(symbols, retrieval.preferences) if settings.preference.enabled else np.zeros(len(rows))
        ),
        parts={
            "relevance": {name: column[rows] for name, column in scores.parts.items()},
            "hotspot": {"churn rank": hotspots.churn_rank[rows], "complexity rank": hotspots.complexity_rank[rows]},
        },
        channels=_channels(scores, reach, settings, rows),
        anchor=anchor[rows],
        predecessor=place[predecessor[rows]],
        predecessor_edge=[step.get(int(row), "") for row in rows],
        caller_depth=callers[rows],
        callee_depth=callees[rows],
        overhead=0,
        warnings=_warnings(query, retrieval, settings, scores, anchors, symbols),
        facts=_facts(query, retrieval, scores, reach),
        redactions=_redactions(snapshot, rows),
    )
    pool = _priced(pool, retrieval, rows)
    if retrieval.lines is None:
        return pool
    pool = condensed(pool, retrieval.lines, retrieval.counter, settings.shorten)
    return with_statements(pool, retrieval.lines, retrieval.counter) if settings.shorten.statements else pool


def _redactions(snapshot: Snapshot, rows: IntArray) -> dict[int, tuple[Redaction, ...]]:
    """The credentials that were taken out of the fragments at `rows`, by their place there."""
    if not snapshot.redactions:
        return {}
    found = {
        path: [Redaction(span.rule, line) for line, span in restored_spans(text)]
        for path, text in snapshot.redactions.items()
    }
    taken = {}
    for place, row in enumerate(rows.tolist()):
        lines = range(int(snapshot.line_start[row]), int(snapshot.line_end[row]) + 1)
        if here := tuple(one for one in found.get(snapshot.paths[int(snapshot.file[row])], ()) if one.line in lines):
            taken[place] = here
    return taken


def _depths(reach: Reach, fragments: int) -> IntArray:
    """Steps per fragment; 0 for roots and for what was not reached."""
    depth = np.zeros(fragments, dtype=np.int64)
    depth[reach.nodes] = reach.depth
    return depth


def _column(snapshot: Snapshot, name: str, rows: IntArray) -> IntArray:
    return snapshot.column(name)[rows].astype(np.int64)


def _priced(pool: Pool, retrieval: Retrieval, snapshot_rows: IntArray) -> Pool:
    """The pool with what each row costs in the pack at most, whole and as its signature: text, heading, fence."""
    costs = PackCosts(retrieval.counter, retrieval.format)
    headings = _headings(pool, retrieval, costs, snapshot_rows)
    backticks, cdata_ends = retrieval.snapshot.column("wrapping")[snapshot_rows].astype(np.int64).T
    wrapper = costs.wrappers(headings, pool.language, backticks, cdata_ends)
    has_signature = retrieval.snapshot.column("has_sig")[snapshot_rows]
    return replace(
        pool,
        cost=pool.tokens + wrapper,
        sig_cost=np.where(has_signature, pool.sig_tokens + wrapper + costs.signature_mark, 0),
        overhead=costs.overhead(pool.query, pool.warnings),
    )


def _headings(pool: Pool, retrieval: Retrieval, costs: PackCosts, snapshot_rows: IntArray) -> IntArray:
    """The tokens of each row's heading. Counting them is most of a retrieval: none of a snapshot is counted twice."""
    counted, snapshot = retrieval.snapshot.heading_tokens, retrieval.snapshot
    known = counted.setdefault((retrieval.counter.name, retrieval.format), np.full(len(snapshot), -1, dtype=np.int64))
    new = np.flatnonzero(known[snapshot_rows] < 0).tolist()
    items = (
        Item(pool.path[row], int(pool.line_start[row]), int(pool.line_end[row]), pool.kind[row], pool.qualname[row])
        for row in new
    )
    known[snapshot_rows[new]] = costs.headings(items)
    return known[snapshot_rows]


def _channels(scores: Scores, reach: Reach, settings: Settings, rows: IntArray) -> IntArray:
    """The channels by which each candidate was found. In the anchors pool what only calls lead to is there because of
    the calls, whatever words it holds."""
    channels = scores.channels.copy()
    reached = reach.nodes[reach.depth > 0]
    if settings.relevance.pool == "anchors":
        channels[reached] = 1 << Channel.GRAPH
    else:
        channels[reached] |= 1 << Channel.GRAPH
        weak = reached[scores.relevance[reached] <= settings.relevance.min_relevance]
        channels[weak] = 1 << Channel.GRAPH
    return channels[rows]


def _source(query: Query, retrieval: Retrieval, settings: Settings, anchors: IntArray) -> str:
    """The name of what really ran (specs README, point 8): without vectors `keyword`; without an anchor no call was
    followed."""
    if retrieval.embedder is None or query.empty or not len(retrieval.snapshot):
        return "keyword"
    return "graph-rag" if settings.graph_rag.enabled and len(anchors) else "embedding"


def _anchored_by(query: Query, retrieval: Retrieval, settings: Settings) -> str:
    if retrieval.embedder is None or query.empty:
        return "keyword"
    return settings.graph_rag.anchors


def _warnings(
    query: Query, retrieval: Retrieval, settings: Settings, scores: Scores, anchors: IntArray, symbols: list[str]
) -> tuple[Notice, ...]:
    notices = list(retrieval.notices)
    if retrieval.embedder is None:
        notices.append(
            Notice(
                "no_vectors", "No embedding model is in use: found by words, names and calls alone (source: keyword)."
            )
        )
    if not len(retrieval.snapshot):
        notices.append(Notice("nothing_indexed", "No text was found to index here."))
    elif query.empty:
        notices.append(Notice("empty_query", "The query holds no word to look for."))
    elif not len(anchors):
        notices.append(_no_match(retrieval.snapshot, scores.relevance, settings))
    else:
        notices += _low_relevance(query, retrieval.snapshot, scores, anchors, settings)
    unknown = [
        symbol
        for symbol in dict.fromkeys((*settings.pins, *settings.excludes, *settings.boosts))
        if retrieval.snapshot.row_of(symbol) < 0
    ]
    if unknown:
        notices.append(
            Notice(
                "unknown_symbol",
                f"Nothing here is called {', '.join(unknown)}; ids look like path/file.py::Class.method.",
            )
        )
    if settings.preference.enabled and len(retrieval.snapshot):
        notices += preference_notices(retrieval.preferences, symbols, retrieval.snapshot)
    for written, near in scores.suggestions.items():
        notices.append(Notice("near_name", f"No definition is named {written}; taken as near: {', '.join(near)}."))
    return tuple(notices)


def _low_relevance(
    query: Query, snapshot: Snapshot, scores: Scores, anchors: IntArray, settings: Settings
) -> list[Notice]:
    """A doubt about what was found: it matches little, or most words of the query are nowhere in this repository.

    Scores leave out what a repository cannot have, so one common word can carry a query about something else. A name
    taken as near says itself what it stands for; words of a Chinese query are not expected in English code.
    """
    best, terms = scores.relevance[anchors[0]], query.terms
    if best < settings.relevance.low_threshold:
        return [
            Notice(
                "low_relevance", f"The best match has relevance {best:.2f}: the query may not be about this repository."
            )
        ]
    if (
        not terms
        or query.foreign
        or scores.suggestions
        or _occurring(query, snapshot) >= settings.relevance.known_terms_share
    ):
        return []
    here = sum(snapshot.body.frequency(term) > 0 for term, _ in terms)
    if not here:
        return [
            Notice(
                "low_relevance",
                "No word of the query occurs here. What was found only resembles it, as the vectors see it: it may not"
                " be an answer.",
            )
        ]
    occur = "occurs" if here == 1 else "occur"
    return [
        Notice(
            "low_relevance",
            f"Only {here:,} of the {len(terms):,} words of the query {occur} here: it may not be about this"
            " repository.",
        )
    ]


def _no_match(snapshot: Snapshot, relevance: FloatArray, settings: Settings) -> Notice:
    """The notice that says why there is no anchor, and what would help."""
    best = int(np.argmax(relevance))
    nearest = f"the nearest, {clip(visible(snapshot.symbol_id(best)), LONGEST_LABEL)},"
    if not relevance[best]:
        why = "nothing in it has a word of the query or resembles it"
    elif relevance[best] < settings.relevance.no_match_threshold:
        least = f"relevance.no_match_threshold = {settings.relevance.no_match_threshold:g}"
        why = f"{nearest} has relevance {relevance[best]:.2f}, below {least}"
    else:
        why = f"{nearest} has no word of it, and resembles it too little"
    return Notice(
        "no_match",
        f"Nothing in this repository matches the query: {why}. Ask in other words, or with names that its code has.",
    )


def _facts(query: Query, retrieval: Retrieval, scores: Scores, reach: Reach) -> dict[str, Any]:
    snapshot = retrieval.snapshot
    kind = {"query_kind": query.told.to_dict()} if query.told else {}
    part = {"partial": retrieval.partial} if retrieval.partial else {}
    return (
        kind
        | part
        | {
            "files": len(snapshot.paths),
            "fragments": len(snapshot),
            "relevant": int((scores.relevance > 0).sum()),
            "embedding": retrieval.model,
            "terms": {
                word: snapshot.body.frequency(term)
                for (word, _), (term, _) in zip(query.words, query.terms, strict=True)
            },
            "hubs": [snapshot.symbol_id(hub) for hub in reach.hubs],
        }
    )
