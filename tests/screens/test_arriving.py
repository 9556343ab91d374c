"""The first screen, suggested questions, the first answer, and pastes."""

from functools import partial
from pathlib import Path

import pytest
import tomli
from inspector_kit import bench_of, inspector, press, running, settle
from secateur.engine import Engine
from secateur.kinds.search.first_answer import FirstAnswer
from secateur.remembered.store import first_time
from secateur.settings import Settings
from secateur_tui.parts.asking import FirstAnswers
from secateur_tui.styled_text import plain
from secateur_tui.widgets.dialogue import MOST_PASTED
from textual import events

TRACEBACK = 'Traceback (most recent call last):\n  File "money.py", line 3, in round\nValueError: no rate for JPY\n'


def words(lines):
    return " ".join(" ".join(line.replace("│", " ").split()) for line in lines)


@pytest.fixture
def told(tmp_path):
    return partial(first_time, tmp_path / "own", tmp_path / "repository")


# --- where the keys go ------------------------------------------------------------------------------------------------


async def test_the_first_screen_is_true_of_where_the_keys_go():
    app = inspector(query="")
    async with app.run_test(size=(120, 40)):
        typing = words(await settle(app))
        assert "Esc leaves the query; then ? shows every key" in typing and "/ goes to the query" not in typing
        await press(app, "question_mark")  # it is typed
        assert bench_of(app).state.question == "?"
        assert "/ goes to the query, ? shows every key" in words(await settle(app, "backspace", "escape"))


async def test_a_repository_suggests_questions_of_its_own_which_are_cut(orders):
    with Engine.open(orders) as engine:
        app = inspector(engine, query="", path="sample:orders")
        async with app.run_test(size=(120, 40)):
            first = words(await settle(app))
            assert "This repository suggests:" in first
            bench = bench_of(app)
            example = bench.scene.examples[0]
            assert example.query in first
            await settle(app, "escape", "Q", *example.query[:6].lower(), "enter")
            assert bench.state.question == example.query and bench.state.settings.effective_budget == example.budget
            kept = len(bench.state.answer.selection.kept_rows)
            assert (kept, len(bench.state.answer) - kept) == (example.kept, example.dropped)


# --- the first answer -------------------------------------------------------------------------------------------------


async def test_the_first_answer_offers_recommended_which_one_key_adopts(told, orders, tmp_path):
    environ = {"SECATEUR_CONFIG_DIR": str(tmp_path / "own")}
    for first in (True, False):
        with Engine.open(orders) as engine:
            app = inspector(engine, Settings(budget=1000), path="sample:orders", environ=environ)
            app.first_time = told
            async with app.run_test(size=(120, 40)):
                said = words(await settle(app))
                assert ("recommended keeps" in said and "others:" in said) == first
                if first:
                    await settle(app, "D", "enter")
                    assert bench_of(app).state.settings.profile == "recommended"
                    assert bench_of(app).state.settings.budget == 1000
                    assert "recommended keeps" not in words(await settle(app))
    assert tomli.loads((tmp_path / "own" / "secateur.toml").read_text()) == {"profile": "recommended"}


async def test_the_offer_says_what_to_press_however_long_the_names_are():
    long = "FailbackClusterInvoker.RetryTimerTask." * 3 + "run"
    found = FirstAnswer(1000, 3, 90, ("a", "b", "c", "d"), (long, long, long))
    async with running(inspector()) as app:
        bench = bench_of(app)
        offer = bench.part(FirstAnswers)
        offer._found, offer._of = found, (bench.state.question, bench.state.settings)
        for cells in (60, 76, 116):
            lines = offer.notices(cells)
            said = " ".join(plain(drawn) for drawn in lines)
            assert len(lines) < 3 and "keeps 4 others" in said and "D makes recommended your default" in said


@pytest.mark.parametrize(
    ("keys", "undo"), [(("b",), ("u",)), (("slash", "x", "escape"), None)], ids=["budget", "question"]
)
async def test_the_offer_is_of_the_answer_that_it_was_found_for_and_of_no_other(told, orders, keys, undo):
    with Engine.open(orders) as engine:
        app = inspector(engine, Settings(budget=1000), path="sample:orders")
        app.first_time = told
        async with app.run_test(size=(120, 40)):
            assert "recommended keeps" in words(await settle(app))
            assert "recommended keeps" not in words(await settle(app, *keys))
            if undo:
                assert "recommended keeps" in words(await settle(app, *undo))


async def test_a_profile_that_keeps_nothing_else_is_not_offered():
    found = FirstAnswer(16000, 12, 12, (), ())
    async with running(inspector(settings=Settings(budget=16000))) as app:
        bench = bench_of(app)
        offer = bench.part(FirstAnswers)
        offer._found, offer._of = found, (bench.state.question, bench.state.settings)
        said = " ".join(plain(drawn) for drawn in offer.notices(116))
        assert said == "! nothing was cut: all 12 candidates fit 16,000 tokens; B cuts, c compares profiles"
        assert offer.offered == ""


async def test_an_answer_of_which_nothing_was_cut_says_so():
    app = inspector(settings=Settings(budget=16000))
    async with app.run_test(size=(120, 40)):
        assert "nothing was cut: all 12 candidates fit 16,000 tokens; B cuts" in words(await settle(app))
        assert "nothing was cut" not in words(await settle(app, *["B"] * 20))


# --- pastes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_the_field", [True, False])
async def test_a_pasted_traceback_arrives_whole_wherever_the_keys_go(in_the_field):
    async with running(inspector(query="")) as app:
        if not in_the_field:
            await press(app, "escape")
        app.post_message(events.Paste(TRACEBACK))
        lines = await settle(app)
        assert bench_of(app).state.question.replace("␊", "\n") == TRACEBACK.strip()
        assert any("3 lines" in line for line in lines)


async def test_a_paste_while_the_list_has_the_keys_is_the_query_where_there_is_one(tmp_path, monkeypatch):
    from ledger_kit import opened, write_files, write_transcript

    monkeypatch.chdir(tmp_path)
    write_files(Path())
    write_transcript(Path())
    for name, query in (("files", "round the refund\nof the cart"), ("conversation", None)):
        async with running(opened(name)) as app:
            await press(app, "escape")
            path = bench_of(app).field("path").value
            app.post_message(events.Paste("round the refund\nof the cart"))
            await settle(app)
            assert bench_of(app).state.inputs.get("query") == query
            assert bench_of(app).field("path").value == path


async def test_a_paste_that_is_too_long_says_what_of_it_is_taken():
    async with running(inspector(query="")) as app:
        app.post_message(events.Paste("word " * 5_000))
        assert any(f"{MOST_PASTED:,} of 24,999 characters" in line for line in await settle(app))


async def test_a_field_of_one_line_says_that_it_takes_the_first(tmp_path, monkeypatch):
    from ledger_kit import opened, write_files

    monkeypatch.chdir(tmp_path)
    write_files(Path())
    async with running(opened("files")) as app:
        field = bench_of(app).field("path")
        bench_of(app).go_to(field)
        app.post_message(events.Paste("a\nb\nc\n"))
        await settle(app)
        assert "the first of 3 lines" in str(field.border_subtitle)
