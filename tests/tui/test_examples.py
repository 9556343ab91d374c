"""The examples of the documentation open in the bench they are examples of, and show what they are there to show."""

import re
from pathlib import Path

import pytest
from secateur.cli.inspect import bench_of
from secateur.kinds.registry import get_kind
from secateur.settings import Settings, with_values
from secateur_lab.replays.events import Captioned
from secateur_lab.replays.recording import read_recording
from secateur_tui.pages.conversation import ConversationPage
from secateur_tui.replay_player import group_stops
from secateur_tui.widgets.knob_panel import SIGNALS

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def test_the_session_holds_results_that_are_repeated_outdated_and_merely_old() -> None:
    path = EXAMPLES / "session.jsonl"
    assert bench_of(path) == "conversation" and bench_of(EXAMPLES / "envelope.json") == "envelope"
    settings, page = (
        with_values(Settings(), {"conversation_prune.safe_zone_tokens": 5000}),
        ConversationPage(get_kind("conversation")),
    )
    answer = page.decide(page.read({"path": str(path)}, settings, lambda *_: None), {}, settings)
    assert answer.ledger.after <= 5000 and not answer.outcome.notices
    assert {"repeated", "outdated", "oldest_result", "last_user"} <= {entry.reason.label for entry in answer.entries}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.replay.jsonl")), ids=lambda path: path.name.split(".")[0])
def test_every_step_of_a_demo_has_a_caption_whose_signs_are_on_the_screen(path: Path) -> None:
    for stop in group_stops(read_recording(path).events):
        captions = [event.text for event in stop.events if isinstance(event, Captioned)]
        assert captions, f"{path.name} at {stop.at}"
    textures = {signal.texture for name, signal in SIGNALS.items() if name in ("relevance", "hotspot", "distance")}
    assert set(re.findall(r"[█▓▒░]", path.read_text(encoding="utf-8"))) <= textures
