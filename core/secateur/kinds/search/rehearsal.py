"""Decides a retrieved pool under other weights of relevance, without retrieving again; `tune` searches with it.

    rehearsal = SearchRehearsal.of(pool, settings, ["orders/money.py::Money.round"])
    rehearsal(other_settings)       # (id, whether it is kept whole) of the kept candidates, the best first

It computes the evidence behind the parts of relevance in a pool (`retrieval.relevance` has the formula), and combines
it under other weights. Anchors and candidates stay as retrieved, and only the best candidates count, so a rehearsal is
an approximation: no report shows its numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import structs

from secateur.model import FloatArray, IntArray, Pool, falling
from secateur.retrieval.query_kind import QueryKind
from secateur.retrieval.relevance import ALWAYS_ASKED, FURTHER, PENALTY, SPREAD_KINDS, find_further, weights_of_kind
from secateur.selection.greedy import GreedyPacking
from secateur.selection.priority import HALF, quantised, terms_of
from secateur.selection.select import strategy_score
from secateur.settings import Relevance, Settings, SmartPruning, keys

ROWS = 400  # the best candidates that a rehearsal looks at: more than the largest usual budget holds

# Factors of a part's weight to try. Between two neighbours the order hardly changes.
_FACTORS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)

# Factors of the words' weight to try for a part without weight.
_FROM_NOTHING = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)

# Weights of hotspot and distance to try, if relevance has 1.
_BONUSES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)

_PRIORITY = "smart_pruning.priority_weights."


def tunable(settings: Settings) -> dict[str, Sequence[float | str]]:
    """Returns the settings that can be rehearsed, each with the values to try, among them its present value.

    The share for declarations is missing: judged candidates count only if kept whole, which does not measure it.
    """
    rules = settings.smart_pruning
    scale = rules.priority_weights.relevance or 1.0
    values: dict[str, Sequence[float | str]] = {}
    for name in ("hotspot", "distance"):
        present = getattr(rules.priority_weights, name)
        values[_PRIORITY + name] = _grid((scale * factor for factor in _BONUSES), present, high=10.0)
    values["smart_pruning.strategy"] = keys()["smart_pruning.strategy"].choices
    if settings.graph_rag.anchors == "mixed":
        words = settings.relevance.lexical or 1.0
        for name in part_names():
            present = getattr(settings.relevance, name)
            tried = (
                (present * factor for factor in _FACTORS) if present else (words * factor for factor in _FROM_NOTHING)
            )
            values[f"relevance.{name}"] = _grid(tried, present, high=4.0)
    return values


def part_names() -> tuple[str, ...]:
    """Returns the parts of relevance: the settings of `[relevance]` that are weights, in their order."""
    return tuple(
        name.removeprefix("relevance.")
        for name, key in keys().items()
        if name.startswith("relevance.") and key.high == 4
    )


def _grid(values: Any, present: float, *, high: float) -> tuple[float, ...]:
    return tuple(sorted({round(min(high, value), 3) for value in values} | {present}))


@dataclass
class SearchRehearsal:
    """See the module docstring."""

    pool: Pool  # only the best rows
    evidence: Mapping[str, FloatArray]  # by part
    factor: FloatArray  # share of a row's relevance that penalties leave
    _order: tuple[tuple[Relevance, SmartPruning], IntArray] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, pool: Pool, settings: Settings, ids: Collection[str]) -> SearchRehearsal:
        """Prepares the rehearsal of a pool that was retrieved under these settings. Its rows include `ids`, if the pool
        has them."""
        best = np.arange(min(ROWS, len(pool)))
        named_rows = np.array(sorted(pool.row_of[id_] for id_ in ids if id_ in pool.row_of), dtype=np.int64)
        small = rows_of(pool, np.union1d(best, named_rows))
        evidence, factor = evidence_of(small, settings.relevance)
        return cls(small, evidence, factor)

    def __call__(self, settings: Settings) -> Sequence[tuple[str, bool]]:
        key = settings.relevance, settings.smart_pruning
        if self._order is None or self._order[0] != key:
            pool = structs.replace(self.pool, relevance=self.relevance(settings.relevance))
            priority = quantised(sum(terms_of(pool, settings).values(), start=np.zeros(len(pool))))
            order = falling(strategy_score(pool, priority, settings.smart_pruning))
            self._order = key, order[priority[order] > 0]
        order = self._order[1]
        capacity = max(0, settings.effective_budget - self.pool.overhead)
        room = capacity - int(capacity * settings.smart_pruning.signature_share)
        packing = GreedyPacking(self.pool.file, self.pool.headings, np.array([room], dtype=np.int64))
        taken = packing.take_in_order(order, self.pool.cost, packing.free.copy())
        return [(self.pool.symbol_id[row], True) for part in taken for row in part.rows.tolist()]

    def relevance(self, weights: Relevance) -> FloatArray:
        """Returns the relevance of the rows under other weights."""
        if not self.evidence:
            return self.pool.relevance
        weights = weights_of_kind(weights, kind_of(self.pool))
        wanted = np.array([getattr(weights, name) for name in self.evidence])
        columns = zip(self.evidence.items(), wanted, strict=True)
        asked = [weight for (name, column), weight in columns if name in ALWAYS_ASKED or column.any()]
        score = (wanted @ np.stack(list(self.evidence.values()))) * self.factor
        relevance = np.clip(quantised((1 + HALF) * score / (score + HALF * (sum(asked) or 1.0))), 0.0, 1.0)
        if kind_of(self.pool) in SPREAD_KINDS:
            relevance[find_further(relevance, self.pool.file)] *= FURTHER
        return relevance


def evidence_of(pool: Pool, weights: Relevance) -> tuple[dict[str, FloatArray], FloatArray]:
    """Returns the evidence behind the parts of relevance of a pool, and the share of relevance that penalties leave
    each row. There is no evidence for parts without weight, or if relevance is the similarity of vectors alone."""
    weights = weights_of_kind(weights, kind_of(pool))
    parts = pool.parts.get("relevance", {})
    names = [name for name in part_names() if name in parts and getattr(weights, name)]
    if pool.anchored_by == "embedding" or not names:
        return {}, np.ones(len(pool))
    asked = [name for name in part_names() if getattr(weights, name)]
    most = sum(
        getattr(weights, name) for name in asked if name in ALWAYS_ASKED or (name in parts and parts[name].any())
    )
    before = np.sum([parts[name] for name in names], axis=0)
    after = np.clip(before + parts.get(PENALTY, 0.0), 0.0, 1.0)
    if kind_of(pool) in SPREAD_KINDS:  # the same rows are behind the others of their file, before and after the penalty
        after[find_further(after, pool.file)] /= FURTHER
    scale = (1 + HALF - after) / (HALF * (most or 1.0))  # = (1 + HALF) / (score + HALF * most)
    factor = np.divide(after, before, out=np.ones(len(pool)), where=before > 0)
    return {name: parts[name] / (getattr(weights, name) * scale) for name in names}, factor


def kind_of(pool: Pool) -> QueryKind | None:
    """Returns the kind of the query behind a pool, or None if all kinds are answered alike."""
    fact = pool.facts.get("query_kind")
    return QueryKind(fact["kind"]) if fact else None


def rows_of(pool: Pool, rows: IntArray) -> Pool:
    """Returns a pool of the given rows, in their order. It loses the paths of calls."""
    count, wanted = len(pool), rows.tolist()
    changes: dict[str, Any] = {}
    for name, value in structs.asdict(pool).items():
        if isinstance(value, np.ndarray):
            changes[name] = value[rows]
        elif isinstance(value, list) and len(value) == count:
            changes[name] = [value[row] for row in wanted]
    parts = {signal: {name: column[rows] for name, column in table.items()} for signal, table in pool.parts.items()}
    return structs.replace(pool, **changes | {"parts": parts, "predecessor": np.full(len(rows), -1, dtype=np.int64)})
