"""What makes screens cheap to test."""

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def lasting_toasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A toast stays for as long as a test looks: one that left after five seconds would be missed on a busy machine."""
    from inspector_kit import STALLED
    from secateur_tui.app import Inspector

    monkeypatch.setattr(Inspector, "NOTIFICATION_TIMEOUT", STALLED)
    monkeypatch.setattr(Inspector, "SURVIVES", False)  # an error ends a test


@pytest.fixture
def painted() -> None:
    """Tests that use this have Textual paint as for a terminal."""


@pytest.fixture(autouse=True)
def nothing_painted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No terminal is there to paint on, and a test that looks has the whole screen drawn: what Textual would paint is
    counted (`settle`) and not made, which was a third of the time."""
    from textual._compositor import Compositor

    paint = Compositor.render_update

    def skip(compositor: Compositor, *, full: bool = False, **options: Any) -> Any:
        if full:  # for a picture
            return paint(compositor, full, **options)
        return compositor._dirty_regions.clear()

    if "painted" not in request.fixturenames:
        monkeypatch.setattr(Compositor, "render_update", skip)


@pytest.fixture(scope="session", autouse=True)
def styles_parsed_once() -> Iterator[None]:
    """Every start of the inspector parses the same style sheets: in a run of tests they are parsed once."""
    from textual.css.stylesheet import Stylesheet

    parse = Stylesheet._parse_rules
    parsed: dict[Any, Any] = {}

    def parse_once(sheet: Stylesheet, css: str, read_from: Any, *rest: Any, **named: Any) -> Any:
        key = (frozenset(sheet._variables.items()), css, read_from, rest, frozenset(named.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, css, read_from, *rest, **named)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True)
def slow_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `SECATEUR_ENGINE_DELAY=60` every call on a thread of the inspector begins 60 milliseconds late: a test that
    fails then presses a key before what it is for is there, and would fail now and then on a busy machine."""
    from secateur_tui import background

    delay, do = float(os.environ.get("SECATEUR_ENGINE_DELAY", "0")) / 1000, background._do

    def late(job: Any) -> Any:
        time.sleep(delay)
        return do(job)

    if delay:
        monkeypatch.setattr(background, "_do", late)
