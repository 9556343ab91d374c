"""The search of one part of a workspace: as `search`, with what the process that asks needs to score its candidates
among those of all parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import numpy as np

from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, Reach
from secateur.model import FloatArray, IntArray, united
from secateur.retrieval.candidates import PartEvidence, PartFew, PartSteps, SearchResult
from secateur.retrieval.evidence import BestFew, Lines
from secateur.retrieval.part import rows_in_part
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

SPARE_ANCHORS = 3
"""Times top_k likely anchors of a part: among all parts the order of its fragments is a little another."""


def search_part(question: SearchQuestion, snapshot: Snapshot, lines: Lines | None) -> SearchResult:
    """The likely candidates of a part, in the order of their rows.

    Copies are looked for among the best of all parts, so that here none is one, and as many more may be candidates as
    they leave behind. Whether the best of all is good enough for anchors is not known either.
    """
    settings, weights = question.settings, weights_for(question.query, question.settings.relevance)
    weights = replace(weights, penalty=replace(weights.penalty, duplicate=0.0))
    rules, rag = replace(settings.relevance, pool_cap=settings.relevance.pool_cap + COMPARED), settings.graph_rag
    found = score_fragments(question, snapshot, lines, weights)
    score = found.scores.relevance
    inside = rows_in_part(snapshot, rag.only)
    eligible = eligible_rows(found.scores, 1.0, settings)
    first, anchors = anchor_rows(score, eligible, inside, found.texts.tokens, SPARE_ANCHORS * rag.top_k)
    reached, pinned = follow_calls(snapshot, anchors, settings), pinned_rows(snapshot, settings)
    compared = best_rows(_first_score(question, found, weights), max(COMPARED, rules.reranked))
    rows = united(reached[0].nodes.astype(np.int64), united(pinned, relevant_rows(score, inside, rules)))
    rows = united(rows, united(compared, best_rows(score, 1)))
    alone = {row: follow_calls(snapshot, np.array([row]), settings) for row in anchors.tolist()}
    result = search_result(question, snapshot, found, ChosenRows(first, anchors, inside, reached, rows))
    part = PartEvidence(
        columns={name: column[rows] for name, column in found.evidence.columns.items()},
        kept=found.kept[rows],
        vectors=found.texts.vectors[rows],
        present=found.scores.present,
        few={name: _few(one, rows) for name, one in found.evidence.few.items()},
        steps=(_steps(alone, 0), _steps(alone, 1), _steps(alone, 2)),
        hubs=[(root, hub, snapshot.symbol_id(hub)) for root, (reach, _, _) in alone.items() for hub in reach.hubs],
        pinned=np.isin(rows, pinned),
        documents=_documents(snapshot, lines, rows, compared[: rules.reranked]) if question.model and lines else {},
        size=len(snapshot),
    )
    return msgspec.structs.replace(result, part=part)


def _first_score(question: SearchQuestion, found: ScoredFragments, weights: Relevance) -> FloatArray:
    """The score by which fragments are compared with each other, and with the query by a better model."""
    if question.settings.graph_rag.anchors == "embedding":
        return found.evidence.columns["semantic"]
    return found.kept * total(found.evidence.columns, weights)


def _few(few: BestFew, rows: IntArray) -> PartFew:
    columns = [few.column(count) for count in range(len(few.keys[0]) + 1)]
    largest = np.array([column.max(initial=0.0) for column in columns])
    return PartFew(few.keys, few.most, np.stack([column[rows] for column in columns]), largest)


def _steps(alone: Mapping[int, tuple[Reach, Reach, Reach]], kind: int) -> PartSteps:
    """The steps of a kind, from each anchor alone."""
    reaches = [reached[kind] for reached in alone.values()]

    def behind(name: str) -> IntArray:
        columns = [np.zeros(0, dtype=np.int64), *(getattr(reach, name) for reach in reaches)]
        return np.concatenate(columns).astype(np.int64)

    ways = [BOTH.index(Direction(edge)) if edge else -1 for reach in reaches for edge in reach.predecessor_edge]
    return PartSteps(
        root=np.repeat(np.array([*alone], dtype=np.int64), [len(reach) for reach in reaches]),
        node=behind("nodes"),
        predecessor=behind("predecessor"),
        depth=behind("depth"),
        confidence=behind("confidence"),
        way=np.array(ways, dtype=np.int64),
    )


def _documents(snapshot: Snapshot, lines: Lines, rows: IntArray, chosen: IntArray) -> dict[int, str]:
    """The texts of the chosen rows, by their place among the candidates."""
    places = np.flatnonzero(np.isin(rows, chosen)).tolist()
    return {place: document_of(snapshot, lines, int(rows[place])) for place in places}
