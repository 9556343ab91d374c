"""The inspector on the real engine: what is on screen is what the command line prints."""

import json
import shlex
from pathlib import Path
from runpy import run_path

import pytest
from inspector_kit import bench_of, inspector, press, running, settle
from secateur.cli.main import main
from secateur.engine import Engine
from secateur.settings import Settings, with_profile, with_values

FILES = {
    "shop/money.py": '''
def round_half_even(amount, places=2):
    """Round an amount of money half to even."""
    scale = 10**places
    return round(amount * scale) / scale
''',
    "shop/refund.py": """
from shop.money import round_half_even


def refund_total(order):
    total = 0
    for item in order:
        total += item
    return round_half_even(total)
""",
    "shop/api.py": """
from shop.refund import refund_total


def post_refund(order):
    if not order:
        raise ValueError("empty")
    return {"total": refund_total(order)}
""",
    "shop/mail.py": "def render(text):\n    return 'Dear customer, ' + text\n",
    "docs/refunds.md": "# Refunds\n\nThe refund total is rounded half to even.\n",
}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    own = tmp_path / "secateur_config_dir" / "secateur.toml"
    own.parent.mkdir()
    own.write_text('[redaction]\nscanner = "rules"\n', encoding="utf-8")
    root = tmp_path / "a shop"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("counter", ["o200k_base", "estimate", "chars4"])
@pytest.mark.parametrize(
    ("profile", "keys"), [("spec", "B right w down left s"), ("recommended", "b w down down right")]
)
async def test_the_copied_command_prints_what_is_on_screen(
    shop: Path, capsys: pytest.CaptureFixture[str], profile: str, keys: str, counter: str
) -> None:
    settings = with_values(
        with_profile(Settings(), profile),
        {"budget": 200, "tokens.counter": counter, "graph_rag.anchors": "embedding", "redaction.scanner": "rules"},
    )
    with Engine.open(shop, settings) as engine:
        app = inspector(engine, settings, query="where is the refund total rounded?", path=str(shop))
        async with running(app):
            lines = await settle(app, *keys.split())
            await settle(app, "y")
            answer = bench_of(app).state.answer
            assert answer is not None and len(answer.selection) > 2
            report = engine.report(answer.selection).to_dict()
    capsys.readouterr()
    assert main([*shlex.split(app.clipboard)[1:], "--format", "json", "--quiet"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(json.dumps(report))
    shown = "\n".join(lines)
    for candidate in printed["candidates"]:
        assert f":{candidate['line_start']} " in shown
        ordered = candidate["relevance_score"] if answer.ordered_by == "relevance" else candidate["priority"]
        assert answer.ordered_by == "density" or f"{ordered:.3f}" in shown
    assert f"Budget ─ {printed['token_count']:,} of {printed['budget']:,}" in shown
    assert f"free {printed['budget'] - printed['token_count']:,} " in shown


async def test_an_edit_behind_the_screen_is_noticed(shop: Path) -> None:
    from textual import events

    with Engine.open(shop, Settings()) as engine:
        app = inspector(engine, query="refund total")
        async with app.run_test(size=(120, 40)):
            assert "● fresh" in (await settle(app))[0]
            (shop / "shop/money.py").write_text(
                "def round_up(refund_total):\n    return refund_total + 1\n", encoding="utf-8"
            )
            app.post_message(events.AppFocus())
            assert "○ stale" in (await settle(app))[0]
            lines = await settle(app, "R")
            assert "● fresh" in lines[0]
            await settle(app, "v")


async def test_a_folder_without_source_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "empty").mkdir()
    with Engine.open(tmp_path / "empty", Settings()) as engine:
        app = inspector(engine, query="refund")
        async with app.run_test(size=(120, 40)):
            text = "\n".join(await settle(app))
            assert "Nothing is indexed here" in text


def test_a_picture_for_the_documentation(shop: Path, tmp_path: Path) -> None:
    shot = run_path(str(Path(__file__).parents[2] / "docs" / "shot.py"))["main"]
    output = tmp_path / "screen.svg"
    assert (
        shot(
            [str(shop), "--query", "refund total", "--keys", "right i", "--set", "budget=300", "--output", str(output)]
        )
        == 0
    )
    text = output.read_text(encoding="utf-8")
    assert text.startswith("<svg") and "refund.py" in text and "0.45" in text


async def test_tuned_hinted_compared_saved_and_the_same_headless(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journey: a budget is typed, a hint applied, another profile compared, the screen saved; check agrees."""
    monkeypatch.chdir(shop)
    settings = with_values(Settings(), {"redaction.scanner": "rules"})
    with Engine.open(shop, settings) as engine:
        app = inspector(engine, settings, query="where is the refund total rounded?", path=".", proves=True)
        async with running(app):
            await settle(app, "equals_sign", "ctrl+a", "ctrl+k", *"140", "enter")
            bench = bench_of(app)
            assert bench.state.settings.budget == 140
            await settle(app, "greater_than_sign")
            dropped = bench.state.entry
            answer = bench.state.answer
            assert answer is not None and answer.selection.decision(bench.state.cursor).state.label == "dropped"
            await settle(app, "h")
            answer = bench.state.answer
            assert answer is not None and bench.state.entry == dropped
            assert answer.selection.decision(bench.state.cursor).state.label == "kept", "the hint was proven"
            tuned = bench.state.settings
            await press(app, "c", "ctrl+a", "ctrl+k", *"recommended", "enter")
            assert any("profile recommended" in line for line in await settle(app))
            assert bench.state.settings is tuned, "comparing turns nothing"
            await settle(app, "i", "S", "enter")
            app.screen.query_one("#answer").value = "journey.scenario.toml"  # type: ignore[attr-defined]
            await settle(app, "enter")
            await settle(app, "y")
            report = engine.report(answer.selection).to_dict()
    capsys.readouterr()
    assert main([*shlex.split(app.clipboard)[1:], "--format", "json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(report))
    assert main(["check", "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 scenario: 1 passed"
