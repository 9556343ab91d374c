"""The recorded decisions of a scenario as an answer that the one on the screen is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import structs
from secateur.ledger import State
from secateur.model import Pool
from secateur.settings import Settings
from secateur_lab.scenarios.scenario import Recorded, RecordedItem

from secateur_tui.state.search_answer import SearchAnswer

_STATES = {state.label: state for state in State}


def restore_answer(recorded: Recorded, now: SearchAnswer, settings: Settings) -> SearchAnswer:
    """Returns the recorded decisions over the candidates of now and those that are gone. What was not recorded did not
    leave; its place in the order is not known."""
    selection = now.selection
    gone = [item for item in recorded.items if item.id not in selection.pool.row_of]
    pool = _add_rows(selection.pool, gone) if gone else selection.pool
    size = len(pool)
    state = np.full(size, int(State.DROPPED), dtype=np.int8)
    place = np.zeros(size, dtype=np.int64)
    for item in recorded.items:
        row = pool.row_of[item.id]
        state[row] = int(_STATES[item.state])
        place[row] = item.rank or 0
    pad = (0, size - len(selection))
    then = structs.replace(
        selection,
        pool=pool,
        budget=recorded.budget,
        state=state,
        reason=np.pad(selection.reason, pad),
        priority=np.pad(selection.priority, pad),
        score=np.where(place > 0, -place, -(size + len(selection.order) + 1)).astype(np.float64),
        terms={name: np.pad(column, pad) for name, column in selection.terms.items()},
        used=recorded.after,
    )
    return SearchAnswer(settings, then, recorded.after, place, now.engine)


def _add_rows(pool: Pool, gone: list[RecordedItem]) -> Pool:
    """Returns the pool with further rows for what is no longer among the candidates."""
    columns: dict[str, Any] = {}
    for name, value in structs.asdict(pool).items():
        if isinstance(value, list):
            columns[name] = [*value, *[""] * len(gone)]
        elif isinstance(value, np.ndarray):
            columns[name] = np.pad(value, (0, len(gone)))
    columns["symbol_id"] = [*pool.symbol_id, *(item.id for item in gone)]
    columns["path"] = [*pool.path, *(item.id.partition("::")[0] for item in gone)]
    columns["qualname"] = [*pool.qualname, *(item.id.partition("::")[2] for item in gone)]
    columns["tokens"] = np.append(pool.tokens, [item.tokens[0] for item in gone])
    return structs.replace(pool, **columns)
