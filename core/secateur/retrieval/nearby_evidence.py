"""Evidence from what stands around: how near calls bring a fragment to what matches best."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.index.graph.resolve import TRUSTED, EdgeKind
from secateur.model import FloatArray, FragmentKind, summed
from secateur.retrieval.linked_shards import figures_around, graph_around
from secateur.retrieval.rounds import BestRows, ChosenRows, LargestFigures, Rounds

FIRST_PASS: Mapping[str, float] = {"lexical": 2.0, "title": 0.3, "name": 0.3, "semantic": 0.6, "mention": 0.3}
"""Weights by which the fragments are chosen around which others are looked for. Fixed, so that these columns do not
change with the weights."""

SEEDS = 15
"""Best fragments of that first look from which calls are followed."""

STEPS = 3
"""Calls followed from them, either way."""

DECAY = 0.6
"""The share of the one before that each further call counts."""

FOLLOWED = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


def first_look(columns: Mapping[str, FloatArray], kept: FloatArray) -> FloatArray:
    """Per fragment what its own words, names and meaning say; `kept` is what its kind leaves of that."""
    return np.asarray(kept * summed([weight * columns[name] for name, weight in FIRST_PASS.items()]), dtype=np.float64)


def near_by_calls(snapshot: Snapshot, score: FloatArray) -> Rounds[FloatArray]:
    """Per fragment how much of a walk along calls from the SEEDS best comes by, of the most that comes by any.

    It is the root of that share, so that the few next to all of them do not hide the others. Steps to one of many count
    less.
    """
    (graph, own), size = graph_around(snapshot), len(snapshot)
    column = np.zeros(size)
    kinds = np.isin(snapshot.column("kind"), [KINDS.index(kind) for kind in FOLLOWED])
    best = np.flatnonzero(kinds & (score > 0))
    best = best[np.lexsort((best, -score[best]))][:SEEDS]
    seeds: ChosenRows = yield BestRows([-score[best]], SEEDS)
    if not seeds.total:
        return column
    best = best[: seeds.count]
    trusted = np.flatnonzero((graph.confidence >= TRUSTED) & (graph.kind == EdgeKind.CALLS))
    nodes = graph.node_count
    source = np.repeat(np.arange(nodes), np.diff(graph.indptr))[trusted]
    target = graph.indices[trusted].astype(np.int64)
    degree = np.bincount(source, minlength=nodes) + np.bincount(target, minlength=nodes)
    share = 1.0 / np.sqrt(np.maximum(1, degree[own]))
    at = np.zeros(size)
    at[best] = score[best] / -seeds.top
    weight = 1.0
    for _ in range(STEPS):
        [sent] = yield from figures_around(snapshot, at * share)
        called = np.bincount(target, weights=sent[source], minlength=nodes)
        at = share * (called + np.bincount(source, weights=sent[target], minlength=nodes))[own]
        weight *= DECAY
        column += weight * at
    most = (yield LargestFigures(np.array([column.max(initial=0.0)])))[0]
    return np.asarray(np.sqrt(column / most)) if most > 0 else column
