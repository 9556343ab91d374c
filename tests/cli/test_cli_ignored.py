"""A setting of a repository that does not count is among the warnings of every answer in JSON, and in its text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cli import secateur
from support.envelopes import envelope
from support.repos import SHOP, write

IGNORED = "config_ignored"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write(tmp_path / "shop", SHOP | {"secateur.toml": '[tokens]\ncounter = "chars4"\n'})
    (root / "talk.json").write_text(json.dumps([{"role": "user", "content": "Where is it?"}]))
    (root / "envelope.json").write_text(json.dumps(envelope()))
    monkeypatch.chdir(root)
    return root


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("words", ["search refund .", "files . --query refund", "conversation talk.json"])
def test_it_is_a_warning_of_the_answer(words: str) -> None:
    ran = secateur(*words.split(), "--format", "json")
    assert [warning["code"] for warning in ran.json["warnings"]].count(IGNORED) == 1
    (said,) = [warning["message"] for warning in ran.json["warnings"] if warning["code"] == IGNORED]
    assert "tokens.counter" in said or "chars4" in said
    assert said in secateur(*words.split(), "--quiet").out


@pytest.mark.usefixtures("shop")
def test_markdown_says_it_once_and_beside_the_answer() -> None:
    ran = secateur("files", ".", "--query", "refund", "--format", "markdown")
    assert ran.err.count("chars4") == 1 and ran.out.count("! ") == 0


@pytest.mark.usefixtures("shop")
def test_the_frozen_shape_of_an_envelope_leaves_it_to_the_messages() -> None:
    ran = secateur("envelope", "envelope.json", "--model", "gpt-4")
    assert "warnings" not in ran.json
    assert "chars4" in ran.err
