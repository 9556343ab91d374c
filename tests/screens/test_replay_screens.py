"""A recording on the screen: every stop forwards and back shows what the recording decides without one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, chdir
from typing import Any

import pytest
from inspector_kit import Inspector, Pace, press, settle
from secateur.kinds.search.kind import listed_ledger
from secateur.ledger import Ledger
from secateur.render import dumps
from secateur.replays.demos import demos
from secateur.replays.recording import Recording
from secateur.replays.replaying import replay, root_for
from secateur.scenarios.running import BEST_DROPPED, session
from secateur.settings import Settings
from secateur_tui.app import replaying
from secateur_tui.benches.items_bench import ItemsBench
from secateur_tui.benches.search_bench import SearchBench
from secateur_tui.replay_player import ReplayPlayer, stops_of


@asynccontextmanager
async def played(recording: Recording, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Inspector, Any]]:
    """The inspector on the first stop of a recording."""
    with session(os.environ, ahead=True) as opened, chdir(root_for(recording)):
        player = ReplayPlayer(recording, opened, Settings())
        app = replaying(player, Pace(0.001, 0.001, 0))
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
    if isinstance(bench, SearchBench):
        answer = bench.state.answer
        assert answer is not None
        return listed_ledger(answer.selection, bench.state.engine.pack_tokens(answer.selection), BEST_DROPPED)[0]
    return bench.state.answer.ledger if bench.state.refusal is None else None


def headless(recording: Recording) -> list[str]:
    """The ledger at the end of each stop; "" where a budget cannot be met."""
    with session(os.environ, ahead=True) as opened:
        steps = list(replay(recording, opened))
    told, last, number = [], "", 0
    for stop in stops_of(recording.events):
        for _ in stop.events:
            step = steps[number]
            number += 1
            if step.refusal is not None:
                last = ""
            elif step.decided is not None:
                last = dumps(step.decided.ledger.to_dict())
        told.append(last)
    return told


@pytest.mark.parametrize("name", demos())
async def test_every_stop_of_a_demo_shows_what_it_decides_without_a_screen(name: str):
    recording = demos()[name]
    expected = headless(recording)
    async with played(recording) as (app, player):
        forwards, screens = [], []
        for number in range(len(expected)):
            if number:
                await press(app, "n")
            screens.append(await rested(app, player))
            assert isinstance(app.screen, ItemsBench)
            ledger = shown_ledger(app.screen)
            forwards.append(dumps(ledger.to_dict()) if ledger is not None else "")
            assert any(f"▶ {number + 1}/{len(expected)}" in line for line in screens[-1])
        assert player.error is None
        assert forwards == expected
        for number in reversed(range(len(expected) - 1)):
            await press(app, "N")
            back = await rested(app, player)
            assert back == screens[number]
