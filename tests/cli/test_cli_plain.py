"""`inspect --plain`: what the screen says, as lines for screen readers and pipes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.cli import secateur

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
OPENED = {
    "search": ("sample:orders", "--query", "where is the refund total rounded?", "--budget", "1000"),
    "conversation": (EXAMPLES / "session.jsonl", "--budget", "7000"),
    "envelope": (EXAMPLES / "envelope.json", "--model", "gpt-4o", "--budget", "900"),
    "diff": ("sample:orders", "--bench", "diff", "--base", "HEAD~3", "--budget", "3000"),
    "log": (EXAMPLES / "ci.log", "--budget", "500"),
    "files": (EXAMPLES / "ci.log", "--bench", "files", "--query", "refund", "--budget", "300"),
}
DRAWN = re.compile("[\x00-\x09\x0b-\x1f\x7f\u2500-\u25ff\u2800-\u28ff]")
"""Escape sequences, box drawing, blocks and shapes."""


@pytest.mark.parametrize("kind", OPENED)
def test_every_kind_is_told_in_words(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secateur.cli.inspect.on_terminal", lambda _: True)  # --plain is plain on a terminal too
    ran = secateur("inspect", *OPENED[kind], "--plain")
    assert ran.code == 0, ran.err
    assert not DRAWN.search(ran.out) and ran.err == ""
    answer = secateur("inspect", *OPENED[kind], "--plain", "--format", "json").json
    ledger = answer["ledger"]
    lines = ran.out.splitlines()
    assert any(f"{ledger['after']:,} of {ledger['budget']:,} tokens go out" in line for line in lines)
    items = [line for line in lines if re.match(r"[\d,]+ (kept|shortened|summarised|dropped): ", line)]
    states = [line.split()[1].rstrip(":") for line in items]
    told = [entry["state"] for entry in ledger["entries"] if entry["id"] not in ("wrapper", "not-listed")]
    assert sorted(states) == sorted(told) if kind != "search" else len(states) == 79
    assert any(line.startswith("knob ") for line in lines) and lines[-1].startswith("command: secateur ")


def test_no_figure_is_negative_where_lines_take_fewer_tokens_together(tmp_path: Path) -> None:
    told = secateur("inspect", EXAMPLES / "ci.log", "--plain").out
    assert "decided: 12 kept (2,061 tokens); 10 fewer together, 1,949 free" in told
    assert secateur("log", EXAMPLES / "ci.log", "--report", tmp_path / "log.html").code == 0
    page = (tmp_path / "log.html").read_text("utf-8")
    assert "10 fewer together" in page and "-10 tokens" not in page


def test_the_same_input_gives_the_same_lines() -> None:
    assert (
        secateur("inspect", *OPENED["search"], "--plain").out == secateur("inspect", *OPENED["search"], "--plain").out
    )


def test_names_from_outside_move_no_cursor(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "a\x1b[31m\u202eb.py").write_text("def refund():\n    return 1\n", "utf-8")
    ran = secateur("inspect", folder, "--query", "refund\x1b]0;t\x07", "--plain")
    assert ran.code == 0 and not re.search("[\x1b\x07\u202e]", ran.out)


def test_a_scenario_and_a_recording_are_told_as_without_a_terminal(tmp_path: Path) -> None:
    recording = EXAMPLES / "log.replay.jsonl"
    assert secateur("inspect", "--replay", recording, "--plain").out == secateur("replay", recording).out
    file = tmp_path / "one.scenario.toml"
    assert secateur("log", EXAMPLES / "ci.log", "--max-tokens", "500", "--save", file).code == 0
    ran = secateur("inspect", file, "--plain")
    assert ran.code == 0 and "1 passed" in ran.out


def test_where_nothing_is_asked_the_folder_is_told() -> None:
    assert "files" in secateur("inspect", "sample:orders", "--plain").out


def test_an_error_is_an_error() -> None:
    ran = secateur("inspect", "there-is-nothing-here", "--plain", "--format", "json")
    assert ran.code == 1 and json.loads(ran.out)["error"]["message"]
