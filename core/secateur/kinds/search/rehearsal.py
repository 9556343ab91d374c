"""Decides a retrieved pool under other weights of relevance, without retrieving again: what `tune` searches by.

    rehearsal = SearchRehearsal.of(pool, settings, ["orders/money.py::Money.round"])
    rehearsal(other_settings)       # (id, whether it leaves whole) of what leaves, the best first

The parts of relevance that a pool carries are taken back to the evidence they were made of (`retrieval.relevance` has
the formula), and put together with other weights. Anchors and candidates stay those that were retrieved, and only the
best candidates are looked at, so what it says is near the truth and no more: nothing is reported of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from secateur.model import FloatArray, IntArray, Pool, State
from secateur.retrieval.relevance import ALWAYS_ASKED, PENALTY
from secateur.selection import select
from secateur.selection.priority import HALF, quantised
from secateur.settings import Relevance, Settings, keys

ROWS = 500
"""Candidates that are looked at, the best: more than the largest usual budget holds."""

_FACTORS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Of the weight of a part: between neighbours an order hardly changes."""

_FROM_NOTHING = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Of the weight of the words, for a part that has no weight yet."""

_BONUSES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
"""Weights of hotspot and distance, where relevance has 1."""

_SHARES = (0.0, 0.02, 0.04, 0.08, 0.12, 0.16, 0.24)

_PRIORITY = "smart_pruning.priority_weights."


def tunable(settings: Settings) -> dict[str, Sequence[float | str]]:
    """Settings that can be rehearsed, each with the values that are tried; the present one is among them."""
    rules = settings.smart_pruning
    scale = rules.priority_weights.relevance or 1.0
    out: dict[str, Sequence[float | str]] = {}
    for name in ("hotspot", "distance"):
        present = getattr(rules.priority_weights, name)
        out[_PRIORITY + name] = _grid((scale * one for one in _BONUSES), present, high=10.0)
    out["smart_pruning.signature_share"] = _grid(_SHARES, rules.signature_share, high=0.5)
    out["smart_pruning.strategy"] = keys()["smart_pruning.strategy"].choices
    if settings.graph_rag.anchors == "mixed":
        words = settings.relevance.lexical or 1.0
        for name in part_names():
            present = getattr(settings.relevance, name)
            tried = (present * one for one in _FACTORS) if present else (words * one for one in _FROM_NOTHING)
            out[f"relevance.{name}"] = _grid(tried, present, high=4.0)
    return out


def part_names() -> tuple[str, ...]:
    """The parts of relevance: settings of `[relevance]` that are weights, in their order."""
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

    pool: Pool  # of the best rows
    evidence: Mapping[str, FloatArray]  # by part
    factor: FloatArray  # what a penalty leaves of a row's relevance
    _last: tuple[tuple[float, ...], Pool] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, pool: Pool, settings: Settings, ids: Collection[str]) -> SearchRehearsal:
        """The rehearsal of a pool that was retrieved under these settings; `ids` are among its rows, if the pool has
        them."""
        best = np.arange(min(ROWS, len(pool)))
        named = np.array(sorted(pool.row_of[one] for one in ids if one in pool.row_of), dtype=np.int64)
        small = rows_of(pool, np.union1d(best, named))
        evidence, factor = evidence_of(small, settings.relevance)
        return cls(small, evidence, factor)

    def __call__(self, settings: Settings) -> Sequence[tuple[str, bool]]:
        selection = select(self.under(settings.relevance), settings)
        symbols, state = selection.pool.symbol_id, selection.state
        return [(symbols[row], bool(state[row] == State.KEPT)) for row in selection.kept_rows]

    def under(self, weights: Relevance) -> Pool:
        """The pool with the relevance that other weights give its rows."""
        wanted = tuple(getattr(weights, name) for name in self.evidence)
        if self._last is None or self._last[0] != wanted:
            self._last = wanted, replace(self.pool, relevance=self._relevance(wanted))
        return self._last[1]

    def _relevance(self, wanted: Sequence[float]) -> FloatArray:
        if not self.evidence:
            return self.pool.relevance
        columns = list(self.evidence.values())
        total = sum((weight * one for weight, one in zip(wanted, columns, strict=True)), np.zeros(len(self.pool)))
        most = sum(
            weight
            for (name, column), weight in zip(self.evidence.items(), wanted, strict=True)
            if name in ALWAYS_ASKED or column.any()
        )
        found = total * self.factor
        return np.clip(quantised((1 + HALF) * found / (found + HALF * (most or 1.0))), 0.0, 1.0)


def evidence_of(pool: Pool, weights: Relevance) -> tuple[dict[str, FloatArray], FloatArray]:
    """The evidence behind the parts of relevance of a pool, and what a penalty leaves of each row; no evidence where
    relevance is the similarity of vectors alone, or for parts without weight."""
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
    scale = (1 + HALF - after) / (HALF * (most or 1.0))  # = (1 + HALF) / (found + HALF * most)
    factor = np.divide(after, before, out=np.ones(len(pool)), where=before > 0)
    return {name: parts[name] / (getattr(weights, name) * scale) for name in names}, factor


def rows_of(pool: Pool, rows: IntArray) -> Pool:
    """The pool of some rows, in their order. No path of calls is known any more."""
    count, wanted = len(pool), rows.tolist()
    changes: dict[str, Any] = {}
    for spec in fields(pool):
        value = getattr(pool, spec.name)
        if isinstance(value, np.ndarray):
            changes[spec.name] = value[rows]
        elif isinstance(value, list) and len(value) == count:
            changes[spec.name] = [value[row] for row in wanted]
    parts = {signal: {name: one[rows] for name, one in table.items()} for signal, table in pool.parts.items()}
    return replace(pool, **changes | {"parts": parts, "predecessor": np.full(len(rows), -1, dtype=np.int64)})
