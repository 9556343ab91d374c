"""Finds what would change each decision of a report, proven by deciding again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import UNSET, UnsetType, structs

from secateur.errors import UsageError
from secateur.model import Selection
from secateur.progress import Progress, unreported
from secateur.render import proofs
from secateur.render.page import Page
from secateur.render.search_json import DROPPED_LISTED, SearchOutput
from secateur.render.text import why
from secateur.render.walk_text import Walk
from secateur.selection.pool_trials import PoolTrials
from secateur.selection.select import select
from secateur.settings import Settings
from secateur.what_if.explanation import Explanation, explain

Recount = Callable[[Selection], int]


def explanation_of(
    selection: Selection,
    settings: Settings,
    rows: list[int],
    recount: Recount,
    progress: Progress = unreported,
) -> Explanation:
    """Proves what would change a selection, and the decisions about these rows.

    Args:
        recount: counts the text that leaves.

    Raises:
        UsageError: the selection was decided with other settings.
    """
    pool = selection.pool
    if not np.array_equal(select(pool, settings).state, selection.state):
        raise UsageError(
            "the selection was decided with other settings", hint="pass the settings that it was decided with"
        )
    return explain(PoolTrials(pool, settings, selection, recount), rows, progress)


def explain_page(
    page: Page, selection: Selection, settings: Settings, recount: Recount, dropped: int | UnsetType | None = UNSET
) -> Page:
    """Adds to the report of a search what is proven of all that goes out and of the best of the rest, of `dropped` as
    in `search_page`. Raises what `explanation_of` raises."""
    rows = [*selection.kept_rows, *selection.dropped_rows[: DROPPED_LISTED if dropped is UNSET else dropped]]
    explanation = explanation_of(selection, settings, rows, recount)

    def because(row: int) -> str:
        return why(selection, selection.decision(row))

    return proofs.add_explanation_sections(page, explanation, because, pins=True)


def explain_report(
    report: SearchOutput, walk: Walk, selection: Selection, settings: Settings, recount: Recount
) -> SearchOutput:
    """Adds `what_if` to each item that the JSON of a search lists, and `ranges`, `curve` and `best` on top. Raises
    UsageError: the selection was decided with other settings."""
    row_of = selection.pool.row_of
    listed = [row_of[item.symbol_id] for item in (*report.candidates, *report.dropped)]
    explanation = explanation_of(selection, settings, listed, recount)
    proven = {
        name: [structs.replace(item, what_if=explanation.what_if(row_of[item.symbol_id])) for item in items]
        for name, items in (("candidates", report.candidates), ("dropped", report.dropped))
    }
    return structs.replace(report, walk=walk, **proven, **structs.asdict(explanation.shape()))
