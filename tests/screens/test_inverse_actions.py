"""An action and its inverse lead back: to the same settings, the same bytes on disk and the same screen; so does undo
after any action that changes something."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from inspector_kit import Inspector, bench_of, inspector, press, settle
from secateur.settings import Settings

EXAMPLES = 4 if settings().derandomize else 60

BEFORE = ["b", "B", "plus", "underscore", "down", "pagedown", "right", "left", "s", "w", "escape"]
"""What leads to the place from which an action is done."""

INVERSES = {
    "space": "space",
    "minus": "minus",
    "asterisk": "asterisk",
    "full_stop": "comma",
    "comma": "full_stop",
    "plus": "underscore",
    "underscore": "plus",
}
CHANGES = [*INVERSES, "b", "B", "right", "left", "shift+right", "0", "r", "s", "p"]


def bytes_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.json"))}


async def state_of(app: Inspector, folder: Path) -> tuple[Settings, dict[str, bytes], list[str]]:
    lines = list(await settle(app))
    return bench_of(app).state.settings, bytes_below(folder), lines


async def session(before: list[str], done: str, back: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {"SECATEUR_CONFIG_DIR": name}
        app = inspector(settings=Settings(budget=4000), path=name, environ=environ)
        async with app.run_test(size=(120, 40), notifications=False):
            await settle(app)
            await press(app, "plus", *before, "escape")  # the first change pins the ghost
            there = await state_of(app, folder)
            await press(app, done)
            gone = await state_of(app, folder)
            if back == "u" and gone[0] == there[0]:
                return  # nothing was changed, as with a knob at its end
            await press(app, back)
            assert await state_of(app, folder) == there


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(before=st.lists(st.sampled_from(BEFORE), max_size=5), done=st.sampled_from(sorted(INVERSES)))
@example(before=[], done="asterisk")
@example(before=["down", "B"], done="full_stop")
def test_an_action_and_its_inverse_lead_back(before: list[str], done: str) -> None:
    asyncio.run(session(before, done, INVERSES[done]))


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(before=st.lists(st.sampled_from(BEFORE), max_size=5), done=st.sampled_from(CHANGES))
@example(before=["w", "right"], done="p")  # a profile takes back what was tuned; undo brings it again
def test_undo_leads_back(before: list[str], done: str) -> None:
    asyncio.run(session(before, done, "u"))


@pytest.mark.parametrize("there", ["b", "B"])
async def test_a_budget_there_and_back(there: str) -> None:
    app = inspector(settings=Settings(budget=4000))
    async with app.run_test(size=(120, 40)):
        await settle(app)
        await press(app, *there * 5, *("B" if there == "b" else "b") * 5)
        assert bench_of(app).state.settings == Settings(budget=4000)


async def test_profiles_there_and_back() -> None:
    app = inspector(settings=Settings(budget=4000))
    async with app.run_test(size=(120, 40)):
        await settle(app)
        profiles = []
        while not profiles or profiles[-1] != "spec":
            await press(app, "p")
            profiles.append(bench_of(app).state.settings.profile)
        assert bench_of(app).state.settings == Settings(budget=4000)
        assert len(profiles) > 1
