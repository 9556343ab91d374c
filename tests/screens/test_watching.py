"""Files that change while the inspector is open: what it shows is marked stale, read again on a key, or followed."""

import threading
from pathlib import Path

import pytest
from inspector_kit import (
    ScriptedEngine,
    assert_golden,
    bench_of,
    inspector,
    looked,
    orders_engine,
    press,
    running,
    screen_lines,
    settle,
)
from msgspec.structs import replace
from secateur.engine import Engine
from secateur.errors import RepositoryError
from secateur.index.update.refresh import Changes
from secateur.settings import Settings, Ui
from secateur_tui.app import Inspector
from secateur_tui.host import Pace
from secateur_tui.parts.asking import REST
from support.repos import SHOP, committed, git, write
from textual import events
from textual.pilot import Pilot

THREE = Changes(("a.py", "b.py", "c.py"), commit=True)


SETTINGS = Settings(budget=4000)


def refreshing_engine() -> ScriptedEngine:
    """An engine that holds what is on disk once it was refreshed."""
    engine = orders_engine()

    def refresh(_progress: object) -> None:
        engine.changed = Changes()

    engine.on_refresh = refresh
    return engine


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_screen_of_a_stale_answer(size: tuple[int, int]) -> None:
    engine = refreshing_engine()
    app = inspector(engine, SETTINGS, proves=True)
    async with app.run_test(size=size):
        assert "● fresh" in (await settle(app))[0]
        engine.changed = THREE
        lines = await looked(app)
        assert ("○ stale: 3 files changed" if size[0] == 120 else "○ stale") in lines[0]
        assert_golden(f"search_stale_{size[0]}x{size[1]}", lines)
        asked = len(engine.retrieved)
        assert "● fresh" in (await settle(app, "R"))[0]
        assert len(engine.retrieved) == asked + 1


async def test_the_key_that_reads_again_is_named_as_it_is_mapped() -> None:
    engine = refreshing_engine()
    async with running(inspector(engine, replace(Settings(), ui=Ui(keys={"refresh": "f5"}))), (160, 40)) as app:
        engine.changed = Changes(("a.py",))
        assert "○ stale: 1 file changed, f5 reads again" in (await looked(app))[0].lower()


async def test_what_changes_back_is_fresh_again() -> None:
    engine = orders_engine()
    async with running(inspector(engine)) as app:
        engine.changed = Changes(commit=True)
        assert "○ stale: new commit" in (await looked(app))[0]
        engine.changed = Changes()
        assert "● fresh" in (await looked(app))[0]
        assert len(engine.retrieved) == 1


async def test_followed_changes_are_read_and_asked_again_and_the_cursor_stays() -> None:
    engine = refreshing_engine()
    app = inspector(engine, SETTINGS)
    app.follows = True
    async with running(app):
        await settle(app, "down", "down")
        cursor = bench_of(app).state.cursor
        engine.changed = THREE
        assert "● fresh" in (await looked(app))[0]
        assert (len(engine.retrieved), bench_of(app).state.cursor) == (2, cursor)
        await looked(app)
        assert len(engine.retrieved) == 2, "nothing changed since"


async def test_the_terminal_that_comes_to_the_front_looks_at_once() -> None:
    engine = orders_engine()
    async with running(inspector(engine)) as app:
        engine.changed = THREE
        app.post_message(events.AppFocus())
        assert "○ stale" in (await settle(app))[0]


async def test_looks_come_by_themselves() -> None:
    engine = orders_engine(changed=THREE)
    app = Inspector(engine, Settings(), path="orders", query="refund", pace=Pace(0.001, 0.001, 0.001))
    async with app.run_test(size=(120, 40)) as pilot:
        while "○ stale: 3 files" not in "".join(screen_lines(app)[:1]):
            await pilot.pause()
        engine.changed = Changes()
        while "● fresh" not in "".join(screen_lines(app)[:1]):
            await pilot.pause()
    assert REST > 1


async def test_what_is_gone_is_said_and_stops_nothing() -> None:
    engine = orders_engine()
    app = inspector(engine)
    async with app.run_test(size=(120, 40)):
        await settle(app)

        def gone() -> Changes:
            raise RepositoryError("no such folder: \x1b[31m", hint="check the path")

        engine.changes = gone  # type: ignore[method-assign]
        lines = await looked(app)
        assert "○ stale: not readable" in lines[0]
        assert any("money.py:41" in line for line in lines)


async def test_after_an_error_nothing_is_called_fresh() -> None:
    engine = orders_engine()
    app = inspector(engine)
    async with app.run_test(size=(120, 40)):
        await settle(app)

        def fail(_progress: object) -> None:
            raise RepositoryError("cannot list this", hint="Was the folder removed?")

        engine.on_refresh = fail
        lines = await settle(app, "R")
        assert "fresh" not in lines[0] and any("cannot list this" in line for line in lines)
        engine.on_refresh = lambda _progress: None
        assert "● fresh" in (await settle(app, "R"))[0]


async def test_a_look_that_ends_after_the_files_were_read_again_says_nothing() -> None:
    engine = refreshing_engine()
    async with running(inspector(engine)) as app:
        pilot = Pilot(app)
        entered, gate = threading.Event(), threading.Event()

        def slow() -> Changes:
            entered.set()
            gate.wait(10)
            return THREE

        engine.changes = slow  # type: ignore[method-assign]
        app.post_message(events.AppFocus())
        while not entered.is_set():
            await pilot.pause()
        await press(app, "R")
        while len(engine.retrieved) < 2 or bench_of(app).jobs.reading == 0:
            await pilot.pause()
        gate.set()
        assert "● fresh" in (await settle(app))[0]


async def test_on_a_real_repository_edits_deletes_branches_and_rebases_are_seen(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    git(root, "branch", "other")
    with Engine.open(root, SETTINGS) as engine:
        app = Inspector(engine, SETTINGS, path=str(root), query="refund total", pace=Pace(0.001, 0.001, 0))
        async with app.run_test(size=(120, 40)):
            assert "● fresh" in (await settle(app))[0]

            async def told_and_read(words: str) -> list[str]:
                assert f"○ stale: {words}" in (await looked(app))[0]
                lines = await settle(app, "R")
                assert "● fresh" in lines[0] and "● fresh" in (await looked(app))[0]
                return lines

            write(
                root,
                {
                    "shop/money.py": "def round_total(amount):\n    return amount\n",
                    "shop/new.py": "def refund_total_again():\n    return 1\n",
                },
            )
            assert any("shop/new.py" in line for line in await told_and_read("2 files changed"))
            (root / "shop/new.py").unlink()
            assert not any("shop/new.py" in line for line in await told_and_read("1 file changed"))
            git(root, "commit", "-q", "-a", "-m", "Round no more", time=1_750_000_100)
            await told_and_read("new commit")
            (root / "shop/api.py").touch()
            assert "● fresh" in (await looked(app))[0], "a new date is no change"
            git(root, "checkout", "-q", "other")
            await told_and_read("1 file changed")
            write(root, {"shop/api.py": "def refund_api():\n    return 2\n"})
            git(root, "commit", "-q", "-a", "-m", "Another api", time=1_750_000_200)
            await told_and_read("1 file changed")
            git(root, "rebase", "-q", "main", time=1_750_000_300)
            await told_and_read("1 file changed")
