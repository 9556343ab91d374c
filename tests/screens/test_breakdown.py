"""What a row says of its priority, at every width: a bar of its terms, and the largest part of its relevance."""

from __future__ import annotations

from dataclasses import replace

import pytest
from inspector_kit import ORDERS, ScriptedEngine, bench_of, inspector, make_pool, orders_engine, press, settle
from secateur_tui.columns import lay_out_columns
from secateur_tui.frame import ROOMY, WIDE
from secateur_tui.widgets.item_list import ItemList

LONG = [
    replace(one, path=f"src/a/rather/long/way/{one.path}", name=f"RatherLongNamesOfClasses{number}.{one.name}")
    for number, one in enumerate(ORDERS * 20)
]


@pytest.mark.parametrize("columns", [100, WIDE - 1, WIDE, 120, ROOMY - 1, ROOMY, 200])
async def test_every_row_shows_what_its_priority_is_made_of(columns: int) -> None:
    app = inspector(ScriptedEngine(lambda query, _: make_pool(LONG, query=query)), query="refund")
    async with app.run_test(size=(columns, 30)):
        lines = await settle(app)
        bench = bench_of(app)
        shown = bench.kind_page.listing(bench.scene).columns
        layout = lay_out_columns(shown, bench.query_one(ItemList).content_cells)
        assert layout.cells["terms"] >= 8
        assert "place" in layout.cells or columns < 120
        rows = [line for line in lines if "RatherLong" in line or "…" in line]
        assert any("█" in row and "▓" in row and "▒" in row for row in rows)


async def test_the_line_above_the_bar_names_the_largest_part_of_the_relevance() -> None:
    app = inspector(orders_engine(), query="refund")
    pool = make_pool()
    async with app.run_test(size=(120, 40)):
        await settle(app)
        await press(app, "down")
        lines = await settle(app)
        row = bench_of(app).state.cursor
        parts = {part: float(column[row]) for part, column in pool.parts["relevance"].items()}
        largest = max(parts, key=lambda part: parts[part])
        assert any(f"most relevance: {largest} {parts[largest]:.2f}" in line for line in lines[4:7]), lines[:8]
