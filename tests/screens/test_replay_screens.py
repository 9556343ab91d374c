"""A recording on the screen: every stop forwards and back shows what the recording decides without one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, chdir
from pathlib import Path
from typing import Any

import pytest
from inspector_kit import Inspector, Pace, assert_golden, press, settle
from secateur.directories import data_dir
from secateur.ledger import Ledger
from secateur.render.search_json import search_ledger
from secateur.settings import Settings, with_values
from secateur.shape import dumps
from secateur_lab.commands.demo import list_demos
from secateur_lab.replays.events import Captioned, HintApplied
from secateur_lab.replays.recording import Recording, read_recording
from secateur_lab.replays.replaying import replay, root_for
from secateur_lab.scenarios.running import session
from secateur_lab.scenarios.scenario import read_scenario
from secateur_tui.app import open_replay
from secateur_tui.frame import CAPTION_LINES, LEAST_WIDTH
from secateur_tui.pages.search import SearchPage
from secateur_tui.replay_player import ReplayPlayer, group_stops
from secateur_tui.screen import Bench
from secateur_tui.styled_text import wrap_words


@asynccontextmanager
async def played(
    recording: Recording, size: tuple[int, int] = (120, 40), *, proves: bool = False
) -> AsyncIterator[tuple[Inspector, Any]]:
    """The inspector on the first stop of a recording."""
    with session(os.environ) as opened, chdir(root_for(recording)):
        player = ReplayPlayer(recording, opened, Settings())
        app = open_replay(player, Pace(0.001, 0.001, 0, proves=proves))
        async with app.run_test(size=size):
            await rested(app, player)
            yield app, player
        if app.engine is not None:
            app.engine.close()  # type: ignore[attr-defined]


async def rested(app: Inspector, player: ReplayPlayer) -> list[str]:
    await settle(app)
    while player.busy:
        await settle(app)
    return await settle(app)


def shown_ledger(bench: Any) -> Ledger | None:
    if isinstance(bench.kind_page, SearchPage):
        answer = bench.state.answer
        assert answer is not None
        return search_ledger(answer.selection, lambda: bench.kind_page.engine.pack_tokens(answer.selection))
    return bench.state.answer.ledger if bench.state.refusal is None else None


def headless(recording: Recording) -> list[str]:
    """The ledger at the end of each stop; "" where a budget cannot be met."""
    with session(os.environ) as opened:
        steps = list(replay(recording, opened))
    told, last, number = [], "", 0
    for stop in group_stops(recording.events):
        for _ in stop.events:
            step = steps[number]
            number += 1
            if step.refusal is not None:
                last = ""
            elif step.decided is not None:
                last = dumps(step.decided.ledger.shape())
        told.append(last)
    return told


@pytest.mark.parametrize("name", list_demos())
async def test_every_stop_of_a_demo_shows_what_it_decides_without_a_screen(name: str):
    recording = list_demos()[name]
    expected = headless(recording)
    async with played(recording) as (app, player):
        forwards, screens = [], []
        for number in range(len(expected)):
            if number:
                await press(app, "n")
            screens.append(await rested(app, player))
            assert isinstance(app.screen, Bench)
            ledger = shown_ledger(app.screen)
            forwards.append(dumps(ledger.shape()) if ledger is not None else "")
            assert any(f"▶ {number + 1}/{len(expected)}" in line for line in screens[-1])
        assert player.error is None
        assert forwards == expected
        for number in reversed(range(len(expected) - 1)):
            await press(app, "N")
            back = await rested(app, player)
            assert back == screens[number]


def drawn_without_caption(lines: Sequence[str], caption: str) -> str:
    """The frame without the lines in which the caption stands."""
    own = [line for line in lines if line.strip() and "".join(line.split()) not in "".join(caption.split())]
    assert len(own) < len([line for line in lines if line.strip()]), "the caption stands on the screen"
    return " ".join("\n".join(own).split())


@pytest.mark.parametrize("size", [(160, 50), (80, 24)])
@pytest.mark.parametrize("name", list_demos())
async def test_every_figure_of_a_caption_stands_on_its_screen_or_on_the_one_before(name: str, size: tuple[int, int]):
    recording = list_demos()[name]
    async with played(recording, size) as (app, player):
        before = ""
        for number in range(len(player.stops)):
            if number:
                await press(app, "n")
            frame = drawn_without_caption(await rested(app, player), player.caption)
            told = player.caption if number else f"{recording.head.about} {player.caption}"
            for figure in re.findall(r"\d[\d,.]*\d|\d", told):
                assert re.search(rf"(?<![\d,.]){re.escape(figure)}(?![\d]|[,.]\d)", before + frame), (figure, frame)
            before = frame


async def test_h_applies_what_the_demo_says_that_h_applies():
    recording = list_demos()["search"]
    async with played(recording, proves=True) as (app, player):
        stops = [[event for event in stop.events if isinstance(event, HintApplied)] for stop in player.stops]
        ((place, hint),) = ((place, hints[0]) for place, hints in enumerate(stops) if hints)
        for _ in range(place - 1):
            await press(app, "n")
            await rested(app, player)
        await press(app, "h")
        await rested(app, player)
        assert app.screen.state.settings == with_values(app.screen.state.opened, hint.values)  # type: ignore[attr-defined]
    told = data_dir("README.md").read_text("utf-8")
    assert f"A budget of {hint.values['budget']:,} would keep it" in " ".join(told.split())


@pytest.mark.parametrize("name", list(list_demos()))
def test_captions_are_whole_on_the_smallest_screen(name: str):
    captions = [event.text for event in list_demos()[name].events if isinstance(event, Captioned)]
    assert captions
    for caption in captions:
        assert len(wrap_words(caption, LEAST_WIDTH - 2)) <= CAPTION_LINES, caption


async def test_saved_as_the_demo_says_its_page_is_asserted_and_three_other_items(tmp_path: Path):
    file = tmp_path / "refunds.scenario.toml"
    async with played(list_demos()["search"]) as (app, player):
        for _ in player.stops[1:]:
            await press(app, "n")
            await rested(app, player)
        assert "asserts three items" in player.caption and "m adds this page" in player.caption
        assert any("this screen: input, settings and assertions" in line for line in await settle(app, "S"))
        await settle(app, "enter")
        app.screen.query_one("#answer").value = str(file)  # type: ignore[attr-defined]
        await settle(app, "enter")
        asserted = read_scenario(file).expect.must_keep
        assert len(asserted) == 3
        await settle(app, "m")
    page = "docs/architecture.md::Architecture > Rounding"
    assert page not in asserted
    assert read_scenario(file).expect.must_keep == [*asserted, page]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
async def test_screen_of_a_stop(size: tuple[int, int]):
    async with played(list_demos()["log"], size) as (app, player):
        await press(app, "n")
        lines = await rested(app, player)
        assert_golden(f"replay_{size[0]}x{size[1]}", lines)


async def test_what_is_turned_at_a_stop_is_gone_at_the_next():
    recording = list_demos()["log"]
    expected = headless(recording)
    async with played(recording) as (app, player):
        await press(app, "b")
        await press(app, "b")
        turned = await rested(app, player)
        assert any("budget     700" in line for line in turned)
        await press(app, "n")
        await rested(app, player)
        ledger = shown_ledger(app.screen)
        assert ledger is not None and dumps(ledger.shape()) == expected[1]


async def test_the_ends_are_said_and_keys_typed_ahead_are_followed():
    recording = list_demos()["log"]
    async with played(recording) as (app, player):
        await press(app, "N")
        assert player.place == 0
        for _ in range(len(player.stops) + 3):
            await press(app, "n")
        await rested(app, player)
        assert player.place == len(player.stops) - 1
        assert isinstance(app.screen, Bench)
        assert app.screen.unavailable("replay-next") == "this is the end of the recording"


async def test_an_event_that_cannot_be_done_is_said_at_its_stop(tmp_path: Path):
    shutil.copy(root_for(list_demos()["log"]) / "ci.log", tmp_path)
    path = tmp_path / "a.replay.jsonl"
    path.write_text(
        '{"replay":1,"paths":"here"}\n{"do":"open","kind":"log","input":{"path":"ci.log"}}\n'
        '{"at":3,"do":"cursor","id":"none"}\n{"at":6,"do":"undo"}\n'
    )
    async with played(read_recording(path)) as (app, player):
        await press(app, "n")
        lines = await rested(app, player)
        assert any("a.replay.jsonl:3: unknown item none" in line for line in lines)
        await press(app, "n")
        await rested(app, player)
        assert player.place == 1
