"""The tree of calls: opened step by step, cycles marked, hubs bounded, drawn within any width."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur import Engine, Settings
from secateur.index.graph.code_graph import Direction
from secateur.retrieval.walk import CallMap
from secateur.settings import with_values
from secateur.terminal import visible
from secateur_tui.state.walking import STEP, LineKind, WalkTree
from secateur_tui.styled_text import plain, width
from secateur_tui.widgets.walk_lines import draw_chains, draw_tree_line, draw_whole
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP, chain

RING = {
    "ring.py": "".join(f"def r{n}():\n    # zebra\n    return r{(n + 1) % 3}()\n\n\n" for n in range(3)),
}
HUB = {"hub.py": "def hub():\n    # zebra\n    return 0\n"} | {
    f"c{n:03}.py": f"from hub import hub\n\n\ndef caller_{n}():\n    return hub()\n" for n in range(STEP * 2 + 3)
}


def calls_of(files: Mapping[str, str], query: str) -> CallMap:
    engine = Engine.of(MemorySource(files), with_values(Settings(), {"embedding.model": "none"}))
    return engine.calls(engine.search(query))


def tree_of(files: Mapping[str, str], query: str, symbol: str) -> WalkTree:
    calls = calls_of(files, query)
    return WalkTree(calls, calls.node(symbol))


def texts(tree: WalkTree, cells: int = 100) -> list[str]:
    return [plain(draw_tree_line(tree, number, cells)).rstrip() for number in range(len(tree.lines))]


def go(tree: WalkTree, name: str) -> None:
    tree.move(next(n for n, line in enumerate(tree.lines) if line.end and line.end.symbol_id.endswith(name)))


def test_the_tree_opens_step_by_step() -> None:
    tree = tree_of(chain(), "zebra", "chain.py::middle")
    assert [" ".join(text.split()) for text in texts(tree)] == [
        "● #1 middle chain.py",
        "▾ called by 1",
        "▸ ● #2 up1 chain.py defined in the same scope .98",
        "▾ calls 1",
        "▸ ● #3 down1 chain.py defined in the same scope .98",
    ]
    go(tree, "::up1")
    tree.open()
    assert [line.end.symbol_id for line in tree.lines if line.end] == [
        "chain.py::up1",
        "chain.py::up2",
        "chain.py::down1",
    ]
    tree.close()
    assert len(tree.lines) == 5


def test_a_cycle_is_marked_and_not_opened() -> None:
    tree = tree_of(RING, "zebra", "ring.py::r0")
    for name in ("::r2", "::r1"):
        go(tree, name)
        tree.open()
    again = [line for line in tree.lines if line.cycle]
    assert [line.node for line in again] == [tree.root]
    assert again[0].opened is None
    before = texts(tree)
    assert sum("↻" in text for text in before) == 1
    tree.move(tree.lines.index(again[0]))
    tree.open()
    assert texts(tree) == before


def test_a_hub_shows_more_each_time() -> None:
    tree = tree_of(HUB, "zebra", "hub.py::hub")
    counts = []
    while (rest := [n for n, line in enumerate(tree.lines) if line.kind is LineKind.REST]) != []:
        counts.append(tree.lines[rest[0]].count)
        assert f"… and {counts[-1]:,} more" in texts(tree)[rest[0]]
        tree.move(rest[0])
        tree.open()
    assert counts == [STEP + 3, 3]
    assert sum(line.kind is LineKind.ITEM for line in tree.lines) == STEP * 2 + 3


def test_left_goes_up_and_right_goes_down() -> None:
    tree = tree_of(chain(), "zebra", "chain.py::middle")
    go(tree, "::up1")
    tree.open()
    tree.open()
    assert tree.line.end is not None
    assert tree.line.end.symbol_id == "chain.py::up2"
    tree.close()
    assert tree.line.end is not None
    assert tree.line.end.symbol_id == "chain.py::up1"
    tree.close()
    tree.close()
    assert tree.line.kind is LineKind.BRANCH
    tree.close()
    tree.close()
    assert tree.line.kind is LineKind.ROOT
    tree.close()
    assert tree.line.kind is LineKind.ROOT


def test_a_mark_shows_the_calls_between() -> None:
    tree = tree_of(chain(), "zebra", "chain.py::up1")
    tree.mark()
    assert plain(draw_chains(tree, tree.chains(), 80)[0]).startswith("⚑ marked")
    go(tree, "::middle")
    tree.open()
    go(tree, "::down1")
    assert [plain(line) for line in draw_chains(tree, tree.chains(), 80)] == ["2 calls: up1 → middle → down1"]
    moved = WalkTree(tree.calls, tree.line.node, tree.marked)
    assert [found.symbol_ids for found in moved.chains()] == [found.symbol_ids for found in tree.chains()]
    tree.mark()
    tree.mark()
    assert tree.marked is None
    assert draw_chains(tree, tree.chains(), 80) == []


def test_other_decisions_leave_the_tree_as_it_is_opened() -> None:
    engine = Engine.of(MemorySource(SHOP), with_values(Settings(), {"embedding.model": "none"}))
    selection = engine.search(QUERY)
    calls = engine.calls(selection)
    tree = WalkTree(calls, calls.node("shop/refund.py::refund_total"))
    go(tree, "::post_refund")
    keys = [line.key for line in tree.lines]
    other = engine.select(selection.pool, with_values(engine.settings, {"budget": 0}))
    tree.take_decisions(calls.under(other))
    assert [line.key for line in tree.lines] == keys
    assert all("●" not in text for text in texts(tree))
    assert calls.leaving
    assert tree.calls.leaving == []


def test_what_the_whole_walk_says() -> None:
    engine = Engine.of(MemorySource(SHOP), with_values(Settings(), {"embedding.model": "none"}))
    walk = engine.walk(engine.search(QUERY))
    said = [plain(line) for line in draw_whole(walk, "shop/refund.py::refund_total", 200)]
    assert said[0] == "hangs together with post_refund, round_total"
    assert said[-1].endswith("(searched again ✓)")
    assert plain(draw_whole(walk, walk.alone[0], 200)[0]).startswith("stands alone")
    assert plain(draw_whole(walk, "elsewhere", 200)[0]).startswith("of what goes out 3 items hang together in 1 part")
    assert draw_whole(None, "elsewhere", 200) == []


@pytest.mark.parametrize("cells", [10, 20, 44, 60, 200])
def test_lines_are_drawn_within_their_width(cells: int) -> None:
    files = {
        "a\x1b[31m\u202e.py": "def zebra():\n    return helper()\n\n\ndef helper():\n    return 1\n",
        "漢字/とても長いフォルダ/b.py": "def zebra_with_a_very_long_name_indeed():\n    return 2\n",
    }
    calls = calls_of(files, "zebra helper")
    for row in range(len(calls.selection.pool)):
        tree = WalkTree(calls, int(calls.node_of_row[row]))
        for number in range(len(tree.lines)):
            drawn = draw_tree_line(tree, number, cells)
            assert plain(drawn) == visible(plain(drawn))
            if cells >= 44:
                assert width(drawn) <= cells


ROOTS = {"ring": (RING, "ring.py::r0"), "chain": (chain(), "chain.py::middle"), "hub": (HUB, "hub.py::hub")}
KEYS = ("open", "close", "turn", "mark", "up", "down", "end")


@cache
def _root(which: str) -> tuple[CallMap, int]:
    files, symbol = ROOTS[which]
    calls = calls_of(files, "zebra")
    return calls, calls.node(symbol)


@given(st.lists(st.sampled_from(KEYS), max_size=40), st.sampled_from(sorted(ROOTS)))
@settings(max_examples=25)
def test_any_keys_leave_a_tree_that_can_be_drawn(pressed: list[str], which: str) -> None:
    tree = WalkTree(*_root(which))
    for key in pressed:
        if key in ("up", "down"):
            tree.move(tree.cursor + (1 if key == "down" else -1))
        elif key == "end":
            tree.move(10**6)
        else:
            getattr(tree, {"turn": "toggle"}.get(key, key))()
        assert 0 <= tree.cursor < len(tree.lines)
    keys = [(line.kind, line.key) for line in tree.lines]
    assert len(keys) == len(set(keys))
    for number, line in enumerate(tree.lines):
        assert line.cycle == (line.node in (tree.root, *line.key[1:-1]) and line.kind is LineKind.ITEM)
        assert plain(draw_tree_line(tree, number, 80))
    for line in tree.lines:
        if line.kind is LineKind.ITEM:
            back = Direction.CALLS if line.direction is Direction.CALLED_BY else Direction.CALLED_BY
            above = line.key[-2] if len(line.key) > 2 else tree.root
            assert above in [node for node, _ in tree.calls.steps(line.node, back, 10**6)[0]]
