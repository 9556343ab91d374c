"""Searches one snapshot: scores fragments, takes anchors, follows calls, and gathers the columns that `select`
needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, Reach
from secateur.model import UNREACHABLE, BoolArray, Channel, FloatArray, IntArray, Pool, Redaction, union
from secateur.redaction.spans import parse_spans
from secateur.render.layouts import LAST_LINE, Item, PackCosts
from secateur.retrieval.evidence.collect import Lines, collect_evidence, statistics
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
from secateur.settings import Settings
from secateur.sources.globs import RepositoryPart
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


class SearchResult(Struct, frozen=True, eq=False):
    """Holds the result of a search.

    Attributes:
        pool: the candidates. What they were found by, their preference, and all that is said of them is still missing.
        fragments, files: how many fragments and files were searched.
        frequency: per term of the query, how many of these fragments hold it.
        suggestions: by identifier of the query, the near names that were taken for it.
        anchors: how many fragments the graph search began with.
        best: the relevance of the best anchor; 0 if there is no anchor.
        nearest: the largest relevance, and the symbol id of the first row that has it; "" if nothing is indexed.
        relevant: how many fragments have any relevance.
        hubs: the symbol ids of the hubs: only their best calls were followed.
        known: the symbols that the settings name and the snapshot holds.
    """

    pool: Pool
    fragments: int
    files: int
    frequency: list[int]
    suggestions: dict[str, list[str]]
    anchors: int
    best: float
    nearest: tuple[float, str]
    relevant: int
    hubs: list[str]
    known: list[str]


# By snapshot: the globs that were asked for last, and their rows.
_known: WeakKeyDictionary[Snapshot, tuple[tuple[str, ...], BoolArray]] = WeakKeyDictionary()


def rows_in_part(snapshot: Snapshot, only: Sequence[str]) -> BoolArray | None:
    """Returns True for each fragment of the part that `only` names; None if `only` is empty. Raises UsageError if
    `only` holds something that is not a glob."""
    if not only:
        return None
    globs, known = tuple(only), _known.get(snapshot)
    if known is None or known[0] != globs:
        part = RepositoryPart(globs)
        files = np.array([part.holds(path) for path in snapshot.paths], dtype=np.bool_)
        known = _known[snapshot] = globs, files[snapshot.file] if len(snapshot) else np.zeros(0, dtype=np.bool_)
    return known[1]


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
    weights, rules = weights_for(query, settings.relevance), settings.relevance
    evidence = collect_evidence(query, snapshot, question.vectors, weights, known, lines)
    if settings.graph_rag.anchors == "embedding":
        scores = similarity_alone(evidence, rerank)
    else:
        kept = 1.0 - penalties(query, snapshot, weights.penalty)
        scores = relevance(evidence, kept, Texts.of(snapshot), weights, rerank)
    scores = spread_files(query, scores, snapshot.file)
    score, tokens = scores.relevance, snapshot.column("tokens")
    eligible = _eligible_rows(scores, known.occurring(query), settings)
    inside = rows_in_part(snapshot, settings.graph_rag.only)
    first = anchors = _best_eligible(score, eligible, tokens, settings.graph_rag.top_k)
    if inside is not None:  # the part has its own anchors, whatever the rest of the repository holds
        within = _best_eligible(score, eligible & inside, tokens, settings.graph_rag.top_k)
        anchors = np.concatenate([first, within[~np.isin(within, first)]])
    reached = _follow_calls(snapshot, anchors, settings)
    pinned = [row for symbol in settings.pins if (row := snapshot.row_of(symbol)) >= 0]
    rows = union(reached[0].nodes.astype(np.int64), np.array(pinned, dtype=np.int64))
    if len(first) and rules.pool == "all":
        rows = union(rows, _most_relevant(score))
        if inside is not None:
            rows = union(rows, _most_relevant(np.where(inside, score, 0.0)))
    rows = rows[np.lexsort((rows, tokens[rows], -score[rows]))]
    chosen = ChosenRows(anchors, inside, reached, rows)
    best = int(np.argmax(score)) if len(snapshot) else -1
    named = (*settings.pins, *settings.excludes, *settings.boosts)
    return SearchResult(
        pool=_make_pool(question, snapshot, scores, chosen),
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


def _best_eligible(relevance: FloatArray, eligible: BoolArray, tokens: Tokens, top_k: int) -> IntArray:
    candidates = np.flatnonzero(eligible)
    if len(candidates) > top_k:
        least = np.partition(relevance[candidates], -top_k)[-top_k]
        candidates = candidates[relevance[candidates] >= least]
    order = np.lexsort((candidates, tokens[candidates], -relevance[candidates]))
    return candidates[order][:top_k]


def _most_relevant(relevance: FloatArray) -> IntArray:
    relevant = np.flatnonzero(relevance > MIN_RELEVANCE)
    return relevant if len(relevant) <= POOL_CAP else relevant[best_rows(relevance[relevant], POOL_CAP)]


def _follow_calls(snapshot: Snapshot, anchors: IntArray, settings: Settings) -> tuple[Reach, Reach, Reach]:
    rag, graph, roots = settings.graph_rag, snapshot.graph, anchors.tolist()
    reach = graph.search(roots, rag.max_depth if rag.enabled else 0, BOTH)
    deepest = int(reach.depth.max(initial=0))
    return reach, graph.search(roots, deepest, (Direction.CALLED_BY,)), graph.search(roots, deepest, (Direction.CALLS,))


def _gather_walk(snapshot: Snapshot, chosen: ChosenRows, settings: Settings) -> dict[str, Any]:
    """Returns the columns of a pool about the steps by which calls lead from the anchors to each row."""
    reached, rows, fragments = chosen.reached, chosen.rows, len(snapshot)
    reach, position = reached[0], {node: row for row, node in enumerate(chosen.rows.tolist())}
    alone = {row: _follow_calls(snapshot, np.array([row]), settings)[1:] for row in chosen.anchors.tolist()}
    links: list[list[list[list[int]]]] = []  # by direction, for each row (position of an anchor, depth), nearest first
    for way in (0, 1):
        near: dict[int, list[tuple[int, int]]] = {}
        for anchor, reaches in alone.items():
            for row, depth in zip(reaches[way].nodes.tolist(), reaches[way].depth.tolist(), strict=True):
                if depth and anchor in position:
                    near.setdefault(row, []).append((depth, anchor))
        links.append([[[position[at], depth] for depth, at in sorted(near.get(row, []))] for row in rows.tolist()])
    calls, called = links
    depths = np.zeros((2, fragments), dtype=np.int64)  # of calls towards callers, and towards callees; 0: not reached
    for depth, one_way in zip(depths, reached[1:], strict=True):
        depth[one_way.nodes] = one_way.depth
    distance = np.full(fragments, UNREACHABLE, dtype=np.int64)
    distance[reach.nodes] = reach.depth + 1
    predecessor = np.full(fragments, -1, dtype=np.int64)
    predecessor[reach.nodes] = reach.predecessor
    step = dict(zip(reach.nodes.tolist(), reach.predecessor_edge, strict=True))
    return {
        "distance": distance[rows],
        "predecessor": np.array([position.get(node, -1) for node in predecessor[rows].tolist()], dtype=np.int64),
        "predecessor_edge": [step.get(row, "") for row in rows.tolist()],
        "caller_depth": depths[0, rows],
        "callee_depth": depths[1, rows],
        "calls": calls,
        "called": called,
    }


def _make_pool(question: SearchQuestion, snapshot: Snapshot, scores: Scores, chosen: ChosenRows) -> Pool:
    rows, inside = chosen.rows, chosen.inside
    hotspots, files, names = snapshot.hotspots, snapshot.file[rows], snapshot.qualnames
    path, language = ([texts[file] for file in files] for texts in (snapshot.paths, snapshot.languages))
    own, channels, walk = (
        scores.relevance[rows],
        scores.channels[rows],
        _gather_walk(snapshot, chosen, question.settings),
    )
    # In the anchors pool a candidate that calls led to was found by calls alone, whatever words it holds.
    reached = (walk["distance"] > 1) & (walk["distance"] != UNREACHABLE)
    alone = reached if question.settings.relevance.pool == "anchors" else reached & (own <= MIN_RELEVANCE)
    graph = 1 << Channel.GRAPH
    tokens, sig_tokens = _column(snapshot, "tokens", rows), _column(snapshot, "sig_tokens", rows)
    costs = PackCosts(question.counter, question.format)
    backticks, cdata_ends = _column(snapshot, "wrapping", rows).T
    wrapper = costs.wrappers(_count_headings(question, snapshot, rows), cdata_ends)
    redactions = _list_redactions(snapshot, rows)
    return Pool(
        query=question.query.text,
        source="",
        anchored_by="",
        counter=question.counter.name,
        commit="",
        symbol_id=[snapshot.symbol_id(int(row)) for row in rows],
        path=path,
        qualname=[names[row] for row in rows],
        kind=[str(snapshot.kind(row)) for row in rows],
        language=language,
        line_start=_column(snapshot, "line_start", rows),
        line_end=_column(snapshot, "line_end", rows),
        tokens=tokens,
        cost=tokens + wrapper,
        sig_start=_column(snapshot, "sig_start", rows),
        sig_end=_column(snapshot, "sig_end", rows),
        sig_tokens=sig_tokens,
        sig_cost=np.where(snapshot.column("has_sig")[rows], sig_tokens + wrapper + costs.signature_mark, 0),
        relevance=own,
        hotspot=hotspots.score[rows],
        preference=np.zeros(len(rows)),
        parts={
            "relevance": {name: column[rows] for name, column in scores.parts.items()},
            "hotspot": {"churn rank": hotspots.churn_rank[rows], "complexity rank": hotspots.complexity_rank[rows]},
        },
        channels=np.where(alone, graph, np.where(reached, channels | graph, channels)),
        anchor=np.isin(rows, chosen.anchors),
        heading=costs.files(path, language, backticks),
        overhead=costs.overhead(question.query.text),
        redactions={row: taken for row, taken in enumerate(redactions) if taken},
        elsewhere=None if inside is None else ~inside[rows],
        format=question.format,
        last_line=LAST_LINE,
        **walk,
    )


def _count_headings(question: SearchQuestion, snapshot: Snapshot, rows: IntArray) -> IntArray:
    """Counts the tokens of each row's heading. This is most of the work of a retrieval, so no heading of a snapshot is
    counted twice."""
    key = question.counter.name, question.format
    known = snapshot.heading_tokens.setdefault(key, np.full(len(snapshot), -1, dtype=np.int64))
    new = rows[known[rows] < 0]
    starts, ends = snapshot.line_start[new].tolist(), snapshot.line_end[new].tolist()
    items = (
        Item(start, end, str(snapshot.kind(row)), snapshot.qualnames[row])
        for row, start, end in zip(new.tolist(), starts, ends, strict=True)
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
