"""Searches one snapshot: scores fragments, takes anchors, follows calls, and gathers the columns that `select`
needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, Reach
from secateur.model import UNREACHABLE, BoolArray, Channel, FloatArray, IntArray, Redaction, union
from secateur.redaction.spans import parse_spans
from secateur.render.layouts import Item, PackCosts
from secateur.retrieval.candidates import CallWalk, Candidates, SearchResult, anchors_of, rows_in_part
from secateur.retrieval.evidence.collect import collect_evidence
from secateur.retrieval.evidence.phrases import Lines
from secateur.retrieval.query import Query
from secateur.retrieval.relevance import (
    Rerank,
    Scores,
    Texts,
    best_rows,
    penalties,
    relevance,
    similarity_alone,
    spread_files,
    weights_for,
)
from secateur.retrieval.statistics import QueryStatistics, statistics
from secateur.settings import Relevance, Settings
from secateur.tokens import Counter

Tokens = npt.NDArray[np.integer]

BOTH = (Direction.CALLS, Direction.CALLED_BY)

POOL_CAP = 3000  # candidates by relevance alone: a budget of 16,000 tokens holds a tenth of them
MIN_RELEVANCE = 0.02  # of a fragment that is a candidate only by relevance
MIN_SIMILARITY = 0.4  # of an anchor that shares no word, name or path with the query
KNOWN_TERMS_SHARE = 0.5  # of the query's words: if so many occur here, the query is about this repository


class SearchQuestion(Struct, frozen=True):
    """Holds the question that is put to a snapshot.

    Attributes:
        vectors: the vectors of the query; None if vectors are not compared.
        counter, format: how the pack is counted.
    """

    query: Query
    vectors: Sequence[Vectors] | None
    settings: Settings
    counter: Counter
    format: str


class ChosenRows(Struct, frozen=True, eq=False):
    """Says which rows of a snapshot are candidates.

    Attributes:
        anchors: the top_k best rows, and the best of the part that answers come from.
        inside: True in that part; None if answers come from everywhere.
        reached: what calls reach from the anchors: either way, towards callers, and towards callees.
        rows: the candidates.
    """

    anchors: IntArray
    inside: BoolArray | None
    reached: tuple[Reach, Reach, Reach]
    rows: IntArray


def search(
    question: SearchQuestion, snapshot: Snapshot, lines: Lines | None, rerank: Rerank | None = None
) -> SearchResult:
    """Finds the candidates of a query (REQ-GRAG-001, REQ-GRAG-002).

    With `pool = anchors` they are the top_k most relevant fragments, and what calls reach from them within max_depth.
    With `pool = all` every fragment with relevance joins them, up to POOL_CAP; the anchors then only root the distance.
    A pinned fragment is a candidate of every query.

    Args:
        lines: reads the lines of a file by its path; without it, texts are not looked into.
        rerank: scores rows with a better model, if the settings name one.
    """
    query, settings, known = question.query, question.settings, statistics(question.query, snapshot)
    scores = spread_files(query, _score_fragments(question, snapshot, lines, known, rerank), snapshot.file)
    score, tokens = scores.relevance, snapshot.column("tokens")
    eligible = _eligible_rows(scores, known.occurring(query), settings)
    inside = rows_in_part(snapshot, settings.graph_rag.only)
    first, anchors = _anchor_rows(score, eligible, inside, tokens, settings.graph_rag.top_k)
    reached = _follow_calls(snapshot, anchors, settings)
    pinned = [row for symbol in settings.pins if (row := snapshot.row_of(symbol)) >= 0]
    rows = union(reached[0].nodes.astype(np.int64), np.array(pinned, dtype=np.int64))
    if len(first):
        rows = union(rows, _relevant_rows(score, inside, settings.relevance))
    rows = rows[np.lexsort((rows, tokens[rows], -score[rows]))]
    chosen = ChosenRows(anchors, inside, reached, rows)
    best = int(np.argmax(score)) if len(snapshot) else -1
    named = (*settings.pins, *settings.excludes, *settings.boosts)
    return SearchResult(
        candidates=_gather_candidates(question, snapshot, scores, chosen),
        fragments=len(snapshot),
        files=len(snapshot.paths),
        frequency=known.frequency(query),
        suggestions=known.names.suggestions,
        anchors=len(first),
        best=float(score[first[0]]) if len(first) else 0.0,
        nearest=(float(score[best]), snapshot.symbol_id(best)) if best >= 0 else (-1.0, ""),
        relevant=int((score > 0).sum()),
        hubs=[snapshot.symbol_id(hub) for hub in reached[0].hubs],
        known=[symbol for symbol in dict.fromkeys(named) if snapshot.row_of(symbol) >= 0],
    )


def _score_fragments(
    question: SearchQuestion,
    snapshot: Snapshot,
    lines: Lines | None,
    known: QueryStatistics,
    rerank: Rerank | None,
) -> Scores:
    query, weights = question.query, weights_for(question.query, question.settings.relevance)
    evidence = collect_evidence(query, snapshot, question.vectors, weights, known, lines)
    if question.settings.graph_rag.anchors == "embedding":
        return similarity_alone(evidence, rerank)
    kept = 1.0 - penalties(query, snapshot, weights.penalty)
    return relevance(evidence, kept, Texts.of(snapshot), weights, rerank)


def _eligible_rows(scores: Scores, occurring: float, settings: Settings) -> BoolArray:
    """Tells which rows may be anchors: fragments with a word, name or path of the query, or with a strong similarity.

    If the best of them stays below `no_match_threshold`, no row may be one. The exception: most of the query occurs
    here (`occurring`). A word that every fragment has makes no fragment relevant, but that is no reason to find
    nothing.
    """
    rules = settings.relevance
    if settings.graph_rag.anchors == "embedding":
        return scores.relevance > 0
    worded = (scores.channels & ~(1 << Channel.SEMANTIC)) > 0
    eligible: BoolArray = (scores.relevance > 0) & (worded | (scores.similarity >= MIN_SIMILARITY))
    best = scores.relevance[eligible].max(initial=0.0)
    answered = best >= rules.no_match_threshold or occurring >= KNOWN_TERMS_SHARE
    return eligible if answered else np.zeros_like(eligible)


def _anchor_rows(
    relevance: FloatArray, eligible: BoolArray, inside: BoolArray | None, tokens: Tokens, top_k: int
) -> tuple[IntArray, IntArray]:
    """Returns the top_k best rows, best first; and the same rows followed by the top_k best rows `inside`, so that the
    part has its own anchors whatever the rest of the repository holds."""
    first = _best_eligible(relevance, eligible, tokens, top_k)
    if inside is None:
        return first, first
    within = _best_eligible(relevance, eligible & inside, tokens, top_k)
    return first, np.concatenate([first, within[~np.isin(within, first)]])


def _best_eligible(relevance: FloatArray, eligible: BoolArray, tokens: Tokens, top_k: int) -> IntArray:
    """Returns the top_k eligible rows, best first. Ties are broken by size, path and line."""
    candidates = np.flatnonzero(eligible)
    if len(candidates) > top_k:
        least = np.partition(relevance[candidates], -top_k)[-top_k]
        candidates = candidates[relevance[candidates] >= least]
    order = np.lexsort((candidates, tokens[candidates], -relevance[candidates]))
    return candidates[order][:top_k]


def _relevant_rows(relevance: FloatArray, inside: BoolArray | None, rules: Relevance) -> IntArray:
    """Returns the POOL_CAP most relevant rows, and the POOL_CAP most relevant rows `inside`. Returns no rows if only
    anchors, and what they reach, make the pool."""
    if rules.pool != "all":
        return np.zeros(0, dtype=np.int64)
    rows = _most_relevant(relevance)
    return rows if inside is None else union(rows, _most_relevant(np.where(inside, relevance, 0.0)))


def _most_relevant(relevance: FloatArray) -> IntArray:
    relevant = np.flatnonzero(relevance > MIN_RELEVANCE)
    return relevant if len(relevant) <= POOL_CAP else relevant[best_rows(relevance[relevant], POOL_CAP)]


def _follow_calls(snapshot: Snapshot, anchors: IntArray, settings: Settings) -> tuple[Reach, Reach, Reach]:
    """Finds the fragments that calls reach from the anchors: either way, towards callers, and towards callees."""
    rag, graph, roots = settings.graph_rag, snapshot.graph, anchors.tolist()
    reach = graph.search(roots, rag.max_depth if rag.enabled else 0, BOTH)
    deepest = int(reach.depth.max(initial=0))
    return reach, graph.search(roots, deepest, (Direction.CALLED_BY,)), graph.search(roots, deepest, (Direction.CALLS,))


def _gather_walk(snapshot: Snapshot, chosen: ChosenRows, settings: Settings) -> CallWalk:
    reached, rows, fragments = chosen.reached, chosen.rows, len(snapshot)
    reach = reached[0]
    alone = {row: _follow_calls(snapshot, np.array([row]), settings)[1:] for row in chosen.anchors.tolist()}
    links = [
        anchors_of(
            (
                (anchor, row, depth)
                for anchor, reaches in alone.items()
                for row, depth in zip(reaches[way].nodes.tolist(), reaches[way].depth.tolist(), strict=True)
            ),
            rows,
        )
        for way in (0, 1)
    ]
    depths = np.zeros((2, fragments), dtype=np.int64)  # of calls towards callers, and towards callees; 0: not reached
    for depth, one_way in zip(depths, reached[1:], strict=True):
        depth[one_way.nodes] = one_way.depth
    distance = np.full(fragments, UNREACHABLE, dtype=np.int64)
    distance[reach.nodes] = reach.depth + 1
    predecessor = np.full(fragments, -1, dtype=np.int64)
    predecessor[reach.nodes] = reach.predecessor
    step = dict(zip(reach.nodes.tolist(), reach.predecessor_edge, strict=True))
    edges = [step.get(row, "") for row in rows.tolist()]
    return CallWalk(distance[rows], predecessor[rows], edges, *depths[:, rows], *links)


def _gather_candidates(question: SearchQuestion, snapshot: Snapshot, scores: Scores, chosen: ChosenRows) -> Candidates:
    rows, inside = chosen.rows, chosen.inside
    hotspots, names, files = snapshot.hotspots, snapshot.qualnames, snapshot.file[rows]
    own, walk = scores.relevance[rows], _gather_walk(snapshot, chosen, question.settings)
    return Candidates(
        symbol_id=[snapshot.symbol_id(int(row)) for row in rows],
        path=[snapshot.paths[file] for file in files],
        qualname=[names[row] for row in rows],
        kind=[str(snapshot.kind(row)) for row in rows],
        language=[snapshot.languages[file] for file in files],
        line_start=_column(snapshot, "line_start", rows),
        line_end=_column(snapshot, "line_end", rows),
        tokens=_column(snapshot, "tokens", rows),
        sig_start=_column(snapshot, "sig_start", rows),
        sig_end=_column(snapshot, "sig_end", rows),
        sig_tokens=_column(snapshot, "sig_tokens", rows),
        has_sig=snapshot.column("has_sig")[rows],
        headings=_count_headings(question, snapshot, rows),
        wrapping=_column(snapshot, "wrapping", rows),
        relevance=own,
        parts={name: column[rows] for name, column in scores.parts.items()},
        hotspot=hotspots.score[rows],
        ranks={"churn rank": hotspots.churn_rank[rows], "complexity rank": hotspots.complexity_rank[rows]},
        channels=_add_walk_channel(scores.channels[rows], own, walk, question.settings.relevance),
        anchor=np.isin(rows, chosen.anchors),
        row_number=rows,
        walk=walk,
        redactions=_list_redactions(snapshot, rows),
        elsewhere=np.zeros(len(rows), dtype=np.bool_) if inside is None else ~inside[rows],
    )


def _add_walk_channel(channels: IntArray, relevance: FloatArray, walk: CallWalk, rules: Relevance) -> IntArray:
    """Adds the graph to the channels of the candidates that calls led to. In the anchors pool such a candidate was
    found by calls alone, whatever words it holds."""
    reached = (walk.distance > 1) & (walk.distance != UNREACHABLE)
    alone = reached if rules.pool == "anchors" else reached & (relevance <= MIN_RELEVANCE)
    graph = 1 << Channel.GRAPH
    return np.where(alone, graph, np.where(reached, channels | graph, channels))


def _count_headings(question: SearchQuestion, snapshot: Snapshot, rows: IntArray) -> IntArray:
    """Counts the tokens of each row's heading. This is most of the work of a retrieval, so no heading of a snapshot is
    counted twice."""
    key = question.counter.name, question.format
    known = snapshot.heading_tokens.setdefault(key, np.full(len(snapshot), -1, dtype=np.int64))
    new = rows[known[rows] < 0]
    starts, ends = snapshot.line_start[new].tolist(), snapshot.line_end[new].tolist()
    items = (
        Item(snapshot.paths[file], start, end, str(snapshot.kind(row)), snapshot.qualnames[row])
        for row, file, start, end in zip(new.tolist(), snapshot.file[new].tolist(), starts, ends, strict=True)
    )
    known[new] = PackCosts(question.counter, question.format).headings(items)
    return known[rows]


def _list_redactions(snapshot: Snapshot, rows: IntArray) -> list[tuple[Redaction, ...]]:
    if not snapshot.redactions:
        return [()] * len(rows)
    by_path = {
        path: [Redaction(span.rule, line) for line, span in parse_spans(text)]
        for path, text in snapshot.redactions.items()
    }
    by_row = []
    for row in rows.tolist():
        lines = range(int(snapshot.line_start[row]), int(snapshot.line_end[row]) + 1)
        in_file = by_path.get(snapshot.paths[int(snapshot.file[row])], ())
        by_row.append(tuple(redaction for redaction in in_file if redaction.line in lines))
    return by_row


def _column(snapshot: Snapshot, name: str, rows: IntArray) -> IntArray:
    return snapshot.column(name)[rows].astype(np.int64)
