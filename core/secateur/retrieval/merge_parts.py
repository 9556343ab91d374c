"""Puts the candidates of several parts of a workspace together: scores them by the evidence that came with them, as if
they were all fragments there are, and takes the best.

What depends on the best few of all parts (commits, messages, seeds of a walk, anchors) came along for each number of
them that may be left. Calls from one part into another are not followed.
"""

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
    joined_rows,
    taken_rows,
)
from secateur.retrieval.nearby_evidence import near_by_calls
from secateur.retrieval.relevance import Rerank, Scores, Texts, relevance, similarity_alone, weights_for
from secateur.retrieval.search import BOTH, SearchQuestion, anchor_rows, eligible_rows, relevant_rows, walked_channels


def merge(found: Sequence[SearchResult], question: SearchQuestion, rerank: Rerank | None = None) -> SearchResult:
    """The result of all parts, each of which `search` was asked for with `part`."""
    settings = question.settings
    parts = [one.part for one in found if one.part is not None]
    sizes = [len(one.candidates) for one in found]
    rows = joined_rows([one.candidates for one in found])
    begins = _begins([part.size for part in parts])
    number = rows.number + np.repeat(begins, sizes)
    scores = _scores(question, parts, rows, rerank)
    eligible = eligible_rows(scores, found[0].occurring, settings) & rows.anchor
    inside = ~rows.elsewhere if settings.graph_rag.only else None
    first, anchors = anchor_rows(scores.relevance, eligible, inside, rows.tokens, settings.graph_rag.top_k)
    walk = _walk(parts, number, anchors)
    pinned = np.concatenate([part.pinned for part in parts])
    chosen = pinned | (walk.distance != UNREACHABLE)
    if len(first):
        chosen[relevant_rows(scores.relevance, inside, settings.relevance)] = True
    order = np.lexsort((number, rows.tokens, -scores.relevance))
    best = int(np.argmax(scores.relevance)) if len(rows) else -1
    suggestions: dict[str, list[str]] = {}
    for one in found:
        for written, near in one.suggestions.items():
            suggestions[written] = [*dict.fromkeys([*suggestions.get(written, ()), *near])][:NEAR_LIMIT]
    merged = msgspec.structs.replace(
        rows,
        relevance=scores.relevance,
        parts=scores.parts,
        channels=walked_channels(scores.channels, scores.relevance, walk, settings.relevance),
        anchor=np.isin(np.arange(len(rows)), anchors),
        number=number,
        walk=walk,
    )
    return msgspec.structs.replace(
        found[0],
        candidates=taken_rows(merged, order[chosen[order]]),
        suggestions=suggestions,
        anchors=len(first),
        best=float(scores.relevance[first[0]]) if len(first) else 0.0,
        nearest=(float(scores.relevance[best]), rows.symbol_id[best]) if best >= 0 else (-1.0, ""),
        relevant=sum(one.relevant for one in found) - int(((rows.relevance > 0) & (scores.relevance == 0)).sum()),
        hubs=_hubs(parts, begins, set(number[anchors].tolist())),
        known=[symbol for one in found for symbol in one.known],
        part=None,
    )


def _scores(question: SearchQuestion, parts: Sequence[PartEvidence], rows: Candidates, rerank: Rerank | None) -> Scores:
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    for name in parts[0].few:
        columns[name] = _of_best_few(name, [part.few[name] for part in parts])
    weights = weights_for(question.query, question.settings.relevance)
    if question.settings.graph_rag.anchors == "embedding":
        return similarity_alone(columns, weights, rerank)
    kept, vectors = (
        np.concatenate(arrays) for arrays in zip(*((part.kept, part.vectors) for part in parts), strict=True)
    )
    texts = Texts(rows.path, np.arange(len(rows)), rows.tokens, vectors)
    return relevance(columns, kept, texts, weights, rerank, frozenset().union(*(part.present for part in parts)))


def _of_best_few(name: str, parts: Sequence[PartFew]) -> FloatArray:
    """The column of all candidates, where the best few are those of all parts together."""
    owner = np.repeat(np.arange(len(parts)), [len(part.keys[0]) for part in parts])
    keys = [np.concatenate(columns) for columns in zip(*(part.keys for part in parts), strict=True)]
    best = np.lexsort((np.arange(len(owner)), *reversed(keys)))[: parts[0].most]
    counts = np.bincount(owner[best], minlength=len(parts)).tolist()
    column = np.concatenate([part.columns[count] for part, count in zip(parts, counts, strict=True)])
    if name != "near":
        return column
    return near_by_calls(column, max(part.largest[count] for part, count in zip(parts, counts, strict=True)))


def _walk(parts: Sequence[PartEvidence], number: IntArray, anchors: IntArray) -> CallWalk:
    """The walk from the anchors, of what was reached from each of them alone. `number`: of each candidate among the
    rows of all parts, ascending."""
    of_all, calling, called = (
        _steps_of_all([part.steps[kind] for part in parts], _begins([part.size for part in parts])) for kind in range(3)
    )
    depth, predecessor, way = _nearest(of_all, number, anchors)
    deepest = int(depth.max(initial=0))
    depths = [_nearest(steps, number, anchors)[0] for steps in (calling, called)]
    return CallWalk(
        distance=np.where(depth < 0, UNREACHABLE, depth + 1),
        predecessor=predecessor,
        predecessor_edge=[str(BOTH[one]) if one >= 0 else "" for one in way.tolist()],
        caller_depth=np.where(depths[0] > deepest, 0, np.maximum(depths[0], 0)),
        callee_depth=np.where(depths[1] > deepest, 0, np.maximum(depths[1], 0)),
    )


def _hubs(parts: Sequence[PartEvidence], begins: Sequence[int], anchors: Collection[int]) -> list[str]:
    """The symbol ids of hubs that the anchors led to, by their rows."""
    hubs = {
        begin + hub: symbol
        for part, begin in zip(parts, begins, strict=True)
        for root, hub, symbol in part.hubs
        if begin + root in anchors
    }
    return [symbol for _, symbol in sorted(hubs.items())]


def _nearest(steps: PartSteps, number: IntArray, anchors: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Per candidate the fewest steps from an anchor (-1: none lead there), the row before it and the direction of the
    last step: of equally many the most certain one, then from what was found first."""
    depth, predecessor, way = (np.full(len(number), -1) for _ in range(3))
    found_first = np.full(len(number), len(number))
    found_first[anchors] = np.arange(len(anchors))
    steps = taken_rows(steps, np.flatnonzero(np.isin(steps.root, number[anchors])))
    for level in range(int(steps.depth.max(initial=-1)) + 1):
        new = taken_rows(steps, np.flatnonzero(steps.depth == level))
        place = np.searchsorted(number, new.node)
        before = found_first[np.searchsorted(number, np.maximum(new.predecessor, number[0]))]
        order = np.lexsort((new.way, before, -new.confidence, place))
        order = order[depth[place[order]] < 0]
        order = order[np.flatnonzero(np.diff(place[order], prepend=-1))]
        at = place[order]
        depth[at], predecessor[at], way[at] = level, new.predecessor[order], new.way[order]
        if level:
            found_first[at[np.lexsort((at, -new.confidence[order]))]] = np.arange(len(at))
    return depth, predecessor, way


def _steps_of_all(parts: Sequence[PartSteps], begins: Sequence[int]) -> PartSteps:
    return joined_rows(
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


def _begins(sizes: Sequence[int]) -> list[int]:
    return [0, *accumulate(sizes)][:-1]
