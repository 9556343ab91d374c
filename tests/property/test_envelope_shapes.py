"""Whatever the shape of a digest, the budget is used, or everything that was cut had to be (context-budget)."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import assume, given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from secateur import count_tokens
from secateur.errors import BudgetExceeded
from secateur.kinds.envelope.envelope import TrimmedEnvelope, trim_envelope
from secateur.kinds.envelope.sections import value_at
from secateur.model import State
from support.envelopes import envelope

USED = 0.85
SHARES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
LEAST, MOST = 400, 20_000
"""Tokens of an envelope that is tried: in a smaller one the parts that stay fill the budget."""

words = st.builds(
    lambda number, start: " ".join(f"word{start}x{place}" for place in range(number)),
    st.sampled_from([1, 3, 10, 60, 300]),
    st.integers(0, 99),
)
names = st.sampled_from(["path", "summary", "id", "content", "notes", "rows", "a", "b", "c"])


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    entries = st.builds(lambda number, value: {"path": f"src/{number}.py", "content": value}, st.integers(0, 99), inner)
    repeated = st.builds(
        lambda items, times: items * times, st.lists(inner, min_size=1, max_size=4), st.integers(2, 12)
    )
    fields = st.dictionaries(names, inner, min_size=1, max_size=5)
    return fields | st.lists(inner, min_size=1, max_size=6) | repeated | entries


shapes = st.recursive(words | st.integers(0, 10**6) | st.booleans() | st.none(), around, max_leaves=20)


def tokens(value: Any) -> int:
    return count_tokens(json.dumps(value, ensure_ascii=False))


@budgeted(max_examples=12, deadline=None)
@given(shape=shapes)
def test_the_budget_is_used_or_no_cut_can_be_undone(shape: Any) -> None:
    before = envelope(shape if isinstance(shape, dict) else {"digest": shape})
    whole = tokens(before)
    assume(LEAST <= whole <= MOST)
    for share in SHARES:
        budget = int(share * whole)
        try:
            trimmed = trim_envelope(before, "some-model", budget)
        except BudgetExceeded:
            break
        assert trimmed.report.after >= USED * budget or least_undone(before, trimmed) > budget


def least_undone(before: dict[str, Any], trimmed: TrimmedEnvelope) -> int:
    """The tokens of the envelope with the cut undone that saved least."""
    sizes = []
    for (path, start), entry in zip(trimmed.places, trimmed.ledger.entries, strict=False):
        if entry.state is not State.KEPT:
            undone = copy.deepcopy(trimmed.envelope)
            holder, old = value_at(undone, path[:-1]), value_at(before, path)
            holder[path[-1]] = old if start is None else [*holder[path[-1]][:start], *old[start:]]
            sizes.append(tokens(undone))
    return min(sizes)
