"""Scenarios on the screen: what is saved there passes `secateur check` at once and elsewhere; what fails is
explained."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import diff_kit
import ledger_kit
import pytest
from inspector_kit import Inspector, Pace, assert_golden, inspector, press, running, settle
from secateur.cli.main import main
from secateur.engine import Engine
from secateur.settings import Settings, with_values
from secateur_lab.scenarios.check import open_scenario
from secateur_lab.scenarios.running import session
from secateur_lab.scenarios.scenario import Scenario, read_scenario
from secateur_tui.screen import Bench
from support.processes import environment
from support.repos import committed
from textual import events
from textual.pilot import Pilot

SIZES = [(120, 40), (80, 24)]
SAVED = "saved.scenario.toml"
QUERY = "where is the money rounded?"
ISSUE = """Refund totals differ by a cent

    >>> round_half_even(2.675)
    [expect]
The customer's "total" is wrong: 'a\\b' and '''c'''."""
CODE = {
    "shop/money.py": 'def round_half_even(amount):\n    """Rounds money half to even."""\n    return round(amount)\n',
    "shop/refund.py": "from shop.money import round_half_even\n\n\ndef refund_total(order):\n"
    "    return round_half_even(sum(order))\n",
    "shop/mail.py": "def render(text):\n    return 'Dear customer, ' + text\n",
    "docs/refunds.md": "# Refunds\n\nThe refund total is rounded half to even.\n",
}


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def bench_of(app: Inspector) -> Bench:
    """The bench, whatever lies on top of it."""
    return next(screen for screen in app.screen_stack if isinstance(screen, Bench))


def said(app: Inspector) -> str:
    """The passing messages that are shown."""
    return "\n".join(str(notice.message) for notice in app._notifications)


def log_of(lines: int) -> str:
    return "".join(
        f"line {number}: {'ERROR no rate for JPY' if number % 17 == 0 else 'done'}\n" for number in range(lines)
    )


def written_conversation() -> Inspector:
    ledger_kit.write_transcript(Path())
    return ledger_kit.opened("conversation", with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3000}))


def written_envelope() -> Inspector:
    ledger_kit.write_envelope(Path())
    return ledger_kit.opened("envelope", with_values(Settings(), {"context_budget.tokens": 4000}))


def written_files() -> Inspector:
    ledger_kit.write_files(Path())
    return ledger_kit.opened("files", with_values(Settings(), {"context_prune.max_tokens": 800}))


def written_diff() -> Inspector:
    diff_kit.write_pull_request(Path())
    return diff_kit.opened()


def written_repository() -> Inspector:
    diff_kit.write_repository(Path())
    return diff_kit.opened(path="shop", base="HEAD~1")


def written_log() -> Inspector:
    Path("run.log").write_text(log_of(300), encoding="utf-8")
    settings = with_values(Settings(), {"log.max_tokens": 400})
    return Inspector(None, settings, bench="log", path="run.log", query="JPY", pace=Pace(0.001, 0.001, 0, proves=False))


BENCHES: dict[str, tuple[Callable[[], Inspector], str]] = {
    "conversation": (written_conversation, "B s down down down K"),  # another strategy, and a tool that is held
    "envelope": (written_envelope, "B B w down right"),
    "files": (written_files, "B s w down right"),
    "diff": (written_diff, "B down down K"),  # a file that is left out by hand
    "repository": (written_repository, "B w down right"),
    "log": (written_log, "B w down right"),
}


async def save(app: Inspector, name: str = SAVED, *, record: bool = False) -> list[str]:
    """Saves the screen under a name, and records every decision if wanted."""
    await settle(app, "S", "enter")
    app.screen.query_one("#answer").value = name  # type: ignore[attr-defined]
    lines = await settle(app, "enter")
    if record:
        assert any("Every decision is recorded" in line for line in await settle(app, "A"))
        lines = await settle(app, "enter")
    return lines


def drop_assertions() -> None:
    """Removes what saving asserts, so that only what is recorded counts."""
    head, _, rest = Path(SAVED).read_text(encoding="utf-8").partition("[expect]\n")
    Path(SAVED).write_text(f"{head}[expect]\n\n[recorded]{rest.partition('[recorded]')[2]}", encoding="utf-8")


def checked(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """`secateur check` on a machine that has nothing but a copy of the folder."""
    words = [sys.executable, "-c", "import sys; from secateur.cli.main import main; sys.exit(main())", "check"]
    return subprocess.run(
        words, cwd=folder, env=environment() | variables, capture_output=True, text=True, encoding="utf-8", timeout=240
    )


@contextmanager
def screen_of(path: Path) -> Iterator[Inspector]:
    """The inspector as `secateur inspect FILE` opens it."""
    with session(os.environ) as opened:
        scenario = open_scenario(path, opened)
    name, engine = scenario.kind.name, None
    if name == "search":
        place = scenario.environment.folder_of(scenario.inputs["path"])
        engine = Engine.open(place, scenario.loaded.settings, environ=scenario.environment.environ)
    try:
        yield Inspector(
            engine, Settings(), path=str(path), bench=name, scenario=scenario, pace=Pace(0.001, 0.001, 0, proves=False)
        )
    finally:
        if engine is not None:
            engine.close()


@pytest.mark.parametrize("bench", list(BENCHES))
async def test_what_is_saved_passes_at_once_and_in_another_place(
    bench: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, keys = BENCHES[bench]
    async with running(opened(), SIZES[0], notifications=True) as app:
        await settle(app, *keys.split())
        lines = await save(app)
        scenario = read_scenario(Path(SAVED))
        assert scenario.recorded is None and (scenario.expect.must_keep or scenario.expect.contains), scenario.expect
        assert main(["check"]) == 0
        assert any(f"✓ {SAVED} holds" in line for line in lines), lines
        ledger = bench_of(app).state.outcome.ledger  # type: ignore[union-attr]
        await save(app, record=True)
    scenario = read_scenario(Path(SAVED))
    assert scenario.recorded is not None and scenario.settings
    assert scenario.recorded.after == ledger.after, "what was on the screen is recorded"
    assert main(["check"]) == 0
    shutil.copytree(tmp_path / "work", tmp_path / "elsewhere" / "on a disk")
    monkeypatch.chdir(tmp_path / "elsewhere" / "on a disk")
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "other"))
    assert main(["check"]) == 0


async def test_a_search_is_saved_with_what_is_held_and_boosted(tmp_path: Path) -> None:
    committed(Path("shop"), CODE)
    values = {
        "budget": 120,
        "smart_pruning.strategy": "density",
        "pins": ("shop/mail.py::render",),
        "excludes": ("shop/refund.py::refund_total",),
        "boosts": {"docs/refunds.md::Refunds": 1.5},
    }
    settings = with_values(Settings(), values)
    with Engine.open("shop", settings) as engine:
        async with running(inspector(engine, settings, query="", path="shop"), SIZES[0], notifications=True) as app:
            app.post_message(events.Paste(ISSUE.replace("\n", "\r\n")))
            await settle(app)
            await settle(app, "enter", "b", "w", "down", "right")
            await settle(app, "S", "enter")
            assert "/" not in app.screen.query_one("#answer").value, "the repository gets no file that nobody asked for"
            await press(app, "escape")
            lines = await save(app, f"shop/{SAVED}")
            assert any(f"✓ {SAVED} holds" in line for line in lines), lines
            await settle(app, "escape", "m")
            item = bench_of(app).state.entry
            assert f"nothing is asserted about {item} any more" in said(app)
    text = Path("shop", SAVED).read_text(encoding="utf-8")
    assert "Refund totals differ by a cent\n\n    >>> round_half_even(2.675)\n    [expect]\n" in text, "it is readable"
    scenario = read_scenario(Path("shop", SAVED))
    assert scenario.input == {"query": ISSUE, "path": "."}
    assert item not in scenario.expect.must_keep and scenario.expect.must_drop == ["shop/refund.py::refund_total"]
    shutil.copytree("shop", tmp_path / "elsewhere")
    ran = checked(tmp_path / "elsewhere", PYTHONHASHSEED="11", SECATEUR_CACHE_DIR=str(tmp_path / "other"))
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "1 scenario: 1 passed"), ran.stdout + ran.stderr


async def test_the_name_is_asked_and_an_older_file_is_left_alone() -> None:
    app = written_conversation()
    Path("session.scenario.toml").write_text("mine", encoding="utf-8")
    async with running(app, SIZES[0], notifications=True):
        pilot = Pilot(app)
        await settle(app, "m")
        assert "no scenario is open; S saves this screen as one" in said(app)
        await press(app, "S", "enter")
        for size in SIZES:
            await pilot.resize_terminal(*size)
            assert_golden(f"scenario_save_{size[0]}x{size[1]}", await settle(app))
        assert any("choose another name" in line for line in await settle(app, "ctrl+a", "ctrl+k"))
        await settle(app, "escape")
        assert not Path("session-2.scenario.toml").exists()
        await save(app, "session")
        assert "session.scenario.toml already exists" in said(app)
        await save(app, "no/such/folder/x")
        assert "no/such/folder" in said(app)
    assert Path("session.scenario.toml").read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in Path().iterdir()) == ["session.json", "session.scenario.toml"]


async def test_must_asserts_what_became_of_the_item_then_that_it_is_kept_then_nothing() -> None:
    app = written_conversation()

    async def pressed() -> Scenario:
        await settle(app, "m")
        return read_scenario(Path(SAVED))

    async with running(app, SIZES[0], notifications=True):
        await save(app)
        bench = bench_of(app)
        entries = bench.state.outcome.ledger.entries  # type: ignore[union-attr]
        number = next(number for number, entry in enumerate(entries) if entry.state.label == "shortened")
        await press(app, *["down"] * number)
        id_ = entries[number].id
        expect = (await pressed()).expect
        assert (expect.must_shorten, id_ in expect.must_keep) == ([id_], False)
        assert main(["check"]) == 0
        expect = (await pressed()).expect
        assert (expect.must_shorten, id_ in expect.must_keep) == ([], True)
        lines = await settle(app)
        assert any("✗ 1 assertion fails: must_keep" in line for line in lines), lines
        assert main(["check"]) == 4
        assert id_ not in (await pressed()).expect.must_keep
        await settle(app, "B", "m")
        assert "the settings are others than the scenario's; S saves it again" in said(app)
    assert main(["check"]) == 0


async def test_a_failed_assertion_is_opened_at_its_line_and_removed() -> None:
    app = written_conversation()
    app.environ = {**app.environ, "VISUAL": "vi"}
    async with running(app, SIZES[0], notifications=True):
        await save(app)
        text = Path(SAVED).read_text(encoding="utf-8").replace("[expect]\n", '[expect]\nmust_drop = ["gone"]\n')
        Path(SAVED).write_text(text, encoding="utf-8")
        lines = await settle(app, "R")
        assert any('✗ 1 assertion fails: must_drop "gone"' in line for line in lines), lines
        lines = await settle(app, "C")
        place = text.splitlines().index('must_drop = ["gone"]') + 1
        assert any(f"edit line {place} of {SAVED}" in line for line in lines), lines
        await settle(app, "e")
        assert f"run vi +{place} {Path(SAVED).absolute()}" in said(app), "no terminal can be given to an editor here"
        lines = await settle(app, "C", "x")
        assert 'removed: must_drop "gone"' in said(app)
        assert any(f"✓ {SAVED} holds" in line for line in lines), lines
    assert read_scenario(Path(SAVED)).expect.must_drop == [] and main(["check"]) == 0


async def failing() -> None:
    """A scenario of a transcript in which a result is another one now."""
    async with running(written_conversation(), SIZES[0], notifications=True) as app:
        await save(app, record=True)
        drop_assertions()
        await settle(app, *["down"] * 3, "m")
    path = Path(ledger_kit.TRANSCRIPT)
    text = path.read_text(encoding="utf-8").replace("line 3", "line three and then some more words of it")
    path.write_text(text, encoding="utf-8")


async def test_a_failed_scenario_is_opened_explained_and_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    await failing()
    assert main(["check"]) == 4
    printed = capsys.readouterr().out
    with screen_of(Path(SAVED)) as app:
        async with running(app, SIZES[0], notifications=True):
            pilot = Pilot(app)
            bench = bench_of(app)
            assert bench.state.baseline is not None and bench.state.baseline is not bench.state.answer
            for size in SIZES:
                await pilot.resize_terminal(*size)
                assert_golden(f"scenario_failed_{size[0]}x{size[1]}", await settle(app))
            await press(app, "C")
            for size in SIZES:
                await pilot.resize_terminal(*size)
                assert_golden(f"scenario_why_{size[0]}x{size[1]}", await settle(app))
            page = " ".join(" ".join(await settle(app)).replace("│", " ").split())
            first = next(line.strip() for line in printed.splitlines()[1:])
            assert " ".join(first.split()[:4]) in page, "the page says what `check` prints"
            await pilot.resize_terminal(*SIZES[0])
            lines = await settle(app, "escape", "A")
            assert any("recorded anew in" in line for line in lines), lines
            await settle(app, "escape")
            assert main(["check"]) == 4, "nothing is written until it is answered"
            await settle(app, "A", "enter")
            assert f"saved again: {SAVED}" in said(app)
    assert main(["check"]) == 0


@pytest.mark.parametrize("bench", list(BENCHES))
async def test_a_scenario_opens_as_it_was_saved_and_follows_the_knobs(
    bench: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, keys = BENCHES[bench]
    async with running(opened(), SIZES[0], notifications=True) as app:
        await settle(app, *keys.split())
        await save(app, record=True)
        ledger = bench_of(app).state.outcome.ledger  # type: ignore[union-attr]
    (tmp_path / "secateur_config_dir").mkdir()
    (tmp_path / "secateur_config_dir" / "secateur.toml").write_text("[tokens]\ncounter = 'chars4'\n", encoding="utf-8")
    work = tmp_path / "work"
    monkeypatch.chdir(tmp_path)
    with screen_of(work / SAVED) as app:
        async with app.run_test(size=SIZES[0], notifications=True):
            lines = await settle(app)
            assert any(f"✓ {SAVED} holds" in line for line in lines), lines
            assert bench_of(app).state.outcome.ledger.shape() == ledger.shape()  # type: ignore[union-attr]
            await settle(app, "y")
            assert app.clipboard.startswith(f"cd '{work}' && " if " " in str(work) else f"cd {work} && ")
            lines = await settle(app, "escape", *["B"] * 12)
            assert bench == "repository" or not any("✓" in line for line in lines), "its small diff fits any limit"
            assert main(["check", str(work)]) == 0, "turning a knob writes nothing"


async def test_a_search_shows_what_was_recorded_as_the_ghost() -> None:
    committed(Path("shop"), CODE)
    assert main(["search", QUERY, "shop", "--budget", "120", "--save", f"shop/{SAVED}", "--exact", "--quiet"]) == 0
    code = Path("shop/shop/money.py")
    code.write_text(code.read_text(encoding="utf-8").replace("round_half_even", "bankers_rounding"), encoding="utf-8")
    with screen_of(Path("shop", SAVED)) as app:
        async with app.run_test(size=SIZES[0], notifications=True):
            lines = await settle(app)
            assert any("changed: shop/money.py::round_half_even" in line for line in lines), lines
            lines = await settle(app, "d")
            assert any("no longer candidates (1)" in line for line in lines), lines
            assert any("shop/money.py::round_half_even" in line for line in lines[10:]), lines


async def test_a_changed_diff_shows_which_files_are_decided_otherwise() -> None:
    async with running(written_diff(), SIZES[0], notifications=True) as app:
        await save(app, record=True)
    text = Path(diff_kit.PULL).read_text(encoding="utf-8").replace("src/shop/cart.py", "vendor/cart.py")
    Path(diff_kit.PULL).write_text(text, encoding="utf-8")
    with screen_of(Path(SAVED)) as app:
        async with app.run_test(size=SIZES[0], notifications=True):
            lines = await settle(app)
            assert any("2 decisions changed" in line for line in lines), lines
            page = "\n".join(await settle(app, "d"))
            assert "vendor/cart.py" in page.partition("new (1)")[2]
            assert "src/shop/cart.py" in page.partition("there no longer (1)")[2]
            Path(SAVED).write_text(Path(SAVED).read_text(encoding="utf-8").replace("[expect]", "[expect"))
            await settle(app, "R")
            assert f"{SAVED}:" in said(app), "what is wrong with the file is said, with its line"


async def test_figures_of_judged_items_stand_beside_the_knobs() -> None:
    async with running(written_files(), SIZES[0], notifications=True) as app:
        await save(app, record=True)
    drop_assertions()
    text = Path(SAVED).read_text(encoding="utf-8")
    Path(SAVED).write_text(
        text.replace("[recorded]", '[judged]\n"shop/money.py" = 3\n"shop/mail.py" = 1\n\n[recorded]'), encoding="utf-8"
    )
    with screen_of(Path(SAVED)) as app:
        async with running(app, SIZES[0], notifications=True):
            pilot = Pilot(app)
            before = next(line for line in await settle(app) if "judged" in line)
            after = next(line for line in await settle(app, *["b"] * 12) if "judged" in line)
            assert "recall 0.75 (1 of 2)  nDCG@10 0.52" in before
            assert "recall 0.75→1.00  nDCG@10 0.52→0.59" in after
            await press(app, "w")
            for size in SIZES:
                await pilot.resize_terminal(*size)
                assert_golden(f"scenario_judged_{size[0]}x{size[1]}", await settle(app))


def test_without_a_terminal_a_scenario_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.log").write_text(log_of(100), encoding="utf-8")
    assert main(["log", "a.log", "--max-tokens", "200", "--save", SAVED, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["check", SAVED]) == 0
    printed = capsys.readouterr().out
    assert main(["inspect", SAVED]) == 0
    assert capsys.readouterr().out == printed
    assert main(["inspect", SAVED, "--budget", "5"]) == 2
    assert "--budget does not go with a scenario" in capsys.readouterr().err


async def test_a_malformed_scenario_is_named_with_its_line() -> None:
    Path(SAVED).write_text('scenario = 1\nkind = "log"\n[input]\npath = 3\n', encoding="utf-8")
    from secateur.errors import SecateurError

    with pytest.raises(SecateurError) as raised, screen_of(Path(SAVED)):
        pass
    assert "path" in raised.value.message
