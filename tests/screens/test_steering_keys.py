"""Pins, exclusions, factors, preferences and typed values, by key on the screen."""

import pytest
from diff_kit import opened as opened_diff
from diff_kit import write_pull_request
from inspector_kit import bench_of, inspector, press, running, settle
from ledger_kit import opened, write_transcript
from secateur.model import State
from secateur.settings import Settings, key_of
from secateur_tui.styled_text import plain
from secateur_tui.widgets.item_list import ItemList


def settings_of(app):
    return bench_of(app).state.settings


def state_of(app, symbol):
    state = bench_of(app).state
    return State(state.answer.selection.state[state.answer.place_of[symbol]])


async def test_a_dropped_candidate_is_pinned_excluded_and_all_is_taken_back():
    async with running(inspector(settings=Settings(budget=2000))) as app:
        bench = bench_of(app)
        while state_of(app, bench.state.entry) is not State.DROPPED:
            await press(app, "j")
        symbol = bench.state.entry
        await press(app, "space")
        assert state_of(app, symbol) is State.KEPT and settings_of(app).pins == (symbol,)
        assert bench.state.entry == symbol  # the cursor follows it
        await press(app, "minus")
        assert state_of(app, symbol) is State.DROPPED and settings_of(app).excludes == (symbol,)
        assert f"--exclude {symbol}" in bench.command().replace("'", "")
        await press(app, "minus")
        assert settings_of(app).excludes == ()
        await press(app, "u", "u", "u")
        assert settings_of(app) == Settings(budget=2000)


async def test_the_meaning_of_the_chosen_knob_stands_below_the_knobs_while_the_keys_go_there():
    app = inspector(settings=Settings(budget=2000))
    async with app.run_test(size=(120, 40)):
        assert not any("Weight of" in line for line in await settle(app))
        await press(app, "w")
        for _ in bench_of(app).knobs.knobs:
            words = key_of(bench_of(app).knobs.chosen.key).doc.split()
            assert any(" ".join(words[:3]) in line for line in await settle(app)), words
            await press(app, "down")
        assert not any("Weight of" in line for line in await settle(app, "escape"))


async def test_factors_go_up_and_down_and_are_a_term_of_their_own():
    async with running(inspector(settings=Settings(budget=2000))) as app:
        await press(app, "j", "full_stop", "full_stop")
        symbol = bench_of(app).state.entry
        assert settings_of(app).boosts == {symbol: 1.5}
        lines = await settle(app)
        assert any("boost" in one for one in lines)
        await press(app, "comma", "comma")
        assert settings_of(app).boosts == {}


def mark_of(app):
    """What stands before the glyph of the item at the cursor."""
    view = bench_of(app).query_one(ItemList)
    drawn = next(row for index in range(view.line_count()) if (row := plain(view.draw_line(index, 70)))[:1] == "▸")
    return drawn[min(drawn.index(state.glyph) for state in State if state.glyph in drawn) - 1]


async def test_a_letter_marks_what_the_settings_overrule():
    async with running(inspector(settings=Settings(budget=2000))) as app:
        assert mark_of(app) == " "
        for key, letter in (("space", "P"), ("minus", "X"), ("minus", " "), ("full_stop", "B"), ("comma", " ")):
            await settle(app, key)
            assert mark_of(app) == letter, key
        await settle(app, "comma")
        assert mark_of(app) == "D"


async def test_tools_that_are_held_and_files_that_are_left_out_are_marked_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_transcript(tmp_path)
    write_pull_request(tmp_path)
    for app, action, key, letter in (
        (opened("conversation"), "hold", "K", "P"),
        (opened_diff(), "exclude", "minus", "X"),
    ):
        async with running(app):
            while bench_of(app).unavailable(action):
                await press(app, "j")
            await settle(app, key)
            assert mark_of(app) == letter


async def test_a_bench_says_why_it_cannot_exclude(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_transcript(tmp_path)
    async with running(opened("conversation")) as app:
        await press(app, "minus")
        assert bench_of(app).unavailable("exclude") == "nothing in this list can be excluded"
        assert not bench_of(app).state.changed


async def test_a_typed_budget_is_met_to_the_token():
    async with running(inspector(settings=Settings(budget=4000))) as app:
        assert any("budget 4,000" in one for one in await settle(app, "equals_sign"))
        await press(app, *"4,107", "enter")
        assert settings_of(app).budget == 4107
        await press(app, "b")
        assert settings_of(app).budget == 4500
        await press(app, "u", "u")
        assert settings_of(app).budget == 4000


async def test_a_wrong_value_is_said_while_it_is_typed_and_changes_nothing():
    async with running(inspector(settings=Settings(budget=4000))) as app:
        assert any("'4x' is not a number" in one for one in await settle(app, "equals_sign", *"4x"))
        assert any("'4x' is not a number" in one for one in await settle(app, "enter")), "the dialog stays open"
        await press(app, "escape", "equals_sign", "escape")
        assert settings_of(app) == Settings(budget=4000)


async def test_every_setting_that_decides_is_a_knob_and_its_value_can_be_typed():
    async with running(inspector(settings=Settings(budget=4000))) as app:
        panel = bench_of(app).knobs
        few = len(panel.knobs)
        await press(app, "M")
        labels = [knob.label for knob in panel.knobs]
        assert {"profile", "counter", "depth", "top k", "lexical", "history", "−test"} <= set(labels)
        assert panel.has_focus
        while panel.chosen.label != "history":
            await press(app, "down")
        lines = await settle(app)
        assert any("history" in one for one in lines)  # scrolled into sight
        await press(app, "right")
        assert settings_of(app).relevance.history == 0.05
        await press(app, "equals_sign", *"2.6", "enter")
        assert settings_of(app).relevance.history == 2.6
        await press(app, "M")
        assert len(panel.knobs) == few


async def test_a_profile_and_a_counter_are_turned_like_any_knob():
    async with running(inspector(settings=Settings(budget=4000))) as app:
        panel = bench_of(app).knobs
        await press(app, "M")
        while panel.chosen.label != "profile":
            await press(app, "down")
        await settle(app, "right")
        assert settings_of(app).profile == "recommended" and settings_of(app).relevance.pool == "all"
        await press(app, "r")
        assert settings_of(app).profile == "spec"
        await settle(app, "down", "right")
        assert settings_of(app).tokens.counter == "cl100k_base"


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_all_knobs_fit_on_the_screen(size):
    async with running(inspector(settings=Settings(budget=4000)), size) as app:
        lines = await settle(app, "M", *["down"] * 40)
        assert len(lines) == size[1] and bench_of(app).knobs.region.bottom <= size[1]


async def test_every_undo_says_what_it_undid():
    async with running(inspector(settings=Settings(budget=4000)), notifications=True) as app:
        assert any("undone: budget 4,500 → 4,000" in one for one in await settle(app, "b", "slash", "x", "escape", "u"))
        assert any("undone: pins −" in one for one in await settle(app, "space", "u"))
