"""Evidence from what stands around: the words a fragment has of all its file has of the query, the rarest of them, the
best of its class, and how near calls bring it to what matches best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from secateur.index.facts.postings import Postings
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.index.graph.resolve import TRUSTED, EdgeKind
from secateur.model import FloatArray, FragmentKind

RAREST_TERMS = 40
"""Words of the query, those with most weight times rarity, that are looked at one by one."""

RAREST = 3
"""So many words of the query, the rarest that a fragment has, say how well it is meant."""

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
    total = np.sum([weight * columns[name] for name, weight in FIRST_PASS.items()], axis=0)
    return np.asarray(kept * total, dtype=np.float64)


def strongest(terms: Sequence[tuple[int, float]], postings: Postings) -> list[tuple[int, float]]:
    """The terms with most weight times idf that occur at all, each with that product; equal ones in their order."""
    found = [(term, weight * postings.idf(term)) for term, weight in terms if postings.frequency(term)]
    return sorted(found, key=lambda item: -item[1])[:RAREST_TERMS]


def rarest_words(terms: Sequence[tuple[int, float]], postings: Postings) -> FloatArray:
    """Per fragment the weight of the RAREST best words of the query that it has, of what any could have: a long query
    dilutes no rare word."""
    best = strongest(terms, postings)
    most = sum(weight for _, weight in best[:RAREST])
    if not most:
        return np.zeros(postings.documents)
    total, held = np.zeros(postings.documents), np.zeros(postings.documents, dtype=np.int8)
    for term, weight in best:
        holders = postings.holders(term)
        holders = holders[held[holders] < RAREST]
        total[holders] += weight
        held[holders] += 1
    return total / most


def file_share(terms: Sequence[tuple[int, float]], snapshot: Snapshot) -> FloatArray:
    """Per fragment how much of what its file has of the query stands in it, of all that a file could have."""
    postings = snapshot.body
    best = strongest(terms, postings)
    limit = sum(weight for _, weight in best)
    total = np.zeros(postings.documents)
    if not limit:
        return total
    for term, weight in best:
        holders, counts = postings.counted(term)
        files = snapshot.file[holders]
        whole = np.bincount(files, weights=counts, minlength=len(snapshot.paths))
        total[holders] += weight * counts / whole[files]
    return total / limit


def best_of_group(group: npt.NDArray[np.int64], score: FloatArray) -> FloatArray:
    """Per row the best score among the other rows of its group; 0 where it is alone, and for group -1."""
    rows = np.flatnonzero(group >= 0)
    out = np.zeros(len(score))
    if not len(rows):
        return out
    rows = rows[np.lexsort((rows, -score[rows], group[rows]))]
    first = np.flatnonzero(np.diff(group[rows], prepend=-1))
    sizes = np.diff(np.append(first, len(rows)))
    out[rows] = np.repeat(score[rows[first]], sizes)
    second = np.minimum(first + 1, len(rows) - 1)
    out[rows[first]] = np.where(sizes > 1, score[rows[second]], 0.0)
    return out


def class_members(snapshot: Snapshot, score: FloatArray) -> FloatArray:
    """Per member of a class the best score among the others; the header of the class is one of them."""
    return best_of_group(snapshot.owners, score)


def near_by_calls(snapshot: Snapshot, score: FloatArray) -> FloatArray:
    """Per fragment how much of a walk along calls from the SEEDS best comes by, of the most that comes by any.

    It is the root of that share, so that the few next to all of them do not hide the others. Steps to one of many count
    less.
    """
    graph, size = snapshot.graph, len(snapshot)
    column = np.zeros(size)
    kinds = np.isin(snapshot.column("kind"), [KINDS.index(kind) for kind in FOLLOWED])
    best = np.flatnonzero(kinds & (score > 0))
    best = best[np.lexsort((best, -score[best]))][:SEEDS]
    if not len(best):
        return column
    trusted = np.flatnonzero((graph.confidence >= TRUSTED) & (graph.kind == EdgeKind.CALLS))
    source = np.repeat(np.arange(size), np.diff(graph.indptr))[trusted]
    target = graph.indices[trusted].astype(np.int64)
    degree = np.bincount(source, minlength=size) + np.bincount(target, minlength=size)
    share = 1.0 / np.sqrt(np.maximum(1, degree))
    at = np.zeros(size)
    at[best] = score[best] / score[best[0]]
    weight = 1.0
    for _ in range(STEPS):
        sent = at * share
        called = np.bincount(target, weights=sent[source], minlength=size)
        at = share * (called + np.bincount(source, weights=sent[target], minlength=size))
        weight *= DECAY
        column += weight * at
    most = column.max()
    return np.asarray(np.sqrt(column / most)) if most > 0 else column
