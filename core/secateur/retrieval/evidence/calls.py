"""Evidence from calls: a fragment that is a few calls away from the best fragments probably belongs to the answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.index.graph.resolve import TRUSTED, EdgeKind
from secateur.model import FloatArray, FragmentKind, IntArray, add_columns
from secateur.retrieval.query import Query

FIRST_PASS: Mapping[str, float] = {"lexical": 2.0, "title": 0.3, "name": 0.3, "semantic": 0.6, "mention": 0.3}
"""Weights that choose the fragments from which calls are followed. They are fixed, so that this evidence does not
change with the weights of the settings."""

ELSEWHERE = 0.6
"""Factor on the first score of a test, a document or vendored code, unless the query asks for it. A test that is much
like the query calls the code that it tests, so it may be a seed."""

SEEDS = 15
"""Best fragments of the first pass from which calls are followed."""

STEPS = 3
"""Calls followed from the seeds, in either direction."""

DECAY = 0.6
"""Factor on the weight of each further call."""

SEED_KINDS = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


def score_first_pass(query: Query, snapshot: Snapshot, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Scores fragments by their own words, names and meaning."""
    factor = np.ones(len(snapshot))
    for kind in ("test", "documentation", "example", "vendored", "generated"):
        if kind not in query.asks:
            factor = np.where(snapshot.flagged(kind), ELSEWHERE, factor)
    score = add_columns([weight * columns[name] for name, weight in FIRST_PASS.items()])
    return np.asarray(factor * score, dtype=np.float64)


def walk_from_best(snapshot: Snapshot, score: FloatArray) -> FloatArray:
    """Walks along calls from the SEEDS best fragments by the first score. The weights are divided by their maximum, and
    the square root is taken, so that the few fragments next to all seeds do not hide the others."""
    kinds = np.isin(snapshot.column("kind"), [KINDS.index(kind) for kind in SEED_KINDS])
    best = np.flatnonzero(kinds & (score > 0))
    walk = _walk_calls(snapshot, score, best[np.lexsort((best, -score[best]))][:SEEDS])
    maximum = walk.max(initial=0.0)
    return np.asarray(np.sqrt(walk / maximum)) if maximum > 0 else walk


def _walk_calls(snapshot: Snapshot, score: FloatArray, seeds: IntArray) -> FloatArray:
    """Computes how much weight a walk along calls from the seeds brings to each fragment. A fragment with many calls
    passes less to each neighbour."""
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
