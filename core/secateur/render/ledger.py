"""Selection -> ledger: every candidate once, and one entry for what the pack adds around them, so that the sums
hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from secateur.model import Decision, Selection, State, TrimAction, TrimReport
from secateur.tokens import Counter

WRAPPER = "wrapper"
"""Id and reason of the entry for headings, fences and head lines; its `after` may be negative where an estimate of the
whole is below its parts."""

WRAPPER_SECTION, _HEADINGS = "pack", "headings"
"""The same entry in the context-budget spec's report."""

NOT_LISTED = "not-listed"
"""Id of the entry that stands for those that are left out of a list."""

_VERBS = {State.KEPT: "keep", State.SHORTENED: "shorten", State.SUMMARISED: "summarize", State.DROPPED: "drop"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One input, what became of it and why; tokens before and after."""

    id: str
    state: State
    reason: str
    before: int
    after: int
    figures: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `figures` only where there are any."""
        out = {
            "id": self.id,
            "state": self.state.label,
            "reason": self.reason,
            "before": self.before,
            "after": self.after,
        }
        return out | ({"figures": dict(self.figures)} if self.figures else {})

    def action(self) -> TrimAction:
        """The same as an action of the context-budget spec's report."""
        if self.id == WRAPPER:
            return TrimAction(WRAPPER_SECTION, _VERBS[self.state], _HEADINGS, self.before, self.after)
        return TrimAction(self.id, _VERBS[self.state], self.reason, self.before, self.after)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What went in and what leaves. The entries sum to `before` and `after`, exactly."""

    kind: str
    budget: int
    before: int
    after: int
    entries: tuple[Entry, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: the `ledger` of an answer."""
        entries = [entry.to_dict() for entry in self.entries]
        return {
            "kind": self.kind,
            "budget": self.budget,
            "before": self.before,
            "after": self.after,
            "entries": entries,
        }

    def report(self) -> TrimReport:
        """The same in the frozen shape of the context-budget spec."""
        actions = tuple(entry.action() for entry in self.entries if entry.id != WRAPPER or entry.after)
        applied = any(entry.state is not State.KEPT for entry in self.entries)
        return TrimReport(applied=applied, before=self.before, after=self.after, budget=self.budget, actions=actions)


def recount(selection: Selection, pack: str, counter: Counter) -> int:
    """Tokens of the rendered pack; 0 where nothing goes out, because what is printed then is a message about the
    context and not context."""
    return counter.count(pack) if selection.kept_rows else 0


def search_ledger(selection: Selection, pack_tokens: int, rows: Sequence[int]) -> Ledger:
    """The ledger of a code search.

    Args:
        pack_tokens: what `recount` says of the rendered pack.
        rows: of the pool, those that have an entry of their own, in this order. The others share one entry a state.
    """
    pool = selection.pool
    entries = [_entry(selection, selection.decision(row)) for row in rows]
    unnamed = np.ones(len(selection), dtype=np.bool_)
    unnamed[list(rows)] = False
    for state, after in (
        (State.KEPT, pool.tokens),
        (State.SHORTENED, pool.sig_tokens),
        (State.DROPPED, np.zeros_like(pool.tokens)),
    ):
        others = unnamed & (selection.state == state)
        if others.any():
            before = int(pool.tokens[others].sum())
            entries.append(
                Entry(NOT_LISTED, state, "not_listed", before, int(after[others].sum()), {"items": int(others.sum())})
            )
    entries.append(Entry(WRAPPER, State.KEPT, WRAPPER, 0, pack_tokens - sum(entry.after for entry in entries)))
    return Ledger("search", selection.budget, sum(entry.before for entry in entries), pack_tokens, tuple(entries))


def trim_report(selection: Selection, pack_tokens: int) -> TrimReport:
    """The whole ledger of a code search in the context-budget spec's shape: one action per candidate by rank, then the
    wrapper's."""
    return search_ledger(selection, pack_tokens, selection.order.tolist()).report()


def _entry(selection: Selection, decision: Decision) -> Entry:
    figures = {"needed": decision.needed, "left": decision.left} if decision.state is not State.KEPT else {}
    return Entry(
        selection.pool.symbol_id[decision.row],
        decision.state,
        decision.reason.label,
        decision.tokens_before,
        decision.tokens_after,
        figures,
    )
