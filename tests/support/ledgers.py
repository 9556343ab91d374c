"""Answers of no kind in particular, as the inspector shows them: entries and what the sums say of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from secateur.kinds.base import Outcome
from secateur.model import Entry, Ledger
from secateur.settings import Settings
from secateur_tui.state.answer import ShownAnswer, ledger_answer


def answer_of(entries: Sequence[Entry] | Ledger, budget: int = 0, **options: Any) -> ShownAnswer[Any]:
    """The answer of these entries, all that leaves, or of a ledger."""
    closed = entries if isinstance(entries, Ledger) else None
    ledger = closed or Ledger.closed("any", budget, entries, sum(entry.after for entry in entries))
    return ledger_answer(Settings(), Outcome("any", Settings(), None, lambda: ledger), **options)
