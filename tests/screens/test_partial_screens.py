"""While a repository is indexed, a question is answered from a part of it, and the screen says so; the whole answer
takes its place and leaves the reader where they were."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspector_kit import (
    ORDERS,
    STALLED,
    Candidate,
    ScriptedEngine,
    assert_golden,
    bench_of,
    inspector,
    make_pool,
    press,
    quiet,
    running,
    screen_lines,
    settle,
)
from secateur.engine import Engine
from secateur.model import Notice, Pool
from secateur.progress import FIRST
from secateur.settings import Settings
from secateur_tui.app import Inspector
from support.repos import SHOP, handlers, write

SAID = "A partial answer, made from 5 of 42 files (31 % of the bytes). The rest is not indexed yet."
PARTIAL = {"partial": {"files": 5, "of": 42, "bytes": 31, "of_bytes": 100}, "terms": {"refund": 2}}
SIZES = pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])


class _Indexing:
    """An engine that indexes until it is let go on, and reports so often that questions get in between."""

    def __init__(self) -> None:
        self.on = threading.Event()
        self.asked: list[str] = []
        self.engine = ScriptedEngine(
            lambda query, _settings: make_pool(query=query), on_refresh=self._index, parts=self._part
        )

    def _index(self, progress: Any) -> None:
        while not self.on.wait(0.005):
            progress(FIRST, 13, 42)

    def _part(self, query: str) -> Pool | None:
        self.asked.append(query)
        if self.on.is_set():
            return None
        return make_pool(ORDERS[:5], query, warnings=(Notice("partial", SAID),), facts=PARTIAL)


async def until(app: Inspector, told: Callable[[list[str]], bool]) -> list[str]:
    """The screen once it says something, though the engine is still at work."""
    end = time.monotonic() + STALLED
    while time.monotonic() < end:
        await asyncio.sleep(0.01)
        await quiet(app)
        if told(lines := screen_lines(app)):
            return lines
    raise AssertionError("\n".join(screen_lines(app)))


async def at_rest(app: Inspector) -> list[str]:
    """The screen once all but the engine has come to rest."""
    frames: list[list[str]] = []

    def unchanged(lines: list[str]) -> bool:
        frames.append(lines)
        return not bench_of(app).scene.proving and len(frames) > 20 and all(lines == one for one in frames[-20:])

    return await until(app, unchanged)


def partial_shown(lines: list[str]) -> bool:
    text = "\n".join(lines)
    return "partial answer, indexing 30 %" in lines[0] and "made from 5 of 42 files" in text


@SIZES
async def test_a_partial_answer_says_so_and_the_whole_one_takes_its_place(size: tuple[int, int]) -> None:
    indexing = _Indexing()
    app = inspector(indexing.engine, proves=True)
    try:
        async with app.run_test(size=size):
            await until(app, partial_shown)
            state = bench_of(app).state
            assert state.partial
            assert len(state.answer) == 5
            await press(app, "down", "down")
            looked_at = state.answer.ids[state.cursor]
            lines = await at_rest(app)
            assert_golden(f"search_partial_{size[0]}x{size[1]}", lines)
            indexing.on.set()
            lines = await settle(app)
            assert_golden(f"search_partial_replaced_{size[0]}x{size[1]}", lines)
            assert not state.partial
            assert len(state.answer) == len(ORDERS)
            assert state.answer.ids[state.cursor] == looked_at
            assert state.baseline is None  # the reader changed nothing
            assert not state.undo()  # a change of the reader's it was not
    finally:
        indexing.on.set()


async def test_a_cursor_on_top_stays_on_top_and_a_partial_answer_is_never_the_ghost() -> None:
    indexing = _Indexing()
    best = make_pool([ORDERS[9], ORDERS[10]])
    indexing.engine.parts = lambda query: (
        None if indexing.on.is_set() else make_pool([ORDERS[9], ORDERS[10]], query, facts=PARTIAL)
    )
    app = inspector(indexing.engine)
    try:
        async with app.run_test(size=(120, 40), notifications=True):
            await until(app, lambda lines: "partial answer" in lines[0] and "Cart.total" in "\n".join(lines))
            state = bench_of(app).state
            assert state.answer.ids[state.cursor] in best.symbol_id
            await press(app, "x")
            await until(app, lambda lines: "the answer is partial" in "\n".join(lines))
            await press(app, "B")
            indexing.on.set()
            await settle(app)
            assert state.answer.line_of(state.cursor) == 0
            assert state.baseline is None
    finally:
        indexing.on.set()


@pytest.mark.parametrize("keys", [("p",), ("p", "p")])
async def test_a_cursor_on_top_stays_on_top_of_another_profile(keys: tuple[str, ...]) -> None:
    async with running(inspector(ScriptedEngine(lambda query, settings: make_pool(_order(settings), query)))) as app:
        state = bench_of(app).state
        for key in keys:
            await settle(app, key)
            assert state.answer.line_of(state.cursor) == 0
        await press(app, "down")
        looked_at = state.answer.ids[state.cursor]
        await settle(app, "p")
        assert state.answer.ids[state.cursor] == looked_at


def _order(settings: Settings) -> list[Candidate]:
    """The best candidate is another one where the profile is."""
    first = ORDERS[9] if settings.profile == "spec" else ORDERS[11]
    return [replace(first, relevance=0.99, hotspot=0.99), *(one for one in ORDERS if one is not first)]


async def test_a_question_typed_in_the_middle_does_not_wait_for_the_end() -> None:
    indexing = _Indexing()
    app = inspector(indexing.engine, query="")
    try:
        async with app.run_test(size=(120, 40)):
            lines = await until(app, lambda lines: "13 of 42 files" in "\n".join(lines))
            assert "answered from the most promising files" in "\n".join(lines)
            await press(app, *"refund")
            await until(app, partial_shown)
            await press(app, "space", *"total")
            await until(app, lambda _lines: indexing.asked[-1] == "refund total")
            await until(app, partial_shown)
            await press(app, "escape", "v")
            await until(app, lambda lines: "Round half to even" in "\n".join(lines))  # texts do not wait either
            assert indexing.engine.retrieved == []
            indexing.on.set()
            assert "partial" not in "\n".join(await settle(app))
            assert indexing.engine.retrieved == ["refund total"]
    finally:
        indexing.on.set()


async def test_settings_turned_meanwhile_stay_and_undo_leads_back_through_them() -> None:
    indexing = _Indexing()
    app = inspector(indexing.engine)
    try:
        async with app.run_test(size=(120, 40)):
            await until(app, partial_shown)
            await press(app, "B")
            state = bench_of(app).state
            turned = state.settings
            assert turned != state.opened
            indexing.on.set()
            await settle(app)
            assert state.settings == turned
            assert state.answer.settings == turned
            assert len(state.answer) == len(ORDERS)
            await settle(app, "u")
            assert state.settings == state.opened
    finally:
        indexing.on.set()


async def test_the_real_engine_ends_with_the_answer_of_who_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path / "config"))
    root = write(tmp_path / "shop", SHOP | handlers(8, 12))
    monkeypatch.setattr("secateur.engine.PARTIAL_BYTES", 1024)
    settings = Settings()
    parts: list[int] = []
    with Engine.open(root, settings, cache_dir=tmp_path / "1") as engine:
        read = engine.retrieve_partial

        def seen(*words: Any, **named: Any) -> Pool | None:
            pool = read(*words, **named)
            parts.append(0 if pool is None else len(pool))
            return pool

        monkeypatch.setattr(engine, "retrieve_partial", seen)
        app = inspector(engine, settings, query="refund total", path=str(root))
        async with app.run_test(size=(120, 40)):
            lines = await settle(app)
            assert "● fresh" in lines[0]
            assert parts[0] > 0
            shown = engine.report(bench_of(app).state.answer.selection)
    with Engine.open(root, settings, cache_dir=tmp_path / "2") as engine:
        assert engine.report(engine.search("refund total")) == shown


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
async def test_no_frame_is_drawn_for_a_width_that_is_not_known(size: tuple[int, int], monkeypatch: Any) -> None:
    frames: list[str] = []
    painted = Inspector.post_display_hook

    def keep(app: Inspector) -> None:
        painted(app)
        if len(app.screen_stack) > 1:
            frames.append("\n".join(screen_lines(app)))

    monkeypatch.setattr(Inspector, "post_display_hook", keep)
    app = inspector()
    async with app.run_test(size=size):
        await settle(app)
    assert any("refund_total" in frame for frame in frames)
    for frame in frames:
        assert "more lines of warnings" not in frame
        assert "▸…" not in frame
        assert not frame.startswith("…")
        assert "│ ·  " not in frame
