"""A comparison with another commit, which is read first: its progress, its end, and what it leaves on the page."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from inspector_kit import STALLED, bench_of, inspector, press, quiet, running, screen_lines, settle
from secateur.engine import Engine
from secateur.settings import Settings
from secateur_tui.app import Inspector
from secateur_tui.jobs import IndexProgress
from secateur_tui.parts.comparing import ComparisonReading, draw_reading
from secateur_tui.styled_text import plain
from support.repos import git
from test_search_real_engine import shop

__all__ = ["shop"]

QUERY = "where is the refund total rounded?"


@pytest.fixture
def committed(shop: Path) -> Path:
    """A repository of two commits, of which the first has another name for a function."""
    git(shop, "init", "--quiet")
    text = (shop / "shop/refund.py").read_text("utf-8")
    for name in ("refund_sum", "refund_total"):
        (shop / "shop/refund.py").write_text(text.replace("refund_total", name), "utf-8")
        git(shop, "add", ".")
        git(shop, "commit", "--quiet", "--message", name)
    return shop


@pytest.fixture
def app(committed: Path) -> Iterator[Inspector]:
    with Engine.open(committed, Settings(budget=400)) as engine:
        yield inspector(engine, Settings(budget=400), query=QUERY, path=str(committed))


async def compare(app: Inspector, word: str) -> None:
    await press(app, "c", "ctrl+a", "ctrl+k", *word, "enter")


async def until(app: Inspector, words: str) -> str:
    """The screen as soon as it says these words."""
    end = time.monotonic() + STALLED
    while words not in (text := "\n".join(screen_lines(app))):
        assert time.monotonic() < end, text
        await asyncio.sleep(0.01)
        await quiet(app)
    return text


@asynccontextmanager
async def reading_held(app: Inspector, word: str) -> AsyncIterator[str]:
    """The screen while the engine's thread is held in the middle of reading for a comparison."""
    start, gate = threading.Event(), threading.Event()
    before = asyncio.ensure_future(app.thread.run(start.wait))
    await compare(app, word)
    while not bench_of(app).jobs.runs("compare"):
        await quiet(app)
    within = asyncio.ensure_future(app.thread.run(gate.wait, between=True))
    try:
        await quiet(app)
        start.set()
        yield await until(app, "Esc cancels")
    finally:
        gate.set()
        await asyncio.gather(before, within)


def test_what_is_read_shows_percent_and_the_key_that_ends_it() -> None:
    reading = ComparisonReading(None, label="commit HEAD~1", progress=IndexProgress("indexing, once", 1_240, 4_000))
    text = "\n".join(plain(line) for line in draw_reading(reading, "Esc", 50))
    assert "Reading commit HEAD~1" in text and "1,240 of 4,000" in text and "31 %  Esc cancels" in text


async def test_a_commit_that_is_not_there_stays_in_the_dialogue_with_the_error(app: Inspector) -> None:
    async with running(app):
        await compare(app, "@typo")
        text = "\n".join(await settle(app))
        assert "Compare with" in text and "no commit 'typo'" in text
        profile = bench_of(app).state.settings.profile
        text = "\n".join(await settle(app, "p"))
        assert "@typop" in text and bench_of(app).state.settings.profile == profile and "no commit" not in text
        assert "refund_sum" in "\n".join(await settle(app, "ctrl+a", "ctrl+k", *"@HEAD~1", "enter"))


async def test_a_folder_without_git_is_said_to_have_no_history(shop: Path) -> None:
    with Engine.open(shop, Settings(budget=400)) as engine:
        bare = inspector(engine, Settings(budget=400), query=QUERY, path=str(shop))
        async with bare.run_test(size=(120, 40)):
            await settle(bare)
            await compare(bare, "@HEAD~1")
            text = "\n".join(await settle(bare))
            assert "has no git history" in text and "Leave the revision out" not in text


async def test_another_commit_stands_beside_the_files(app: Inspector) -> None:
    async with running(app):
        await compare(app, "@HEAD~1")
        text = "\n".join(await settle(app))
        assert "commit HEAD~1" in text and "refund_sum" in text


async def test_escape_ends_what_is_read(app: Inspector) -> None:
    async with running(app):
        async with reading_held(app, "@HEAD~1") as text:
            assert "Reading commit HEAD~1" in text
            await press(app, "escape")
            assert "cancelled; c compares" in "\n".join(screen_lines(app))
        text = "\n".join(await settle(app))
        assert "cancelled; c compares" in text and "refund_sum" not in text
        await compare(app, "@HEAD~1")
        assert "refund_sum" in "\n".join(await settle(app))


async def test_what_belongs_to_an_older_question_is_gone_at_once(app: Inspector) -> None:
    async with running(app):
        await compare(app, "@nosuch")
        lines = await settle(app)
        assert any("no commit" in line for line in lines), lines
        async with reading_held(app, "@HEAD~1") as text:
            assert "no commit" not in text
        assert "refund_sum" in "\n".join(await settle(app))
        await press(app, "slash", *" again")
        assert "refund_sum" not in "\n".join(screen_lines(app)), "the sides of the query before"
