"""The inspector in a browser: it answers keys, only at its secret address, and fetches nothing from the network."""

import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from support.processes import environment

QUERY = "where is the refund total rounded?"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    words = ["inspect", "sample:orders", "--query", QUERY, "--budget", "1000", "--serve"]
    own = {name: str(tmp_path / name.lower()) for name in ("SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR")}
    command = [sys.executable, "-m", "secateur", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment() | own) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[4]
        process.terminate()


def answer(url: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_the_inspector_answers_keys_in_a_browser(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1300, "height": 820})
    requests: list[str] = []
    failed: list[str] = []
    frames: list[str] = []
    page.on("request", lambda one: requests.append(one.url))
    page.on("requestfailed", lambda one: failed.append(one.url))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(str(data))))
    page.goto(address)
    page.wait_for_selector("body.-first-byte")
    page.locator("#terminal").click()
    while not any("refunds.py" in frame for frame in frames):
        page.wait_for_timeout(100)
    page.keyboard.press("c")
    while not any("Compare with" in frame for frame in frames):
        page.wait_for_timeout(100)
    assert [url for url in requests if not url.startswith(address)] == failed  # Google's font is not asked for
    page.close()


def test_nobody_else_is_served(address: str) -> None:
    root = address.rsplit("/", 2)[0]
    assert answer(address) == 200
    assert answer(root + "/") == answer(root + "/ws") == 404
    assert answer(address, Host="evil.example") == answer(address + "ws", Origin="http://evil.example") == 403
