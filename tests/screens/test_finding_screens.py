"""ItemFinding, filtering and sorting on the screen: goldens, and journeys that decide nothing otherwise."""

import re
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import diff_kit
import numpy as np
import pytest
from inspector_kit import (
    ORDERS,
    STALLED,
    Candidate,
    Inspector,
    Pace,
    ScriptedEngine,
    assert_golden,
    bench_of,
    inspector,
    make_pool,
    orders_engine,
    press,
    running,
    settle,
)
from ledger_kit import WRITERS, opened
from secateur.engine import Engine
from secateur.model import State
from secateur.settings import Settings, with_values
from secateur.sources.named import folder_of
from secateur_tui.parts import finding
from secateur_tui.screen import Bench
from secateur_tui.state.finding import Haystack
from secateur_tui.state.list_view import ListChoice
from secateur_tui.widgets.dialogue import Chooser, OfferList
from textual.pilot import Pilot

SIZES = [(120, 40), (80, 24)]
TIGHT = Settings(budget=4000)
ZONE = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3000})


async def typed(app: Inspector, text: str) -> None:
    await press(app, *("space" if letter == " " else letter for letter in text))


def shown(app: Inspector) -> list[int]:
    """The items of the list, by line."""
    listed = bench_of(app).state.shown
    assert listed is not None
    return [listed.item_at(line) for line in range(len(listed))]


def name(bench: Bench) -> str:
    answer = bench.state.answer
    assert answer is not None
    return answer.ids[bench.state.cursor]


def told(app: Inspector) -> str:
    return str(bench_of(app).query_one("#items").border_subtitle)


# --- goldens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("screen", "keys"),
    [
        ("found", "f r e f u"),
        ("found_near", "f r e f n u d"),
        ("filters", "F"),
        ("filtered", "F d r o p enter"),
        ("orders", "o"),
        ("sorted", "o h o t enter"),
    ],
)
async def test_search(screen: str, keys: str, size: tuple[int, int]) -> None:
    async with running(inspector(settings=TIGHT, proves=True), size) as app:
        assert_golden(f"search_{screen}_{size[0]}x{size[1]}", await settle(app, *keys.split()))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("screen", "keys"), [("found", "f J P Y"), ("filters", "F"), ("filtered", "F t o o l enter")])
async def test_conversation(
    screen: str, keys: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WRITERS["conversation"](tmp_path)
    async with running(opened("conversation", ZONE), size) as app:
        assert_golden(f"conversation_{screen}_{size[0]}x{size[1]}", await settle(app, *keys.split()))


# --- finding ----------------------------------------------------------------------------------------------------------


async def test_enter_goes_to_the_item_and_escape_leaves_the_cursor() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        bench = bench_of(app)
        before = name(bench)
        await press(app, "f")
        await typed(app, "cart")
        await settle(app, "escape")
        assert name(bench) == before
        await press(app, "f")
        await typed(app, "cart")
        await settle(app, "enter")
        assert name(bench) == "src/orders/cart.py::Cart.total"
        assert bench.focused is bench.home


async def test_a_text_is_found_in_what_came_in() -> None:
    row = "src/orders/audit.py::record"
    app = inspector(orders_engine(texts={row: "def record():\n    return 'a needle  in\na haystack'\n"}), TIGHT)
    async with running(app):
        await press(app, "f")
        await typed(app, "Needle in a")
        lines = await settle(app)
        assert any("record" in line and "text" in line for line in lines)
        await settle(app, "enter")
        assert name(bench_of(app)) == row


async def test_up_and_down_go_through_the_hits_and_a_click_takes_one() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        pilot = Pilot(app)
        await settle(app, "f", "r")  # a key that moves is for what is listed
        await settle(app, "down", "down", "up", "pagedown", "pageup", "down")
        offers = app.screen.query_one(OfferList)
        assert offers.cursor == 1
        wanted = offers.offers[2].value
        await pilot.click(OfferList, offset=(5, 2))
        await settle(app)
        assert bench_of(app).state.cursor == wanted


async def test_what_texts_hold_comes_below_names_that_took_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    class Held(Haystack):
        def __init__(self, ids: Sequence[str], names: Sequence[str]) -> None:
            assert go_on.wait(STALLED)
            super().__init__(ids, names)

    async def found(*keys: str) -> list[int]:
        async with running(inspector(settings=TIGHT)) as app:
            await press(app, *keys)
            go_on.set()
            await settle(app)
            return [offer.value for offer in app.screen.query_one(OfferList).offers]

    at_leisure = await found("f", *"refu")
    monkeypatch.setattr(finding, "Haystack", Held)
    go_on.clear()
    assert await found("f", *"refu") == at_leisure and len(at_leisure) == 5


async def test_nothing_found_says_so_and_enter_does_nothing() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        await press(app, "f")
        await typed(app, "zzzzqqqq")
        lines = await settle(app)
        assert any("0 found" in line for line in lines)
        await settle(app, "enter")
        assert isinstance(app.screen, Chooser)


async def test_names_that_attack_are_shown_harmless() -> None:
    hostile = Candidate("a\x1b]0;t\x07/[b]$x.py", "def\u202e[/red]", (1, 3), 50, 0.99)
    app = inspector(ScriptedEngine(lambda query, _: make_pool([hostile, *ORDERS], query=query)), TIGHT)
    async with running(app):
        for keys in (["f", "d", "e", "f"], ["escape", "F"], ["escape", "o"]):
            lines = await settle(app, *keys)
            assert not any(mark in line for line in lines for mark in ("\x1b", "\x07", "\u202e"))
        assert any("[/red]" in line for line in await settle(app, "escape", "f", "d", "e", "f"))


# --- filtering and sorting --------------------------------------------------------------------------------------------


async def test_a_filter_decides_nothing_and_escape_shows_all() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        bench = bench_of(app)
        answer, every = bench.state.answer, shown(app)
        await press(app, "F")
        await typed(app, "dropped")
        await settle(app, "enter")
        assert bench.state.answer is answer
        selection = answer.selection
        assert shown(app) == [row for row in every if selection.state[row] == State.DROPPED]
        assert told(app).strip().startswith(f"{len(shown(app))} of {len(every)} · state: dropped")
        assert bench.state.cursor in shown(app)
        await settle(app, "escape")
        assert shown(app) == every
        assert bench.state.answer is answer


async def test_the_cursor_follows_its_item_until_a_filter_hides_it() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        bench = bench_of(app)
        await press(app, "F")
        await typed(app, "dropped")
        await settle(app, "enter", "end")
        last = bench.state.cursor
        await press(app, "o")
        await typed(app, "name")
        await settle(app, "enter")
        assert bench.state.cursor == last
        for _ in range(30):
            await press(app, "b")  # in the end the budget holds everything
        await settle(app)
        assert shown(app) == []
        assert "0 of 12 · state: dropped" in told(app)
        await settle(app, "down", "up", "end", "f", "escape", "escape")
        assert len(shown(app)) == 12


async def test_going_to_what_a_filter_hides_takes_the_filter_off() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        await press(app, "F")
        await typed(app, "dropped")
        await press(app, "enter", "f")
        await typed(app, "round_half")
        await settle(app)
        await settle(app, "enter")
        bench = bench_of(app)
        assert name(bench) == "src/orders/money.py::Money.round_half_even"
        assert bench.state.view is None


async def test_an_order_puts_the_largest_first_and_ties_stay() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        await press(app, "o")
        await typed(app, "tokens")
        await settle(app, "enter")
        tokens = bench_of(app).state.answer.selection.pool.tokens
        assert shown(app) == np.argsort(-tokens, kind="stable").tolist() or [
            int(tokens[row]) for row in shown(app)
        ] == sorted(tokens.tolist(), reverse=True)


def log_opened() -> Inspector:
    Path("run.log").write_text("".join(f"{at}: ERROR {at}\n" for at in range(40)), encoding="utf-8")
    return Inspector(None, Settings(), bench="log", path="run.log", pace=Pace(0.001, 0.001, 0, proves=False))


OWN_ORDERS = {"search": "prio▾", "files": "score▾", "log": "lines▾", "conversation": "#▾", "envelope": "stage▾"} | {
    "diff": "chunk▾"
}
"""Bench -> the title that says what its list is ordered by."""


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 40), (200, 50)], ids=str)
@pytest.mark.parametrize("kind", OWN_ORDERS)
async def test_every_list_says_what_it_is_ordered_by(
    kind: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if kind in WRITERS:
        WRITERS[kind](tmp_path)
    diff_kit.write_pull_request(tmp_path)
    openers = {"search": inspector, "diff": diff_kit.opened, "log": log_opened}
    app = openers.get(kind, partial(opened, kind))()
    async with app.run_test(size=size):
        lines = await settle(app)

        def marked(lines: Sequence[str]) -> list[str]:
            (titles,) = [line for line in lines if "▾" in line]
            return re.findall(r"\S+▾", titles)

        assert marked(lines) == [OWN_ORDERS[kind]]
        figures = {"tokens": ("in▾", "tok▾", "tokens▾"), "tokens out": ("out▾", "tokens▾"), "saved": ("saved▾",)}
        for figure, titles in figures.items():
            if figure not in bench_of(app).state.columns.figures:
                continue
            bench_of(app).choose(ListChoice(by=figure))
            (title,) = marked(await settle(app))
            assert title in titles, title
        bench_of(app).choose(ListChoice(by="name"))
        (title,) = marked(await settle(app))
        assert title in ("name▾", "file▾", "lines▾", "role▾", "section▾")


async def test_a_new_question_shows_everything_again() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        await press(app, "F")
        await typed(app, "dropped")
        await settle(app, "enter", "slash", "x", "enter")
        assert bench_of(app).state.view is None


# --- the next one -----------------------------------------------------------------------------------------------------


async def test_next_dropped_goes_round_and_back() -> None:
    async with running(inspector(settings=TIGHT)) as app:
        bench = bench_of(app)
        selection = bench.state.answer.selection
        dropped = [row for row in shown(app) if selection.state[row] == State.DROPPED]
        seen = []
        for _ in dropped:
            await press(app, "greater_than_sign")
            seen.append(bench.state.cursor)
        assert seen == dropped
        await press(app, "greater_than_sign")
        assert bench.state.cursor == dropped[0]
        await press(app, "less_than_sign")
        assert bench.state.cursor == dropped[-1]


async def test_next_changed_needs_a_change_and_finds_each() -> None:
    async with running(inspector(settings=TIGHT), notifications=True) as app:
        bench = bench_of(app)
        assert any("nothing has changed since the ghost" in line for line in await settle(app, "right_square_bracket"))
        await settle(app, "B", "B", "B")
        changed = [row for row in shown(app) if bench.state.comparison.flipped[row]]
        assert changed
        seen = []
        for _ in changed:
            await press(app, "right_square_bracket")
            seen.append(bench.state.cursor)
        assert sorted(seen) == sorted(changed)


async def test_next_cut_is_what_goes_out_in_part() -> None:
    settings = with_values(TIGHT, {"smart_pruning.signature_share": 0.2})
    async with running(inspector(settings=settings)) as app:
        bench = bench_of(app)
        await press(app, "right_curly_bracket")
        assert bench.state.answer.selection.state[bench.state.cursor] == State.SHORTENED


async def test_where_there_is_no_other_one_it_is_said() -> None:
    async with running(inspector(settings=Settings(budget=100_000)), notifications=True) as app:
        assert any(" nothing is dropped" in line for line in await settle(app, "greater_than_sign"))


@pytest.mark.parametrize("keys", ["f", "F", "o", "greater_than_sign"])
async def test_without_items_there_is_nothing_to_find(keys: str) -> None:
    async with running(inspector(settings=TIGHT, query=""), notifications=True) as app:
        assert any("there are no items yet" in line for line in await settle(app, "escape", keys))


@pytest.mark.parametrize("kind", list(WRITERS))
async def test_every_kind_is_found_filtered_and_sorted(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WRITERS[kind](tmp_path)
    async with running(opened(kind, ZONE)) as app:
        bench = bench_of(app)
        answer = bench.state.answer
        wanted = answer.ids[len(answer) - 1]
        await press(app, "f")
        await typed(app, wanted)
        await settle(app)
        await settle(app, "enter")
        assert name(bench) == wanted
        await press(app, "o")
        await typed(app, "tokens")
        await settle(app, "enter")
        before = [answer.entries[item].before for item in shown(app)]
        assert before == sorted(before, reverse=True)
        await settle(app, "F")
        await settle(app, "enter")
        assert 0 < len(shown(app)) <= len(answer)
        assert bench.state.answer is answer


@pytest.mark.parametrize("seed", range(4))
async def test_any_keys_decide_nothing_and_lose_nothing(seed: int) -> None:
    """Keys of the list and of the choosers, in any order: the answer stays, the cursor is in sight."""
    keys = (
        *("f", "F", "o", "escape", "enter", "up", "down", "home", "end", "pagedown", "left", "right"),
        *("greater_than_sign", "less_than_sign", "right_curly_bracket", "backspace", "r", "e", "i", "v"),
    )
    rng = np.random.default_rng(seed)
    app = inspector(settings=TIGHT)
    async with app.run_test(size=(120, 40) if seed % 2 else (80, 24)):
        await settle(app)
        bench = bench_of(app)
        answer, state = bench.state.answer, bench.state.answer.selection.state.copy()
        for number in rng.integers(0, len(keys), 80).tolist():
            if keys[number] in ("left", "right", "r") and app.screen is bench:
                continue  # they turn knobs there
            await press(app, keys[number])
        await settle(app)
        await settle(app, "escape", "escape")
        if bench.state.answer is answer:
            assert answer.selection.state.tolist() == state.tolist()
        view = bench.state.view
        assert view is None or not len(view) or view.line_of(bench.state.cursor) >= 0
        await settle(app, "escape")
        assert sorted(shown(app)) == list(range(len(ORDERS)))


async def test_a_jump_out_of_sight_shows_where_the_budget_ends_and_one_in_sight_scrolls_nothing() -> None:
    many = [Candidate(f"src/m{n:03}.py", f"f{n:03}", (1, 9), 90, 1 - n / 100) for n in range(80)]
    app = inspector(ScriptedEngine(lambda query, _: make_pool(many, query)), settings=Settings(budget=4000))
    async with running(app, (120, 24)):
        lines = await settle(app, "greater_than_sign")
        cut = next(n for n, line in enumerate(lines) if "cut at 4,000" in line)
        assert lines[cut + 1].startswith("│▸"), "the first dropped item stands right below the cut"
        top = bench_of(app).query_one("#list").scroll_offset.y
        await press(app, "greater_than_sign", "greater_than_sign", "less_than_sign")
        assert bench_of(app).query_one("#list").scroll_offset.y == top


async def test_the_next_dropped_item_is_no_heading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    diff_kit.write_pull_request(tmp_path)
    async with running(diff_kit.opened()) as app:
        await press(app, "greater_than_sign")
        assert bench_of(app).state.entry_number is not None


async def test_the_border_says_what_a_pin_changed() -> None:
    async with running(inspector(settings=TIGHT), notifications=False) as app:
        await press(app, "greater_than_sign", "space")
        border = next(line for line in await settle(app) if line.startswith("╭─ Candidates"))
        assert "● 1 now kept" in border and "now dropped" in border and "] goes there" in border
        border = next(line for line in await settle(app, "u") if line.startswith("╭─ Candidates"))
        assert "now" not in border


async def test_why_a_symbol_is_not_here_is_explained_and_a_change_brings_it(tmp_path: Path) -> None:
    sought = "orders/domain/discounts.py::PercentOff"
    with Engine.open(folder_of("sample:orders", tmp_path), cache_dir=tmp_path / "cache") as engine:
        app = inspector(engine, Settings(), path="sample:orders", query="round minor units")
        async with running(app, (120, 40)):
            bench = bench_of(app)
            await settle(app, "f")
            await typed(app, "PercentOff")
            lines = await settle(app)
            assert any(f"× {sought}  no candidate" in one for one in lines)
            offers = app.screen.query_one(OfferList)
            while offers.offers[offers.cursor].value != sought:
                await press(app, "down")
            lines = await settle(app, "enter")
            assert any("Why is PercentOff not here?" in one for one in lines)
            assert any("beyond the depth: calls lead to it in 3 steps" in one for one in lines)
            lines = await settle(app, "down", "down", "enter")
            answer = bench.state.answer
            assert bench.state.settings.pins == (sought,) and answer is not None and sought in answer.ids
