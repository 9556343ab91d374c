"""Words that stand for a decision to compare with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from secateur import Settings
from secateur.errors import UsageError
from secateur.kinds import registry
from secateur.kinds.base import Kind
from secateur.settings import with_values
from secateur_tui.parts.comparing import parse_alternative, propose_words

INPUTS = {"query": "q", "path": ".", "rev": ""}
SEARCH, LOG, DIFF = registry.get_kind("search"), registry.get_kind("log"), registry.get_kind("diff")


def test_every_word_that_is_offered_stands_for_something() -> None:
    for kind in registry.kinds().values():
        inputs, in_force = kind.blank_inputs(), kind.budget_in_force(Settings(), None)
        for word in propose_words(kind, Settings(), inputs, in_force, ghost=True):
            other = parse_alternative(word, kind, Settings(), inputs, ghost=True)
            differs = (other.settings != Settings()) + (other.inputs != inputs) + other.ghost
            assert differs == 1, (kind.name, word)


def test_a_commit_is_offered_only_where_there_may_be_one(tmp_path: Path) -> None:
    inputs = SEARCH.blank_inputs() | {"path": str(tmp_path)}
    assert "@HEAD~1" not in propose_words(SEARCH, Settings(), inputs, 8_000, ghost=True)
    too_long = SEARCH.blank_inputs() | {"path": "x" * 300}
    assert "@HEAD~1" in propose_words(SEARCH, Settings(), too_long, 8_000, ghost=True)
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / ".git" / "refs").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert "@HEAD~1" in propose_words(SEARCH, Settings(), inputs, 8_000, ghost=True)


def test_a_profile_a_budget_a_commit() -> None:
    assert parse_alternative(" recommended ", SEARCH, Settings(), INPUTS, ghost=False).settings.profile == "recommended"
    assert parse_alternative("8,000", SEARCH, Settings(), INPUTS, ghost=False).settings.effective_budget == 8_000
    assert parse_alternative("@v1.0", SEARCH, Settings(), INPUTS, ghost=False).inputs["rev"] == "v1.0"
    own = with_values(Settings(), {"budget": 900})
    assert parse_alternative("8_000", LOG, own, {}, ghost=False).label == "budget 8,000"


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("recomended", "did you mean recommended?"),
        ("", "a profile"),
        ("@", "a profile"),
        ("-5", "a profile"),
        ("ghost", "a profile"),
        ("9" * 40, "a profile"),
    ],
)
def test_what_stands_for_nothing_is_refused_with_what_would(word: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_alternative(word, SEARCH, Settings(), INPUTS, ghost=False)
    assert hint in raised.value.hint


def test_of_a_pull_request_another_head_is_another_commit() -> None:
    other = parse_alternative("@HEAD~2", DIFF, Settings(), {"base": "main", "head": None}, ghost=False)
    assert other.inputs == {"base": "main", "head": "HEAD~2"} and other.label == "commit HEAD~2"


@pytest.mark.parametrize("kind", [LOG, registry.get_kind("files")])
def test_what_is_read_from_disk_has_no_commits(kind: Kind[Any, Any]) -> None:
    with pytest.raises(UsageError, match="on disk, and of no commit"):
        parse_alternative("@HEAD~1", kind, Settings(), {}, ghost=False)
