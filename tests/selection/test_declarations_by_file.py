"""Declarations of what did not fit: files of which nothing is there yet come before second functions of the same
file."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.model import State
from secateur.selection import select
from secateur.settings import Settings, with_values
from support.pools import Row, pool_of

BUDGET = 100


def shortened(rows: Sequence[Row], share: float) -> list[str]:
    pool = pool_of(rows)
    selection = select(pool, with_values(Settings(budget=BUDGET), {"smart_pruning.signature_share": share}))
    return [name for name, state in zip(pool.qualname, selection.state, strict=True) if state == State.SHORTENED]


def large(name: str, relevance: float, path: str) -> Row:
    """Larger than the budget, with a declaration of 15 tokens."""
    return Row(name, tokens=200, relevance=relevance, sig=15, path=path)


def test_a_file_of_which_something_is_kept_waits() -> None:
    whole = Row("A", tokens=50, relevance=0.9, path="one.py")
    rows = [whole, large("B", 0.8, "one.py"), large("C", 0.7, "two.py")]
    assert shortened(rows, 0.25) == ["C"], "one.py is there already"
    assert shortened(rows, 0.45) == ["B", "C"]


def test_each_file_has_one_before_any_has_two() -> None:
    rows = [large("A", 0.9, "one.py"), large("B", 0.8, "one.py"), large("C", 0.7, "two.py"), large("D", 0.6, "two.py")]
    assert shortened(rows, 0.25) == ["A"]
    assert shortened(rows, 0.35) == ["A", "C"]
    assert shortened(rows, 0.5) == ["A", "B", "C"]
