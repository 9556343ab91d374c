"""Limits what the JSON of a search lists besides kept candidates, so that a model or a log that asked for 4,000 tokens
does not get 250,000 characters of dropped ones.

A kept candidate always has every field, and its entry in the ledger. Repeated facts are cut first: actions of kept
candidates, which the ledger has too; then their callers and callees; then dropped candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

JSON_LIMIT = 40_000
"""Most characters of `dropped`, `graph` and `report.actions` together."""

DROPPED_LISTED = 20
"""Dropped candidates that are listed by default."""

_SLACK = 800
"""Characters for the brackets of these lists, and for the entries that count unlisted items."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The numbers of listed candidates, best first: kept candidates with an action, those with callers and callees, and
    dropped candidates."""

    actions: int
    graph: int
    dropped: int


def fit_extent(actions: Sequence[int], graph: Sequence[int], dropped: Sequence[int]) -> Extent:
    """Returns how many fit.

    Args:
        actions: characters of the action of each kept candidate.
        graph: characters in `graph` for each kept candidate.
        dropped: characters of each dropped candidate, including its entry and action.
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
