"""Knobs that are turned against cases: each turn says beside the knobs what becomes of judged cases and scenarios."""

import asyncio
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspector_kit import FRAME, Inspector, Pace, bench_of, inspector, press, running, screen_lines, settle
from secateur.cli.main import main
from secateur.engine import Engine
from secateur.kinds import registry
from secateur.settings import Settings, with_profile, with_values
from secateur.sources.named import folder_of
from secateur_lab.evaluation.cases import JudgedCase, read_cases
from secateur_lab.evaluation.measuring import Choice, Measurer, make_plan, measure_with
from secateur_tui.state.held_cases import CaseResult, CasesResult, HeldCases
from secateur_tui.widgets.knob_panel import KnobPanel

ROUND = "orders/domain/money.py::round_minor"
QUERIES = ("where is the refund total rounded?", "round a refund to minor units", "who calls round_minor?")
SIZES = [(120, 40), (80, 24), (200, 50)]


def write_case(path: Path, query: str, rest: str) -> None:
    path.parent.mkdir(exist_ok=True)
    head = f'scenario = 1\nkind = "search"\n\n[input]\nquery = "{query}"\npath = "sample:orders"\n\n'
    path.write_text(head + rest, encoding="utf-8")


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of judged cases, one that asserts, one of another kind, a held-out one, and two bad ones."""
    for name in ("SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    folder = tmp_path / "cases"
    for number, query in enumerate(QUERIES):
        write_case(folder / f"{number}.scenario.toml", query, f'[judged]\n"{ROUND}" = 3\n')
    write_case(folder / "must.scenario.toml", QUERIES[0], f'[expect]\nmust_keep = ["{ROUND}"]\n')
    write_case(folder / "unknown.scenario.toml", QUERIES[0], '[judged]\n"no/such.py::item" = 3\n')
    (folder / "held.scenario.toml").write_text(
        'part = "held_out"\n' + (folder / "0.scenario.toml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (folder / "bad.scenario.toml").write_text("scenario = [", encoding="utf-8")
    (folder / "log.scenario.toml").write_text(
        'scenario = 1\nkind = "log"\n\n[input]\npath = "run.log"\n', encoding="utf-8"
    )
    return folder


@pytest.fixture
def app(cases: Path) -> Iterator[Inspector]:
    settings = with_values(Settings(), {"budget": 4000})
    with Engine.open(folder_of("sample:orders", cases.parent / "cache"), settings) as engine:
        app = Inspector(
            engine, settings, path="sample:orders", query=QUERIES[0], pace=Pace(0.001, 0.001, 0, proves=False)
        )
        app.cases = (cases,)
        yield app


def page_of(lines: Sequence[str]) -> str:
    """The words on the right side of the screen, wherever its lines end."""
    return " ".join(word for line in lines for word in line.rstrip("│ ").rpartition("│")[2].split())


@pytest.mark.parametrize("size", SIZES)
async def test_a_turn_says_what_it_does_to_the_cases(app: Inspector, size: tuple[int, int]) -> None:
    async with running(app, size):
        before = page_of(await settle(app, "J"))
        after = page_of(await settle(app, "equals_sign", *"200", "enter"))
        again = page_of(await settle(app, "u"))
    assert "4 cases · recall 1.000 · 0 change" in before
    assert "1 held out for secateur evaluate" in before
    assert "no item is called" in before  # what cannot be used costs itself
    assert "down of 3: noise" in after
    assert "✗ must_keep" in after  # the assertion that breaks comes first
    assert "4 cases · recall 1.000 · 0 change" in again


@pytest.mark.parametrize("size", [(120, 40), (200, 50)], ids=str)
async def test_the_cases_stay_in_sight_beside_any_knob(app: Inspector, size: tuple[int, int]) -> None:
    async with running(app, size):
        await settle(app, "M", "w")
        panel = app.screen.query_one(KnobPanel)
        for knob in panel.knobs:
            assert panel.chosen == knob
            lines = await settle(app)
            assert "cases recall 1.000" in page_of(lines)
            (row,) = [line for line in lines if "│▸" in line]
            assert knob.label[:9] in row
            await press(app, "down")
        lines = await settle(app, "up")
        assert "cases recall 1.000" in page_of(lines) and any("│▸" in line for line in lines)


async def test_the_figures_are_those_of_evaluate_and_pools_are_read_once(cases: Path) -> None:
    judged = [case for case in read_cases([cases])[0] if case.name in ("0.scenario.toml", "1.scenario.toml")]
    plan = make_plan([Choice("recommended")], [500, 4000])
    evaluated = list(measure_with(1, judged, plan, os.environ))
    recalls = {budget: [case.figures["recommended", budget].recall for case in evaluated] for budget in (500, 4000)}  # type: ignore[union-attr]
    settings = with_values(Settings(), {"budget": 4000})
    held = HeldCases(registry.get_kind("search"), with_profile(settings, "recommended"))
    held.find([cases])
    reads: list[str] = []

    class Counted(Measurer):
        def read(self, case: JudgedCase, settings: Settings) -> Any:
            reads.append(case.name)
            return super().read(case, settings)

    measurer = Counted(os.environ)
    for budget in (4000, 500, 4000):
        turned = with_values(with_profile(settings, "recommended"), {"budget": budget})
        held.read(turned, measurer, lambda _done, _total: None)
        result = held.measure(turned, lambda: None)
        assert result is not None
        assert [case.recall for case in result.results][:2] == recalls[budget]
    assert len(reads) == len(set(reads))


async def test_cases_are_measured_under_a_profile_that_was_saved_meanwhile(cases: Path) -> None:
    held = HeldCases(registry.get_kind("search"), with_profile(Settings(), "recommended"))
    held.find([cases])
    saved = with_profile(with_values(Settings(), {"profiles": {"mine": {"graph_rag": {"top_k": 20}}}}), "mine")
    held.read(saved, Measurer(os.environ), lambda _done, _total: None)
    result = held.measure(saved, lambda: None)
    assert result is not None
    assert len(result.results) == 4


async def test_a_knob_that_reads_again_is_pending_until_it_is_read(app: Inspector) -> None:
    async with running(app):
        await press(app, "J", "M", "w", *["down"] * 5, "right")  # depth
        pending = "\n".join(screen_lines(app))
        lines = "\n".join(await settle(app))
    assert "reading the cases …" in pending
    assert "4 cases · recall" in lines


async def test_reading_can_be_cancelled_and_goes_on(app: Inspector, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    read = Measurer.read

    def wait_and_read(self: Measurer, case: JudgedCase, settings: Settings) -> Any:
        go_on.wait(60)
        return read(self, case, settings)

    monkeypatch.setattr(Measurer, "read", wait_and_read)
    async with app.run_test(size=(120, 40)):
        await press(app, "J")
        while not bench_of(app).answered or "reading the cases … 0 %" not in "\n".join(screen_lines(app)):
            await asyncio.sleep(FRAME)
        await press(app, "escape")
        go_on.set()
        cancelled = "\n".join(await settle(app))
        again = "\n".join(await settle(app, "J"))
    assert "cancelled; J reads on" in cancelled
    assert "4 cases · recall 1.000 · 0 change" in again


def test_without_a_terminal_cases_name_the_command_that_measures_them(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", "sample:orders", "--cases", str(cases)]) == 2
    assert "secateur evaluate" in capsys.readouterr().err


def said(app: Inspector) -> str:
    """The passing messages that are shown."""
    return "\n".join(str(notice.message) for notice in app._notifications)


async def test_without_cases_the_key_says_how_to_have_some() -> None:
    async with running(inspector()) as app:
        lines = "\n".join(await settle(app, "J"))
    assert "no cases are at hand" in said(app)
    assert "Cases" not in lines


def test_a_change_of_recall_is_noise_where_the_sign_test_does_not_pass() -> None:
    def described(ups: int, downs: int, alike: int) -> str:
        before = [CaseResult({}, 0.5)] * (ups + downs + alike)
        after = [*[CaseResult({}, 0.75)] * ups, *[CaseResult({}, 0.25)] * downs, *[CaseResult({}, 0.5)] * alike]
        return CasesResult([*after, CaseResult({})]).describe_recall(CasesResult([*before, CaseResult({})]))

    assert described(7, 2, 9) == "recall 0.569, 7 up 2 down of 18: noise"
    assert described(9, 1, 8) == "recall 0.611, 9 up 1 down of 18"  # by chance in 2.1 %
    assert described(0, 0, 3) == "recall 0.500"
