"""`secateur recall`, and the tool of the MCP server of that name."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur_agents.store import user_store
from support.cli import secateur

DIGEST = "0123456789ab"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path / "state"))
    user_store({"SECATEUR_STATE_DIR": str(tmp_path / "state")}).keep({DIGEST: "one\ntwo\nthree"})


@pytest.mark.usefixtures("kept")
def test_what_was_taken_out_is_given_back() -> None:
    assert secateur("recall", DIGEST).out == "one\ntwo\nthree\n"
    assert secateur("recall", DIGEST, "--lines", "2-").out == "two\nthree\n"
    assert secateur("recall", DIGEST, "--format", "json").json == {"digest": DIGEST, "text": "one\ntwo\nthree"}


@pytest.mark.usefixtures("kept")
def test_what_is_not_there_says_why_and_what_to_do() -> None:
    gone = secateur("recall", "f" * 12)
    assert gone.code == 1 and "nothing is kept under ffffffffffff" in gone.err and "make the call again" in gone.err
    assert secateur("recall", "../secrets").code == 2
    assert secateur("recall", DIGEST, "--lines", "9").code == 2
