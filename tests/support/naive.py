"""The selection as the documents tell it, one candidate at a time: what the vectorised one must equal."""

from __future__ import annotations

from dataclasses import dataclass

from secateur.model import QUANTUM, UNREACHABLE, Channel, Pool
from secateur.selection.priority import HALF
from secateur.settings import Settings

STEPS = round(1 / QUANTUM)
"""Steps in 1: dividing by a whole number gives the float nearest to the decimal, which a product with QUANTUM need
not."""


def greedy(costs: list[int], budget: int) -> tuple[list[bool], list[int]]:
    """Whether each is kept, and what was free when its turn came."""
    taken, free = [], []
    for cost in costs:
        free.append(budget)
        taken.append(cost <= budget)
        budget -= cost if cost <= budget else 0
    return taken, free


@dataclass
class Naive:
    """Per row; `left` is what was free when the row was last tried whole, the capacity if it never was."""

    order: list[int]
    priority: list[float]
    state: list[str]
    reason: list[str]
    left: list[int]
    needed: list[int]
    used: int


def _unbent(pool: Pool, row: int) -> float:
    evidence = HALF * float(pool.relevance[row]) / (1 + HALF - float(pool.relevance[row]))
    return (evidence + HALF) / (1 + HALF)


def select(pool: Pool, settings: Settings) -> Naive:
    """Priority, order, pins, whole fragments, declarations, whole fragments again."""
    n = len(pool)
    micro = [sum(_terms(pool, settings, row).values()) for row in range(n)]
    strategy = settings.smart_pruning.strategy
    if strategy == "relevance":
        by = [_micro(float(pool.relevance[row])) for row in range(n)]
    elif strategy == "density":
        power = settings.smart_pruning.density_exponent
        by = [
            _micro(
                micro[row] * QUANTUM * _unbent(pool, row) / max(int(pool.cost[row]) + _heading(pool, row), 1) ** power
            )
            for row in range(n)
        ]
    else:
        by = micro
    order = sorted(range(n), key=lambda row: (-by[row], row))
    share = settings.smart_pruning.signature_share

    state, reason = ["dropped"] * n, ["no_room"] * n
    barred = set()
    for row in range(n):
        symbol = pool.symbol_id[row]
        beyond = (
            int(pool.channels[row]) == 1 << Channel.GRAPH and int(pool.distance[row]) > settings.graph_rag.max_depth + 1
        )
        why = (
            "excluded" if symbol in settings.excludes
            else "beyond_depth" if beyond
            else "no_signal" if micro[row] <= 0 and symbol not in settings.pins
            else ""
        )  # fmt: skip
        if why:
            barred.add(row)
            reason[row] = why

    capacity = _room(pool, settings.effective_budget, [row for row in range(n) if row not in barred])
    left = [capacity] * n
    paid: set[str] = set()

    def take(rows: list[int], budget: int, costs: list[int], as_state: str, why: str) -> int:
        room = budget
        for row in rows:
            price = costs[row] + (0 if pool.path[row] in paid else _heading(pool, row))
            if as_state == "kept":
                left[row], needed[row] = room, price
            if price > room:
                continue
            room -= price
            paid.add(pool.path[row])
            state[row], reason[row] = as_state, why
        return budget - room

    cost, sig_cost = [int(c) for c in pool.cost], [int(c) for c in pool.sig_cost]
    needed = [cost[row] + _heading(pool, row) for row in range(n)]
    pinned = [row for row in order if row not in barred and pool.symbol_id[row] in settings.pins]
    others = [row for row in order if row not in barred and row not in set(pinned)]
    free = capacity - take(pinned, capacity, cost, "kept", "pinned")
    reserve = min(int(capacity * share), free)
    free -= take(others, free - reserve, cost, "kept", "fits")
    if share > 0:
        waiting = [row for row in others if state[row] == "dropped" and 0 < sig_cost[row] < cost[row]]
        seen = {pool.path[row] for row in range(n) if state[row] != "dropped"}
        first: list[int] = []
        for row in waiting:
            if pool.path[row] not in seen:
                seen.add(pool.path[row])
                first.append(row)
        spent = take(first, reserve, sig_cost, "shortened", "signature")
        spent += take(
            [row for row in waiting if state[row] == "dropped"], reserve - spent, sig_cost, "shortened", "signature"
        )
        free -= spent
        free -= take([row for row in others if state[row] == "dropped"], free, cost, "kept", "fits")
    for row in range(n):
        if state[row] == "dropped" and row not in barred:
            reason[row] = (
                "zero_budget"
                if settings.effective_budget == 0
                else "larger_than_budget"
                if cost[row] + _heading(pool, row) > capacity
                else "no_room"
            )
    spent = capacity - free
    used = spent + pool.overhead if spent else 0
    return Naive(order, [m * QUANTUM for m in micro], state, reason, left, needed, used)


def _heading(pool: Pool, row: int) -> int:
    return int(pool.heading[row])


def _room(pool: Pool, budget: int, rows: list[int]) -> int:
    """Tokens for rows: less those of the line that says what was left out, unless every row fits."""
    room = max(0, budget - pool.overhead)
    whole = sum(int(pool.cost[row]) for row in rows) + sum(
        {pool.path[row]: _heading(pool, row) for row in rows}.values()
    )
    return room if whole <= room else max(0, room - min(pool.last_line, max(0, budget - 200)))


def _terms(pool: Pool, settings: Settings, row: int) -> dict[str, int]:
    weights = settings.smart_pruning.priority_weights
    distance = int(pool.distance[row])
    reached = UNREACHABLE < distance <= settings.graph_rag.max_depth + 1
    terms = {
        "relevance": _micro(weights.relevance * float(pool.relevance[row])),
        "hotspot": _micro(weights.hotspot * float(pool.hotspot[row])),
        "distance": _micro(weights.distance / distance) if reached else 0,
    }
    if settings.preference.enabled:
        terms["preference"] = _micro(settings.preference.weight * float(pool.preference[row]))
    factor = settings.boosts.get(pool.symbol_id[row])
    if factor is not None:
        terms["boost"] = _micro(sum(terms.values()) / STEPS * (factor - 1.0))
    return terms


def _micro(value: float) -> int:
    return round(value / QUANTUM)
