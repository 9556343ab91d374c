"""Faults that users met, each told by the screen as they saw it."""

import re
from pathlib import Path

import pytest
from inspector_kit import Inspector, Pace, bench_of, inspector, press, running, settle
from ledger_kit import WRITERS, opened
from secateur.kinds.run import render as render_of
from secateur.ledger import WRAPPER
from secateur.model import State
from secateur.settings import Settings, with_values
from textual.pilot import Pilot

SIZE = (120, 40)


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the benches open is in the working folder."""
    for write in WRITERS.values():
        write(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("size", [SIZE, (80, 24)])
@pytest.mark.parametrize("key", ["i", "v", "d"])
async def test_a_page_is_opened_and_the_arrows_go_on_through_the_list(key: str, size: tuple[int, int]) -> None:
    async with running(inspector(), size) as app:
        await settle(app, key)
        bench = bench_of(app)
        assert bench.focused is bench.home
        before = bench.state.cursor
        await press(app, "down")
        assert bench.state.cursor != before


async def test_an_answer_that_arrives_with_a_key_does_not_take_the_cursor_back() -> None:
    async with running(inspector(), SIZE) as app:
        bench = bench_of(app)
        items = [bench.state.shown.item_at(line) for line in range(3)]
        for item in items[1:]:
            bench.home.action_move(1)
            bench.paint()  # as an answer does, before the list's message is handled
            assert bench.state.cursor == item
        await settle(app)
        assert bench.state.cursor == items[2]


@pytest.mark.parametrize("start", [lambda: inspector(query=""), lambda: opened("conversation", path="absent.json")])
async def test_no_proof_is_said_to_be_under_way_where_there_is_no_answer(start) -> None:
    app: Inspector = start()
    async with app.run_test(size=SIZE):
        assert not any("re-running" in line for line in await settle(app))


async def test_leaving_is_by_one_key_whoever_names_it() -> None:
    app = inspector()
    async with app.run_test(size=SIZE):
        lines = await settle(app)
        assert "q Quit" in lines[-1]
        assert not any("ctrl+q" in line.lower() for line in await settle(app, "question_mark", "end"))
        await press(app, "escape")
        with pytest.raises(AssertionError, match="has ended"):
            await press(app, "ctrl+c")
        assert app.return_value == 130 and not app._notifications


@pytest.mark.parametrize("opening", ["question_mark", "S", "f", "equals_sign", "y", "ctrl+p"])
async def test_ctrl_c_leaves_whatever_lies_on_top(opening: str) -> None:
    async with running(inspector()) as app:
        await settle(app, opening)
        assert len(app.screen_stack) > 2
        with pytest.raises(AssertionError, match="has ended"):
            await press(app, "ctrl+c")
    assert app.return_value == 130


async def test_q_closes_the_help() -> None:
    async with running(inspector()) as app:
        await settle(app, "question_mark", "q")
        assert app.screen is bench_of(app)


async def test_a_summary_has_the_tokens_in_its_row_that_the_bar_charges_it() -> None:
    settings = {"conversation_prune.strategy": "summarize", "conversation_prune.safe_zone_tokens": 3_000}
    async with running(opened("conversation", with_values(Settings(), settings)), (200, 40)) as app:
        bench = bench_of(app)
        answer = bench.state.answer
        assert answer is not None
        told = [item for item, entry in enumerate(answer.entries) if entry.state is State.SUMMARISED and entry.after]
        assert told
        bench.move_cursor(told[0])
        row = re.split("│[│╰]", next(line for line in await settle(app) if "▸" in line))[0]
        leaves = re.findall(r"[\d,]+", row)[-1]
        assert leaves == f"{answer.entries[told[0]].after:,}"
        share = f"{answer.entries[told[0]].after / 3_000:.1%}"
        assert share != "0.0%" and share in row
        outcome = bench.state.outcome
        assert outcome is not None and f"{share} " in render_of(bench.kind_page.kind, outcome, "text")


LEGEND = re.compile(r"(kept|shortened|summarised|dropped) ([\d,]+) \(([\d,]+)(?: of ([\d,]+))?\)")


def number(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize(
    ("start", "least"),
    [
        (lambda: inspector(settings=Settings(budget=1_500)), 2),
        (lambda: opened("conversation", with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3_000})), 2),
        (lambda: opened("files", Settings(budget=300)), 1),
    ],
    ids=["search", "conversation", "files"],
)
async def test_a_legend_counts_items_first_and_what_leaves_of_them_in_brackets(start, least: int) -> None:
    async with running(start(), (160, 40)) as app:
        bench = bench_of(app)
        assert bench.state.outcome is not None
        title = str(bench.query_one("#budget").border_title)
        said = LEGEND.findall(title)
        assert len(said) >= least, title
        for label, items, leaves, came in said:
            entries = [
                one for one in bench.state.outcome.ledger.entries if one.state.label == label and one.id != WRAPPER
            ]
            assert number(items) == len(entries), title
            assert number(leaves) == sum(entry.after for entry in entries), title
            assert number(came or leaves) == sum(entry.before for entry in entries), title


async def test_a_log_opens_at_its_first_failure() -> None:
    lines = [f"step {number} is done" for number in range(40)]
    Path("build.log").write_text("\n".join([*lines, "ERROR: no rate for JPY", *lines, "ERROR: the upload broke"]))
    async with running(Inspector(None, Settings(), path="build.log", bench="log"), SIZE) as app:
        state = bench_of(app).state
        assert state.answer is not None and "first" in state.answer.reason_of(state.cursor).label, "where it broke"
        assert state.answer.line_of(state.cursor) > 0


async def test_one_message_stands_at_a_time() -> None:
    async with running(inspector(), SIZE, notifications=True) as app:
        lines = await settle(app, "b", "u", "u", "u")
        assert len(app._notifications) == 1 and any("Undo: nothing was changed" in line for line in lines)


@pytest.mark.parametrize("keys", ["", "w", "slash", "v tab"])
@pytest.mark.parametrize("small", [(60, 40), (120, 15)])
async def test_after_a_terminal_that_was_too_small_the_keys_go_where_they_went(
    small: tuple[int, int], keys: str
) -> None:
    async with running(inspector(), SIZE) as app:
        pilot = Pilot(app)
        await press(app, *keys.split())
        focused = bench_of(app).focused
        assert focused is not None
        await pilot.resize_terminal(*small)
        assert any("secateur needs 80×24" in line for line in await settle(app))
        await pilot.resize_terminal(*SIZE)
        await settle(app)
        assert bench_of(app).focused is focused


async def test_a_path_without_room_keeps_its_end_while_the_keys_go_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "a-long-name-of-a-folder" / "another-long-name-of-a-folder"
    folder.mkdir(parents=True)
    (folder / "nightly-build.log").write_text("ok\nERROR: no rate for JPY\n")
    app = Inspector(None, Settings(), path=str(folder / "nightly-build.log"), bench="log")
    async with running(app, (80, 24)):
        title, _, field, *_ = await settle(app, "escape")
        assert "nightly-build.log " in title and " 6 Log" in title and "nightly-build.log " in field


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_a_passing_message_never_covers_the_row_at_the_cursor(size: tuple[int, int]) -> None:
    app = inspector()
    app.NOTIFICATION_TIMEOUT = 120.0
    async with running(app, size, notifications=True):
        for _ in range(11):
            (alone,) = [line for line in await settle(app, "down") if line.startswith("│▸")]
            app.say("undone: budget 1,063 → 1,000, and what came of it in words that take several lines of a message")
            lines = await settle(app)
            assert any("undone: budget" in line for line in lines)
            assert alone in lines, "\n".join(lines)
            app.clear_notifications()
        app.say("undone: budget 1,063 → 1,000")
        for _ in range(11):
            app_lines = await settle(app, "up")
            (row,) = [line for line in app_lines if line.startswith("│▸")]
            assert "undone" not in row, "\n".join(app_lines)


@pytest.mark.parametrize("bench", ["search", "files"])
async def test_the_key_of_the_query_is_no_text_in_an_empty_query(bench: str) -> None:
    async with running(inspector(query="") if bench == "search" else opened("files", query=""), SIZE) as app:
        await press(app, "/", *"a/b")
        field = bench_of(app).field("query")
        assert bench_of(app).focused is field and field.value == "a/b"


async def test_an_absolute_path_is_typed_into_the_empty_field_of_a_path() -> None:
    async with running(opened("conversation", path=""), SIZE) as app:
        await press(app, "/")
        assert bench_of(app).field("path").value == "/"


async def test_the_list_has_the_keys_where_an_answer_needs_no_model() -> None:
    settings = with_values(Settings(), {"context_budget.tokens": 4000})
    async with running(opened("envelope", settings, model=""), SIZE) as app:
        bench = bench_of(app)
        assert bench.state.answer is not None and bench.focused is bench.home
        await press(app, "f")
        assert bench.field("model").value == ""


async def test_the_message_of_a_log_has_the_room_that_long_numbers_leave(tmp_path: Path) -> None:
    lines = [
        f"12:00:00 {'ERROR' if at % 100 == 7 else 'INFO'} worker {at % 80} did job {at} of tenant {at % 17}"
        for at in range(120_000)
    ]
    lines += ["12:00:01 INFO idle"] * 150_000
    (tmp_path / "big.log").write_text("\n".join(lines) + "\n", "utf-8")
    settings = with_values(Settings(), {"log.max_tokens": 1500})
    app = Inspector(None, settings, bench="log", path="big.log", query="", pace=Pace(0.001, 0.001, 0, False))
    async with app.run_test(size=SIZE):
        shown = "\n".join(await settle(app))
        assert "ERROR worker 7 did job 7 of" in shown and "ERROR…" not in shown


async def test_a_log_opens_at_its_first_error_even_if_that_is_shortened(tmp_path: Path) -> None:
    text = "".join(f"step {number}\n" for number in range(30))
    frames = "".join(
        f'  File "/app/a{number}.py", line {number}, in main\n    call_{number}()\n' for number in range(9)
    )
    trace = f"Traceback (most recent call last):\n{frames}ValueError: no rate for JPY\n"
    (tmp_path / "build.log").write_text(text + trace + text, encoding="utf-8")
    settings = with_values(Settings(), {"log.max_tokens": 60})
    app = Inspector(None, settings, path=str(tmp_path / "build.log"), bench="log")
    async with running(app, SIZE):
        lines = await settle(app)
    assert any("│▸" in line and "◐ 31-50" in line for line in lines), lines


async def test_tab_goes_through_the_panes_and_leads_out_of_the_query() -> None:
    async with running(inspector(), SIZE) as app:
        await settle(app)
        for ids in (["knobs", "why", "list", "knobs"], ["field-query", "list"]):
            for id_ in ids:
                await press(app, "slash" if id_ == "field-query" else "tab")
                assert app.screen.focused is not None and app.screen.focused.id == id_
