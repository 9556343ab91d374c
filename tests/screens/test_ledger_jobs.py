"""Jobs of the benches over a ledger: what is turned or typed while one is under way, and what becomes of one that
nobody waits for."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from inspector_kit import STALLED, Inspector, press, running, screen_lines, settle
from ledger_kit import TRANSCRIPT, ledger_bench, opened, write_files, write_transcript
from secateur.kinds.registry import get_kind
from secateur.progress import Progress, unreported
from secateur.settings import Settings, with_values
from secateur_tui.pages.conversation import ConversationPage
from secateur_tui.screen import Bench
from secateur_tui.state.answer import ShownAnswer, compare
from secateur_tui.state.bench_state import Inputs
from textual.pilot import Pilot

ZONE = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3000})
SIZE = (120, 40)
GUARD = 60.0
"""Seconds after which a wait between threads is a failure."""


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_transcript(tmp_path)
    write_files(tmp_path)


class Held(ConversationPage):
    """Reads when it is let."""

    def __init__(self) -> None:
        super().__init__(get_kind("conversation"))
        self.begun, self.go_on = threading.Semaphore(0), threading.Semaphore(0)
        self.read_paths: list[str] = []
        self.done_paths: list[str] = []

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> Any:
        self.read_paths.append(inputs["path"])
        self.begun.release()
        assert self.go_on.acquire(timeout=GUARD)
        progress("reading", 0, 0)
        material = super().read(inputs, settings, progress)
        self.done_paths.append(inputs["path"])
        return material


class Long(ConversationPage):
    """Decides on 2,500 tokens until it is told that nobody waits for that."""

    def __init__(self) -> None:
        super().__init__(get_kind("conversation"))
        self.begun, self.ended, self.end = threading.Event(), threading.Event(), time.monotonic() + GUARD

    def decide(
        self, material: Any, inputs: Inputs, settings: Settings, progress: Progress = unreported
    ) -> ShownAnswer[Any]:
        if settings.conversation_prune.safe_zone_tokens != 2500:
            return super().decide(material, inputs, settings, progress)
        self.begun.set()
        try:
            while time.monotonic() < self.end:
                progress("summarising", 1, 2)
            raise AssertionError("nobody ended it")
        finally:
            self.ended.set()


def held(subject: Any = None) -> tuple[Inspector, Any]:
    app, subject = opened("conversation", ZONE), subject or Held()
    bench = app.bench("conversation")
    assert isinstance(bench, Bench)
    bench.state.kind_page = subject
    return app, subject


async def begun(pilot: Any, subject: Held, times: int) -> None:
    """The reading has begun as often as that, seen without holding up the application."""
    while len(subject.read_paths) < times:
        await pilot.pause(0.01)


async def test_what_is_turned_while_a_file_is_read_is_decided_after_one_reading() -> None:
    app, subject = held()
    async with app.run_test(size=SIZE) as pilot:
        await begun(pilot, subject, 1)
        await press(app, "B", "B", "s")
        subject.go_on.release(9)
        await settle(app)
        assert subject.read_paths == [TRANSCRIPT]
        state = ledger_bench(app).state
        assert state.answer is not None and state.answer.settings == state.settings
        assert state.answer.ledger.budget == 2500 and state.settings.conversation_prune.strategy == "summarize"


async def test_a_reading_that_nobody_waits_for_ends_at_its_next_report() -> None:
    app, subject = held()
    Path("other.json").write_bytes(Path(TRANSCRIPT).read_bytes())
    async with app.run_test(size=SIZE) as pilot:
        await begun(pilot, subject, 1)
        await press(app, "slash", "ctrl+u", *"other.json", "enter")
        subject.go_on.release(9)
        await settle(app)
        assert subject.read_paths == [TRANSCRIPT, "other.json"] and subject.done_paths == ["other.json"]
        assert ledger_bench(app).state.question == "other.json" and ledger_bench(app).state.answer is not None


async def test_escape_cancels_the_first_reading_and_refresh_reads_again() -> None:
    app, subject = held()
    async with app.run_test(size=SIZE) as pilot:
        await begun(pilot, subject, 1)
        await pilot.pause(0.1)
        assert any("Esc cancels" in line for line in screen_lines(app))
        await press(app, "escape")
        subject.go_on.release(9)
        lines = await settle(app)
        assert any("reading session.json was cancelled" in line for line in lines) and not subject.done_paths
        await settle(app, "R")
        assert subject.done_paths == [TRANSCRIPT] and ledger_bench(app).state.answer is not None


async def test_a_decision_that_nobody_waits_for_ends_at_its_next_report() -> None:
    app, subject = held(Long())
    async with running(app, SIZE):
        pilot = Pilot(app)
        await press(app, "B", "B")
        while not subject.begun.is_set():
            await pilot.pause(0.01)
        assert not subject.ended.is_set()
        await settle(app, "B")
        state = ledger_bench(app).state
        assert subject.ended.is_set() and state.answer is not None and state.answer.ledger.budget == 2250


async def test_benches_may_be_left_and_come_back_to_while_a_file_is_read() -> None:
    app, subject = held()
    async with app.run_test(size=SIZE) as pilot:
        await begun(pilot, subject, 1)
        await press(app, "2", *"shop", "enter", "4", "escape", "3")
        assert ledger_bench(app).jobs.activity == "reading"
        subject.go_on.release(9)
        await settle(app)
        assert subject.read_paths == [TRANSCRIPT] and ledger_bench(app).state.answer is not None


async def test_the_field_for_typing_is_the_one_that_was_wrong() -> None:
    async with running(opened("files", path="nowhere", query=""), SIZE) as app:
        lines = await settle(app, "escape", "slash", "ctrl+u", *"shop", "enter")
        assert ledger_bench(app).state.inputs == {"path": "shop", "query": ""}
        assert any("3 files" in line for line in lines)
        await press(app, "slash")
        assert app.focused is ledger_bench(app).query_one("#field-query"), "what is still missing"


async def test_a_path_that_got_longer_is_deleted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/a/home/with/a/long/name")
    async with running(opened("conversation", path=""), SIZE) as app:
        await settle(app, *"~/none", "enter", "slash", "ctrl+u", *TRANSCRIPT, "enter")
        assert ledger_bench(app).state.question == TRANSCRIPT and ledger_bench(app).state.answer is not None


async def test_an_answer_that_comes_as_patience_ends_is_not_waited_for() -> None:
    async with running(opened("conversation", ZONE), SIZE) as app:
        screen = ledger_bench(app)
        screen.jobs.after("patience", STALLED, screen.answering._be_late)
        token, _ = screen.jobs._timers["patience"]
        screen.jobs.stop("patience")  # what is in the queue of a timer that is stopped right after it fired
        screen.call_next(screen.jobs._fire, "patience", token, screen.answering._be_late)
        lines = await settle(app)
        assert "deciding" not in lines[0] and not screen.jobs.busy


async def test_an_answer_under_way_does_not_push_out_the_comparison_on_screen() -> None:
    async with running(opened("conversation", ZONE), SIZE) as app:
        await settle(app, "B")
        state = ledger_bench(app).state
        shown, baseline = state.comparison, state.baseline
        assert shown is not None and baseline is not None
        await settle(app, "B")
        assert compare(baseline, shown.now) is shown


async def test_the_present_folder_stands_in_the_title_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path / "shop")
    for path in (".", "./"):
        app = opened("files", path=path)
        async with app.run_test(size=SIZE):
            assert (await settle(app))[0].startswith(" secateur  shop   ")
