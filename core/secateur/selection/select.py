"""`select(pool, settings) -> Selection`: orders rows by priority, fills the budget greedily, and decides every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from secateur.errors import UsageError
from secateur.model import (
    LEAST_SAYING,
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
)
from secateur.selection.greedy import GreedyPacking, TakenRows
from secateur.selection.priority import HALF, quantised, terms_of, total_of
from secateur.settings import Settings, SmartPruning


def fit_to_budget(selection: Selection, settings: Settings, tokens_of: Callable[[Selection], int]) -> Selection:
    """Drops the last rows until the counted text fits the budget. Costs are upper bounds, so usually it fits at
    once."""
    while tokens_of(selection) > selection.budget:
        last = selection.pool.symbol_id[selection.kept_rows[-1]]
        settings = replace(settings, excludes=(*settings.excludes, last))
        selection = select(selection.pool, settings)
    return selection


# A larger budget counts as this many tokens, because columns are 64-bit integers; no text is that long.
_MOST_TOKENS = 1 << 62


def select(pool: Pool, settings: Settings) -> Selection:
    """Decides on every row of the pool (REQ-SP-001..003). Pure: the same pool and settings give the same selection.

    Pinned rows are tried first, then all others by the strategy's score. `signature_share` reserves a part of the
    budget for declarations of rows that did not fit whole: first one for each file of which nothing goes out, then
    others. The tokens that they leave go to whole rows again. Three things bar a row at any budget: an exclusion, the
    depth limit for rows that only the call graph led to, and a priority of 0 (unless the row is pinned). Raises
    UsageError: a signal of the pool is not a number.
    """
    pruning = settings.smart_pruning
    budget = settings.effective_budget
    terms = terms_of(pool, settings)
    priority = total_of(terms)
    if not np.isfinite(priority).all():
        row = int(np.flatnonzero(~np.isfinite(priority))[0])
        raise UsageError(f"{pool.symbol_id[row]}: a signal is not a number", hint="signals are in [0, 1]")
    score = strategy_score(pool, priority, pruning)

    pinned = mask_of(pool, settings.pins)
    reason = reasons_of(pool, settings, priority, pinned)
    open_ = reason == Reason.NO_ROOM
    room = room_for_rows(pool, np.array([min(budget, _MOST_TOKENS)], dtype=np.int64), open_)
    packing, passes = run_passes(pool, pruning, score, reason, pinned, room)
    capacity, free = int(room[0]), int(packing.free[0])
    state, turns = np.full(len(pool), State.DROPPED, dtype=np.int8), list[Turn]()
    for done in passes:
        rows = done.rows
        if done.form == Reason.SIGNATURE:
            state[rows], reason[rows] = State.SHORTENED, Reason.SIGNATURE
        else:
            state[rows], reason[rows] = State.KEPT, done.form
            turns.append(Turn(done.tried, rows, int(done.room[0]), done.files))

    undecided = open_ & (state == State.DROPPED)
    if budget == 0:
        reason[undecided] = Reason.ZERO_BUDGET
    else:
        reason[undecided & (pool.alone > capacity)] = Reason.LARGER_THAN_BUDGET
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
        turns=tuple(turns),
        capacity=capacity,
        used=capacity - free + pool.overhead if free < capacity else 0,
        warnings=pool.warnings + (() if any(done.taken for done in passes) else _warnings(pool, budget, reason)),
    )


def room_for_rows(pool: Pool, budgets: IntArray, open_: BoolArray) -> IntArray:
    """Returns the tokens of each budget for rows: without the head of the pack and, unless all open rows fit, without
    the line about what was left out. That takes no more than a budget has above LEAST_SAYING, so a larger budget never
    has less room."""
    room = np.maximum(budgets - pool.overhead, 0)
    total = pool.full_cost if open_.all() else pool.cost_of(open_)
    last_line = np.minimum(np.maximum(budgets - LEAST_SAYING, 0), pool.last_line)
    return np.asarray(room - np.minimum(last_line * (total > room), room))


class Pass(Struct, frozen=True, eq=False):
    """One greedy pass.

    Attributes:
        form: PINNED or FITS, which take whole rows, or SIGNATURE, which takes declarations.
        tried: a mask of the tried rows; none of them goes out at every budget already.
        room: the tokens of each budget before the pass.
        files: a mask of the files of which a row goes out at every budget before the pass.
    """

    form: Reason
    tried: BoolArray
    room: IntArray
    files: BoolArray
    taken: Sequence[TakenRows]

    @property
    def rows(self) -> IntArray:
        """The rows that the pass takes at any budget, best first."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in self.taken)])


def run_passes(
    pool: Pool,
    pruning: SmartPruning,
    score: FloatArray,
    reason: npt.NDArray[np.int8],
    pinned: BoolArray,
    capacity: IntArray,
) -> tuple[GreedyPacking, Sequence[Pass]]:
    """Decides for a column of budgets in several passes: pins, whole rows, declarations from their reserved share, and
    whole rows again with the tokens that are left.

    Args:
        reason: why each row is barred; see `reasons_of`.
        capacity: the tokens of each budget for rows.
    """
    packing, passes = GreedyPacking(pool.file, pool.headings, capacity), list[Pass]()

    def take(form: Reason, tried: BoolArray, room: IntArray, *, new_files: bool = False) -> None:
        cost = pool.sig_cost if form == Reason.SIGNATURE else pool.cost
        tried, before = tried & ~packing.rows.everywhere, (room.copy(), packing.files.everywhere.copy())
        passes.append(Pass(form, tried, *before, packing.take(score, tried, cost, room, new_files=new_files)))

    open_ = (reason == Reason.NO_ROOM) & ~pinned
    if pinned.any():
        take(Reason.PINNED, pinned & (reason == Reason.NO_ROOM), packing.free.copy())
    share = pruning.signature_share
    reserve = np.minimum((capacity * share).astype(np.int64), packing.free)
    take(Reason.FITS, open_, packing.free - reserve)
    if share > 0:
        # A declaration that costs as much as the whole row would only hide the body.
        shorter = (pool.sig_cost > 0) & (pool.sig_cost < pool.cost)
        waiting = open_ & shorter
        take(Reason.SIGNATURE, _best_of_unseen_files(pool, score, packing, waiting), reserve, new_files=True)
        take(Reason.SIGNATURE, waiting, reserve)
        take(Reason.FITS, open_, packing.free.copy())
    return packing, passes


def _best_of_unseen_files(pool: Pool, score: FloatArray, packing: GreedyPacking, waiting: BoolArray) -> BoolArray:
    """Marks the best waiting row of each file of which nothing goes out at some budget: a declaration of a new file
    says more than another one of the same file."""
    best = np.zeros(len(pool), dtype=np.bool_)
    if not len(pool):
        return best
    rows, starts = pool.by_file
    there = np.where(waiting, score, -np.inf).take(rows)
    highest = np.maximum.reduceat(there, starts)
    highest[packing.files.everywhere | (highest == -np.inf)] = np.inf
    at_best = rows[there == np.repeat(highest, np.diff(starts, append=len(rows)))]
    best[at_best[np.diff(pool.file[at_best], prepend=-1) > 0]] = True
    return best


def strategy_score(pool: Pool, priority: FloatArray, rules: SmartPruning) -> FloatArray:
    """Returns the score that a strategy orders rows by. For a short query, `density` ignores the size: such a query
    asks for one thing, whatever its size."""
    if rules.strategy == "relevance":
        return quantised(pool.relevance)
    if rules.strategy == "density" and not pool.short_query:
        exponent = rules.density_exponent
        kept = _densities.get(pool)  # weights do not change it, so it is kept for the next step of a knob
        if kept is None or kept[0] != exponent:
            kept = _densities[pool] = exponent, evidence_share(pool), np.maximum(pool.alone, 1) ** exponent
        return quantised(priority * kept[1] / kept[2])
    return priority


_densities: WeakKeyDictionary[Pool, tuple[float, FloatArray, FloatArray]] = WeakKeyDictionary()


def evidence_share(pool: Pool) -> FloatArray:
    """Returns evidence over relevance for each row, which undoes the curve of relevance; 1 if relevance has no curve.

    The curve (`retrieval.relevance`) raises weak evidence most. It does not change an order by relevance. But a score
    that divides relevance by size would put nearly every small fragment above any large one that answers the query.
    """
    if pool.anchored_by == "embedding":
        return np.ones(len(pool))
    evidence = HALF * pool.relevance / (1 + HALF - pool.relevance)
    return np.asarray((evidence + HALF) / (1 + HALF), dtype=np.float64)


def reasons_of(pool: Pool, settings: Settings, priority: FloatArray, pinned: BoolArray) -> npt.NDArray[np.int8]:
    """Returns the reason why each row is barred at any budget; NO_ROOM for a row that is not barred."""
    reason = np.full(len(pool), Reason.NO_ROOM, dtype=np.int8)
    reason[(priority <= 0) & ~pinned] = Reason.NO_SIGNAL
    reason[(pool.channels == 1 << Channel.GRAPH) & (pool.distance > settings.graph_rag.max_depth + 1)] = (
        Reason.BEYOND_DEPTH
    )
    if pool.elsewhere is not None:
        reason[pool.elsewhere] = Reason.ELSEWHERE
    if settings.excludes:
        reason[mask_of(pool, settings.excludes)] = Reason.EXCLUDED
    return reason


def mask_of(pool: Pool, symbols: tuple[str, ...]) -> BoolArray:
    """Marks the rows of these symbol ids; ids that are not in the pool are ignored."""
    mask = np.zeros(len(pool), dtype=np.bool_)
    mask[[pool.row_of[symbol] for symbol in symbols if symbol in pool.row_of]] = True
    return mask


def _warnings(pool: Pool, budget: int, reason: npt.NDArray[np.int8]) -> tuple[Notice, ...]:
    if not len(pool):
        return ()
    if budget == 0:
        return (Notice("zero_budget", "The budget is 0 tokens: nothing can be kept."),)
    allowed = ~np.isin(reason, NEVER_OUT)
    if not allowed.any():
        counts = ", ".join(f"{int((reason == why).sum())} {why.label}" for why in NEVER_OUT if (reason == why).any())
        return (Notice("nothing_eligible", f"No candidate may be kept, whatever the budget: {counts}."),)
    smallest = int(pool.alone[allowed].min()) + pool.overhead
    if smallest > LEAST_SAYING and np.count_nonzero(allowed) > 1:
        smallest += pool.last_line
    return (
        Notice(
            "budget_too_small",
            f"The budget of {budget} tokens is too small for any whole fragment (预算过小，无法包含任何完整片段); the"
            f" smallest needs {smallest}.",
        ),
    )
