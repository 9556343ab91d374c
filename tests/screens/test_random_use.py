"""Whatever is pressed, pasted, clicked and resized, in whatever order: nothing crashes, nothing that was tuned is lost,
what the cursor is on is in sight, and the figures on screen are those of the ledger and of the JSON.

    python3 tasks.py explore tests/screens/test_random_use.py      with new random sessions
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diff_kit
import ledger_kit
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inspector_kit import Inspector, bench_of, inspector, quiet, running, screen_lines, settle
from secateur.kinds.base import Environment
from secateur.kinds.run import answer_of
from secateur.kinds.run import render as render_of
from secateur.selection import select
from secateur.terminal import cell_width, visible
from secateur_tui.actions import ACTIONS
from secateur_tui.screen import Bench
from secateur_tui.state.answer import SearchAnswer
from textual import events
from textual.errors import NoWidget
from textual.keys import key_to_character
from textual.pilot import Pilot
from textual.screen import ModalScreen

EXPLORING = not settings().derandomize
SESSIONS = 40 if EXPLORING else 3
STEPS = 24

pytestmark = pytest.mark.usefixtures("painted")

# --- what a session does ---


@dataclass(frozen=True)
class Pressed:
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Pasted:
    text: str


@dataclass(frozen=True)
class Resized:
    columns: int
    rows: int


@dataclass(frozen=True)
class Clicked:
    """At so many thousandths of the width and the height."""

    x: int
    y: int


@dataclass(frozen=True)
class Rested:
    """Nothing is done until nothing moves any more: then everything is looked at."""


Step = Pressed | Pasted | Resized | Clicked | Rested

LEAVING = {"quit", "edit"}
"""Actions that end the session or hand the terminal to another program."""

ACTION_KEYS = sorted({key for action in ACTIONS if action.id not in LEAVING for key in action.keys})
MOVING = ["up", "down", "pageup", "pagedown", "home", "end", "tab", "shift+tab", "enter", "escape", "left", "right"]
TYPED = ["k", "e", "space", "backspace", "delete", "1", "0", "日", "ctrl+a", "ctrl+w", "ctrl+u"]
BENCHES = ["1", "2", "3", "4", "5", "6"]
TRACEBACK = "Traceback (most recent call last):\n" + "".join(
    f'  File "src/orders/money_{n}.py", line {n}, in round_half_even\n    return amount\n' for n in range(40)
)
TEXTS = [
    "refund total",
    TRACEBACK,
    "a[/b] [$x] app/[slug]/page.tsx \\",
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b31m",
    "left \u202e right \u2066 \u200b",
    "session.json",
    "/nowhere/at/all",
    "日本円 丸める e\u0301 👩‍👩‍👧",
    "x" * 5_000,
    "\r\n\r\n",
    "4,000",
]
PALETTE = ["budget", "theme", "find", "why", "undo", "compare", "profile", "zzz", "order", "bench"]

pressed = st.one_of(
    st.sampled_from(ACTION_KEYS).map(lambda key: Pressed((key,))),
    st.sampled_from(MOVING).map(lambda key: Pressed((key,))),
    st.tuples(st.sampled_from([*ACTION_KEYS, *MOVING]), st.integers(2, 6)).map(
        lambda said: Pressed((said[0],) * said[1])
    ),
    st.sampled_from(TYPED).map(lambda key: Pressed((key,))),
    st.sampled_from(BENCHES).map(lambda key: Pressed(("escape", key))),
    st.tuples(
        st.sampled_from(PALETTE), st.lists(st.sampled_from(["down", "up", "pageup", "pagedown"]), max_size=2)
    ).map(lambda said: Pressed(("ctrl+p", *said[0], *said[1], "enter"))),
)
steps = st.lists(
    st.one_of(
        pressed,
        pressed,
        st.sampled_from(TEXTS).map(Pasted),
        st.builds(Resized, st.integers(80, 240), st.integers(24, 60)),
        st.builds(Clicked, st.integers(0, 999), st.integers(0, 999)),
        st.just(Rested()),
    ),
    min_size=STEPS // 2,
    max_size=STEPS,
)

# --- where it does it ---


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """The working folder of all sessions, which is also where everything of the user is kept."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for write in ledger_kit.WRITERS.values():
            write(Path(place))
        diff_kit.write_pull_request(Path(place))
        yield Path(place)
        os.chdir(before)


OPENED: dict[str, Callable[[dict[str, str]], Inspector]] = {
    "search": lambda environ: inspector(environ=environ, proves=True),
    "conversation": lambda environ: ledger_kit.opened("conversation", environ=environ),
    "diff": lambda environ: diff_kit.opened(environ=environ),
    "nothing open": lambda environ: ledger_kit.opened("conversation", path="", environ=environ),
}

# --- what holds ---


def left(app: Inspector) -> bool:
    """Whether the session was left, by the palette or in a dialogue: that is no fault."""
    return not app.is_running or app._exit


def is_drawn_well(app: Inspector) -> None:
    """No line is too wide, none carries a control character, and none is a traceback."""
    for line in screen_lines(app):
        assert cell_width(line) <= app.size.width, line
        assert visible(line) == line, line


def cursor_is_in_sight(app: Inspector, bench: Bench) -> None:
    """The list, where it is in sight, shows the row of the item that the state says is looked at."""
    lists = bench.query("#items #list")
    if isinstance(app.screen, ModalScreen) or not bench.state.listed or bench.jobs.error or not bench.state.shown:
        return
    region = lists.first().content_region
    covered = bench.has_class("-narrow") and (bench.has_class("-show-pages") or bench.has_class("-show-knobs"))
    if covered or not lists.first().region or not region.height:
        return
    rows = [line[region.x :] for line in screen_lines(app)[region.y : region.bottom]]
    assert sum(row[:1] in ("▸", "›") for row in rows) == 1, (region, rows)


FIGURES = re.compile(r"Budget ─ (≤ )?([\d,]+) of (?:(\d+) × )?([\d,]+)")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def figures_agree(bench: Bench) -> None:
    """The bar has the figures of the ledger, and the ledger those of the JSON that the same inputs and settings have
    without a screen."""
    outcome = bench.state.outcome
    if outcome is None or bench.jobs.error is not None:
        return
    bar = bench.query_one("#budget")
    if not bar.content_region.width:  # the list is zoomed: the bar is not in sight, and has no room for figures
        return
    title = str(bar.border_title)
    said = FIGURES.search(title)
    assert said is not None, title
    frames = number(said[3] or "1")
    assert frames * number(said[4]) == outcome.ledger.budget, title
    if not said[1]:
        assert number(said[2]) == outcome.ledger.after, title
    assert outcome.ledger.after == sum(entry.after for entry in outcome.ledger.entries)
    assert json.loads(again(bench)) == json.loads(render_of(bench.kind_page.kind, outcome, "json"))


def again(bench: Bench) -> str:
    """The JSON of the same inputs and settings, read and decided anew; of a search the candidates are those of
    before."""
    kind: Any = bench.kind_page.kind
    given, under, answer = bench.given, bench.state.settings, bench.state.answer
    if isinstance(answer, SearchAnswer):
        outcome = kind.outcome_of(bench.kind_page.engine, select(answer.selection.pool, under), under)
    else:
        outcome = answer_of(kind, kind.read(given, under, Environment(regular=True)), given, under)
    return str(render_of(kind, outcome, "json"))


def all_is_well(app: Inspector) -> None:
    bench = bench_of(app)
    assert len([screen for screen in app.screen_stack if isinstance(screen, Bench)]) == 1
    is_drawn_well(app)
    cursor_is_in_sight(app, bench)
    figures_agree(bench)


async def nothing_is_lost(app: Inspector) -> None:
    """Taking everything back leads to what was opened, and making it again to where it was."""
    bench = bench_of(app)
    last, changes = bench.state.settings, 0
    while bench.state.history.can_undo:
        bench.do("undo")
        changes += 1
    assert bench.state.settings == bench.state.opened
    await settle(app)
    figures_agree(bench)
    for _ in range(changes):
        bench.do("redo")
    assert bench.state.settings == last
    await settle(app)
    figures_agree(bench)


# --- a session ---


async def rested(app: Inspector) -> bool:
    """Waits until nothing moves, and tells whether the session goes on."""
    try:
        await settle(app)
    except AssertionError:
        if not left(app):
            raise
    return not left(app)


async def do(pilot: Pilot[int], app: Inspector, step: Step) -> None:
    match step:
        case Pressed(keys):
            for key in keys:
                app.post_message(events.Key(key, key if len(key) == 1 else key_to_character(key)))
        case Pasted(text):
            app.post_message(events.Paste(text))
        case Resized(columns, rows):
            await pilot.resize_terminal(columns, rows)
        case Clicked(x, y):
            with suppress(NoWidget):  # a screen that is about to open takes no clicks, and a terminal hears of none
                await pilot.click(offset=(x * app.size.width // 1000, y * app.size.height // 1000))
        case Rested():
            if await rested(app):
                all_is_well(app)


async def session(opened: str, folder: Path, done: list[Step]) -> None:
    home = tempfile.mkdtemp(dir=folder)
    environ = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "XDG_DATA_HOME": home, "EDITOR": "true"}
    async with running(OPENED[opened](environ)) as app:
        pilot = Pilot(app)
        for step in done:
            await do(pilot, app, step)
            if left(app):
                return
        if not await rested(app):
            return
        while isinstance(app.screen, ModalScreen):
            app.post_message(events.Key("escape", None))
            await quiet(app)
        await settle(app)
        all_is_well(app)
        await nothing_is_lost(app)


@pytest.mark.parametrize("opened", list(OPENED))
@settings(max_examples=SESSIONS, suppress_health_check=list(HealthCheck))
@given(done=steps)
def test_a_session_of_anything(opened: str, folder: Path, done: list[Step]) -> None:
    asyncio.run(session(opened, folder, done))
    gc.collect()  # what was never awaited warns here, which is an error
