"""A sweep over many budgets decides as `select` does at each."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from secateur.model import Pool, State
from secateur.selection import select
from secateur.selection.pool_trials import sweep
from secateur.settings import Settings
from support.strategies import cases


@settings(max_examples=12)
@given(cases(), st.integers(0, 900), st.integers(1, 40))
def test_every_budget_of_a_sweep_is_decided_as_by_itself(case: tuple[Pool, Settings], low: int, step: int) -> None:
    pool, now = case
    budgets = np.arange(low, low + 30 * step, step, dtype=np.int64)
    swept = sweep(pool, now, budgets)
    before: set[int] = set()
    for place, budget in enumerate(budgets.tolist()):
        selection = select(pool, replace(now, budget=budget))
        whole = {row for row, kept in swept.kept.items() if kept[place]}
        partly = {row for row, out in swept.shortened.items() if out[place]}
        assert whole == set(np.flatnonzero(selection.state == State.KEPT).tolist())
        assert partly == set(np.flatnonzero(selection.state == State.SHORTENED).tolist())
        assert swept.whole[place] == len(whole)
        assert swept.tokens[place] == selection.used
        assert abs(swept.worth[place] - selection.priority[sorted(whole)].sum()) < 1e-9
        assert swept.lost[place] == (len(before - (whole | partly)) if place else 0)
        before = whole | partly
