"""A session that the inspector recorded replays without a screen: the same ledgers, byte for byte, step for step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspector_kit import Inspector, Pace, press, settle
from secateur.directories import data_dir
from secateur.engine import Engine
from secateur.ledger import Ledger
from secateur.render.search_json import search_ledger
from secateur.settings import Settings, load, with_values
from secateur.shape import dumps
from secateur_lab.replays.events import AnswerSeen, Captioned
from secateur_lab.replays.recorder import Recorder
from secateur_lab.replays.recording import read_recording
from secateur_lab.replays.replaying import replay
from secateur_lab.scenarios.running import session
from secateur_tui.pages.search import SearchPage
from secateur_tui.screen import Bench

EXAMPLES = data_dir("docs/examples")

SESSIONS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "search": (
        {"path": "shop", "query": "where is the refund total rounded?"},
        {"budget": 100},
        "b b w right right down left u u U escape down x p d B",
    ),
    "files": (
        {"path": "shop", "query": "how is a refund rounded?"},
        {"context_prune.max_tokens": 120},
        "s s b b u x B end h l i",
    ),
    "conversation": (
        {"path": "session.jsonl"},
        {"conversation_prune.safe_zone_tokens": 7000},
        "down down down down K B s s u u v b",
    ),
    "envelope": (
        {"path": "envelope.json", "model": "gpt-4o"},
        {"context_budget.tokens": 2800},
        "B B B x b u U",
    ),
    "diff": ({"path": "a.diff"}, {"chunking.max_chunk_tokens": 400}, "b b down K u B x b"),
    "log": ({"path": "ci.log"}, {"log.max_tokens": 600}, "B B B down down d b u U x B"),
}
"""Kind -> what is opened, under which settings, and the keys that are pressed."""

DIFF = "".join(
    f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1,{lines} @@\n-old\n"
    + "".join(f"+value_{number} = {number}\n" for number in range(lines))
    for name, lines in (("a.py", 20), ("uv.lock", 10), ("b.py", 40))
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with something of every kind, in which the program is started."""
    root = tmp_path / "a shop"
    (root / ".git").mkdir(parents=True)
    for name in ("ci.log", "session.jsonl", "envelope.json"):
        shutil.copy(EXAMPLES / name, root)
    (root / "a.diff").write_text(DIFF)
    (root / "shop").mkdir()
    for name in ("refund", "round", "mail", "cart"):
        body = "\n".join(f"def {name}_{number}(total):\n    return total * {number}\n\n" for number in range(12))
        (root / "shop" / f"{name}.py").write_text(f'"""How a refund total is rounded: {name}."""\n\n\n{body}')
    monkeypatch.chdir(root)
    return root


def ticking() -> Callable[[], float]:
    """A clock that moves by a second and a half at every look."""
    now = iter(range(10**6))
    return lambda: next(now) * 1.5


def shown_ledger(bench: Bench) -> Ledger | None:
    """The ledger of what is on the screen, from the state of the bench alone."""
    answer: Any = bench.state.answer
    if isinstance(bench.kind_page, SearchPage):
        if answer is None:
            return None
        return search_ledger(answer.selection, lambda: bench.kind_page.engine.pack_tokens(answer.selection))
    return answer.outcome.ledger if answer is not None and bench.state.refusal is None else None


def settings_for(values: dict[str, Any], root: Path) -> Settings:
    return with_values(load(root).settings, values)


@pytest.mark.parametrize("kind", SESSIONS)
async def test_a_recorded_session_replays_as_it_was_on_the_screen(kind: str, folder: Path):
    inputs, values, keys = SESSIONS[kind]
    settings = settings_for(values, folder / "shop" if kind == "search" else folder)
    engine = Engine.open(inputs["path"], settings) if kind == "search" else None
    fields = {name: text for name, text in inputs.items() if name != "path"}
    hinted = "h" in keys.split()
    pace = Pace(0.001, 0.001, 0, proves=hinted)
    app = Inspector(
        engine, settings, path=inputs["path"], bench=kind, pace=pace, query=fields.get("query", ""), inputs=fields
    )
    live: list[str] = []
    file = folder / f"{kind}.replay.jsonl"
    with session(os.environ) as opened:
        recorder = app.recorder = Recorder(file, opened, ticking())
        async with app.run_test(size=(120, 40)) as pilot:
            assert pilot
            await settle(app)
            for key in ["", *keys.split()]:
                if key:
                    await settle(app, key)
                assert isinstance(app.screen, Bench)
                ledger = shown_ledger(app.screen)
                told = dumps(ledger.shape()) if ledger is not None else ""
                if told and [told] != live[-1:]:
                    live.append(told)
        assert app.recorder is recorder, "nothing kept it from recording"
        recorder.close()
    if engine is not None:
        engine.close()
    assert len(live) > 3, "the keys change something"

    found = read_recording(file)
    assert any('"hint"' in line for line in file.read_text().splitlines()) is hinted
    assert not any(str(folder) in line for line in file.read_text().splitlines())
    with session(os.environ) as opened:
        steps = list(replay(found, opened))
        seen = [step for step in steps if isinstance(step.event, AnswerSeen)]
        assert [step.differs for step in seen] == [""] * len(seen)
        assert [dumps(step.decided.ledger.shape()) for step in seen if step.decided] == live


async def test_a_caption_is_added_and_changed_while_recording(folder: Path):
    settings = settings_for({"log.max_tokens": 600}, folder)
    app = Inspector(None, settings, path="ci.log", bench="log", pace=Pace(0.001, 0.001, 0))
    file = folder / "log.replay.jsonl"
    with session(os.environ) as opened:
        async with app.run_test(size=(120, 40)) as pilot:
            assert pilot
            await settle(app)
            await press(app, "semicolon")
            assert isinstance(app.screen, Bench), "nothing is recorded, so there is nothing to caption"
            app.recorder = Recorder(file, opened, ticking())
            app.screen.paint()
            await settle(app)
            await settle(app, "semicolon", *"Six fit", "enter")
            await settle(app, "semicolon", *" lines.", "enter")
            await settle(app, "B")
        app.recorder.close()
    captions = [event.text for event in read_recording(file).events if isinstance(event, Captioned)]
    assert captions == ["Six fit lines."]
