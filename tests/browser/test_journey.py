"""A session at the inspector that ends in a browser: an issue is pasted, an item found, the screen exported, the page
opened; and the same bytes come from the command line that was copied."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import Watched, show
from screens.inspector_kit import bench_of, press, settle
from secateur.engine import Engine
from secateur.settings import Settings, with_values
from secateur.sources.named import folder_of
from secateur_tui.app import Inspector
from support.cli import secateur
from textual import events

ISSUE = """The refund total is one yen too much

Traceback (most recent call last):
  File "orders/services/refunds.py", line 88, in refund
    raise RefundError(order.id)
orders.errors.RefundError: refund of order 17
"""


def beside(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a session in a thread of its own: the browser holds the event loop of this one."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def test_from_a_pasted_issue_to_a_page(opened: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path / "config"))
    settings = with_values(Settings(), {"budget": 1500})
    copied, wanted = [], []

    async def session() -> None:
        with Engine.open(folder_of("sample:orders", tmp_path / "cache"), settings) as engine:
            app = Inspector(engine, settings, path="sample:orders", query="")
            async with app.run_test(size=(120, 40), notifications=True):
                await settle(app)
                app.post_message(events.Paste(ISSUE))
                await settle(app)
                await press(app, "enter")
                await settle(app)
                await press(app, "B", "f", *"round_refund", "enter")
                await settle(app)
                bench = bench_of(app)
                wanted.append(bench.state.entry)
                await press(app, "E", "h")
                await settle(app)
                await press(app, "enter")
                await settle(app)
                await press(app, "y")
                await settle(app)
                copied.append(app.clipboard)

    beside(session)
    (file,) = tmp_path.glob("*.html")
    page = show(opened, file)
    assert "The refund total is one yen too much" in page.locator("h1").inner_text()
    assert wanted == ["orders/services/refunds.py::round_refund_total"]
    page.fill("#find", "round_refund_total")
    found = page.locator(".item:not([hidden])")
    assert found.count() == 1
    found.locator("summary").click()
    assert wanted[0] in found.locator(".body").inner_text()
    assert opened.requests == [] and opened.said == []

    split = subprocess.run(
        ["bash", "-c", f"set -- {copied[0]}; printf '%s\\0' \"$@\""], capture_output=True, text=True, check=True
    )
    words = split.stdout.split("\0")[1:-1]  # its quotes are those of a shell
    again = tmp_path / "again.html"
    ran = secateur(*words, "--format", "json", "--report", again)
    assert ran.code == 0, ran.err
    assert again.read_bytes() == file.read_bytes()
    assert json.loads(ran.out)["budget"] == 1250
