"""A Chromium that is installed on this machine, headless, which reaches no network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass
class Watched:
    """A page, and what it tried: requests beside its own file, messages of the console, errors."""

    page: Page
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def chromium() -> str:
    """The browser: `SECATEUR_CHROMIUM`, or the first that is found."""
    found = os.environ.get("SECATEUR_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.fail("no Chromium is installed: apt-get install chromium, or name one in SECATEUR_CHROMIUM")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=chromium(), args=sandbox)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """An empty page without a network; `parametrize` it indirectly with arguments of a context."""
    context = browser.new_context(offline=True, **getattr(request, "param", {}))
    page = context.new_page()
    watched = Watched(page)
    page.on("request", lambda one: watched.requests.append(one.url))
    page.on("console", lambda one: watched.said.append(one.text))
    page.on("pageerror", lambda one: watched.said.append(str(one)))
    yield watched
    context.close()


def show(watched: Watched, file: Path) -> Page:
    """Opens a file from disk: its one request is for itself."""
    watched.page.goto(file.as_uri())
    watched.requests.remove(file.as_uri())
    return watched.page
