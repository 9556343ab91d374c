"""Holds a selection to its budget by the rendered text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from secateur.model import Selection
from secateur.selection.select import select
from secateur.settings import Settings


def fitting(selection: Selection, settings: Settings, tokens_of: Callable[[Selection], int]) -> Selection:
    """Costs are upper bounds, so this holds at once; else the last rows go until the recounted text fits."""
    while tokens_of(selection) > selection.budget:
        last = selection.pool.symbol_id[selection.kept_rows[-1]]
        settings = replace(settings, excludes=(*settings.excludes, last))
        selection = select(selection.pool, settings)
    return selection
