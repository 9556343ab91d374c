"""Selections for tests of what is printed, where every row goes out, in row order, whole or shortened as the test says;
and the report of one as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from secateur.model import Notice, Reason, Selection, State
from secateur.render.text import search_page
from secateur.selection import select
from secateur.settings import Settings
from support.pools import Row, pool_of

Printed = tuple[str, str, str, int, bool]
"""Path, qualified name, language, first line, whether shortened."""


def page_text(selection: Selection, pack_tokens: int, **options: Any) -> str:
    """The report of a search for people."""
    return search_page(selection, pack_tokens, **options).text()


def selection_of(
    rows: Sequence[Printed], *, query: str = "query", warnings: Sequence[Notice] = (), form: str = "markdown"
) -> Selection:
    """A selection that sends these rows out, files in this order."""
    lines = np.array([line for *_, line, _ in rows], dtype=np.int64)
    pool = replace(
        pool_of([Row(f"r{i:03}", sig=10) for i in range(len(rows))]),
        query=query,
        format=form,
        path=[path for path, *_ in rows],
        qualname=[name for _, name, *_ in rows],
        symbol_id=[f"{path}::{name}#{i}" for i, (path, name, *_) in enumerate(rows)],
        language=[language for _, _, language, *_ in rows],
        line_start=lines,
        line_end=lines + 9,
        warnings=tuple(warnings),
    )
    selection = select(pool, Settings(budget=100 * len(rows)))
    shortened = np.array([shortened for *_, shortened in rows], dtype=np.bool_)
    return replace(
        selection,
        state=np.where(shortened, State.SHORTENED, selection.state).astype(np.int8),
        reason=np.where(shortened, Reason.SIGNATURE, selection.reason).astype(np.int8),
    )
