"""Delta debugging: the smallest set of changes that has an effect. Pure.

    minimised(["a", "b", "c"], lambda changes: {"a", "c"} <= changes)      # ("a", "c")

The algorithm is ddmin (Zeller and Hildebrandt 2002). What it returns is 1-minimal: without any one of its elements the
effect is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def minimised(changes: Sequence[T], has_effect: Callable[[Collection[T]], bool]) -> tuple[T, ...]:
    """The changes of a 1-minimal subset that still has the effect, in their order.

    Args:
        changes: different from each other; together they have the effect.
        has_effect: whether some of them have it; need not be monotone.
    """
    left, parts = list(changes), 2
    while len(left) > 1:
        pieces = _pieces(left, parts)
        smaller = next((piece for piece in pieces if has_effect(piece)), None)
        if smaller is not None:
            left, parts = smaller, 2
            continue
        rests = ([one for one in left if one not in piece] for piece in pieces)
        rest = next((rest for rest in rests if has_effect(rest)), None) if parts > 2 else None
        if rest is not None:
            left, parts = rest, parts - 1
        elif parts < len(left):
            parts = min(len(left), 2 * parts)
        else:
            break
    return tuple(left)


def _pieces(items: list[T], parts: int) -> list[list[T]]:
    """The items in so many pieces of about the same size, none empty."""
    ends = [len(items) * number // parts for number in range(parts + 1)]
    return [items[first:last] for first, last in pairwise(ends) if first < last]
