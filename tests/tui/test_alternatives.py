"""Words that stand for a decision to compare with."""

from __future__ import annotations

import pytest
from secateur import Settings
from secateur.errors import UsageError
from secateur.kinds import registry
from secateur.settings import with_values
from secateur_tui.parts.comparing import parse_alternative, propose_words

SEARCH, LOG = registry.get_kind("search"), registry.get_kind("log")


def test_every_word_that_is_offered_stands_for_something() -> None:
    for kind in registry.kinds().values():
        for word in propose_words(Settings(), kind.budget_in_force(Settings(), None), ghost=True):
            other = parse_alternative(word, kind, Settings(), ghost=True)
            differs = (other.settings != Settings()) + other.ghost
            assert differs == 1, (kind.name, word)


def test_a_profile_a_budget() -> None:
    assert parse_alternative(" recommended ", SEARCH, Settings(), ghost=False).settings.profile == "recommended"
    assert parse_alternative("8,000", SEARCH, Settings(), ghost=False).settings.effective_budget == 8_000
    own = with_values(Settings(), {"budget": 900})
    assert parse_alternative("8_000", LOG, own, ghost=False).label == "budget 8,000"


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
        parse_alternative(word, SEARCH, Settings(), ghost=False)
    assert hint in raised.value.hint
