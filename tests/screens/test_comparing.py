"""Another decision beside the present one, on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspector_kit import assert_golden, bench_of, inspector, press, running, settle
from secateur.settings import Settings
from secateur_tui.app import Inspector
from secateur_tui.widgets.dialogue import QueryInput

LOG = "\n".join([*(f"step {number} ok" for number in range(300)), "ERROR: disk full", "  at write", "done"])


async def compared(app: Inspector, word: str) -> list[str]:
    """The screen after comparing with a word."""
    return await settle(app, "c", "ctrl+a", "ctrl+k", *word, "enter")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
async def test_two_budgets_stand_beside_each_other(size: tuple[int, int]) -> None:
    async with running(inspector(settings=Settings(budget=3000), proves=True), size) as app:
        lines = await compared(app, "1,500")
        assert any("budget 1,500" in line for line in lines)
        assert_golden(f"search_compare_{size[0]}x{size[1]}", lines)


async def test_the_right_side_is_adopted_and_the_left_one_becomes_the_ghost() -> None:
    async with running(inspector(settings=Settings(budget=3000))) as app:
        await compared(app, "1500")
        await settle(app, "a")
        state = bench_of(app).state
        assert state.settings.budget == 1500
        assert state.baseline is not None
        assert state.baseline.settings.budget == 3000
        lines = await settle(app, "u")
        assert bench_of(app).state.settings.budget == 3000
        assert any("ghost" in line for line in lines) or bench_of(app).state.baseline is not None
        await press(app, "b", "c")
        assert any("ghost  the answer before your changes, or when x was pressed" in one for one in await settle(app))


async def test_the_proposals_are_chosen_with_up_and_down() -> None:
    async with running(inspector(settings=Settings(budget=3000))) as app:
        await press(app, "c")
        words = ["recommended", "1,500", "6,000"]
        field = app.screen.query_one(QueryInput)
        assert field.value == words[0]
        lines = await settle(app)
        assert any("▸ recommended" in line for line in lines)
        await press(app, "down", "down")
        assert field.value == words[2]
        assert any("▸ 6,000" in line for line in await settle(app))
        assert any("budget 1,500" in line for line in await settle(app, "up", "enter"))


async def test_a_slip_is_told_before_enter_and_keeps_the_question_open() -> None:
    async with running(inspector()) as app:
        assert any("type a profile, a budget" in line for line in await settle(app, "c", "ctrl+a", "ctrl+k"))
        lines = await settle(app, *"recomended", "enter")
        assert any("there is no profile recomended" in line for line in lines)
        assert any("did you mean recommended?" in line for line in lines)
        assert any("only right" in line for line in await settle(app, *["left"] * 5, "m", "enter"))


async def test_a_log_is_compared_under_another_budget(tmp_path: Path) -> None:
    path = tmp_path / "ci.log"
    path.write_text(LOG, "utf-8")
    async with running(Inspector(None, Settings(), path=str(path), bench="log")) as app:
        lines = await compared(app, "60")
        assert any("only left" in line for line in lines)
        await settle(app, "a")
        state = bench_of(app).state
        assert int(state.kind_page.kind.budget.value(state.settings)) == 60
