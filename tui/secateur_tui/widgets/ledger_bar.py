"""The budget of a ledger: what leaves of each item, in the order it leaves."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from secateur.ledger import WRAPPER

from secateur_tui.state.ledger_answer import LedgerAnswer, sums_of
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture


@lru_cache(maxsize=4)
def picture_of(answer: LedgerAnswer[Any]) -> BudgetPicture:
    """The picture of an answer; what stands nowhere in particular comes last."""
    items = [(item, entry) for item, entry in enumerate(answer.entries) if entry.id != WRAPPER]
    leaving = [(item, entry) for item, entry in items if entry.after > 0]
    leaving.sort(key=lambda one: math.inf if one[1].position is None else one[1].position)
    segments = [(item, entry.after, entry.state) for item, entry in leaving]
    around = answer.ledger.after - sum(entry.after for _, entry in items)
    further = (f"reserve {answer.reserve:,}",) if answer.reserve else ()
    frame = BudgetFrame.of(answer.ledger.budget, segments, around)
    return BudgetPicture((frame,), sums_of(entry for _, entry in items), further=further)
