"""Searches one part of a workspace, in a worker: its likely candidates, with what merging the parts needs of them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from msgspec.structs import replace

from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, Reach
from secateur.model import FloatArray, IntArray, union
from secateur.retrieval.candidates import PartEvidence, PartFew, PartSteps, SearchResult, rows_in_part
from secateur.retrieval.evidence.columns import BestFew, Lines
from secateur.retrieval.relevance import COMPARED, best_rows, total, weights_for
from secateur.retrieval.rerank import document_of
from secateur.retrieval.search import (
    BOTH,
    ChosenRows,
    ScoredFragments,
    SearchQuestion,
    anchor_rows,
    eligible_rows,
    follow_calls,
    pinned_rows,
    relevant_rows,
    score_fragments,
    search_result,
)
from secateur.settings import Relevance

SPARE_ANCHORS = 4
"""Factor on top_k for the likely anchors of a part: the scores among all parts may order its fragments differently."""


def search_part(question: SearchQuestion, snapshot: Snapshot, lines: Lines | None) -> SearchResult:
    """Searches one part and returns its likely candidates, in the order of their rows.

    Merging looks for copies among the best of all parts. So no fragment counts as a copy here, and COMPARED more become
    candidates: they replace the copies that merging will find. It is not known here either whether the best fragment of
    all parts is good enough for anchors.
    """
    settings, weights = question.settings, weights_for(question.query, question.settings.relevance)
    weights = replace(weights, penalty=replace(weights.penalty, duplicate=0.0))
    rules, rag = replace(settings.relevance, pool_cap=settings.relevance.pool_cap + COMPARED), settings.graph_rag
    scored = score_fragments(question, snapshot, lines, weights)
    score = scored.scores.relevance
    inside = rows_in_part(snapshot, rag.only)
    eligible = eligible_rows(scored.scores, 1.0, settings)
    first, anchors = anchor_rows(score, eligible, inside, scored.texts.tokens, SPARE_ANCHORS * rag.top_k)
    reached, pinned = follow_calls(snapshot, anchors, settings), pinned_rows(snapshot, settings)
    compared = best_rows(_score_for_comparing(question, scored, weights), max(COMPARED, rules.reranked))
    rows = union(reached[0].nodes.astype(np.int64), union(pinned, relevant_rows(score, inside, rules)))
    rows = union(rows, union(compared, best_rows(score, 1)))
    alone = {row: follow_calls(snapshot, np.array([row]), settings) for row in anchors.tolist()}
    result = search_result(question, snapshot, scored, ChosenRows(first, anchors, inside, reached, rows))
    part = PartEvidence(
        columns={name: column[rows] for name, column in scored.evidence.columns.items()},
        kept=scored.kept[rows],
        vectors=scored.texts.vectors[rows],
        present=scored.scores.present,
        best_few={name: _gather_best_few(column, rows) for name, column in scored.evidence.best_few.items()},
        steps=(_gather_steps(alone, 0), _gather_steps(alone, 1), _gather_steps(alone, 2)),
        hubs=[(root, hub, snapshot.symbol_id(hub)) for root, (reach, _, _) in alone.items() for hub in reach.hubs],
        pinned=np.isin(rows, pinned),
        documents=_read_documents(snapshot, lines, rows, compared[: rules.reranked])
        if question.model and lines
        else {},
        size=len(snapshot),
    )
    return msgspec.structs.replace(result, part=part)


def _score_for_comparing(question: SearchQuestion, scored: ScoredFragments, weights: Relevance) -> FloatArray:
    """Returns the score that decides which fragments are compared with each other, and with the query by a better
    model."""
    if question.settings.graph_rag.anchors == "embedding":
        return scored.evidence.columns["semantic"]
    return scored.kept * total(scored.evidence.columns, weights)


def _gather_best_few(best_few: BestFew, rows: IntArray) -> PartFew:
    columns = [best_few.column(count) for count in range(len(best_few.keys[0]) + 1)]
    largest = np.array([column.max(initial=0.0) for column in columns])
    return PartFew(best_few.keys, best_few.most, np.stack([column[rows] for column in columns]), largest)


def _gather_steps(alone: Mapping[int, tuple[Reach, Reach, Reach]], kind: int) -> PartSteps:
    """Gathers the steps of one kind as columns. `alone` holds what calls reach from each anchor alone."""
    reaches = [reached[kind] for reached in alone.values()]

    def join_column(name: str) -> IntArray:
        columns = [np.zeros(0, dtype=np.int64), *(getattr(reach, name) for reach in reaches)]
        return np.concatenate(columns).astype(np.int64)

    ways = [BOTH.index(Direction(edge)) if edge else -1 for reach in reaches for edge in reach.predecessor_edge]
    return PartSteps(
        root=np.repeat(np.array([*alone], dtype=np.int64), [len(reach) for reach in reaches]),
        node=join_column("nodes"),
        predecessor=join_column("predecessor"),
        depth=join_column("depth"),
        confidence=join_column("confidence"),
        way=np.array(ways, dtype=np.int64),
    )


def _read_documents(snapshot: Snapshot, lines: Lines, rows: IntArray, chosen: IntArray) -> dict[int, str]:
    """Reads the texts of the chosen rows, by their position among the candidates."""
    positions = np.flatnonzero(np.isin(rows, chosen)).tolist()
    return {position: document_of(snapshot, lines, int(rows[position])) for position in positions}
