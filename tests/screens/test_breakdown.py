"""What a row says of its priority, at every width: a bar of its terms, and the largest part of its relevance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from inspector_kit import (
    ORDERS,
    ScriptedEngine,
    bench_of,
    inspector,
    make_pool,
    orders_engine,
    running,
    settle,
)
from ledger_kit import opened
from secateur_tui.frame import ROOMY, WIDE
from secateur_tui.short_names import lay_out_columns
from secateur_tui.widgets.item_list import ItemList
from textual.pilot import Pilot

LONG = [
    replace(one, path=f"src/a/rather/long/way/{one.path}", name=f"RatherLongNamesOfClasses{number}.{one.name}")
    for number, one in enumerate(ORDERS * 20)
]


SCREENS = [80, 99, 100, WIDE - 1, WIDE, 120, 130, ROOMY - 1, ROOMY, 170, 200, 240]


async def test_a_bar_is_never_shorter_on_a_wider_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    for number in range(6):
        name = f"a_rather_long_name_of_a_file_about_money_{number}.py"
        (tmp_path / "shop" / name).write_text(
            f"def money_{number}(amount):\n    return amount\n" * (number + 1), "utf-8"
        )
    for app, id_ in (
        (inspector(ScriptedEngine(lambda query, _: make_pool(LONG, query=query)), query="refund"), "terms"),
        (opened("files"), "bar"),
    ):
        cells = []
        async with running(app, (80, 30)):
            pilot = Pilot(app)
            for columns in SCREENS:
                await pilot.resize_terminal(columns, 30)
                await settle(app)
                bench = bench_of(app)
                layout = lay_out_columns(
                    bench.kind_page.listing(bench.scene).columns, bench.query_one(ItemList).content_cells
                )
                cells.append(layout.cells.get(id_, 0))
        assert len(set(cells)) == 1 and cells[0] >= 8, cells  # names get the room of a wider screen


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
    async with running(app):
        lines = await settle(app, "down")
        row = bench_of(app).state.cursor
        parts = {part: float(column[row]) for part, column in pool.parts["relevance"].items()}
        largest = max(parts, key=lambda part: parts[part])
        assert any(f"most relevance: {largest} {parts[largest]:.2f}" in line for line in lines[4:7]), lines[:8]
