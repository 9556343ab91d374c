"""The page with the pack, panes that fill the screen, and texts that are panned, wrapped and searched."""

import json
from pathlib import Path

import numpy as np
import pytest
from inspector_kit import (
    ScriptedEngine,
    assert_golden,
    bench_of,
    inspector,
    make_pool,
    orders_engine,
    press,
    running,
    settle,
)
from ledger_kit import ledger_bench, opened, write_transcript
from msgspec.structs import replace
from secateur.model import Pool
from secateur.settings import Settings, with_values
from secateur_tui.widgets.budget_bar import picture_of
from secateur_tui.widgets.pack_view import PackView
from secateur_tui.widgets.text_view import TextView
from textual.pilot import Pilot

SIZES = [(120, 40), (80, 24)]
TIGHT = Settings(budget=4000)
LONG = "src/orders/refund.py::refund_total"
TEXTS = {LONG: "def refund_total(order):\n    return " + "x" * 150 + "total\n" + "    pass\n" * 40}


@pytest.mark.parametrize(("name", "keys"), [("pack", "P"), ("zoom", "down enter"), ("pack_zoomed", "P tab tab enter")])
async def test_screen(name: str, keys: str) -> None:
    async with running(inspector(settings=TIGHT, proves=True), SIZES[0], notifications=True) as app:
        pilot = Pilot(app)
        for key in keys.split():
            await settle(app, key)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            lines = await settle(app)
            assert max(map(len, lines)) <= size[0] and len(lines) == size[1]
            assert_golden(f"search_{name}_{size[0]}x{size[1]}", lines)


async def test_the_pack_is_what_the_command_prints_and_each_part_leads_to_its_item() -> None:
    async with running(inspector(settings=TIGHT), SIZES[0], notifications=True) as app:
        await settle(app, "P")
        bench, view = bench_of(app), app.screen.query_one(PackView)
        answer = bench.state.answer
        assert answer is not None and view._text is not None
        engine = bench.kind_page.engine
        assert "\n".join(view._text.lines) == engine.render(answer.selection)
        assert [item for item in dict.fromkeys(view._text.items.tolist()) if item >= 0] == answer.selection.kept_rows
        await settle(app, "down", "down")
        app.screen.set_focus(view)
        await settle(app, "end")
        await settle(app, "at")
        assert bench.state.cursor != answer.selection.kept_rows[2]
        assert answer.selection.state[bench.state.cursor]


async def test_parts_under_the_heading_of_their_file_lead_to_their_items() -> None:
    def pool(query: str, _settings: Settings) -> Pool:
        found = make_pool(query=query)
        paths = [f"src/orders/{'odd' if row % 2 else 'even'}.py" for row in range(len(found))]
        return replace(found, path=paths, heading=np.full(len(found), 12, dtype=np.int64))

    async with running(inspector(ScriptedEngine(pool), settings=TIGHT), SIZES[0], notifications=True) as app:
        await settle(app, "P")
        bench, view = bench_of(app), app.screen.query_one(PackView)
        answer = bench.state.answer
        assert answer is not None and view._text is not None
        selection, pack = answer.selection, view._text
        assert selection.pack_rows != selection.kept_rows
        assert [item for item in dict.fromkeys(pack.items.tolist()) if item >= 0] == selection.pack_rows
        for line, item in enumerate(pack.items.tolist()):
            assert item < 0 or pack.lines[line] in bench.kind_page.engine.sent(selection, item).split("\n")
        assert picture_of(answer).joined.items.tolist() == selection.pack_rows, "in the order they leave"


async def test_words_are_looked_for_in_the_pack_and_no_action_is_done_meanwhile() -> None:
    async with running(inspector(settings=TIGHT), SIZES[1], notifications=True) as app:
        await settle(app, "P")
        app.screen.set_focus(app.screen.query_one(PackView))
        assert any("/qbx▏" in line for line in await settle(app, "slash", *"qbx")) and app.is_running
        lines = await settle(app, "backspace", "backspace", "backspace", *"Half", "enter")
        bench = bench_of(app)
        assert bench.state.answer is not None
        text = bench.kind_page.engine.render(bench.state.answer.selection).lower()
        holding = sum("half" in line for line in text.split("\n"))
        assert any("/Half" in line and f"of {holding} lines" in line for line in lines)
        top = app.screen.query_one(PackView).scroll_offset.y
        await press(app, "n", "n", "n")
        assert app.screen.query_one(PackView).scroll_offset.y > top
        await press(app, "N")
        assert any("in no line" in line for line in await settle(app, "slash", *"nowhere", "enter"))
        assert any("lines sent" in line for line in await settle(app, "slash", "escape"))
        assert bench_of(app).state.settings.budget == 4000


async def test_a_long_line_is_panned_or_wrapped_and_words_of_the_query_are_marked() -> None:
    async with running(inspector(orders_engine(texts=TEXTS), TIGHT), SIZES[0], notifications=True) as app:
        lines = await settle(app, "v")
        assert any("18▎def refund_total(order):" in line for line in lines), "a line that matches"
        assert not any("xtotal" in line for line in lines)
        view = app.screen.query_one("#preview", TextView)
        app.screen.set_focus(view)
        assert any("xtotal" in line for line in await settle(app, *["right"] * 17))
        assert bench_of(app).state.settings is bench_of(app).state.opened, "the knobs stay where they are"
        lines = await settle(app, "L")
        assert any("xtotal" in line for line in lines) and any("def refund_total" in line for line in lines)
        assert view.line_count() > len(TEXTS[LONG].split("\n"))


async def test_the_text_of_any_item_is_wrapped_panned_and_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    long = "a " * 70 + "needle" + " b" * 70
    Path("talk.jsonl").write_text(
        "".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in (("user", long), ("user", "end")))
    )
    async with running(opened("conversation", path="talk.jsonl"), SIZES[0], notifications=True) as app:
        assert any("Tab leads here" in line for line in await settle(app, "v")), "/ goes to the field as yet"
        view = app.screen.query_one("#preview", TextView)
        app.screen.set_focus(view)
        lines = await settle(app)
        assert any("needle" in line for line in lines) and any("L unwraps, / finds" in line for line in lines)
        lines = await settle(app, "L")
        assert not any("needle" in line for line in lines) and any(line.rstrip("│ ").endswith("…") for line in lines)
        assert any("needle" in line for line in await settle(app, *["right"] * 15))
        assert any("1 of 1 lines" in line for line in await settle(app, "slash", *"NEEDLE", "enter"))
        app.screen.set_focus(ledger_bench(app).home)
        lines = await settle(app, "down")
        assert any("end" in line for line in lines) and not any("1 of 1 lines" in line for line in lines)


async def test_the_transcript_that_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_transcript(tmp_path)
    app = opened("conversation", with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3000}))
    async with running(app, SIZES[0], notifications=True):
        lines = await settle(app, "P")
        text = "\n".join(lines)
        assert "── result of read_file ──" in text and "unknown" not in text, "a cleared result keeps its tool"
        bench = ledger_bench(app)
        answer = bench.state.answer
        assert answer is not None
        pack = app.screen.query_one(PackView)._text
        assert pack is not None and "\n".join(pack.lines) == bench.kind_page.kind.leaving(answer.outcome)


async def test_a_pane_fills_the_screen_and_gives_it_back() -> None:
    app = inspector(settings=TIGHT)
    async with app.run_test(size=SIZES[0], notifications=True):
        before = await settle(app)
        lines = await settle(app, "enter")
        assert not any("Budget ─" in line for line in lines)
        assert any("refund_total" in line and "src/orders/refund.py:18" in line for line in lines)
        assert await settle(app, "enter") == before
        for key in ("escape", "w", "v", "slash"):
            await settle(app, "enter", key)
            assert app.screen.focused is not None and app.screen.focused.region.area, key
            await settle(app, "escape")


async def test_a_click_on_a_segment_goes_to_its_item() -> None:
    async with running(inspector(settings=TIGHT), SIZES[0], notifications=True) as app:
        pilot = Pilot(app)
        bench = bench_of(app)
        answer = bench.state.answer
        assert answer is not None
        await pilot.click("#budget", offset=(60, 2))
        await settle(app)
        assert answer.selection.pool.qualname[bench.state.cursor] == "test_half_even"
        await pilot.click("#budget", offset=(117, 2))  # what is free is no item
        await settle(app)
        assert answer.selection.pool.qualname[bench.state.cursor] == "test_half_even"
