"""An action and its inverse lead back: to the same settings, the same bytes on disk and the same screen; so does undo
after any action that changes something."""

from __future__ import annotations

import asyncio
import shlex
import tempfile
from pathlib import Path

import diff_kit
import ledger_kit
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from inspector_kit import (
    Inspector,
    Pace,
    ScriptedEngine,
    bench_of,
    inspector,
    large_pool,
    press,
    running,
    settle,
)
from secateur.settings import Settings, with_values
from support.cli import secateur

EXAMPLES = 4 if settings().derandomize else 60

BEFORE = ["b", "B", "down", "pagedown", "right", "left", "s", "p", "w", "x", "minus", "escape"]
"""What leads to the place from which an action is done."""

INVERSES = {
    "space": "space",
    "minus": "minus",
    "full_stop": "comma",
    "comma": "full_stop",
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
        async with running(app, notifications=False):
            await press(app, *before, "escape")
            there = await state_of(app, folder)
            await press(app, done)
            gone = await state_of(app, folder)
            if back == "u" and gone[0] == there[0]:
                return  # nothing was changed, as with a knob at its end
            await press(app, back)
            assert await state_of(app, folder) == there


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(before=st.lists(st.sampled_from(BEFORE), max_size=5), done=st.sampled_from(sorted(INVERSES)))
@example(before=["down", "B"], done="full_stop")
@example(before=["down", "down", "minus", "x"], done="minus")
@example(before=["x"], done="minus")
def test_an_action_and_its_inverse_lead_back(before: list[str], done: str) -> None:
    asyncio.run(session(before, done, INVERSES[done]))


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(before=st.lists(st.sampled_from(BEFORE), max_size=5), done=st.sampled_from(CHANGES))
@example(before=["w", "right"], done="p")  # a profile takes back what was tuned; undo brings it again
@example(before=["down"], done="p")  # the item at the cursor comes first under the next profile
def test_undo_leads_back(before: list[str], done: str) -> None:
    asyncio.run(session(before, done, "u"))


ON_EVERY_BENCH = (
    *(("space", "space"), ("minus", "minus"), ("full_stop", "comma"), ("K", "K")),
    *(("enter", "enter"), ("v", "i"), ("d", "i"), ("T", "i"), ("l escape", "i")),
    *(("slash", "escape"), ("equals_sign", "escape"), ("F", "escape"), ("c", "escape"), ("M", "M")),
    *(("b", "u"), ("B", "u"), ("s", "u"), ("p", "u"), ("w right escape", "u"), ("w 0 escape", "u"), ("u", "U")),
)
"""Keys that do something on the benches, with those that lead back."""

BENCHES = {
    "search": lambda: inspector(settings=Settings(budget=4000), proves=True),
    "conversation": lambda: ledger_kit.opened(
        "conversation", with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3000})
    ),
    "envelope": lambda: ledger_kit.opened("envelope"),
    "files": lambda: ledger_kit.opened("files"),
    "diff": diff_kit.opened,
    "log": lambda: Inspector(None, Settings(), bench="log", path="ci.log", pace=Pace(0.001, 0.001, 0, proves=False)),
}


@pytest.mark.parametrize("bench", list(BENCHES))
async def test_on_every_bench_an_action_and_its_inverse_lead_back(
    bench: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if bench in ledger_kit.WRITERS:
        ledger_kit.WRITERS[bench](tmp_path)
    diff_kit.write_pull_request(tmp_path)
    lines = (
        f"step {n} failed: no rate for JPY" if n % 40 == 7 else f"step {n} of the build is done" for n in range(300)
    )
    (tmp_path / "ci.log").write_text("\n".join(lines), encoding="utf-8")
    app = BENCHES[bench]()
    async with app.run_test(size=(120, 40), notifications=False):
        for before in ("", "down down x"):
            await settle(app)
            await press(app, *before.split())
            there = await state_of(app, tmp_path)
            for done, back in ON_EVERY_BENCH:
                await press(app, *done.split())
                if back in ("u", "U") and (await state_of(app, tmp_path))[0] == there[0]:
                    continue  # nothing was changed
                await press(app, *back.split())
                assert (done, await state_of(app, tmp_path)) == (done, there)


async def test_a_derived_budget_is_derived_again_after_a_step_there_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger_kit.write_envelope(tmp_path)
    async with running(ledger_kit.opened("envelope")) as app:
        await press(app, "b", "b", "B", "B")
        assert bench_of(app).state.settings == Settings()


async def test_the_cursor_is_on_its_item_again_when_undo_brings_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger_kit.write_envelope(tmp_path)
    app = ledger_kit.opened("envelope", with_values(Settings(), {"context_budget.tokens": 5000}), model="")
    async with running(app):
        lines = [*await settle(app, "escape", "down", "down")]
        state = bench_of(app).state
        entry = state.entry
        await settle(app, *"b" * 16)
        assert state.answer is not None and entry not in state.answer.ids
        assert [*await settle(app, *"B" * 16)] == lines


async def test_undo_after_adopting_leads_back_to_the_list_with_the_ghost_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(inspector(settings=Settings(budget=4000)), notifications=False) as app:
        await press(app, "b", "down", "c", "enter")
        *there, before = await state_of(app, tmp_path)
        assert any("│ ghost" in line for line in await settle(app, "a"))
        await press(app, "u")
        *now, after = await state_of(app, tmp_path)
        assert now == there
        assert [line[:70] for line in after] == [line[:70] for line in before]
        assert any("│ ghost" in line for line in after)


@pytest.mark.parametrize("there", ["b", "B"])
async def test_a_budget_there_and_back(there: str) -> None:
    async with running(inspector(settings=Settings(budget=4000))) as app:
        await press(app, *there * 5, *("B" if there == "b" else "b") * 5)
        assert bench_of(app).state.settings == Settings(budget=4000)


@pytest.mark.parametrize("there", ["b", "B"])
async def test_a_budget_between_two_steps_is_reached_again(there: str) -> None:
    async with running(inspector(settings=Settings(budget=2724))) as app:
        await press(app, *there * 3, *("B" if there == "b" else "b") * 3)
        assert bench_of(app).state.settings == Settings(budget=2724)
        await press(app, "x", there, "B" if there == "b" else "b")
        assert not any("was " in line for line in await settle(app)), "there and back is no change"


async def test_a_weight_near_the_end_of_its_range_is_reached_again() -> None:
    app = inspector(settings=with_values(Settings(), {"smart_pruning.priority_weights.relevance": 0.98}))
    async with app.run_test(size=(120, 40)):
        there = bench_of(app).state.settings
        await settle(app)
        await press(app, "w", "right", "left")
        assert bench_of(app).state.settings == there


async def test_profiles_there_and_back() -> None:
    async with running(inspector(settings=Settings(budget=4000))) as app:
        profiles = []
        while not profiles or profiles[-1] != "spec":
            await press(app, "p")
            profiles.append(bench_of(app).state.settings.profile)
        assert bench_of(app).state.settings == Settings(budget=4000)
        assert len(profiles) > 1


async def test_the_first_lines_stay_in_sight_when_the_item_at_the_cursor_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pool = large_pool(300)
    app = inspector(ScriptedEngine(lambda _query, _settings: pool), Settings(budget=4000))
    async with running(app, notifications=False):
        for done in ("o", "w", "p"):
            await press(app, "escape", "down", "down")
            there = await state_of(app, tmp_path)
            if done == "o":
                await press(app, "o", *"tokens", "enter")
            else:
                await press(app, *{"w": ("w", "right", "right"), "p": ("p",)}[done])
            await settle(app)
            assert bench_of(app).query_one("#list").scroll_offset.y == 0 or "▸" in "".join(await settle(app))
            await press(app, *{"o": ("escape",), "w": ("left", "left", "escape"), "p": ("u",)}[done])
            assert await state_of(app, tmp_path) == there


async def test_a_pin_that_cannot_be_met_says_so_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger_kit.write_envelope(tmp_path)
    app = ledger_kit.opened("envelope", with_values(Settings(), {"context_budget.tokens": 900}), model="")
    async with running(app):
        there = await settle(app, "escape")
        before = bench_of(app).state.settings
        for key in ("space", "K"):
            await settle(app, key)
            assert any("not taken: " in toast.message for toast in app._notifications)
            app.clear_notifications()
            assert (await settle(app), bench_of(app).state.settings) == (there, before)


@pytest.mark.parametrize("keys", ["b B", "B b", "b b b B B B", "B B b B b b"])
async def test_round_steps_lead_back_to_a_budget_that_is_not_round(keys: str) -> None:
    async with running(inspector(settings=Settings(budget=2810))) as app:
        await press(app, *keys.split())
        assert bench_of(app).state.settings == Settings(budget=2810)


@pytest.mark.parametrize("bench", ["conversation", "envelope", "files"])
async def test_an_action_its_undo_and_redo_leave_the_figures_that_the_command_line_prints(
    bench: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger_kit.WRITERS[bench](tmp_path)
    async with running(BENCHES[bench]()) as app:
        await settle(app)
        for keys in ("B", "u", "U", "space", "u", "s", "w right escape", "p", "u", "U"):
            await settle(app, *keys.split())
            outcome = bench_of(app).state.outcome
            if outcome is None:
                continue  # it has no answer under these settings
            ran = secateur(*shlex.split(bench_of(app).command())[1:], "--format", "json")
            printed = {name: ran.json["ledger"][name] for name in ("budget", "before", "after")}
            assert printed == {name: getattr(outcome.ledger, name) for name in printed}, (keys, bench_of(app).command())
