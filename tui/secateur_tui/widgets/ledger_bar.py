"""The budget of a ledger: what leaves of each item, in the order it leaves."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from secateur.ledger import WRAPPER

from secateur_tui.state.ledger_answer import LedgerAnswer, Sum
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture

_LAST = np.iinfo(np.int64).max
"""The position of what stands nowhere in particular."""


@lru_cache(maxsize=4)
def picture_of(answer: LedgerAnswer[Any]) -> BudgetPicture:
    """The picture of an answer; what stands nowhere in particular comes last."""
    entries, sums = answer.entries, dict(answer.sums)
    count = len(entries)
    if count and entries[-1].id == WRAPPER:  # it stands last, and is no item
        wrapper, count = entries[-1], count - 1
        items, before, after = sums[wrapper.state]
        sums[wrapper.state] = Sum(items - 1, before - wrapper.before, after - wrapper.after)
    tokens = np.fromiter((entry.after for entry in entries), np.int64, count)
    states = np.fromiter((entry.state for entry in entries), np.int64, count)
    places = (_LAST if entry.position is None else entry.position for entry in entries)
    rows = np.argsort(np.fromiter(places, np.int64, count), kind="stable")
    rows = rows[tokens[rows] > 0]
    further = (f"reserve {answer.reserve:,}",) if answer.reserve else ()
    around = answer.ledger.after - int(tokens.sum())
    frame = BudgetFrame(answer.ledger.budget, rows, tokens[rows], states[rows], around)
    return BudgetPicture((frame,), sums, further=further)
