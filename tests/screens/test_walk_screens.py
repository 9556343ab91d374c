"""The page "Walk" on a real engine: the tree of calls opens by keys, follows the list, and leads back to it."""

from pathlib import Path

import pytest
from inspector_kit import Inspector, assert_golden, bench_of, inspector, press, settle
from secateur.engine import Engine
from secateur.settings import Settings, with_values
from secateur_tui.screen import Bench
from secateur_tui.state.walking import LineKind, WalkTree
from secateur_tui.widgets.walk_view import WalkView
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP, chain

SIZES = [(120, 40), (80, 24)]
WORDS = with_values(Settings(), {"embedding.model": "none", "budget": 200})
FILES = (
    {path: text for path, text in SHOP.items() if path.endswith(".py")}
    | chain(4)
    | {
        "shop/vat.py": (
            "from shop.money import round_total\n\n\n"
            "def vat(total):\n    return round_total(total * 0.19)\n\n\n"
            "def ring(total):\n    return ring_back(total)\n\n\ndef ring_back(total):\n    return ring(total)\n"
        ),
    }
)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.of(MemorySource(FILES), WORDS, cache_dir=tmp_path / "cache", config_dir=tmp_path / "config")


def walking(engine: Engine, query: str = QUERY, settings: Settings = WORDS) -> Inspector:
    return inspector(engine, settings, query=query, path="shop", proves=True)


def tree(bench: Bench) -> WalkTree:
    shown = bench.query_one(WalkView).calls
    assert shown is not None
    return shown


def names(shown: WalkTree) -> list[str]:
    return [line.end.symbol_id.rpartition("::")[2] for line in shown.lines if line.end is not None]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("screen", "keys"),
    [
        ("opened", "W"),
        ("deeper", "W down down down down right"),
        ("between", "W p down down down down"),
        ("cycle", "f r i n g _ enter W down down right"),
    ],
)
async def test_goldens(engine: Engine, screen: str, keys: str, size: tuple[int, int]) -> None:
    app = walking(engine)
    async with app.run_test(size=size):
        await settle(app)
        for key in keys.split():
            await press(app, key)
            await settle(app)
        assert_golden(f"walk_{screen}_{size[0]}x{size[1]}", await settle(app))


async def test_the_tree_is_that_of_the_item_at_the_cursor(engine: Engine) -> None:
    app = walking(engine)
    async with app.run_test(size=(120, 40)):
        await settle(app)
        bench = bench_of(app)
        await press(app, "W")
        await settle(app)
        for _ in range(3):
            symbol = bench.state.answer.ids[bench.state.cursor]
            assert tree(bench).calls.symbol(tree(bench).root) == symbol
            calls = bench.kind_page.engine.calls(bench.state.answer.selection)
            item = calls.item(calls.node(symbol))
            assert names(tree(bench)) == [end.symbol_id.rpartition("::")[2] for end in (*item.callers, *item.callees)]
            await press(app, "escape", "down")
            await settle(app)


async def test_keys_open_close_and_lead_back_to_the_list(engine: Engine) -> None:
    app = walking(engine, "zebra")
    async with app.run_test(size=(120, 40), notifications=True):
        await settle(app)
        bench = bench_of(app)
        assert bench.state.answer.ids[bench.state.cursor] == "chain.py::middle"
        await press(app, "W")
        await settle(app)
        before = names(tree(bench))
        await press(app, "down", "down", "right")
        assert names(tree(bench)) == ["up1", "up2", "down1"]
        await press(app, "left")
        assert names(tree(bench)) == before
        await press(app, "right", "right", "enter")
        await settle(app)
        assert bench.state.answer.ids[bench.state.cursor] == "chain.py::up2"
        assert tree(bench).calls.symbol(tree(bench).root) == "chain.py::up2"
        await press(app, "down", "down", "enter")  # up3 is too far away to be a candidate
        assert any("no candidate" in line for line in await settle(app))
        assert bench.state.answer.ids[bench.state.cursor] == "chain.py::up2"
        await press(app, "escape")
        assert bench.focused is bench.home


async def test_a_knob_keeps_the_tree_open_and_changes_its_decisions(engine: Engine) -> None:
    app = walking(engine)
    async with app.run_test(size=(120, 40)):
        await settle(app)
        bench = bench_of(app)
        await press(app, "W")
        await settle(app)
        first = [number for number, line in enumerate(tree(bench).lines) if line.opened is False]
        if first:
            tree(bench).move(first[0])
            await press(app, "right")
        keys = [line.key for line in tree(bench).lines]
        shown = tree(bench)
        await press(app, "B", "B", "B")
        await settle(app)
        assert tree(bench) is shown
        assert [line.key for line in shown.lines] == keys
        selection = bench.state.answer.selection
        assert shown.calls.selection is selection
        for line in shown.lines:
            row = shown.calls.row(line.node)
            if line.kind is LineKind.ITEM and row is not None and line.end is not None:
                assert line.end.state == selection.decision(row).state.label


async def test_from_here_another_item_is_the_root(engine: Engine) -> None:
    app = walking(engine, "zebra")
    async with app.run_test(size=(120, 40)):
        await settle(app)
        bench = bench_of(app)
        await press(app, "W")
        await settle(app)
        await press(app, "p", "down", "down", "r")
        lines = await settle(app)
        assert tree(bench).calls.symbol(tree(bench).root) == "chain.py::up1"
        assert any("1 call: up1 → middle" in line for line in lines)


async def test_a_kind_without_calls_has_no_such_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ledger_kit import WRITERS, opened

    monkeypatch.chdir(tmp_path)
    WRITERS["conversation"](tmp_path)
    app = opened("conversation")
    async with app.run_test(size=(120, 40), notifications=True):
        await settle(app)
        await press(app, "W")
        lines = await settle(app)
        assert any("only what a search finds has calls" in line for line in lines)
        assert not any("Walk " in line for line in lines if "Why" in line)


async def test_without_a_graph_the_page_says_why() -> None:
    app = inspector(settings=Settings(budget=4000))
    async with app.run_test(size=(120, 40)):
        await settle(app)
        await press(app, "W")
        assert any("no call graph" in line for line in await settle(app))
        await press(app, "right", "down", "enter", "p", "r", "left", "end")
        assert any("no call graph" in line for line in await settle(app))
