"""An engine that serves prepared pools and decides with the real `select`; and what screen tests need to look at a
screen."""

from __future__ import annotations

import asyncio
import difflib
import os
import time
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from secateur.errors import RepositoryError
from secateur.index.update.refresh import Changes
from secateur.kinds.search.kind import Search
from secateur.model import Channel, Pool, Selection, State
from secateur.render.layouts import render_pack
from secateur.render.search_json import json_report
from secateur.selection import select
from secateur.settings import Settings
from secateur.sources.git import HistoryCommit
from secateur.tokens import Counter, get_counter
from secateur_tui.app import Inspector
from secateur_tui.host import Pace
from secateur_tui.screen import Bench
from secateur_tui.state.answer import SearchAnswer
from textual import events
from textual._compositor import visible_screen_stack
from textual.keys import key_to_character
from textual.screen import ModalScreen

FRAME = 0.005
"""Seconds between two looks: a little longer than Textual waits before it paints."""

STALLED = 120.0
"""Seconds after which nothing is expected to come any more: it only ends a wait that would never end, however slow the
machine."""

QUERY = "where is the refund total rounded?"
GOLDENS = Path(__file__).parent / "goldens"


@dataclass(frozen=True)
class Candidate:
    """One row of a prepared pool."""

    path: str
    name: str
    lines: tuple[int, int]
    tokens: int
    relevance: float
    hotspot: float = 0.0
    distance: int = 1
    predecessor: int = -1
    edge: str = ""
    kind: str = "function"
    language: str = "python"
    sig_tokens: int = 0
    content: str = ""


ORDERS = (
    Candidate("src/orders/money.py", "Money.round_half_even", (41, 66), 212, 0.93, 0.61, kind="method", sig_tokens=24),
    Candidate(
        "docs/rounding.md", "Refunds and rounding", (12, 48), 431, 0.88, 0.12, kind="section", language="markdown"
    ),
    Candidate("src/orders/refund.py", "refund_total", (18, 77), 690, 0.84, 0.92, sig_tokens=31),
    Candidate(
        "tests/unit/payments/test_refund_rounding.py", "test_half_even", (9, 140), 1204, 0.71, 0.18, sig_tokens=22
    ),
    Candidate(
        "src/orders/api/handlers.py", "post_refund", (102, 171), 958, 0.42, 0.84, 2, 2, "called_by", sig_tokens=40
    ),
    Candidate("src/orders/tax/rounding.py", "round_tax", (3, 31), 297, 0.66, 0.35, 2, 0, "calls", sig_tokens=18),
    Candidate(
        "src/orders/ledger/post.py",
        "Ledger.post",
        (55, 159),
        1310,
        0.31,
        0.77,
        3,
        4,
        "calls",
        kind="method",
        sig_tokens=29,
    ),
    Candidate("src/orders/config.py", "", (1, 40), 388, 0.22, 0.44, 0, kind="region"),
    Candidate("src/orders/mail/refund_mail.py", "render", (20, 88), 744, 0.36, 0.08, 3, 4, "called_by", sig_tokens=26),
    Candidate(
        "src/orders/cart.py", "Cart.total", (61, 102), 455, 0.58, 0.66, 2, 0, "called_by", kind="method", sig_tokens=21
    ),
    Candidate("src/orders/currency/日本円.py", "丸める", (5, 29), 276, 0.52, 0.05, 2, 0, "called_by", sig_tokens=19),
    Candidate("src/orders/audit.py", "record", (7, 33), 268, 0.12, 0.31, 4, 6, "called_by", sig_tokens=17),
)

WRAPPER = 14
"""Tokens of a candidate's head in the pack."""


def make_pool(candidates: Sequence[Candidate] = ORDERS, query: str = QUERY, **changes: Any) -> Pool:
    """A pool of these candidates, in tie-break order already or not: tests decide."""
    n = len(candidates)

    def ints(values: Sequence[int]) -> Any:
        return np.array(values, dtype=np.int64)

    relevance = np.array([c.relevance for c in candidates], dtype=np.float64)
    hotspot = np.array([c.hotspot for c in candidates], dtype=np.float64)
    lexical = np.round(relevance * 0.75, 6)
    channels = [
        (1 << Channel.LEXICAL)
        | (1 << Channel.SEMANTIC if i % 2 else 0)
        | (1 << Channel.GRAPH if c.predecessor >= 0 else 0)
        for i, c in enumerate(candidates)
    ]
    return Pool(
        **{
            "query": query,
            "source": "graph-rag",
            "anchored_by": "mixed",
            "counter": "o200k_base",
            "commit": "4f2c91d",
            "symbol_id": [f"{c.path}::{c.name}" for c in candidates],
            "path": [c.path for c in candidates],
            "qualname": [c.name for c in candidates],
            "kind": [c.kind for c in candidates],
            "language": [c.language for c in candidates],
            "line_start": ints([c.lines[0] for c in candidates]),
            "line_end": ints([c.lines[1] for c in candidates]),
            "tokens": ints([c.tokens for c in candidates]),
            "cost": ints([c.tokens + WRAPPER for c in candidates]),
            "sig_start": ints([c.lines[0] for c in candidates]),
            "sig_end": ints([c.lines[0] for c in candidates]),
            "sig_tokens": ints([c.sig_tokens for c in candidates]),
            "sig_cost": ints([c.sig_tokens + WRAPPER if c.sig_tokens else 0 for c in candidates]),
            "relevance": relevance,
            "hotspot": hotspot,
            "distance": ints([c.distance for c in candidates]),
            "preference": np.zeros(n),
            "parts": {
                "relevance": {"lexical": lexical, "semantic": relevance - lexical},
                "hotspot": {"churn × complexity": hotspot},
            },
            "channels": ints(channels),
            "anchor": np.array([c.distance == 1 for c in candidates]),
            "predecessor": ints([c.predecessor for c in candidates]),
            "predecessor_edge": [c.edge for c in candidates],
            "caller_depth": np.zeros(n, dtype=np.int64),
            "callee_depth": np.zeros(n, dtype=np.int64),
            "heading": np.zeros(n, dtype=np.int64),
            "overhead": 21 if n else 0,
            "facts": {"terms": {"refund": 9, "total": 31, "round": 12}} if query == QUERY else {},
        }
        | changes
    )


def search_answer(selection: Selection, settings: Settings, engine: Any = None) -> SearchAnswer:
    """A selection as the inspector shows it."""
    return SearchAnswer.of(settings, Search().outcome_of(engine, selection, settings))


def large_pool(n: int) -> Pool:
    """A synthetic pool of `n` candidates, the same every time."""
    rng = np.random.default_rng(7)
    relevance = np.sort(np.round(rng.beta(1.2, 6, n), 6))[::-1].copy()
    tokens = rng.integers(20, 1500, n)
    candidates = [
        Candidate(
            f"src/package_{i % 97}/module_{i % 1013}.py",
            f"function_{i}",
            (1 + i % 900, 20 + i % 900),
            int(tokens[i]),
            float(relevance[i]),
            sig_tokens=15,
        )
        for i in range(n)
    ]
    return make_pool(candidates, hotspot=np.round(rng.beta(1, 4, n), 6), distance=rng.integers(0, 4, n))


@dataclass(frozen=True)
class KitStatus:
    files: int = 42
    fragments: int = 517
    snapshot: str = "4f2c"


@dataclass
class ScriptedEngine:
    """Serves prepared pools; every decision is the real one. `before` runs ahead of each retrieval, on the engine's
    thread."""

    pools: Callable[[str, Settings], Pool]
    source_name: str = "orders @ 4f2c91d"
    state: KitStatus = field(default_factory=KitStatus)
    before: Callable[[str], None] = lambda _query: None
    on_refresh: Callable[[Any], None] = lambda _progress: None
    parts: Callable[[str], Pool | None] = lambda _query: None  # before `refresh` has returned
    texts: dict[str, str] = field(default_factory=dict)
    changed: Changes = field(default_factory=Changes)
    looks: int = 0
    retrieved: list[str] = field(default_factory=list)
    selected: int = 0

    def refresh(self, progress: Any = None) -> KitStatus:
        self.on_refresh(progress)
        return self.state

    def status(self) -> KitStatus:
        return self.state

    def changes(self) -> Changes:
        self.looks += 1
        return self.changed

    def retrieve(self, query: str, settings: Settings | None = None) -> Pool:
        self.retrieved.append(query)
        self.before(query)
        return self.pools(query, settings or Settings())

    def retrieve_partial(
        self,
        query: str,
        settings: Settings | None = None,  # noqa: ARG002
        *,
        progress: Any = None,  # noqa: ARG002
    ) -> Pool | None:
        return self.parts(query)

    def select(self, pool: Pool, settings: Settings | None = None) -> Selection:
        self.selected += 1
        return select(pool, settings or Settings())

    def pack_tokens(self, selection: Selection) -> int:
        return selection.used

    def report(self, selection: Selection, **said: Any) -> dict[str, Any]:
        text = partial(self.content, selection.pool)
        listed = {name: said[name] for name in ("explain", "dropped")}
        return json_report(selection, text, text, self.pack_tokens(selection), **listed)

    def calls(self, selection: Selection) -> Any:  # noqa: ARG002
        raise RepositoryError("prepared pools have no call graph", hint="ask a real engine")

    def walk(self, selection: Selection, settings: Settings | None = None) -> Any:  # noqa: ARG002
        raise RepositoryError("prepared pools have no call graph", hint="ask a real engine")

    def sent(self, selection: Selection, row: int) -> str:
        if selection.state[row] == State.DROPPED:
            return ""
        return (self.content if selection.state[row] == State.KEPT else self.signature)(selection.pool, row)

    def changes_of(self, pool: Pool, row: int) -> list[HistoryCommit]:
        return [HistoryCommit("4f2c91d0a1b2", 1_772_000_000, (), f"Change {row} of the rounding", (pool.path[row],))]

    def counter(self, settings: Settings) -> Counter:
        return get_counter(settings.tokens.counter)

    def render(self, selection: Selection) -> str:
        texts = partial(self.content, selection.pool), partial(self.signature, selection.pool)
        return render_pack(selection, *texts) if selection.kept_rows else ""

    def signature(self, pool: Pool, row: int) -> str:
        return self.content(pool, row).partition("\n")[0] + "\n"

    def content(self, pool: Pool, row: int) -> str:
        default = (
            f'def {pool.qualname[row].split(".")[-1]}(amount, places=2):\n    """Round half to even."""\n\treturn'
            f" amount  # {row}\n"
        )
        return self.texts.get(pool.symbol_id[row], default)


def orders_engine(**options: Any) -> ScriptedEngine:
    """The engine of most tests: twelve candidates of a small shop."""
    return ScriptedEngine(lambda query, _settings: make_pool(query=query), **options)


def inspector(
    engine: Any = None,
    settings: Settings | None = None,
    *,
    query: str = QUERY,
    path: str = "orders",
    proves: bool = False,
    **options: Any,
) -> Inspector:
    """An inspector that does not dawdle, and looks for changes only when a test tells it to (`looked`). Unless it is
    told to it proves nothing, which would be half of the time of most tests."""
    pace = Pace(0.001, 0.001, 0, proves=proves)
    return Inspector(engine or orders_engine(), settings or Settings(), path=path, query=query, pace=pace, **options)


def bench_of(app: Inspector) -> Bench:
    """The bench, whatever lies on top of it."""
    return next(screen for screen in app.screen_stack if isinstance(screen, Bench))


def screen_lines(app: Inspector) -> list[str]:
    """What is on screen, as text, without trailing spaces."""
    width, height = app.size
    visible_screen_stack.set(app._background_screens)  # what is seen below a page on top
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips[:height]] if width else []


class Shown(Sequence[str]):
    """The lines on the screen. They are drawn when they are looked at, or before anything else happens; most tests wait
    for a screen that they do not look at, and drawing it is a seventh of their time."""

    def __init__(self, app: Inspector) -> None:
        self._app = app
        unread = weakref.ref(self)

        def draw() -> None:
            if (shown := unread()) is not None:
                _ = shown.lines

        asyncio.get_running_loop().call_soon(draw)

    @cached_property
    def lines(self) -> list[str]:
        return screen_lines(self._app)

    def __getitem__(self, index: Any) -> Any:
        return self.lines[index]

    def __len__(self) -> int:
        return len(self.lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.lines == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.lines)


async def looked(app: Inspector) -> Sequence[str]:
    """The screen after the bench has looked whether anything changed."""
    bench_of(app).returned_to()
    return await settle(app)


async def press(app: Inspector, *keys: str) -> None:
    """Put keys into the application's queue, as a terminal does, each when the one before has been handled."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else key_to_character(key)))
        await quiet(app)


async def quiet(app: Inspector) -> None:
    """Wait until no widget has a message waiting, twice in a row: a message may lead to another."""
    rounds, end = 0, time.monotonic() + STALLED
    while rounds < 2:
        await asyncio.sleep(0.001)
        waiting = [pump for pump in (app, *app._registry) if pump.message_queue_size]
        rounds = 0 if waiting else rounds + 1
        # Messages for an application that has ended are never taken: without this a crash would look like a test that
        # hangs.
        assert app.is_running and time.monotonic() < end, (
            f"messages wait for {waiting}; the application {'runs' if app.is_running else 'has ended'}"
        )


def count_paint(app: Inspector) -> None:
    app.paints = getattr(app, "paints", 0) + 1


Inspector.post_display_hook = count_paint  # Textual calls it for tests; `settle` waits until it is not called any more


@asynccontextmanager
async def running(app: Inspector, size: tuple[int, int] = (120, 40), **options: Any) -> AsyncIterator[Inspector]:
    """The application in a terminal of that size, once it has come to rest."""
    async with app.run_test(size=size, **options):
        await settle(app)
        yield app


async def settle(app: Inspector, *keys: str) -> Sequence[str]:
    """Press the keys, and wait until nothing runs, nothing is queued, and nothing was painted for three frames; the
    screen's lines."""
    await press(app, *keys)
    still, paints, end = 0, -1, time.monotonic() + STALLED
    while time.monotonic() < end:
        await asyncio.sleep(FRAME)
        await quiet(app)
        busy = any(bench.jobs.busy for bench in app.screen_stack if isinstance(bench, Bench))
        still, paints = (0 if busy or app.paints != paints else still + 1), app.paints
        if still < 3 or len(app.screen_stack) < 2:
            continue
        if isinstance(app.screen, ModalScreen):
            app.screen.refresh()  # what lies below it may have been laid out anew since it was painted
        if app.screen._compositor.full_map:  # not a screen that was pushed and is not laid out yet
            return Shown(app)
        still = 0
    work = [str(worker) for worker in app.workers if not worker.is_finished]
    raise AssertionError("\n".join([f"the screen does not come to rest; at work: {work}", *screen_lines(app)]))


def assert_golden(name: str, lines: Sequence[str]) -> None:
    """Compare with a stored screen; `SECATEUR_UPDATE_GOLDENS=1` stores it instead."""
    path = GOLDENS / f"{name}.txt"
    text = "\n".join(lines) + "\n"
    if os.environ.get("SECATEUR_UPDATE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    stored = path.read_text(encoding="utf-8")
    if text != stored:
        changes = "\n".join(difflib.unified_diff(stored.splitlines(), lines, "stored", "on screen", n=0, lineterm=""))
        accept = "to accept it run with SECATEUR_UPDATE_GOLDENS=1"
        raise AssertionError(f"the screen differs from {path}; {accept}\n{changes}")
