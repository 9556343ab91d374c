"""Windows of models: exact names, what providers put around them, and no guess."""

from __future__ import annotations

from importlib.resources import files

import pytest
import tomli
from secateur.kinds.envelope.envelope import WINDOWS, budget_of, window_of
from secateur.settings import ContextBudget, Settings, with_values


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o", 128_000),
        ("GPT-4o", 128_000),
        (" gpt-4o-2024-08-06", 128_000),
        ("openai/gpt-4o-mini", 128_000),
        ("chatgpt-4o-latest", 128_000),
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-1106-preview", 128_000),  # listed: the number is no date of gpt-4
        ("gpt-4.1", 1_047_576),
        ("gpt-3.5-turbo", 16_385),
        ("gpt-3.5-turbo-0613", 4_096),
        ("claude-3-5-sonnet-latest", 200_000),
        ("anthropic/claude-opus-4-20250514", 200_000),
        ("claude-sonnet-4@20250514", 200_000),
        ("models/gemini-2.0-flash-001", 1_048_576),
        ("meta/llama-3.3-70b-instruct", 131_072),
        ("claude-opus-4-5-20251101", 200_000),
        ("anthropic/claude-opus-4.6", 1_000_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("anthropic.claude-3-haiku-20240307-v1:0", 200_000),
        ("gemini-3-pro-preview", 1_048_576),
        ("x-ai/grok-4-fast", 2_000_000),
        ("mistralai/mistral-medium-3-5", 256_000),
        ("mistral-large-2411", 128_000),
        ("mistral-large-2512", None),  # another model, another window
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", 262_144),
        ("deepseek-chat", None),  # it meant three windows in three years
        ("deepseek-v3", None),
        ("gpt-4-vision", None),
        ("gpt-4o-something", None),
        ("gpt-6", None),
        ("claude", None),
        ("", None),
        ("/", None),
        ("-latest", None),
    ],
)
def test_window_of_a_model(model: str, window: int | None) -> None:
    assert window_of(model) == window


def test_own_windows_win_and_their_names_may_have_any_form() -> None:
    own = {"Team/Model:7b": 4000, "gpt-4o": 5000, "gpt-4o-2024-08-06": 6000}
    assert window_of("team/model:7b", own) == 4000
    assert window_of("model:7b", own) is None
    assert window_of("gpt-4o-latest", own) == 5000
    assert window_of("azure/gpt-4o-2024-08-06", own) == 6000
    assert window_of("o3", own) == 200_000


def test_a_name_without_end_is_no_model() -> None:
    """Taking its endings off one by one took the square of its length."""
    assert window_of("gpt-4o" + "-123" * 1_000_000) is None


def test_the_table_is_data_that_holds() -> None:
    assert all(name == name.casefold().strip() and size >= 4_096 for name, size in WINDOWS.items())
    rows = tomli.loads(files("secateur.kinds.envelope").joinpath("windows.toml").read_text("utf-8"))["windows"]
    names = [model.replace(".", "-") for row in rows for model in row["models"]]
    assert len(set(names)) == len(names), "a model is there twice"


@pytest.mark.parametrize("window", [2, 10, 100_003, 128_000, 10**12])
def test_what_is_derived_fills_the_window_and_no_more(window: int) -> None:
    rules = with_values(Settings(), {"context_budget.windows": {"m": window}}).context_budget
    both = budget_of("m", 0, 0, rules, "o200k_base")
    assert both.context + both.reserve == window
    assert abs(both.context - window * 0.7) < 1.001
    for given in (1, window // 2, window - 1):
        if given:
            assert budget_of("m", given, 0, rules, "o200k_base").reserve <= window - given
            assert budget_of("m", 0, given, rules, "o200k_base").context <= window - given


def test_what_the_user_should_know() -> None:
    def codes(model: str, context: int, reserve: int = 0, counter: str = "o200k_base") -> list[str]:
        return [notice.code for notice in budget_of(model, context, reserve, ContextBudget(), counter).notices]

    assert codes("gpt-4o", 1000) == []
    assert codes("gpt-4o", 128_000) == []
    assert codes("gpt-4o", 128_001) == codes("gpt-4o", 100_000, 28_001) == ["window_overrun"]
    assert codes("claude-sonnet-4", 1000) == codes("anthropic/claude-sonnet-4", 0) == ["other_tokenizer"]
    assert codes("claude-next", 1000) == ["other_tokenizer", "unknown_window"]
    assert codes("claude-sonnet-4", 1000, counter="chars4") == []
