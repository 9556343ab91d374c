"""The search of one shard: score every fragment, take anchors, follow calls, gather what `select` needs as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, Reach
from secateur.model import UNREACHABLE, BoolArray, Channel, FloatArray, IntArray, Redaction, united
from secateur.redaction.spans import restored_spans
from secateur.render.costs import PackCosts
from secateur.render.layouts import Item
from secateur.retrieval.candidates import Candidates, ShardResult
from secateur.retrieval.evidence import Lines
from secateur.retrieval.linked_shards import begin_of, search_around
from secateur.retrieval.part import rows_in_part
from secateur.retrieval.query import Query
from secateur.retrieval.relevance import Scores, scored
from secateur.retrieval.rerank import document_of
from secateur.retrieval.rounds import BestRows, ChosenRows, LargestFigures, Rounds, SummedFigures, best_rows
from secateur.settings import Relevance, Settings
from secateur.tokens import Counter


@dataclass(frozen=True, slots=True)
class ShardQuestion:
    """The question that every shard is asked.

    Attributes:
        vectors: of the query; None: not compared.
        counter, format: by which the pack is counted.
        model: whether a better model compares texts, and replies to `DocumentTexts`.
    """

    query: Query
    vectors: Sequence[Vectors] | None
    settings: Settings
    counter: Counter
    format: str
    model: bool = False


def search_shard(question: ShardQuestion, snapshot: Snapshot, lines: Lines | None) -> Rounds[ShardResult]:
    """The candidates of a shard (REQ-GRAG-001, REQ-GRAG-002); `lines` of a file by its path.

    `pool = anchors`: the top_k most relevant fragments and what calls lead to within max_depth. `pool = all`: every
    fragment with relevance besides, up to pool_cap; anchors then only root the distance. What is pinned is a candidate
    of every query.
    """
    query, settings = question.query, question.settings
    rules, rag = settings.relevance, settings.graph_rag
    alone = rag.anchors == "embedding"
    document = partial(document_of, snapshot, lines) if question.model and lines is not None else None
    scores = yield from scored(query, snapshot, question.vectors, rules, lines, document, vectors_alone=alone)
    relevance = scores.relevance
    eligible = relevance > 0 if alone else (yield from _eligible(scores, query, rules))
    anchors, chosen = yield from _anchors(relevance, eligible, snapshot, rag.top_k)
    ranks = chosen.places
    part = rows_in_part(snapshot, rag.only)
    if part is not None:  # beside those of all, so that the part has its own whatever the rest holds
        within, inside = yield from _anchors(relevance, eligible & part, snapshot, rag.top_k)
        new = ~np.isin(within, anchors)
        anchors = np.concatenate([anchors, within[new]])
        ranks = np.concatenate([ranks, chosen.total + inside.places[new]])
    depth = rag.max_depth if rag.enabled else 0
    both = (Direction.CALLS, Direction.CALLED_BY)
    reach = yield from search_around(snapshot, anchors, ranks, depth, both, rag.hub_limit)
    deepest = int((yield LargestFigures(np.array([float(reach.depth.max(initial=0))])))[0])
    called_by = yield from search_around(snapshot, anchors, ranks, deepest, (Direction.CALLED_BY,))
    calling = yield from search_around(snapshot, anchors, ranks, deepest, (Direction.CALLS,))
    rows = np.asarray(reach.nodes, dtype=np.int64)
    if rules.pool == "all" and chosen.total:
        rows = united(rows, (yield from _relevant(relevance, rules)))
        if part is not None:
            rows = united(rows, (yield from _relevant(np.where(part, relevance, 0.0), rules)))
    if settings.pins:
        pinned = np.array([snapshot.row_of(symbol) for symbol in settings.pins], dtype=np.int64)
        rows = united(rows, pinned[pinned >= 0])
    rows = rows[np.lexsort((rows, snapshot.column("tokens")[rows], -relevance[rows]))]
    best = int(np.argmax(relevance)) if len(snapshot) else -1
    named = (*settings.pins, *settings.excludes, *settings.boosts)
    return ShardResult(
        candidates=_candidates(question, snapshot, scores, (reach, called_by, calling), anchors, rows, part),
        fragments=scores.known.fragments,
        files=scores.known.files,
        frequency=[scores.known.fields.body.frequency(term) for term, _ in query.terms],
        suggestions=scores.known.names.suggestions,
        anchors=chosen.total,
        best=-chosen.top,
        nearest=(float(relevance[best]), snapshot.symbol_id(best)) if best >= 0 else (-1.0, ""),
        relevant=int((relevance > 0).sum()),
        hubs=[snapshot.symbol_id(hub) for hub in reach.hubs],
        known=[symbol for symbol in dict.fromkeys(named) if snapshot.row_of(symbol) >= 0],
    )


def _eligible(scores: Scores, query: Query, rules: Relevance) -> Rounds[BoolArray]:
    """The rows that may be anchors: a fragment with a word, name or path of the query, or a strong similarity.

    Where the best of them stays below `no_match_threshold` there is none, unless most of the query occurs here: a word
    that every fragment has makes none of them relevant, and is no reason to find nothing.
    """
    worded = (scores.channels & ~(1 << Channel.SEMANTIC)) > 0
    eligible: BoolArray = (scores.relevance > 0) & (worded | (scores.similarity >= rules.min_similarity))
    best = (yield LargestFigures(np.array([scores.relevance[eligible].max(initial=0.0)])))[0]
    answered = best >= rules.no_match_threshold or scores.known.occurring(query) >= rules.known_terms_share
    return eligible if answered else np.zeros_like(eligible)


def _anchors(
    relevance: FloatArray, eligible: BoolArray, snapshot: Snapshot, top_k: int
) -> Rounds[tuple[IntArray, ChosenRows]]:
    """The shard's rows among the top_k best of all shards, best first."""
    candidates = _best_eligible(relevance, eligible, snapshot, top_k)
    keys = [-relevance[candidates], snapshot.column("tokens")[candidates]]
    chosen: ChosenRows = yield BestRows(keys, top_k)
    return candidates[: chosen.count], chosen


def _best_eligible(relevance: FloatArray, eligible: BoolArray, snapshot: Snapshot, top_k: int) -> IntArray:
    """The top_k eligible rows, best first; ties by size, path, line."""
    candidates = np.flatnonzero(eligible)
    if len(candidates) > top_k:
        least = np.partition(relevance[candidates], -top_k)[-top_k]
        candidates = candidates[relevance[candidates] >= least]
    order = np.lexsort((candidates, snapshot.column("tokens")[candidates], -relevance[candidates]))
    return candidates[order][:top_k]


def _relevant(relevance: FloatArray, rules: Relevance) -> Rounds[IntArray]:
    """The rows with relevance: of all shards the pool_cap most relevant."""
    relevant = np.flatnonzero(relevance > rules.min_relevance)
    totals: SummedFigures = yield SummedFigures({"rows": np.array([len(relevant)])})
    if totals.figures["rows"][0] <= rules.pool_cap:
        return relevant
    best = yield from best_rows(relevance[relevant], rules.pool_cap)
    return relevant[best]


def _candidates(
    question: ShardQuestion,
    snapshot: Snapshot,
    scores: Scores,
    reached: tuple[Reach, Reach, Reach],
    anchors: IntArray,
    rows: IntArray,
    part: BoolArray | None,
) -> Candidates:
    """The columns of the rows.

    Args:
        reached: from the anchors: by calls either way, by those that call, and by those that are called.
        part: the rows that answers are drawn from, None for all.
    """
    reach = reached[0]
    callers, callees = (_depths(one, len(snapshot)) for one in reached[1:])
    distance = np.full(len(snapshot), UNREACHABLE, dtype=np.int64)
    distance[reach.nodes] = reach.depth + 1
    predecessor = np.full(len(snapshot), -1, dtype=np.int64)
    predecessor[reach.nodes] = reach.predecessor
    step = dict(zip((int(node) for node in reach.nodes), reach.predecessor_edge, strict=True))
    anchor = np.zeros(len(snapshot), dtype=np.bool_)
    anchor[anchors] = True
    hotspots, names, files = snapshot.hotspots, snapshot.qualnames, snapshot.file[rows]
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
        headings=_headings(question, snapshot, rows),
        wrapping=_column(snapshot, "wrapping", rows),
        relevance=scores.relevance[rows],
        parts={name: column[rows] for name, column in scores.parts.items()},
        hotspot=hotspots.score[rows],
        ranks={"churn rank": hotspots.churn_rank[rows], "complexity rank": hotspots.complexity_rank[rows]},
        channels=_channels(scores, reach, question.settings.relevance, rows),
        distance=distance[rows],
        anchor=anchor[rows],
        number=rows + begin_of(snapshot),
        predecessor=predecessor[rows],
        predecessor_edge=[step.get(int(row), "") for row in rows],
        caller_depth=callers[rows],
        callee_depth=callees[rows],
        redactions=_redactions(snapshot, rows),
        elsewhere=np.zeros(len(rows), dtype=np.bool_) if part is None else ~part[rows],
    )


def _headings(question: ShardQuestion, snapshot: Snapshot, rows: IntArray) -> IntArray:
    """The tokens of each row's heading. Counting them is most of a retrieval: none of a snapshot is counted twice."""
    by_file = question.settings.shorten.headings
    key = question.counter.name, question.format, by_file
    known = snapshot.heading_tokens.setdefault(key, np.full(len(snapshot), -1, dtype=np.int64))
    new = rows[known[rows] < 0]
    starts, ends = snapshot.line_start[new].tolist(), snapshot.line_end[new].tolist()
    items = (
        Item(snapshot.paths[file], start, end, str(snapshot.kind(row)), snapshot.qualnames[row])
        for row, file, start, end in zip(new.tolist(), snapshot.file[new].tolist(), starts, ends, strict=True)
    )
    known[new] = PackCosts(question.counter, question.format, by_file=by_file).headings(items)
    return known[rows]


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


def _channels(scores: Scores, reach: Reach, rules: Relevance, rows: IntArray) -> IntArray:
    """The channels by which each candidate was found. In the anchors pool what only calls lead to is there because of
    the calls, whatever words it holds."""
    channels = scores.channels.copy()
    reached = reach.nodes[reach.depth > 0]
    if rules.pool == "anchors":
        channels[reached] = 1 << Channel.GRAPH
    else:
        channels[reached] |= 1 << Channel.GRAPH
        weak = reached[scores.relevance[reached] <= rules.min_relevance]
        channels[weak] = 1 << Channel.GRAPH
    return channels[rows]
