"""Copying and exporting what is on the screen: the files are those that the command writes, and none is overwritten."""

import json
import shlex
from pathlib import Path

import pytest
from inspector_kit import Inspector, bench_of, inspector, press, running, settle
from ledger_kit import WRITERS, opened
from secateur.engine import Engine
from secateur.redaction import not_scanned
from secateur.settings import Settings, with_values
from support.cli import secateur
from support.reports import Parsed
from test_search_real_engine import FILES

ZONE = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3000})
SIZE = (120, 40)


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for write in WRITERS.values():
        write(tmp_path)


async def exported(app: Inspector, *keys: str) -> list[str]:
    """Presses keys after E; the last notice is in the lines."""
    await settle(app, "E")
    for key in keys:
        await settle(app, key)
    return await settle(app)


def notices(app: Inspector) -> str:
    """Everything that was said."""
    return "\n".join(notice.message for notice in app._notifications)


@pytest.mark.parametrize(("key", "ending"), [("h", ".html"), ("m", ".md"), ("j", ".json"), ("s", ".svg")])
async def test_a_decision_is_exported_as_its_command_exports_it(key: str, ending: str) -> None:
    app = opened("conversation", with_values(ZONE, {"redaction.scanner": "rules"}))  # as the user's own file says
    async with running(app, SIZE, notifications=True):
        await settle(app, "B", "x")  # a ghost of before would be a part of a page
        lines = await exported(app, key)
        name = f"session{'-2' if ending == '.json' else ''}{ending}"  # session.json is what is read
        assert any(name in line for line in lines), "a name that no file has is proposed"
        await settle(app, "enter")
        assert f"exported: {name}" in notices(app)
        await settle(app, "y")
    again = Path("again" + ending)
    assert secateur(*shlex.split(app.clipboard)[1:], "--report", again).code == 0
    assert Path(name).read_bytes() == again.read_bytes()


async def test_a_search_is_exported_with_its_scores_and_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for path, text in FILES.items():
        (tmp_path / "shop" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / path).write_text(text, encoding="utf-8")
    settings = with_values(Settings(), {"budget": 200})
    with Engine.open("shop", settings) as engine:
        app = Inspector(engine, settings, path="shop", query="where is the refund total rounded?")
        async with running(app, SIZE, notifications=True):
            await exported(app, "h", "enter")
            state = bench_of(app).state
            page = Parsed(Path("where-is-the-refund-total-rounded.html").read_text("utf-8"))
            rows = [attrs for _, attrs in page.tags if "data-score" in attrs]
            assert len(rows) == len(state.answer.selection)
            assert "return round_half_even(total)" in page.text
            await exported(app, "j", "enter")
            told = json.loads(Path("where-is-the-refund-total-rounded.json").read_text("utf-8"))["warnings"]
            assert [notice["code"] for notice in told].count("not_scanned") == len(not_scanned(settings))


@pytest.mark.parametrize("key", ["h", "m"])
async def test_a_page_says_what_changed_since_the_ghost(key: str) -> None:
    async with running(opened("conversation", ZONE), SIZE, notifications=True) as app:
        await settle(app, *["B"] * 3)
        comparison = bench_of(app).state.comparison
        assert comparison is not None and not comparison.same
        await exported(app, key, "enter")
    text = next(path for path in Path().iterdir() if path.suffix in (".html", ".md")).read_text("utf-8")
    assert "What changed" in text
    assert f"tokens {comparison.then.tokens:,} -> {comparison.now.tokens:,}" in text.replace("&gt;", ">")


async def test_enter_takes_the_page_and_escape_takes_nothing() -> None:
    async with running(opened("conversation", ZONE), SIZE, notifications=True) as app:
        await exported(app, "enter", "escape")
        await exported(app, "escape")
        assert not list(Path().glob("session*.html"))
        lines = await exported(app, "enter", "ctrl+a", "ctrl+k", "enter")
        assert any("the file has no name" in line for line in lines) and "failed" not in notices(app)
        await settle(app, *"session.htm", "l", "enter")
        assert Path("session.html").is_file()


async def test_a_file_that_is_there_is_never_overwritten() -> None:
    Path("session.html").write_text("mine")
    async with running(opened("conversation", ZONE), SIZE, notifications=True) as app:
        lines = await exported(app, "h")
        assert any("session-2.html" in line for line in lines)
        for _ in "-2.html":
            await press(app, "backspace")
        lines = await settle(app)
        assert any("already exists" in line for line in lines), "session, which gets the ending, is there"
        await settle(app, "enter")
        assert any("already exists" in line for line in await settle(app)), "the question stays open"
    assert Path("session.html").read_text() == "mine" and not Path("session-2.html").exists()


async def test_another_ending_is_refused() -> None:
    async with running(opened("conversation", ZONE), SIZE, notifications=True) as app:
        lines = await exported(app, "m", "backspace", "backspace", *"svg", "enter")
        assert any("session.svg ends in .svg; its name has to end in .md" in line for line in lines)
    assert not Path("session.svg").exists()


async def test_the_screen_itself_is_a_picture() -> None:
    async with running(opened("conversation", ZONE), SIZE, notifications=True) as app:
        await exported(app, "s", "enter")  # its message is still there
        app.say("a passing message")
        await exported(app, "c", "enter")
        await settle(app)
    text = Path("session-2.svg").read_text("utf-8")
    assert text.startswith("<svg") and "Messages" in text and "@font-face" not in text and "url(http" not in text
    shown = text.replace("&#160;", " ")
    assert "one HTML page" not in shown, "the question is gone before the picture is taken"
    assert "a passing message" not in shown and "exported:" not in shown


async def test_a_key_copies_what_goes_out_or_the_item() -> None:
    async with running(opened("conversation", ZONE), SIZE, notifications=True) as app:
        await settle(app, "down", "down", "y")
        assert app.clipboard.startswith("secateur conversation ")
        await settle(app, "i")
        item, outcome = app.clipboard, bench_of(app).state.outcome
        bench = bench_of(app)
        kind, number = bench.kind_page.kind, bench.state.answer.entry_number(bench.state.cursor)
        before, after = kind.texts(outcome, number)
        assert item == (after or before) != ""
        await settle(app, "y", "p")
        assert app.clipboard == kind.leaving(outcome)
        assert f"copied: the text that is sent, {outcome.ledger.after:,} tokens" in notices(app)


async def test_nothing_is_exported_before_there_is_an_answer() -> None:
    async with running(opened("conversation", ZONE, path=""), SIZE, notifications=True) as app:
        await settle(app, "escape", "E")
        assert "Export: there is no answer yet" in notices(app)


async def test_json_of_the_screen_is_json() -> None:
    app = opened("envelope", with_values(Settings(), {"context_budget.tokens": 4000}))
    async with running(app, SIZE, notifications=True):
        await exported(app, "j", "enter")
    assert "ledger" in json.loads(Path("envelope-2.json").read_text("utf-8"))


async def test_what_a_search_sends_is_copied_and_exported_in_every_format() -> None:
    async with running(inspector(settings=with_values(Settings(), {"budget": 4000})), SIZE, notifications=True) as app:
        await settle(app, "y", "p")
        assert "round_half_even" in app.clipboard and "copied: the text that is sent" in notices(app)
        for key, ending in (("h", ".html"), ("m", ".md"), ("j", ".json"), ("s", ".svg")):
            await exported(app, key, "enter")
            assert f"rounded{ending}" in notices(app)
            assert "round_half_even" in Path("where-is-the-refund-total-rounded" + ending).read_text("utf-8")
