"""Evidence from what stands around: how near calls bring a fragment to what matches best."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.index.graph.resolve import TRUSTED, EdgeKind
from secateur.model import FloatArray, FragmentKind, IntArray, summed

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


def walk_seeds(snapshot: Snapshot, score: FloatArray) -> IntArray:
    """The SEEDS best functions, methods and classes, the best first."""
    kinds = np.isin(snapshot.column("kind"), [KINDS.index(kind) for kind in FOLLOWED])
    best = np.flatnonzero(kinds & (score > 0))
    return best[np.lexsort((best, -score[best]))][:SEEDS]


def walk_by_calls(snapshot: Snapshot, score: FloatArray, seeds: IntArray) -> FloatArray:
    """Per fragment how much of a walk along calls from the seeds comes by. Steps to one of many count less."""
    graph, column = snapshot.graph, np.zeros(len(snapshot))
    if not len(seeds):
        return column
    trusted = np.flatnonzero((graph.confidence >= TRUSTED) & (graph.kind == EdgeKind.CALLS))
    nodes = graph.node_count
    source = np.repeat(np.arange(nodes), np.diff(graph.indptr))[trusted]
    target = graph.indices[trusted].astype(np.int64)
    degree = np.bincount(source, minlength=nodes) + np.bincount(target, minlength=nodes)
    share = 1.0 / np.sqrt(np.maximum(1, degree))
    at = np.zeros(nodes)
    at[seeds] = score[seeds]
    weight = 1.0
    for _ in range(STEPS):
        sent = at * share
        called = np.bincount(target, weights=sent[source], minlength=nodes)
        at = share * (called + np.bincount(source, weights=sent[target], minlength=nodes))
        weight *= DECAY
        column += weight * at
    return column


def near_by_calls(walked: FloatArray, most: float) -> FloatArray:
    """The share that comes by each fragment of the most that comes by any, as its root: so that the few next to all of
    the seeds do not hide the others."""
    return np.asarray(np.sqrt(walked / most)) if most > 0 else walked
