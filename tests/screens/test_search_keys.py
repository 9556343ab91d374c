"""Every key of the Search bench does what the registry says."""

import asyncio
import re
import shlex
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from inspector_kit import (
    ORDERS,
    QUERY,
    Candidate,
    ScriptedEngine,
    bench_of,
    inspector,
    large_pool,
    make_pool,
    orders_engine,
    press,
    running,
    settle,
)
from ledger_kit import opened, write_transcript
from msgspec import structs
from secateur.kinds import registry
from secateur.kinds.search.knobs import knobs_of
from secateur.model import State
from secateur.selection import select
from secateur.settings import Settings, Ui, with_values
from secateur_tui.actions import ACTIONS
from secateur_tui.styled_text import plain
from secateur_tui.widgets.candidates import draw_gap
from secateur_tui.widgets.dialogue import ModalPage
from textual import events
from textual.pilot import Pilot

TIGHT = Settings(budget=4000)


async def pressed(keys: str, settings: Settings = TIGHT, **options: object):
    async with running(inspector(settings=settings, **options), notifications=True) as app:
        for key in keys.split():
            await press(app, key)
        lines = await settle(app)
        return bench_of(app), lines, app


async def test_knobs() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        bench = bench_of(app)
        for keys, key, value in (
            ("right", "relevance", 0.45),
            ("left", "relevance", 0.35),
            ("shift+right", "relevance", 0.41),
            ("shift+left", "relevance", 0.39),
            ("0", "relevance", 0.0),
            ("right right r", "relevance", 0.4),
            ("s", "strategy", "relevance"),
            ("w down right", "hotspot", 0.35),
            ("w down left", "distance", 0.25),
            ("w down right", "signatures", 0.02),
            ("w down left", "strategy", "density"),
            ("w down left", "depth", 1),
            ("w down right", "top k", 11),
        ):
            lines = await settle(app, *keys.split())
            knob = next(knob for knob in knobs_of(bench.state.settings) if knob.label == key)
            assert knob.value(bench.state.settings) == value, keys
            row = next(line for line in lines if f" {knob.label} " in line)
            assert knob.text(bench.state.settings) in row and ("*" in row) == (knob.value(TIGHT) != value)
            assert bench.state.answer is not None
            assert bench.state.answer.settings == bench.state.settings, (
                "the answer on screen is the one for the knobs on screen"
            )
            while bench.state.history.can_undo:
                await press(app, "u")
        assert bench.state.settings == TIGHT


async def test_budget_keys() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        for key, budget in (("b", 4500), ("B", 4000), ("B", 3750)):
            lines = await settle(app, key)
            answer = bench_of(app).state.answer
            assert answer is not None and answer.selection.budget == budget
            assert any(f"of {budget:,}" in line for line in lines)


async def test_profiles_go_round_and_retrieve_again() -> None:
    engine = orders_engine()
    bench, lines, _ = await pressed("p", engine=engine)
    assert bench.state.settings.profile == "recommended" and " recommended " in lines[0]
    assert len(engine.retrieved) == 2
    bench, _, _ = await pressed("p p")
    assert bench.state.settings.profile == "spec"


async def test_undo_redo_and_the_ghost() -> None:
    bench, lines, _ = await pressed("b b u")
    assert bench.state.settings.budget == 4500
    assert any("was 3,966" in line for line in lines)
    bench, _, _ = await pressed("b b u u U")
    assert bench.state.settings.budget == 4500
    bench, lines, _ = await pressed("b b u u ctrl+r ctrl+r")
    assert bench.state.settings.budget == 5000
    bench, lines, _ = await pressed("b b x")
    assert bench.state.comparison is None and not any("was" in line for line in lines[4:8])
    bench, lines, _ = await pressed("b b x s")
    assert any("was 4,938" in line for line in lines)


async def test_flips_and_moves_are_marked() -> None:
    bench, lines, _ = await pressed("s b b")
    comparison = bench.state.comparison
    assert comparison is not None
    rows = [line[:40] for line in lines if any(glyph in line[:20] for glyph in "●○◐") and line.startswith("│")]
    assert sum("!" in row for row in rows) == int(comparison.flipped.sum()) > 0
    assert sum("▲" in row for row in rows) == int((comparison.climbed > 0).sum()) > 0
    assert sum("▼" in row for row in rows) == int((comparison.climbed < 0).sum()) > 0


async def test_moving_and_the_cursor_follows_its_candidate() -> None:
    bench, _, _ = await pressed("down j down k")
    answer = bench.state.answer
    assert answer is not None and answer.selection.rank[bench.state.cursor] == 3
    bench, lines, _ = await pressed("down down s")
    answer = bench.state.answer
    assert answer is not None
    assert answer.selection.pool.symbol_id[bench.state.cursor] == "docs/rounding.md::Refunds and rounding"
    assert answer.selection.rank[bench.state.cursor] == 2
    assert any(line.startswith(("│▸ 2 ", "│▸  2 ")) for line in lines)
    bench, _, _ = await pressed("end")
    assert bench.state.answer is not None and bench.state.answer.selection.rank[bench.state.cursor] == 12
    bench, _, _ = await pressed("end home")
    assert bench.state.answer is not None and bench.state.answer.selection.rank[bench.state.cursor] == 1


async def test_pages_open_and_say_what_is_true() -> None:
    bench, lines, _ = await pressed("end up up up i")
    answer, row = bench.state.answer, bench.state.cursor
    assert answer is not None
    decision = answer.selection.decision(row)
    text = "\n".join(line.rsplit("│", 1)[-1] for line in lines)  # the page on the right, and no row of the list
    assert f"#{decision.rank}" in text and decision.state.label.upper() in text
    assert f"needs {decision.needed}, only {decision.left} left" in text or decision.state is not State.DROPPED
    for term in decision.terms.values():
        assert f"= {term:.3f}" in text
    bench, lines, _ = await pressed("v")
    assert any("Round half to even." in line for line in lines)
    assert any("● is sent whole" in line for line in lines)
    _, lines, _ = await pressed("b d")
    assert any("tokens 3,966 → 4,366 (+400)" in line for line in lines)


async def test_proven_hints_hold_and_tell_their_price() -> None:
    bench, lines, _ = await pressed("end up up up up i", proves=True)
    answer, row = bench.state.answer, bench.state.cursor
    assert answer is not None and answer.selection.state[row] == State.DROPPED
    text = " ".join(" ".join(line[73:].split()) for line in lines)
    first = re.search(r"› (pinned, )?at budget ([\d,]+): kept whole", text)
    assert first is not None
    pins, budget = (answer.selection.pool.symbol_id[row],) if first[1] else (), int(first[2].replace(",", ""))
    then = select(answer.selection.pool, structs.replace(answer.settings, budget=budget, pins=pins))
    assert then.state[row] == State.KEPT
    lost = [other for other in answer.selection.kept_rows if then.state[other] == State.DROPPED]
    assert ("loses" in text[first.end() :].partition(" at ")[0]) == bool(lost)


async def test_ranges_beside_the_sliders_hold() -> None:
    bench, lines, _ = await pressed("", proves=True)
    answer = bench.state.answer
    assert answer is not None
    for name in ("relevance", "hotspot", "distance"):
        low, high = (
            float(part)
            for part in next(line for line in lines if f"{name} " in line and "◆" in line)
            .rstrip("│")
            .split()[-1]
            .split("–")
        )
        weights = answer.settings.smart_pruning.priority_weights
        for weight in (low, high):
            changed = structs.replace(
                answer.settings.smart_pruning, priority_weights=structs.replace(weights, **{name: weight})
            )
            again = select(answer.selection.pool, structs.replace(answer.settings, smart_pruning=changed))
            assert (again.state == answer.selection.state).all()


async def test_copy_shows_and_copies_the_command() -> None:
    _bench, lines, app = await pressed("right b y")
    words = shlex.split(app.clipboard)
    assert words[:4] == ["secateur", "search", QUERY, "orders"]
    assert words[words.index("--weights") + 1] == "0.45,0.3,0.3" and words[words.index("--budget") + 1] == "4500"
    shown = " ".join(line.strip(" │") for line in lines)
    assert "--weights 0.45,0.3,0.3" in shown


async def test_help_lists_every_action_with_its_key() -> None:
    async with running(inspector(settings=structs.replace(TIGHT, ui=Ui(keys={"copy": "c"}))), (140, 400)) as app:
        await settle(app, "question_mark")
        text = " ".join(" ".join(plain(drawn).split()) for drawn in app.screen.query_one("#page")._lines)
        for action in ACTIONS:
            assert f"{action.label}: {action.help}" in text
        assert "c Copy: Copy and show" in text
        assert "not now: nothing was changed" in text
        await settle(app, "escape")
        assert not isinstance(app.screen, ModalPage)


async def test_keys_can_be_remapped() -> None:
    settings = structs.replace(TIGHT, ui=Ui(keys={"budget-up": "x", "undo": "f5", "nonsense": "z"}))
    bench, lines, _ = await pressed("x", settings)
    assert bench.state.settings.budget == 4500
    assert " x Budget+" in lines[-1] and "Ghost" not in lines[-1]
    assert any("no action nonsense" in line for line in lines)
    bench, _, _ = await pressed("x x f5", settings)
    assert bench.state.settings.budget == 4500
    bench, _, _ = await pressed("b u", settings)
    assert bench.state.settings == settings, "the old keys do nothing any more"


async def test_what_cannot_be_done_says_why() -> None:
    _, lines, _ = await pressed("u")
    assert any("Undo: nothing was changed" in line for line in lines)
    _, lines, _ = await pressed("w up 0")
    assert any("Mute: top k has no 0" in line for line in lines)


async def test_themes_go_round_and_quit_leaves() -> None:
    async with running(inspector(settings=TIGHT), notifications=True) as app:
        assert app.theme == "secateur-dark"
        await press(app, "t")
        assert app.theme == "secateur-light"
        app.post_message(events.Key("q", "q"))
        await asyncio.sleep(0.05)
    assert app.return_value == 0


async def test_a_missing_theme_degrades_and_says_so() -> None:
    app = inspector(settings=structs.replace(TIGHT, ui=Ui(theme="[b]nope")))
    async with app.run_test(size=(120, 40), notifications=True):
        lines = await settle(app)
        assert app.theme == "secateur-dark"
        assert any("no usable theme [b]nope" in line for line in lines)


async def test_typing_asks_after_a_pause_and_letters_are_letters() -> None:
    engine = orders_engine()
    app = inspector(engine, TIGHT, query="")
    async with app.run_test(size=(120, 40), notifications=True):
        lines = await settle(app)
        assert any("Ask in the words of the task" in line for line in lines)
        lines = await settle(app, "q", "u", "b")
        assert bench_of(app).state.question == "qub" and engine.retrieved[-1] == "qub"
        assert bench_of(app).state.settings == TIGHT
        await settle(app, "enter", "b")
        assert bench_of(app).state.settings.budget == 4500
        await settle(app, "slash", "backspace")
        assert bench_of(app).state.question == "qu"
        await press(app, "escape")
        assert app.focused is not None and app.focused.id == "list"


async def test_an_older_answer_is_dimmed_and_never_painted_over_a_newer_one() -> None:
    gates = {"first": threading.Event(), "second": threading.Event()}
    pools = {"first": make_pool(query="first"), "second": make_pool(make_rows(3), query="second")}
    engine = ScriptedEngine(
        lambda query, _settings: pools.get(query) or make_pool(query=query),
        before=lambda query: gates[query].wait(10) if query in gates else None,
    )
    async with running(inspector(engine, TIGHT), notifications=True) as app:
        bench = bench_of(app)
        field = bench.query_one("#field-query")
        field.value = "first"
        while "first" not in engine.retrieved:
            await asyncio.sleep(0.01)
        assert (
            all(bench.query_one(name).styles.text_opacity < 1 for name in ("#list", "#budget", "#why"))
            and bench.state.answer is not None
        )
        field.value = "second"
        await asyncio.sleep(0.02)
        gates["first"].set()
        while "second" not in engine.retrieved:
            await asyncio.sleep(0.01)
        assert bench.state.reading is not None and bench.state.reading.key[1] == QUERY, (
            "the answer to `first` came too late"
        )
        gates["second"].set()
        await settle(app)
        assert (
            bench.state.reading.key[1] == "second"
            and bench.state.answer is not None
            and len(bench.state.answer.selection) == 3
        )
        assert bench.query_one("#list").styles.text_opacity == 1


def make_rows(count: int):
    from inspector_kit import ORDERS

    return [replace(candidate, predecessor=-1) for candidate in ORDERS[:count]]


async def test_a_burst_of_steps_is_one_decision() -> None:
    engine = orders_engine()
    async with running(inspector(engine, TIGHT), notifications=True) as app:
        before = engine.selected
        bench = bench_of(app)
        for _ in range(10):
            bench.action_do("tune-up-fine")
        await settle(app)
        assert bench.state.settings.smart_pruning.priority_weights.relevance == pytest.approx(0.5)
        assert engine.selected == before + 1
        assert len(bench.state.history.entries) == 11, "each step can be undone"


async def test_a_depth_below_the_retrieved_one_does_not_ask_again() -> None:
    engine = orders_engine()
    _bench, lines, _ = await pressed("w up up left", engine=engine)
    assert engine.retrieved == [QUERY]
    assert any("depth" in line and "1*  of 2 retrieved" in line for line in lines)
    engine = orders_engine()
    await pressed("w up up right", engine=engine)
    assert engine.retrieved == [QUERY, QUERY]


async def test_a_hundred_thousand_candidates() -> None:
    pool = large_pool(100_000)
    app = inspector(ScriptedEngine(lambda _query, _settings: pool), structs.replace(TIGHT, budget=16000))
    app.pace = replace(app.pace, rest=3600.0)  # proofs over a hundred thousand rows are not what is tested here
    async with app.run_test(size=(120, 40), notifications=True):
        bench = bench_of(app)
        while bench.state.answer is None:
            await asyncio.sleep(0.01)
        await press(app, "end", "right", "b")
        await asyncio.sleep(0.01)
        await asyncio.sleep(0)
        answer = bench.state.answer
        assert answer is not None and answer.settings.smart_pruning.priority_weights.relevance == 0.45
        assert answer.selection.rank[bench.state.cursor] > 90_000
        await press(app, "home")
        await asyncio.sleep(0.01)
        assert answer.selection.rank[bench.state.cursor] == 1


async def test_a_click_on_a_candidate_and_on_a_page() -> None:
    async with running(inspector(settings=TIGHT), notifications=True) as app:
        pilot = Pilot(app)
        bench = bench_of(app)
        await pilot.click("#list", offset=(20, 4))
        await settle(app)
        assert bench.state.answer is not None and bench.state.answer.selection.rank[bench.state.cursor] == 5
        await pilot.click("#tabs", offset=(8, 0))
        await settle(app)
        assert bench.page == "preview"


async def test_proofs_run_on_no_thread_that_the_end_of_the_program_waits_for() -> None:
    before = set(threading.enumerate())
    bench, _, _ = await pressed("", proves=True)
    assert bench.scene.ranges.keys() > {"relevance", "hotspot", "distance"}
    assert [thread.name for thread in set(threading.enumerate()) - before if not thread.daemon] == []


@pytest.mark.parametrize("strategy", ["priority", "density", "relevance"])
@pytest.mark.parametrize("short", [False, True])
async def test_the_list_shows_sorted_and_named_what_it_is_ordered_by(strategy: str, short: bool) -> None:
    facts = {"query_kind": {"kind": "question", "because": "it asks"}} if short else {}
    engine = ScriptedEngine(lambda query, _settings: make_pool(query=query, facts=facts))
    app = inspector(engine, with_values(Settings(), {"smart_pruning.strategy": strategy}))
    async with app.run_test(size=(120, 40)):
        lines = await settle(app)
        by = "priority" if short and strategy == "density" else strategy
        (titles,) = [line for line in lines if "name" in line and "▾" in line]
        assert {"priority": "prio▾", "density": "dens▾", "relevance": "rel▾"}[by] in titles
        assert sorted(shown := figures_of(lines), reverse=True) == shown and len(shown) == len(ORDERS)
        assert any("here by priority" in line for line in lines) == (by != strategy)
        lines = await settle(app, "o", *"hotspot", "enter")
        assert any("hot▾" in line for line in lines)
        assert sorted(shown := figures_of(lines), reverse=True) == shown and len(set(shown)) > 5


async def test_why_says_in_words_what_was_left_and_what_an_item_needs() -> None:
    async with running(inspector(settings=Settings(budget=2000))) as app:
        state = bench_of(app).state
        while state.answer.state_of(state.cursor) is not State.DROPPED:
            await press(app, "down")
        lines = await settle(app)
        decision = state.answer.selection.decision(state.cursor)
        said = " ".join(" ".join(line.split("│")[-1].split() or line.split("││")[-1].split()) for line in lines)
        text = decision.tokens_before
        assert f"At its turn {decision.left:,} tokens were left; it needs {decision.needed:,}: {text:,} of text" in said


def figures_of(lines: list[str]) -> list[float]:
    """The last figure of each row of the list."""
    rows = [line.split("│")[1].split() for line in lines if any(f" {glyph} " in line[1:14] for glyph in "●◐○")]
    return [float(row[-1]) for row in rows]


async def test_help_is_filtered_and_has_no_heading_twice() -> None:
    async with running(inspector()) as app:
        await settle(app, "question_mark")
        page = app.screen.query_one("#page")
        headings = [plain(line) for line in page._lines if line and "bold accent" in line[0].role]
        assert len(headings) == len(set(headings)) > 8
        lines = await settle(app, "slash", *"undo")
        assert any(" u " in line and "Undo: Undo the last change" in line for line in lines)
        assert not any("Raise the budget" in line for line in lines)
        await press(app, "q")  # it is typed
        assert any("nothing here has undoq" in line for line in await settle(app))
        assert any("Raise the budget" in line for line in await settle(app, "escape"))
        await settle(app, "escape")
        assert app.screen is bench_of(app)


@pytest.mark.parametrize("bench", ["search", "conversation"])
async def test_the_help_lists_the_words_of_this_bench_and_the_filter_finds_all(
    bench: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_transcript(tmp_path)
    async with running(inspector(settings=TIGHT) if bench == "search" else opened(bench)) as app:
        await settle(app, "question_mark")

        def words() -> set[str]:
            return {plain(drawn)[:18].strip() for drawn in app.screen.query_one("#page")._lines}

        own, others = {"hotspot", "prio"}, {"role", "pays after"}
        own, others = (own, others) if bench == "search" else (others, own)
        assert own <= words() and not words() & {*others, "lockfile", "hash dropped", "stage"}
        await settle(app, "slash", *"lock file")
        assert "lockfile" in words()


async def test_enter_does_the_action_that_the_filter_of_the_help_leaves() -> None:
    async with running(inspector(settings=TIGHT), notifications=True) as app:
        await press(app, "question_mark", "slash", *"raise the budget")
        assert any("Enter does Budget+" in line for line in await settle(app))
        before = bench_of(app).state.budget
        await settle(app, "enter")
        assert app.screen is bench_of(app) and bench_of(app).state.budget > before
        lines = await settle(app, "question_mark", "slash", *"no such word", "enter")
        assert any("nothing here has no such word" in line for line in lines)
        assert not any("Enter does" in line for line in lines)


@pytest.mark.parametrize("name", list(registry.benches()))
async def test_the_filter_of_the_help_offers_the_action_of_that_name_first(name: str, tmp_path: Path) -> None:
    app = inspector(settings=TIGHT, environ={"SECATEUR_CONFIG_DIR": str(tmp_path)})
    async with running(app, notifications=True):
        app.show_bench(name)
        await settle(app)
        await press(app, "escape", "question_mark", "slash")
        for word, label in (("compare", "Compare"), ("find", "Find"), ("pin", "Pin"), ("budget", "Budget+")):
            assert any(f"/{word}▏ · Enter does {label} ·" in line for line in await settle(app, "ctrl+u", *word))


@pytest.mark.parametrize(("scores", "said"), [((0.6, 0.6002), "gap 0.000"), ((0.6, 0.75), "gap −0.060")])
def test_a_gap_of_nearly_0_has_no_sign_and_one_below_says_why_where_there_is_room(
    scores: tuple[float, float], said: str
) -> None:
    large, small = (replace(ORDERS[0], name=f"of_{size}", tokens=size) for size in (900, 5))
    pool = make_pool([replace(large, relevance=scores[1]), replace(small, relevance=scores[0])])
    selection = select(pool, Settings(budget=100))
    assert selection.state[1] == State.KEPT and selection.state[0] == State.DROPPED
    for cells in (44, 90, 160):
        drawn = plain(draw_gap(selection, cells))
        assert said in drawn and "smaller fitted" in drawn


async def test_no_key_but_q_acts_on_a_screen_that_is_too_small(tmp_path: Path) -> None:
    async with running(inspector(settings=TIGHT, environ={"SECATEUR_CONFIG_DIR": str(tmp_path)}), (60, 15)) as app:
        pilot = Pilot(app)
        await settle(app, "b", "D", "enter", "S", "enter", "p", "w", "right")
        assert app.screen is bench_of(app) and bench_of(app).state.settings == TIGHT
        assert list(tmp_path.iterdir()) == []
        await pilot.press("q")
    assert app.return_value == 0


async def test_the_gap_says_why_it_is_below_0_and_an_item_that_it_is_not_sent() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        assert any(": smaller fitted" in line for line in await settle(app, "enter"))
        await press(app, "enter", "greater_than_sign")
        assert any("is not sent" in line for line in await settle(app)), "the bar names the item"


async def test_why_has_two_lines_for_a_long_name() -> None:
    name = "TestRepositoryOfIndicators.test_get_scanners_for_scoring_returns_those_that_are_enabled"
    pool = make_pool([Candidate("tests/test_scanners.py", name, (1, 30), 200, 0.9)])
    async with running(inspector(ScriptedEngine(lambda _query, _settings: pool))) as app:
        right = [line.rpartition("││")[2].strip(" │") for line in await settle(app, "i")]
        assert name in "".join(right)


async def test_the_footer_and_the_palette_begin_with_what_people_do_most() -> None:
    app = inspector()
    async with app.run_test(size=(120, 40)):
        lines = await settle(app)
        for named in ("h Lever", "c Compare", "u Undo", "S Save", "y Copy", "f Find", "? Help", "q Quit"):
            assert named in lines[-1]
        assert any("all actions by name" in line for line in await settle(app, "question_mark", "slash", *"palette"))
        lines = await settle(app, "escape", "escape", "colon")
        assert any("Lever (h): Apply" in line for line in lines) and any("Query (/)" in line for line in lines)
        assert any("Copy (y)" in line for line in await settle(app, *"copy"))
