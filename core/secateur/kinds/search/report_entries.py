"""Lists the entries of a search that a report shows, and finds the pool row of an entry."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from secateur.model import Ledger, Selection, State
from secateur.render.search_json import search_ledger


def shorten_ledger(
    selection: Selection, pack_tokens: int, dropped: int, ids: Collection[str] = ()
) -> tuple[Ledger, Sequence[int]]:
    """Returns the ledger of a search with the entries that a report lists, and their indexes in the whole ledger; see
    `Kind.listed`."""
    order, pool = selection.order, selection.pool
    dropped_rows = order[selection.state[order] == State.DROPPED][:dropped]
    wanted = {*selection.kept_rows, *dropped_rows.tolist(), *(pool.row_of[id_] for id_ in ids if id_ in pool.row_of)}
    indexes = [index for index, row in enumerate(order.tolist()) if row in wanted]
    return search_ledger(selection, pack_tokens, [int(order[index]) for index in indexes]), indexes


def find_pool_row(selection: Selection, index: int) -> int | None:
    """Returns the pool row of an entry of the ledger, or None for the wrapper."""
    return int(selection.order[index]) if index < len(selection) else None
