"""What can be reached with a key can be clicked: sliders and choices, pages, keys of the last line, names of benches,
rows, segments of the bar."""

from pathlib import Path

import pytest
from inspector_kit import Inspector, bench_of, inspector, press, running, screen_lines, settle
from ledger_kit import WRITERS, opened
from secateur.settings import Settings, lookup
from textual.pilot import Pilot


async def click(pilot: Pilot[int], app: Inspector, words: str, *, of: str = "", at: int = 0) -> list[str]:
    """Clicks on the `at`th character of `words`, in the first line that has them and `of`; the screen after that."""
    lines = screen_lines(app)
    y = next(y for y, line in enumerate(lines) if words in line and of in line)
    await pilot.click(offset=(lines[y].index(words) + at, y))
    return await settle(app)


def weight(app: Inspector, key: str = "smart_pruning.priority_weights.relevance") -> object:
    return lookup(bench_of(app).state.settings, key)


async def test_a_click_on_a_slider_sets_it_to_the_nearest_step_and_is_undone() -> None:
    async with running(inspector()) as app:
        pilot = Pilot(app)
        opened = bench_of(app).state.settings
        line = next(line for line in screen_lines(app) if "relevance" in line and "◆" in line)
        track = line[min(line.index("━"), line.index("◆")) : line.rindex("─") + 1]
        await click(pilot, app, track, at=0)
        assert weight(app) == 0.0
        await click(pilot, app, "◆", of="relevance", at=len(track) - 1)
        assert weight(app) == 1.0
        await click(pilot, app, "━" * (len(track) - 1), of="relevance", at=len(track) // 2)
        middle = weight(app)
        assert isinstance(middle, float) and 0.4 <= middle <= 0.6 and round(middle * 20) == pytest.approx(middle * 20)
        await press(app, "u", "u", "u")
        assert bench_of(app).state.settings == opened


async def test_a_click_on_a_knob_chooses_it_for_the_keys() -> None:
    async with running(inspector()) as app:
        pilot = Pilot(app)
        await click(pilot, app, "hotspot", of="◆")
        assert bench_of(app).focused is bench_of(app).knobs and bench_of(app).knobs.chosen.label == "hotspot"
        await press(app, "0")
        assert weight(app, "smart_pruning.priority_weights.hotspot") == 0.0


async def test_a_choice_is_clicked_forwards_and_backwards() -> None:
    async with running(inspector()) as app:
        pilot = Pilot(app)
        at = "smart_pruning.strategy"
        before = weight(app, at)
        await click(pilot, app, "›", of="strategy")
        assert weight(app, at) != before
        await click(pilot, app, "‹", of="strategy")
        assert weight(app, at) == before


async def test_keys_of_the_last_line_are_clicked() -> None:
    async with running(inspector(), (240, 40)) as app:
        pilot = Pilot(app)
        budget = bench_of(app).state.settings.effective_budget
        await click(pilot, app, "Budget+")
        assert bench_of(app).state.settings.effective_budget > budget
        await click(pilot, app, " u Undo", at=1)
        assert bench_of(app).state.settings.effective_budget == budget
        assert any("─ Help: " in line for line in await click(pilot, app, "? Help"))


async def test_a_key_that_cannot_be_done_says_why_when_it_is_clicked() -> None:
    async with running(inspector(), (240, 40)) as app:
        pilot = Pilot(app)
        await click(pilot, app, "Undo")
        assert any("nothing was changed" in notice.message for notice in app._notifications)


@pytest.mark.parametrize("size", [(200, 40), (120, 40), (80, 24)])
async def test_benches_are_clicked_in_the_title(
    size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WRITERS["conversation"](tmp_path)
    async with running(opened("conversation"), size) as app:
        pilot = Pilot(app)
        second = "Files" if size == (120, 40) else " 2"
        await click(pilot, app, second, of="secateur", at=1)
        assert bench_of(app).name_of_bench == "files"
        await click(pilot, app, second.replace("Files", "Conversation").replace("2", "3"), of="secateur", at=1)
        assert bench_of(app).name_of_bench == "conversation"
        assert bench_of(app).state.listed


async def test_pages_and_rows_are_clicked_where_the_right_side_lies_on_top() -> None:
    async with running(inspector(settings=Settings()), (80, 24)) as app:
        pilot = Pilot(app)
        lines = await settle(app, "i")
        assert any("▐Why▌" in line for line in lines)
        assert any("▐Preview▌" in line for line in await click(pilot, app, " Preview ", at=2))
        await settle(app, "escape")
        await click(pilot, app, "refund.py", of="│")
        assert "refund.py" in next(line for line in screen_lines(app) if "▸" in line)


async def test_a_click_on_a_segment_of_the_bar_goes_to_its_item() -> None:
    async with running(inspector()) as app:
        pilot = Pilot(app)
        bench = bench_of(app)
        region = bench.query_one("#budget").content_region
        seen = []
        for x in (2, region.width // 4, region.width // 2):
            await pilot.click(offset=(region.x + x, region.y + 1))
            await settle(app)
            assert bench.state.outcome is not None
            assert bench.state.outcome.ledger.entries[bench.state.answer.entry_number(bench.state.cursor) or 0].after
            seen.append(bench.state.cursor)
        assert len(set(seen)) == 3
