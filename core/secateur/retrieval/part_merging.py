"""Merges the candidates that the parts of a workspace found into one result, as if one snapshot held them all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

import msgspec
import numpy as np

from secateur.index.facts.names import NEAR_LIMIT
from secateur.model import UNREACHABLE, FloatArray, IntArray
from secateur.retrieval.candidates import (
    CallWalk,
    Candidates,
    PartEvidence,
    PartFew,
    PartSteps,
    SearchResult,
    anchors_of,
    join_rows,
    select_rows,
)
from secateur.retrieval.evidence.calls import divide_by_maximum
from secateur.retrieval.relevance import Rerank, Scores, Texts, relevance, similarity_alone, spread_files, weights_for
from secateur.retrieval.search import BOTH, SearchQuestion, add_walk_channel, anchor_rows, eligible_rows, relevant_rows


def merge_parts(
    results: Sequence[SearchResult], question: SearchQuestion, rerank: Rerank | None = None
) -> SearchResult:
    """Merges the results that `search_part` returned for each part."""
    settings = question.settings
    parts = [result.part for result in results if result.part is not None]
    sizes = [len(result.candidates) for result in results]
    rows = join_rows([result.candidates for result in results])
    begins = _find_begins([part.size for part in parts])
    row_number = rows.row_number + np.repeat(begins, sizes)
    scores = _score_candidates(question, parts, rows, rerank)
    scores = spread_files(question.query, scores, np.unique(rows.path, return_inverse=True)[1])
    eligible = eligible_rows(scores, results[0].occurring, settings) & rows.anchor
    inside = ~rows.elsewhere if settings.graph_rag.only else None
    first, anchors = anchor_rows(scores.relevance, eligible, inside, rows.tokens, settings.graph_rag.top_k)
    walk = _merge_walks(parts, row_number, anchors)
    pinned = np.concatenate([part.pinned for part in parts])
    chosen = pinned | (walk.distance != UNREACHABLE)
    if len(first):
        chosen[relevant_rows(scores.relevance, inside, settings.relevance)] = True
    order = np.lexsort((row_number, rows.tokens, -scores.relevance))
    best = int(np.argmax(scores.relevance)) if len(rows) else -1
    suggestions: dict[str, list[str]] = {}
    for result in results:
        for written, near in result.suggestions.items():
            suggestions[written] = [*dict.fromkeys([*suggestions.get(written, ()), *near])][:NEAR_LIMIT]
    merged = msgspec.structs.replace(
        rows,
        relevance=scores.relevance,
        parts=scores.parts,
        channels=add_walk_channel(scores.channels, scores.relevance, walk, settings.relevance),
        anchor=np.isin(np.arange(len(rows)), anchors),
        row_number=row_number,
        walk=walk,
    )
    return msgspec.structs.replace(
        results[0],
        candidates=select_rows(merged, order[chosen[order]]),
        suggestions=suggestions,
        anchors=len(first),
        best=float(scores.relevance[first[0]]) if len(first) else 0.0,
        nearest=(float(scores.relevance[best]), rows.symbol_id[best]) if best >= 0 else (-1.0, ""),
        relevant=sum(result.relevant for result in results)
        - int(((rows.relevance > 0) & (scores.relevance == 0)).sum()),
        hubs=_list_hubs(parts, begins, set(row_number[anchors].tolist())),
        known=[symbol for result in results for symbol in result.known],
        part=None,
    )


def _score_candidates(
    question: SearchQuestion, parts: Sequence[PartEvidence], rows: Candidates, rerank: Rerank | None
) -> Scores:
    """Scores the candidates of all parts by their evidence, as `search` scores the fragments of one snapshot."""
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    for name in parts[0].best_few:
        columns[name] = _merge_best_few(name, [part.best_few[name] for part in parts])
    weights = weights_for(question.query, question.settings.relevance)
    if question.settings.graph_rag.anchors == "embedding":
        return similarity_alone(columns, weights, rerank)
    kept, vectors = (
        np.concatenate(arrays) for arrays in zip(*((part.kept, part.vectors) for part in parts), strict=True)
    )
    texts = Texts(rows.path, np.arange(len(rows)), rows.tokens, vectors)
    return relevance(columns, kept, texts, weights, rerank, frozenset().union(*(part.present for part in parts)))


def _merge_best_few(name: str, parts: Sequence[PartFew]) -> FloatArray:
    """Returns a column of evidence for all candidates, after choosing the best few among all parts."""
    owner = np.repeat(np.arange(len(parts)), [len(part.keys[0]) for part in parts])
    keys = [np.concatenate(columns) for columns in zip(*(part.keys for part in parts), strict=True)]
    best = np.lexsort((np.arange(len(owner)), *reversed(keys)))[: parts[0].most]
    counts = np.bincount(owner[best], minlength=len(parts)).tolist()
    column = np.concatenate([part.columns[count] for part, count in zip(parts, counts, strict=True)])
    if name != "near":
        return column
    return divide_by_maximum(column, max(part.largest[count] for part, count in zip(parts, counts, strict=True)))


def _merge_walks(parts: Sequence[PartEvidence], row_number: IntArray, anchors: IntArray) -> CallWalk:
    """Merges what each anchor alone reached into the walk from all anchors. `row_number` holds the number of each
    candidate among the rows of all parts, ascending."""
    begins = _find_begins([part.size for part in parts])
    either_way, calling, called = (_join_steps([part.steps[kind] for part in parts], begins) for kind in range(3))
    depth, predecessor, way = _find_nearest(either_way, row_number, anchors)
    deepest = int(depth.max(initial=0))
    depths = [_find_nearest(steps, row_number, anchors)[0] for steps in (calling, called)]
    links = []
    for steps in (calling, called):
        near = np.flatnonzero(np.isin(steps.root, row_number[anchors]))
        columns = (column[near].tolist() for column in (steps.root, steps.node, steps.depth))
        links.append(anchors_of(zip(*columns, strict=True), row_number))
    return CallWalk(
        distance=np.where(depth < 0, UNREACHABLE, depth + 1),
        predecessor=predecessor,
        predecessor_edge=[str(BOTH[direction]) if direction >= 0 else "" for direction in way.tolist()],
        caller_depth=np.where(depths[0] > deepest, 0, np.maximum(depths[0], 0)),
        callee_depth=np.where(depths[1] > deepest, 0, np.maximum(depths[1], 0)),
        calls=links[0],
        called=links[1],
    )


def _list_hubs(parts: Sequence[PartEvidence], begins: Sequence[int], anchors: Collection[int]) -> list[str]:
    """Lists the symbol ids of the hubs that the anchors led to, in the order of their rows."""
    hubs = {
        begin + hub: symbol
        for part, begin in zip(parts, begins, strict=True)
        for root, hub, symbol in part.hubs
        if begin + root in anchors
    }
    return [symbol for _, symbol in sorted(hubs.items())]


def _find_nearest(steps: PartSteps, row_number: IntArray, anchors: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Finds for each candidate how many steps it is from the nearest anchor (-1 if no steps lead there), the row before
    it, and the direction of the last step. Of equally short ways the most certain step wins, then the row before that
    was found first."""
    depth, predecessor, way = (np.full(len(row_number), -1) for _ in range(3))
    found_first = np.full(len(row_number), len(row_number))
    found_first[anchors] = np.arange(len(anchors))
    steps = select_rows(steps, np.flatnonzero(np.isin(steps.root, row_number[anchors])))
    for level in range(int(steps.depth.max(initial=-1)) + 1):
        new = select_rows(steps, np.flatnonzero(steps.depth == level))
        candidate = np.searchsorted(row_number, new.node)
        before = found_first[np.searchsorted(row_number, np.maximum(new.predecessor, row_number[0]))]
        order = np.lexsort((new.way, before, -new.confidence, candidate))
        order = order[depth[candidate[order]] < 0]  # a nearer way is known for the others
        order = order[np.flatnonzero(np.diff(candidate[order], prepend=-1))]  # the best step to each candidate
        reached = candidate[order]
        depth[reached], predecessor[reached], way[reached] = level, new.predecessor[order], new.way[order]
        if level:
            found_first[reached[np.lexsort((reached, -new.confidence[order]))]] = np.arange(len(reached))
    return depth, predecessor, way


def _join_steps(parts: Sequence[PartSteps], begins: Sequence[int]) -> PartSteps:
    """Joins the steps of all parts, and counts their rows through all parts."""
    return join_rows(
        [
            msgspec.structs.replace(
                steps,
                root=steps.root + begin,
                node=steps.node + begin,
                predecessor=np.where(steps.predecessor >= 0, steps.predecessor + begin, -1),
            )
            for steps, begin in zip(parts, begins, strict=True)
        ]
    )


def _find_begins(sizes: Sequence[int]) -> list[int]:
    """Returns the number of each part's first row when the rows of all parts are counted through."""
    return [0, *accumulate(sizes)][:-1]
