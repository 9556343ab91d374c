"""Bounds what the JSON of a search lists beside what it keeps, so that a model or a log that asked for 4,000 tokens is
not sent 250,000 characters of what was dropped.

A kept candidate always has every field, and its entry in the ledger. What says again what stands elsewhere goes first:
actions of kept candidates, which the ledger has too; then their callers and callees; then dropped candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

JSON_LIMIT = 40_000
"""Characters of `dropped`, `graph` and `report.actions` together."""

DROPPED_LISTED = 20
"""Dropped candidates that are listed by default."""

_SLACK = 800
"""Characters for the brackets of these lists, and for the entries that count what is not listed."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The numbers that are listed, the best first: kept candidates with an action, those with callers and callees,
    dropped candidates."""

    actions: int
    graph: int
    dropped: int


def fitted(actions: Sequence[int], graph: Sequence[int], dropped: Sequence[int]) -> Extent:
    """The most that may be listed.

    Args:
        actions: characters of the action of each kept candidate.
        graph: of what `graph` holds of each kept candidate.
        dropped: of each dropped candidate, with its entry and its action.
    """
    over = sum(map(sum, (actions, graph, dropped))) - (JSON_LIMIT - _SLACK)
    counts = []
    for sizes in (actions, graph, dropped):
        count = len(sizes)
        while over > 0 and count > 0:
            count -= 1
            over -= sizes[count]
        counts.append(count)
    return Extent(*counts)
