"""Encodings and factors of models: a stale key or a slip in a number lets a budget overrun unseen."""

from __future__ import annotations

import pytest
from secateur.tokens import SAFETY_FACTORS, ScaledCounter, counter_for, encoding_of, get_counter, tokenizer_warning

MEASURED = {"qwen3.5": 1.28, "claude": 1.9}
"""The upper end of what was measured."""
SLACK = 0.05
ENCODED = {
    "o200k_base": ("gpt-5.2-codex", "gpt-4.1-mini", "openai/gpt-4o-2024-08-06", "gpt-oss:20b", "o3-mini", "GPT-4.5"),
    "cl100k_base": ("gpt-4", "gpt-4-turbo-2024-04-09", "azure/gpt-35-turbo", "ft:gpt-3.5-turbo-0125:shop::7p"),
    "": (
        "claude-opus-4-7",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "gemini-2.5-pro",
        "deepseek-chat",
        "gpt-40",
    ),
}


def test_the_families_are_these() -> None:
    assert set(SAFETY_FACTORS) == set(MEASURED)


@pytest.mark.parametrize(("encoding", "model"), [(one, model) for one, models in ENCODED.items() for model in models])
def test_a_model_is_counted_by_its_own_encoding_or_a_warning_says_so(encoding: str, model: str) -> None:
    assert encoding_of(model) == encoding
    counter = get_counter()
    assert counter_for(model, counter).name == (encoding or "o200k_base")
    assert bool(tokenizer_warning(model, counter.name)) is not bool(encoding)
    assert counter_for(model, get_counter("chars4")).name == "chars4"


@pytest.mark.parametrize("family", MEASURED)
def test_a_factor_covers_what_was_measured_and_little_more(family: str) -> None:
    assert MEASURED[family] <= SAFETY_FACTORS[family] <= MEASURED[family] + SLACK


def test_with_a_factor_a_count_is_as_many_times_as_large() -> None:
    safe = counter_for("claude-opus-4-7", get_counter(), safe=True)
    assert isinstance(safe, ScaledCounter) and safe.name == "o200k_base x 1.9"
    assert safe.count_many(["word " * 100, ""]) == [round(get_counter().count("word " * 100) * 1.9), 0]
