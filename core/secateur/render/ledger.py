"""Turns a selection into a ledger: every candidate once, and a wrapper entry for what the pack adds around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from secateur.ledger import NOT_LISTED, VERBS, WRAPPER, plain_action
from secateur.model import Entry, Ledger, Reason, Selection, State, TrimAction, TrimReport
from secateur.tokens import Counter

WRAPPER_SECTION, _HEADINGS = "pack", "headings"
"""The wrapper in the context-budget spec's report."""


def count_pack(selection: Selection, pack: str, counter: Counter) -> int:
    """Counts the tokens of the rendered pack; 0 if it is empty, because then only a message is printed, which is not
    context."""
    return counter.count(pack) if selection.kept_rows else 0


def search_ledger(selection: Selection, pack_tokens: int, rows: Sequence[int] | None = None) -> Ledger:
    """Returns the ledger of a code search.

    Args:
        pack_tokens: from `count_pack`, for the rendered pack.
        rows: rows of the pool with an entry of their own, in this order; None: all, by rank. The others share one
            entry per state, called `not-listed` for dropped rows, and `not-listed-STATE` for others.
    """
    pool = selection.pool
    rows = selection.order.tolist() if rows is None else rows
    positions = {row: position for position, row in enumerate(selection.pack_rows, 1)}
    entries = [_entry(selection, row, positions.get(row)) for row in rows]
    unnamed = np.ones(len(selection), dtype=np.bool_)
    unnamed[list(rows)] = False
    for state, after in (
        (State.KEPT, pool.tokens),
        (State.SHORTENED, selection.tokens_after),
        (State.DROPPED, np.zeros_like(pool.tokens)),
    ):
        others = unnamed & (selection.state == state)
        if others.any():
            before, left, items = int(pool.tokens[others].sum()), int(after[others].sum()), int(others.sum())
            name = NOT_LISTED if state is State.DROPPED else f"{NOT_LISTED}-{state.label}"
            entries.append(Entry(name, state, Reason.NOT_LISTED, before, left, {"items": items}))
    return Ledger.closed("search", selection.budget, entries, pack_tokens)


def search_report(ledger: Ledger) -> TrimReport:
    """Returns the ledger of a code search in the frozen shape of the context-budget spec: one action per entry."""
    return ledger.report(search_action)


def search_action(entry: Entry) -> TrimAction | None:
    """Returns an entry of a code search as an action; None for a wrapper without tokens."""
    if entry.id == WRAPPER:
        return TrimAction(WRAPPER_SECTION, VERBS[entry.state], _HEADINGS, 0, entry.after) if entry.after else None
    return plain_action(entry)


def _entry(selection: Selection, row: int, position: int | None) -> Entry:
    decision = selection.decision(row)
    return Entry(
        selection.pool.symbol_id[row],
        decision.state,
        decision.reason,
        decision.tokens_before,
        decision.tokens_after,
        decision.figures,
        decision.terms,
        position,
        selection.pool.redactions.get(row, ()),
    )
