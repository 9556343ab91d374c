"""How long a knob step takes: `select` on synthetic pools, and what somebody who looks pays on top: the ledger with the
entries of one screen, and the sums of each state.

    PYTHONPATH=tests python tests/benchmarks/selection.py [ROWS ...]

Prints the median and the 95th percentile of processor time in milliseconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from msgspec.structs import replace
from secateur.model import Pool
from secateur.render.search_json import search_ledger
from secateur.selection import select
from secateur.settings import Settings, with_profile, with_values
from support.pools import Row, pool_of

STEPS = 60
WARM_STEPS = 3
LISTED = 60
SEED = 1


def main(sizes: list[int]) -> None:
    """One line per pool size, profile or strategy, and budget."""
    for rows in sizes:
        pool = synthetic(rows)
        spec, recommended = (with_profile(Settings(), profile) for profile in ("spec", "recommended"))
        for name, settings in (("spec", spec), ("recommended", recommended)):
            for budget in (8_000, 1_000_000):
                decide, look = measure(pool, with_values(settings, {"budget": budget}))
                print(f"{rows:>9,} rows  {name:<12} {budget:>9,} tokens   select {decide}   look {look}", flush=True)


def synthetic(rows: int) -> Pool:
    """A pool with the spread of sizes and scores of a real one; columns are made directly, because a million rows
    are."""
    random = np.random.default_rng(SEED)
    tokens = random.integers(10, 900, rows)
    ones = np.ones(rows, dtype=np.int64)
    return replace(
        pool_of([Row("seed")]),
        symbol_id=[f"p{row // 20}.py::f{row}" for row in range(rows)],
        path=[f"p{row // 20}.py" for row in range(rows)],
        line_start=ones,
        tokens=tokens,
        cost=tokens + 15,
        heading=15 * ones,
        last_line=30,
        sig_tokens=20 * ones,
        sig_cost=35 * ones,
        relevance=np.sort(np.round(random.random(rows) ** 2, 6))[::-1].copy(),
        hotspot=np.round(random.random(rows), 6),
        distance=random.integers(0, 4, rows),
        preference=0.0 * ones,
        channels=ones,
    )


def measure(pool: Pool, settings: Settings) -> tuple[str, str]:
    """Times of deciding and of looking, over steps of one weight."""
    decide, look = [], []
    for step in range(WARM_STEPS + STEPS):
        turned = with_values(settings, {"smart_pruning.priority_weights.hotspot": 0.3 + step / 100})
        start = time.process_time()
        selection = select(pool, turned)
        decided = time.process_time()
        ledger = search_ledger(selection, lambda used=selection.used: used)
        _ = [ledger.entries[row] for row in ledger.order[:LISTED]], ledger.sums
        decide.append(decided - start)
        look.append(time.process_time() - decided)
    return _figures(decide[WARM_STEPS:]), _figures(look[WARM_STEPS:])


def _figures(seconds: list[float]) -> str:
    return f"p50 {np.median(seconds) * 1e3:6.2f}  p95 {np.percentile(seconds, 95) * 1e3:6.2f} ms"


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [10_000, 100_000])
