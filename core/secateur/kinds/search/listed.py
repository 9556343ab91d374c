"""The ledger of a search with the entries that an account names, and the rows of the pool that entries are of."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from secateur.model import Ledger, Selection, State
from secateur.render import DROPPED_LISTED, search_ledger


def listed_ledger(
    selection: Selection, pack_tokens: int, dropped: int, ids: Collection[str] = ()
) -> tuple[Ledger, Sequence[int]]:
    """The ledger of a search with the entries that an account of it names, and their numbers in the whole one; see
    `Kind.listed`."""
    order, pool = selection.order, selection.pool
    gone = order[selection.state[order] == State.DROPPED][:dropped]
    wanted = {*selection.kept_rows, *gone.tolist(), *(pool.row_of[one] for one in ids if one in pool.row_of)}
    numbers = [number for number, row in enumerate(order.tolist()) if row in wanted]
    return search_ledger(selection, pack_tokens, [int(order[number]) for number in numbers]), numbers


def most_listed(typed: str | int | None) -> int | None:
    """The most dropped candidates that the JSON lists, as typed; None: all."""
    if typed == "all":
        return None
    return DROPPED_LISTED if typed in (None, "") else int(typed or 0)


def row_of(selection: Selection, number: int) -> int | None:
    """The row of the pool that an entry of the ledger is of; None: the wrapper."""
    return int(selection.order[number]) if number < len(selection) else None
