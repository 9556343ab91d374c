"""Bounds what the JSON of a search lists, so that a model or a log that asked for 4,000 tokens is not sent 250,000.

What leaves is never cut. Details go first where they are worth least: in `report.actions` what the ledger says too,
then dropped candidates beyond the five best, then the details of the candidates of lowest priority, then the other
dropped ones, then ledger entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

JSON_LIMIT = 40_000
"""Characters of the JSON beside the text that leaves."""

DROPPED_LISTED = 20
"""Dropped candidates that are listed by default."""

_NEAREST = 5
"""Of these, the ones that go only after the details of kept candidates."""

_SLACK = 1_200
"""Characters for the entries, and the notice, that say what is not listed."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The numbers that are listed, the best first: dropped candidates; kept ones with all details, with an action, with
    a ledger entry."""

    dropped: int
    detailed: int
    actions: int
    entries: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """Characters that each item takes, in the order of the lists.

    Attributes:
        fixed: of everything else, the text that leaves not counted.
        dropped: of a dropped candidate with its entry and its action.
        details: what all details of a kept candidate take more than the least there is of it.
        actions: of its action in the report.
        entries: of its entry in the ledger.
    """

    fixed: int
    dropped: Sequence[int]
    details: Sequence[int]
    actions: Sequence[int]
    entries: Sequence[int]


def fitted(sizes: Sizes) -> Extent:
    """The most that may be listed. Where even the least is above the limit, that is what is listed: candidates that
    leave are never cut."""
    over = (
        sizes.fixed
        + sum(map(sum, (sizes.dropped, sizes.details, sizes.actions, sizes.entries)))
        - (JSON_LIMIT - _SLACK)
    )
    actions, over = _less(sizes.actions, 0, over)
    dropped, over = _less(sizes.dropped, _NEAREST, over)
    detailed, over = _less(sizes.details, 0, over)
    dropped, over = _less(sizes.dropped[:dropped], 0, over)
    entries, over = _less(sizes.entries, 0, over)
    return Extent(dropped, detailed, actions, entries)


def _less(sizes: Sequence[int], least: int, over: int) -> tuple[int, int]:
    """The number of items that stay when the last ones go until nothing is over, and what is over still."""
    count = len(sizes)
    while over > 0 and count > least:
        count -= 1
        over -= sizes[count]
    return count, over
