"""Time from a key to the painted frame, on the inspector without a terminal: what a person waits for.

    python tests/benchmarks/screen.py [--candidates 10000 100000] [--messages 100000] [--rounds 20]

Per key its median, 95th percentile and longest, in milliseconds of the clock, and those over all keys; then median and
95th percentile of the processor time that the screen's own thread took, which other programs on the machine hardly
change; beside them the load of the machine. The frame is the one after everything that the key led to on the screen's
own thread was handled: work on other threads, such as proofs, counts where it delays that. Aims, on an idle machine:
50 ms at 10,000 candidates, 100 ms at 100,000 candidates or messages, at the 95th percentile.

First the start: processor time of the whole process, from its beginning to the first frame that shows the bench.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pty
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "core"), str(ROOT / "tui"), str(ROOT / "tests"), str(ROOT / "tests" / "screens")]

from inspector_kit import ScriptedEngine, bench_of, large_pool  # noqa: E402 - the paths come first
from secateur.settings import Settings  # noqa: E402
from secateur_tui.app import Inspector  # noqa: E402
from secateur_tui.background import reduce_collections  # noqa: E402
from secateur_tui.host import Pace  # noqa: E402
from textual import events  # noqa: E402
from textual.keys import key_to_character  # noqa: E402

SEARCH_KEYS = ("down", "pagedown", "right", "left", "b", "B", "s", "u", "U", "d", "right", "i", "v", "down", "end", "p")
LEDGER_KEYS = ("down", "pagedown", "b", "B", "right", "left", "d", "down", "i", "v", "end", "home", "u", "U")
WORDS = ("return", "total", "order", "rounded", "def", "import")
STARTS = 6
"""Starts that are measured, with the one that writes the bytecode."""

NO_FRAME = 0.2
"""Seconds after which a key is taken for one that paints nothing, such as `end` at the end."""

STARTED = 900.0
"""Seconds after which a start is given up."""

REST = 0.05
"""Seconds between keys: what one led to besides its frame, such as a recount, is not charged to the next."""


class Clocked(Inspector):
    """Notes when a frame is handed to the terminal, and the processor time of the screen's thread until then."""

    painted = worked = 0.0

    def _display(self, screen: Any, renderable: Any) -> None:
        super()._display(screen, renderable)
        self.painted, self.worked = time.perf_counter(), time.thread_time()


Took = dict[str, list[tuple[float, float]]]
"""By key the milliseconds of each press: (of the clock, of the processor)."""


async def measured(app: Clocked, keys: tuple[str, ...], rounds: int) -> Took:
    """Milliseconds from each key to the frame that shows what it did; keys that paint nothing are left out."""
    with reduce_collections():  # as in a session
        return await _measured(app, keys, rounds)


async def _measured(app: Clocked, keys: tuple[str, ...], rounds: int) -> Took:
    took: Took = defaultdict(list)
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.pause()
        await at_rest(app)
        for _ in range(rounds):
            for key in keys:
                begun, worked = time.perf_counter(), time.thread_time()
                app.post_message(events.Key(key, key if len(key) == 1 else key_to_character(key)))
                looking = await handled(app)
                while app.painted < begun and time.perf_counter() - begun < NO_FRAME:
                    await asyncio.sleep(0.001)
                if app.painted > begun:
                    processor = max(0.0, app.worked - worked - looking)
                    took[key].append(((app.painted - begun) * 1_000, processor * 1_000))
                await asyncio.sleep(REST)
        app.exit()
    return took


async def at_rest(app: Clocked) -> None:
    """Waits until everything that a start leads to is done, the proofs too, however long another program takes."""
    begun = time.perf_counter()
    while bench_of(app).jobs.busy or not bench_of(app).answered:
        assert time.perf_counter() - begun < STARTED, "the screen does not come to rest"
        await asyncio.sleep(0.1)


async def handled(app: Clocked) -> float:
    """Waits until no widget has a message waiting, twice in a row; the processor time that looking took until the last
    frame."""
    rounds, looked, charged, painted = 0, 0.0, 0.0, app.painted
    while rounds < 2:
        await asyncio.sleep(0.001)
        if app.painted != painted:
            painted, charged = app.painted, looked
        begun = time.thread_time()
        pumps = (app, *(widget for screen in app.screen_stack for widget in (screen, *screen.query("*"))))
        rounds = 0 if any(pump.message_queue_size for pump in pumps) else rounds + 1
        looked += time.thread_time() - begun
    return charged


def told(title: str, took: Took) -> None:
    everything = [one for times in took.values() for one in times]
    load = os.getloadavg()[0]
    print(f"{title}: {len(everything):,} keys, load {load:.1f}")
    for key, times in [*sorted(took.items()), ("all", everything)]:
        (p50, p95, longest), (half, most, _) = (figures([one[side] for one in times]) for side in (0, 1))
        clock = f"p50 {p50:7.1f}  p95 {p95:7.1f}  longest {longest:7.1f} ms"
        print(f"  {key:>9}  {clock}   processor p50 {half:6.1f}  p95 {most:6.1f} ms", flush=True)


def figures(times: list[float]) -> tuple[float, float, float]:
    """(median, 95th percentile, longest)."""
    times = sorted(times)
    p50, p95 = (times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.95))
    return p50, p95, times[-1]


def transcript(messages: int, path: Path) -> None:
    """A conversation of tool calls and results, the same every time."""
    draw = random.Random(13)
    with path.open("w", encoding="utf-8") as file:
        for number in range(messages // 2):
            read = {"name": "read_file", "input": {"path": f"src/m{number}.py"}}
            call = {"type": "tool_use", "id": f"t{number}", **read}
            text = " ".join(
                draw.choices(("return", "total", "order", "rounded", "def", "import"), k=draw.randint(5, 60))
            )
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
            for role, part in (("assistant", call), ("user", result)):
                file.write(json.dumps({"role": role, "content": [part]}) + "\n")


STARTING = """
import os, sys, time
from importlib.metadata import EntryPoint
from secateur.cli.main import main

def loaded(point, load=EntryPoint.load):
    found = load(point)
    if point.group != "secateur.inspector":
        return found
    from textual.app import App

    def painted(app, screen, renderable, display=App._display):
        display(app, screen, renderable)
        if getattr(screen, "standing", False):  # the bench, and not the blank screen below it
            os.write({pipe}, repr(time.process_time()).encode())
            os._exit(0)

    App._display = painted
    return found

EntryPoint.load = loaded  # the inspector is found by one, after all that is imported before it
sys.argv[1:] = ["inspect", {folder!r}]
main()
"""
"""A start of the command that ends with the first frame of the bench, and tells the processor time until then."""


def start_time(folder: Path, bytecode: str) -> float:
    """Seconds of processor time from the beginning of the process to its first frame, in a terminal of its own."""
    readable, writable = os.pipe()
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ |= {"PYTHONPYCACHEPREFIX": bytecode, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    environ |= {"PYTHONPATH": os.pathsep.join((str(ROOT / "core"), str(ROOT / "tui"))), "XDG_CACHE_HOME": bytecode}
    terminal, inner = pty.openpty()
    code = STARTING.format(pipe=writable, folder=str(folder))
    command = [sys.executable, "-c", code]
    process = subprocess.Popen(
        command, stdin=inner, stdout=inner, stderr=inner, env=environ, pass_fds=(writable,), start_new_session=True
    )
    os.close(writable)
    os.close(inner)
    said = b""
    while process.poll() is None or select.select([terminal], [], [], 0)[0]:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                said += os.read(terminal, 1 << 16)  # else the terminal fills up, and the frame waits
            except OSError:  # closed
                break
    process.wait()
    told = os.read(readable, 100)
    os.close(readable)
    os.close(terminal)
    assert told, said.decode("utf-8", "replace")[-2_000:]
    return float(told)


def told_start() -> None:
    """Prints what a start costs in a small folder, in a process that finds its bytecode."""
    with tempfile.TemporaryDirectory() as bytecode, tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "money.py").write_text("def rounded(amount):\n    return round(amount, 2)\n", encoding="utf-8")
        times = sorted(start_time(Path(folder), bytecode) for _ in range(STARTS))[:-1]  # the first writes the bytecode
    load = os.getloadavg()[0]
    print(f"start, load {load:.1f}: processor least {times[0]:.2f} s, median {times[len(times) // 2]:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--messages", type=int, default=100_000, help="of the conversation; 0: none")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--no-start", action="store_true", help="do not measure the start")
    options = parser.parse_args()
    if not options.no_start:
        told_start()
    pace = Pace(debounce=0.12, rest=0.25, watch=0)
    for count in options.candidates:
        pool = large_pool(count)
        engine: Any = ScriptedEngine(lambda _query, _settings, pool=pool: pool)
        app = Clocked(engine, Settings(), path="orders", query="refund total", pace=pace)
        told(f"search, {count:,} candidates", asyncio.run(measured(app, SEARCH_KEYS, options.rounds)))
    if options.messages:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "session.jsonl"
            transcript(options.messages, path)
            app = Clocked(None, Settings(), path=str(path), bench="conversation", pace=pace)
            told(
                f"conversation, {options.messages:,} messages", asyncio.run(measured(app, LEDGER_KEYS, options.rounds))
            )


if __name__ == "__main__":
    main()
