"""`select(pool, settings) -> Selection`: priority, total order, greedy under the budget, a decision for every row."""

from __future__ import annotations

import numpy as np

from secateur.model import QUANTUM, BoolArray, Channel, FloatArray, IntArray, Notice, Pool, Reason, Selection, State
from secateur.selection.greedy import greedy_mask, room_at_turn
from secateur.selection.priority import terms_of
from secateur.settings import Settings

DENSITY_EXPONENT = 0.35
"""Strategy `density` orders by priority / tokens ** this: small fragments first among equals, measured on issue texts."""

_POSITION_BITS = 24
"""An order key holds the quantised score above these bits and the row below: unique keys sort the same in any algorithm."""


def select(pool: Pool, settings: Settings) -> Selection:
    """Decide on every row of the pool (REQ-SP-001..003). Pure: same pool and settings, same selection.

    Raises:
        UsageError: never for a valid `Settings`; settings are validated where they are read.
    """
    budget = settings.effective_budget
    n = len(pool)
    terms = terms_of(pool, settings)
    score = np.round(np.sum(list(terms.values()), axis=0) / QUANTUM) * QUANTUM if n else np.zeros(0)
    order = _order(_strategy_score(pool, score, settings.smart_pruning.strategy))

    state = np.full(n, State.DROPPED, dtype=np.int8)
    reason = np.full(n, Reason.NO_ROOM, dtype=np.int8)
    left = np.full(n, max(0, budget - pool.overhead), dtype=np.int64)
    barred = _barred(pool, settings, score, reason)
    capacity = max(0, budget - pool.overhead)
    reserve = int(capacity * settings.smart_pruning.signature_share) if n else 0

    pinned = _mask_of(pool, settings.pins) & ~barred
    free = capacity
    if pinned.any():
        free -= _take(order[pinned[order]], pool.cost, capacity, state, reason, left, State.KEPT, Reason.PINNED)
    reserve = min(reserve, free)
    open_ = order[(~barred & ~pinned)[order]]
    free -= _take(open_, pool.cost, free - reserve, state, reason, left, State.KEPT, Reason.FITS)
    if settings.smart_pruning.signature_share > 0:
        # A declaration that is no cheaper than the whole would only hide the body.
        worth = (pool.sig_cost > 0) & (pool.sig_cost < pool.cost)
        waiting = open_[(state[open_] == State.DROPPED) & worth[open_]]
        free -= _take(waiting, pool.sig_cost, min(free, max(reserve, 1)), state, reason, left, State.SHORTENED, Reason.SIGNATURE)
        waiting = open_[state[open_] == State.DROPPED]
        free -= _take(waiting, pool.cost, free, state, reason, left, State.KEPT, Reason.FITS)

    dropped = state == State.DROPPED
    undecided = dropped & ~barred
    if budget == 0:
        reason[undecided] = Reason.ZERO_BUDGET
    else:
        reason[undecided & (pool.cost > capacity)] = Reason.LARGER_THAN_BUDGET
    used = capacity - free
    return Selection(
        pool=pool,
        budget=budget,
        strategy=settings.smart_pruning.strategy,
        profile=settings.profile,
        order=order,
        priority=score,
        terms=terms,
        state=state,
        reason=reason,
        needed=pool.cost,
        left=left,
        used=used + pool.overhead if used else 0,
        warnings=pool.warnings + _warnings(pool, budget, undecided, bool((~dropped).any())),
    )


def _strategy_score(pool: Pool, score: FloatArray, strategy: str) -> FloatArray:
    if strategy == "relevance":
        return pool.relevance
    if strategy == "density":
        return score / np.maximum(pool.tokens, 1) ** DENSITY_EXPONENT
    return score


def _order(score: FloatArray) -> IntArray:
    """Rows by falling score; equal scores keep the pool's tie-break order."""
    scaled = np.round(score / QUANTUM).astype(np.int64)
    keys = (-scaled << _POSITION_BITS) | np.arange(len(score), dtype=np.int64)
    keys.sort()
    return keys & ((1 << _POSITION_BITS) - 1)


def _barred(pool: Pool, settings: Settings, score: FloatArray, reason: np.ndarray[tuple[int], np.dtype[np.int8]]) -> BoolArray:
    """Rows that cannot be kept whatever the budget; writes their reasons."""
    graph_only = pool.channels == 1 << Channel.GRAPH
    beyond = graph_only & (pool.distance > settings.graph_rag.max_depth + 1)
    excluded = _mask_of(pool, settings.excludes)
    silent = (score <= 0) & ~_mask_of(pool, settings.pins)
    reason[silent] = Reason.NO_SIGNAL
    reason[beyond] = Reason.BEYOND_DEPTH
    reason[excluded] = Reason.EXCLUDED
    barred: BoolArray = beyond | excluded | silent
    return barred


def _mask_of(pool: Pool, symbols: tuple[str, ...]) -> BoolArray:
    if not symbols:
        return np.zeros(len(pool), dtype=np.bool_)
    wanted = frozenset(symbols)
    return np.fromiter((symbol in wanted for symbol in pool.symbol_id), dtype=np.bool_, count=len(pool))


def _take(
    rows: IntArray,
    cost: IntArray,
    budget: int,
    state: np.ndarray[tuple[int], np.dtype[np.int8]],
    reason: np.ndarray[tuple[int], np.dtype[np.int8]],
    left: IntArray,
    as_state: State,
    why: Reason,
) -> int:
    """Greedy over `rows`; writes states, reasons and the room each row met. Returns the tokens spent."""
    costs = cost[rows]
    kept = greedy_mask(costs, budget)
    left[rows] = room_at_turn(costs, kept, budget)
    state[rows[kept]] = as_state
    reason[rows[kept]] = why
    return int(costs[kept].sum())


def _warnings(pool: Pool, budget: int, undecided: BoolArray, anything_out: bool) -> tuple[Notice, ...]:
    if anything_out or not len(pool):
        return ()
    if budget == 0:
        return (Notice("zero_budget", "The budget is 0 tokens: nothing can be kept."),)
    if undecided.any():
        smallest = int(pool.cost[undecided].min()) + pool.overhead
        return (
            Notice(
                "budget_too_small",
                f"The budget of {budget} tokens is too small for any whole fragment (预算过小，无法包含任何完整片段); the smallest needs {smallest}.",
            ),
        )
    return ()
