"""All that a search finds and decides, as text that is compared with what another engine finds and decides."""

from __future__ import annotations

from msgspec import structs
from secateur import Engine
from secateur.model import Selection
from secateur.progress import Progress
from secateur.render.structured import dumps_report
from secateur.retrieval.results import pool_to_text


def report_text(engine: Engine, selection: Selection) -> str:
    """The report with all that was dropped, and the walk along calls. What `explain` proves is left out: it follows
    from the pool, by deciding again hundreds of times."""
    return dumps_report(structs.replace(engine.report(selection, dropped=None), walk=engine.walk(selection)))


def answer_text(engine: Engine, query: str, progress: Progress | None = None) -> str:
    """Every column of the pool, and the report."""
    selection = engine.search(query, use_cache=False, progress=progress)
    pool = pool_to_text(selection.pool)
    assert pool is not None
    return f"{pool}\n{report_text(engine, selection)}"
