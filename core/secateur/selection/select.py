"""`select(pool, settings) -> Selection`: priority, total order, greedy under the budget, a decision for every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from secateur.errors import UsageError
from secateur.model import (
    NEVER_OUT,
    BoolArray,
    Channel,
    FloatArray,
    IntArray,
    Notice,
    Pool,
    Reason,
    Selection,
    State,
    Turn,
    falling,
)
from secateur.model.chance import chance, least_share
from secateur.selection.greedy import GreedyPacking, TakenRows
from secateur.selection.priority import HALF, quantised, terms_of, total_of
from secateur.settings import Settings, SmartPruning


def fitting(selection: Selection, settings: Settings, tokens_of: Callable[[Selection], int]) -> Selection:
    """Costs are upper bounds, so this holds at once; else the last rows go until the recounted text fits."""
    while tokens_of(selection) > selection.budget:
        last = selection.pool.symbol_id[selection.kept_rows[-1]]
        settings = replace(settings, excludes=(*settings.excludes, last))
        selection = select(selection.pool, settings)
    return selection


_MOST_TOKENS = 1 << 62
"""A larger budget counts as this many tokens: columns are 64-bit integers, and no text is that long."""

_BARRED = (*NEVER_OUT, Reason.UNLIKELY)


def select(pool: Pool, settings: Settings) -> Selection:
    """Decide on every row of the pool (REQ-SP-001..003). Pure: same pool and settings, same selection.

    Pinned rows are tried first; then all others by the strategy's score. With a `signature_share` that part of the
    budget is set aside for declarations of what did not fit whole, one for each file that has nothing yet before any
    second one. What they leave goes to whole fragments again. An exclusion, the depth limit of rows only the call graph
    led to, and a priority of 0 (unless pinned) bar a row whatever the budget.

    Raises:
        UsageError: a signal of the pool is not a number.
    """
    pruning = settings.smart_pruning
    budget = settings.effective_budget
    capacity = min(max(0, budget - pool.overhead), _MOST_TOKENS)
    terms = terms_of(pool, settings)
    priority = total_of(terms, pool)
    if not np.isfinite(priority).all():
        row = int(np.flatnonzero(~np.isfinite(priority))[0])
        raise UsageError(f"{pool.symbol_id[row]}: a signal is not a number", hint="signals are in [0, 1]")
    score = strategy_score(pool, priority, pruning)

    pinned = mask_of(pool, settings.pins)
    reason = reasons_of(pool, settings, priority, score, pinned)
    unlikely, open_ = reason == Reason.UNLIKELY, reason == Reason.NO_ROOM
    packing, passes = packed(pool, pruning, score, reason, pinned, np.array([capacity], dtype=np.int64))
    free = int(packing.free[0])
    state = np.full(len(pool), State.DROPPED, dtype=np.int8)
    needed, turns = pool.alone(pool.cost), list[Turn]()
    payer = np.full(len(pool.by_file[1]), -1, dtype=np.int64)  # per file, the row that pays for its heading
    for done in passes:
        rows = done.rows
        new = rows[payer[pool.file[rows]] < 0][::-1]
        payer[pool.file[new]] = new
        if done.form == Reason.SIGNATURE:
            state[rows] = State.SHORTENED
            reason[rows] = np.where(unlikely[rows], Reason.UNLIKELY_WHOLE, Reason.SIGNATURE)
        else:
            state[rows], reason[rows] = State.KEPT, done.form
            turns.append(Turn(done.tried, rows, int(done.room[0])))
            if pool.heading is not None:
                order = np.flatnonzero(done.tried)
                order = order[falling(score[order])]
                needed[order] = pool.cost[order] + np.where(_paid(pool, order, payer), 0, pool.heading[order])

    undecided = open_ & (state == State.DROPPED)
    if budget == 0:
        reason[undecided] = Reason.ZERO_BUDGET
    else:
        reason[undecided & (needed > capacity)] = Reason.LARGER_THAN_BUDGET
    return Selection(
        pool=pool,
        budget=budget,
        strategy=pruning.strategy,
        profile=settings.profile,
        score=score,
        priority=priority,
        terms=terms,
        state=state,
        reason=reason,
        needed=needed,
        least_chance=least_chance_of(pruning),
        turns=tuple(turns),
        capacity=capacity,
        used=capacity - free + pool.overhead if free < capacity else 0,
        warnings=pool.warnings + _warnings(pool, needed, budget, state, reason),
        heading=_charged_headings(pool.heading, payer) if pool.heading is not None else None,
    )


def _paid(pool: Pool, order: IntArray, payer: IntArray) -> BoolArray:
    """Per row of `order`, whether the heading of its file was paid before its turn."""
    turn = np.full(len(pool), -1, dtype=np.int64)  # of what went out in an earlier pass
    turn[order] = np.arange(len(order))
    paying = payer[pool.file[order]]
    return np.asarray((paying >= 0) & (turn[paying] < turn[order]))


def _charged_headings(heading: IntArray, payer: IntArray) -> IntArray:
    """Per row the tokens of its file's heading, if it pays for it; 0 of the others."""
    charged, rows = np.zeros_like(heading), payer[payer >= 0]
    charged[rows] = heading[rows]
    return charged


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """One greedy pass.

    Attributes:
        form: PINNED or FITS, which take whole rows, or SIGNATURE, which takes declarations.
        tried: per row; none that goes out at every budget already.
        room: per budget, tokens before the pass.
    """

    form: Reason
    tried: BoolArray
    room: IntArray
    taken: Sequence[TakenRows]

    @property
    def rows(self) -> IntArray:
        """Rows that it takes at any budget, best first."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in self.taken)])


def packed(
    pool: Pool,
    pruning: SmartPruning,
    score: FloatArray,
    reason: npt.NDArray[np.int8],
    pinned: BoolArray,
    capacity: IntArray,
) -> tuple[GreedyPacking, Sequence[Pass]]:
    """The decision, for a column of budgets: pins, whole rows, declarations from the share that is set aside for them,
    and whole rows again with what these leave.

    Args:
        reason: why rows are barred, as `reasons_of` says it.
        capacity: per budget, the tokens that there are for rows.
    """
    packing, passes = GreedyPacking(pool.file, pool.heading, capacity), list[Pass]()

    def take(form: Reason, tried: BoolArray, room: IntArray, *, new_files: bool = False) -> None:
        cost = pool.sig_cost if form == Reason.SIGNATURE else pool.cost
        tried, before = tried & ~packing.rows.everywhere, room.copy()
        passes.append(Pass(form, tried, before, packing.take(score, tried, cost, room, new_files=new_files)))

    open_ = (reason == Reason.NO_ROOM) & ~pinned
    if pinned.any():
        take(Reason.PINNED, pinned & (reason == Reason.NO_ROOM), packing.free.copy())
    share = pruning.signature_share
    reserve = np.minimum((capacity * share).astype(np.int64), packing.free)
    take(Reason.FITS, open_, packing.free - reserve)
    if share > 0:
        if pruning.stop == "marginal":
            # Declarations are this share of the pack.
            reserve = np.minimum(reserve, ((capacity - packing.free) * share / (1.0 - share)).astype(np.int64))
        # A declaration that is no cheaper than the whole would only hide the body.
        shorter = (pool.sig_cost > 0) & (pool.sig_cost < pool.cost)
        waiting = (open_ | (reason == Reason.UNLIKELY)) & shorter
        take(Reason.SIGNATURE, _best_of_unseen_files(pool, score, packing, waiting), reserve, new_files=True)
        take(Reason.SIGNATURE, waiting, reserve)
        take(Reason.FITS, open_, packing.free.copy())
    return packing, passes


def _best_of_unseen_files(pool: Pool, score: FloatArray, packing: GreedyPacking, waiting: BoolArray) -> BoolArray:
    """Of the waiting rows the best of each file of which, at some budget, nothing goes out: another file says more than
    another function of the same."""
    best = np.zeros(len(pool), dtype=np.bool_)
    if not len(pool):
        return best
    rows, starts = pool.by_file
    file = pool.file[rows]
    there = np.where(waiting & ~packing.files.everywhere[pool.file], score, -np.inf)[rows]
    highest = np.maximum.reduceat(there, starts)
    at_best = np.flatnonzero((there == highest[file]) & (there > -np.inf))
    first = np.diff(file[at_best], prepend=-1) > 0
    best[rows[at_best[first]]] = True
    return best


def strategy_score(pool: Pool, priority: FloatArray, rules: SmartPruning) -> FloatArray:
    """The score by which a strategy orders rows. Of a short query `density` leaves size out: it asks for one thing, and
    that is as large as it is."""
    if rules.strategy == "relevance":
        return quantised(pool.relevance)
    if rules.strategy == "density" and not pool.short_query:
        share, size = _density(pool, rules.density_exponent)
        return quantised(priority * share / size)
    return priority


def _density(pool: Pool, exponent: float) -> tuple[FloatArray, FloatArray]:
    """The factor and the divisor of each row's priority. No weight is in them, so they are worked out at the first step
    of a knob and kept for the others."""
    kept = _densities.get(pool)
    if kept is None or kept[0] != exponent:
        kept = _densities[pool] = exponent, evidence_share(pool), np.maximum(pool.alone(pool.cost), 1) ** exponent
    return kept[1:]


_densities: WeakKeyDictionary[Pool, tuple[float, FloatArray, FloatArray]] = WeakKeyDictionary()


def evidence_share(pool: Pool) -> FloatArray:
    """Per row what relevance's curve left of the differences between evidence, taken back: evidence over relevance.

    The curve (`retrieval.relevance`) lifts weak evidence most. In an order that is harmless; divided by a size it made
    nearly every small fragment denser than any large one that answers. 1 where relevance was not bent.
    """
    if pool.anchored_by == "embedding":
        return np.ones(len(pool))
    evidence = HALF * pool.relevance / (1 + HALF - pool.relevance)
    return np.asarray((evidence + HALF) / (1 + HALF), dtype=np.float64)


def least_chance_of(rules: SmartPruning) -> float:
    """The chance with which a row must be needed; 0 where the budget alone ends the pack."""
    return rules.least_chance if rules.stop == "marginal" else 0.0


def reasons_of(
    pool: Pool, settings: Settings, priority: FloatArray, score: FloatArray, pinned: BoolArray
) -> npt.NDArray[np.int8]:
    """The reason why each row is barred whatever the budget; NO_ROOM for all that are not."""
    reason = np.full(len(pool), Reason.NO_ROOM, dtype=np.int8)
    reason[(priority <= 0) & ~pinned] = Reason.NO_SIGNAL
    reason[(pool.channels == 1 << Channel.GRAPH) & (pool.distance > settings.graph_rag.max_depth + 1)] = (
        Reason.BEYOND_DEPTH
    )
    if pool.elsewhere is not None:
        reason[pool.elsewhere] = Reason.ELSEWHERE
    reason[mask_of(pool, settings.excludes)] = Reason.EXCLUDED
    if least := least_chance_of(settings.smart_pruning):
        allowed = reason == Reason.NO_ROOM
        reason[allowed & ~pinned & ~likely(score, pool.tokens, allowed, least)] = Reason.UNLIKELY
    return reason


def likely(score: FloatArray, tokens: IntArray, allowed: BoolArray, least: float) -> BoolArray:
    """The allowed rows that are needed with at least this chance. The best is always one: a pack without it would say
    nothing."""
    mask = np.zeros(len(score), dtype=np.bool_)
    best = score[allowed].max(initial=0.0)
    # Only rows that have the chance in some place are put in order: of a hundred thousand a few hundred.
    rows = np.flatnonzero(allowed & (score >= best * least_share(least)))
    rows = rows[falling(score[rows])]
    share = score[rows] / best if best > 0 else np.zeros(len(rows))
    mask[rows[chance(share, np.arange(1, len(rows) + 1), tokens[rows]) >= least]] = True
    mask[rows[:1]] = True
    return mask


def mask_of(pool: Pool, symbols: tuple[str, ...]) -> BoolArray:
    """True for rows of these symbol ids; ids the pool does not hold are passed over."""
    mask = np.zeros(len(pool), dtype=np.bool_)
    mask[[pool.row_of[symbol] for symbol in symbols if symbol in pool.row_of]] = True
    return mask


def _warnings(
    pool: Pool, cost: IntArray, budget: int, state: npt.NDArray[np.int8], reason: npt.NDArray[np.int8]
) -> tuple[Notice, ...]:
    """Warnings that say which kind of empty an empty selection is."""
    if not len(pool) or (state != State.DROPPED).any():
        return ()
    if budget == 0:
        return (Notice("zero_budget", "The budget is 0 tokens: nothing can be kept."),)
    allowed = ~np.isin(reason, _BARRED)
    if not allowed.any():
        counts = ", ".join(f"{int((reason == why).sum())} {why.label}" for why in _BARRED if (reason == why).any())
        return (Notice("nothing_eligible", f"No candidate may be kept, whatever the budget: {counts}."),)
    smallest = int(cost[allowed].min()) + pool.overhead
    return (
        Notice(
            "budget_too_small",
            f"The budget of {budget} tokens is too small for any whole fragment (预算过小，无法包含任何完整片段); the"
            f" smallest needs {smallest}.",
        ),
    )
