"""No error of a widget ends a session, and every bench can be left from every state and at every size."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from inspector_kit import Inspector, bench_of, inspector, press, running, screen_lines, settle
from ledger_kit import WRITERS, opened
from secateur.settings import Settings
from secateur_tui.app import run
from secateur_tui.screen import Bench
from support.repos import write
from textual import events
from textual.app import ScreenStackError
from textual.pilot import Pilot

SIZE = (120, 40)


@pytest.fixture
def surviving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inspector, "SURVIVES", True)


@pytest.mark.parametrize("key", ["pageup", "pagedown"])
@pytest.mark.usefixtures("surviving")
async def test_a_page_key_in_a_palette_without_height_keeps_what_was_tuned(key: str) -> None:
    async with running(inspector(), SIZE) as app:
        await press(app, "b")
        tuned = bench_of(app).state.settings
        for pressed in ("ctrl+p", key, key):
            app.post_message(events.Key(pressed, None))
        await settle(app)
        await settle(app, "escape")
        await press(app, "down", "b")
        assert app.is_running and len(bench_of(app).state.history.entries) == 3
        await press(app, "u")
        assert bench_of(app).state.settings == tuned
        assert all(notice.message.startswith("undone: ") for notice in app._notifications)


@pytest.mark.parametrize("key", ["3", "question_mark", "ctrl+p", "f", "S", "c"])
@pytest.mark.parametrize("turns", (2, 6))
async def test_what_is_about_to_open_may_be_quitted(key: str, turns: int) -> None:
    async with running(inspector(), SIZE) as app:
        app.post_message(events.Key(key, None))
        for _ in range(turns):
            await asyncio.sleep(0)
        app.exit()
    assert app.return_code == 0


@pytest.mark.usefixtures("surviving")
async def test_a_page_that_cannot_be_drawn_is_said_and_the_keys_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    app = inspector()
    async with app.run_test(size=SIZE):
        await settle(app)

        def broken(*_: object) -> None:
            raise ZeroDivisionError("of this test")

        monkeypatch.setattr(bench_of(app).kind_page, "draw_why", broken)
        await settle(app, "down", "b", "down")
        assert any("of this test" in notice.message for notice in app._notifications)
        monkeypatch.undo()
        before = bench_of(app).state.cursor
        await press(app, "up")
        assert app.is_running and bench_of(app).state.cursor != before


def test_a_fault_of_the_program_ends_with_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError("of this test")

    async def fail(pilot: Pilot[int]) -> None:
        tuned = pilot.app
        assert isinstance(tuned, Inspector)
        await settle(tuned)
        tuned.call_later(broken)

    class Failing(Inspector):
        def run(self, **_: Any) -> int | None:
            return super().run(headless=True, size=SIZE, auto_pilot=fail)

    monkeypatch.setattr("secateur_tui.app.Inspector", Failing)
    own, folder = tmp_path / "own", write(tmp_path / "shop", {"a.py": "def round_total():\n    return 1\n"})
    environ = {"SECATEUR_CONFIG_DIR": str(own), "SECATEUR_CACHE_DIR": str(tmp_path / "cache")}
    assert run(folder, settings=Settings(budget=4000), inputs={"query": "round"}, environ=environ) == 1


@pytest.mark.parametrize("kind", list(WRITERS))
async def test_a_bench_where_nothing_is_open_is_left_by_escape_and_its_number(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WRITERS[kind](tmp_path)
    async with running(opened(kind), SIZE) as app:
        first = bench_of(app).name_of_bench
        back = app.keymap.keys[f"bench-{first}"][0]
        for number in "1", "2", "3", "4", "5", "6":
            await settle(app, "escape", number)
            await settle(app, "escape", back)
            assert bench_of(app).name_of_bench == first, number


async def resized(pilot: Pilot[int], app: Inspector, *size: int) -> list[str]:
    await pilot.resize_terminal(*size)
    return await settle(app)


async def test_after_a_resize_the_cursor_is_in_sight() -> None:
    async with running(inspector()) as app:
        pilot = Pilot(app)
        await press(app, "end")
        for size in ((120, 24), (100, 24), (200, 60), (80, 24), (120, 30)):
            lines = await resized(pilot, app, *size)
            assert sum("▸" in line for line in lines) == 1, (size, lines)


async def test_a_bench_that_was_away_during_a_resize_has_its_right_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WRITERS["files"](tmp_path)
    async with running(inspector(folder="shop"), (80, 24)) as app:
        pilot = Pilot(app)
        await settle(app, "2")
        await resized(pilot, app, 140, 40)
        assert any("Diff" in line for line in await settle(app, "1"))
        await press(app, "2")
        await resized(pilot, app, 80, 24)
        await press(app, "1")
        await resized(pilot, app, 140, 40)
        assert any("Diff" in line for line in await settle(app, "2"))
        assert screen_lines(app)


async def test_a_bench_that_hears_of_a_resize_after_it_was_left_has_its_right_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WRITERS["files"](tmp_path)
    async with running(inspector(folder="shop"), (140, 40)) as app:
        left = bench_of(app)
        await settle(app, "2")
        left.post_message(events.Resize.from_dimensions((80, 24), None))  # the terminal is as before again
        await settle(app)
        assert any("Diff" in line for line in await settle(app, "1"))


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_keys_typed_ahead_close_a_palette_once_and_do_one_thing(key: str) -> None:
    async with running(inspector(), SIZE) as app:
        await settle(app, "ctrl+p", *"Budget+", "down")
        before = len(bench_of(app).state.history.entries)
        for _ in range(4):
            app.post_message(events.Key(key, None))
        lines = await settle(app)
        assert any("secateur" in line for line in lines) and app.screen is bench_of(app)
        assert len(bench_of(app).state.history.entries) - before == (key == "enter")


async def test_keys_typed_ahead_close_a_page_on_top_once() -> None:
    async with running(inspector(), SIZE) as app:
        await press(app, "question_mark")
        for _ in range(3):
            app.post_message(events.Key("escape", None))
        await settle(app)
        assert app.screen is bench_of(app)


async def test_a_bench_chosen_while_a_page_lies_on_top_takes_the_place_of_both() -> None:
    async with running(inspector(), SIZE) as app:
        await press(app, "question_mark")
        app.show_bench("envelope")
        await settle(app)
        assert [screen for screen in app.screen_stack if isinstance(screen, Bench)] == [app.screen]
        assert bench_of(app).name_of_bench == "envelope"
        await settle(app, "escape", "1")
        assert bench_of(app).state.listed


@pytest.mark.parametrize("cells", [120, 149, 150, 200, 240])
async def test_the_open_page_is_drawn_at_every_width_that_has_room_for_it(cells: int) -> None:
    app = inspector()
    async with app.run_test(size=(cells, 40)):
        lines = await settle(app)
        assert any("KEPT #1 of 12" in line for line in lines)


async def test_a_key_that_comes_when_the_screens_have_gone_ends_nothing() -> None:
    app = inspector()
    async with app.run_test(size=(120, 40)):
        await settle(app)
    assert app.survive(ScreenStackError("No screens on stack"))
