"""The factors of models with another tokenizer: a stale key or a slip in a number lets a budget overrun unseen."""

from __future__ import annotations

import pytest
from secateur.tokens import SAFETY_FACTORS

O200K = ("gpt-5", "gpt-4.1", "gpt-4o", "gpt-oss")
MEASURED = {"gpt-4-turbo": 1.28, "qwen3.5": 1.28, "claude": 1.9}
"""The upper end of what was measured."""
SLACK = 0.05


def test_the_families_are_these() -> None:
    assert set(SAFETY_FACTORS) == {*O200K, *MEASURED}


@pytest.mark.parametrize("family", O200K)
def test_o200k_is_the_encoding_itself(family: str) -> None:
    assert SAFETY_FACTORS[family] == 1.0


@pytest.mark.parametrize("family", MEASURED)
def test_a_factor_covers_what_was_measured_and_little_more(family: str) -> None:
    assert MEASURED[family] <= SAFETY_FACTORS[family] <= MEASURED[family] + SLACK
