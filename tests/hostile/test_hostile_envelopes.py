"""Envelopes nobody should write: a clear error with the JSON path, or a trimmed envelope; never a traceback, never a
changed target."""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import pytest
from secateur import trim_context_with_budget
from secateur.errors import PromptComposeError
from secateur.kinds.envelope.envelope import Budget, fit, trim_envelope
from secateur.kinds.envelope.sections import DEEPEST, parse_envelope
from secateur.tokens import count_tokens
from support.envelopes import asset_paths, envelope, files


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def circle() -> Any:
    value: dict[str, Any] = {}
    value["a"] = [value, value]
    return value


@pytest.mark.parametrize(
    ("digest", "message"),
    [
        ({"a": [1, {"b": float("nan")}]}, "$.dependency_digest.a[1].b is nan"),
        ({"a": float("inf")}, "$.dependency_digest.a is inf"),
        ({"a b": {"c": b"x"}}, '$.dependency_digest["a b"].c is a bytes'),
        ({"a": {1: 2}}, "$.dependency_digest.a has the key 1"),
        ({"a": {1, 2}}, "$.dependency_digest.a is a set"),
        ({"a": object()}, "$.dependency_digest.a is a object"),
        ({"a": 10**5000}, "$.dependency_digest.a is a number of thousands of digits"),
        ({"\x1b[2J": None, "\u202e": ()} | {"x" * 9000: {""}}, "$.dependency_digest.xxx"),
        (circle(), "$.dependency_digest.a[0] contains itself"),
        (nested(DEEPEST), f"is nested deeper than {DEEPEST} levels"),
    ],
)
def test_what_is_no_json_is_named_by_its_path(digest: Any, message: str) -> None:
    with pytest.raises(PromptComposeError) as error:
        trim_envelope(envelope(digest), "m", 100)
    assert message in error.value.message
    assert len(error.value.message) < 500
    assert error.value.hint


@pytest.mark.parametrize(
    "wrong", [None, [], "text", 3, {}, {"a": 1}, {None: 1}, {"x" * 10_000: 1}, dict.fromkeys(range(10_000))]
)
def test_what_is_no_envelope_at_all(wrong: Any) -> None:
    with pytest.raises(PromptComposeError, match=r"^\$: the envelope (is|lacks)") as error:
        trim_envelope(wrong, "m", 100)
    assert len(error.value.message) < 500


@pytest.mark.parametrize("budget", [-1, 2.5, "9", True, b""])
def test_budgets_that_are_none(budget: Any) -> None:
    for context, reserve in ((budget, 0), (9000, budget)):
        with pytest.raises(PromptComposeError, match=r"context_token_budget|reserve_for_response"):
            trim_envelope(envelope(), "m", context, reserve)


@pytest.mark.parametrize("model", [None, 3, b"gpt-4o", ["gpt-4o"], "", "m" * 100_000, "\x1b[2J", "-latest" * 9000])
def test_models_that_are_none(model: Any) -> None:
    with pytest.raises(PromptComposeError) as error:
        trim_envelope(envelope(), model, 0, 0)
    assert len(error.value.message) < 500


def test_a_budget_may_be_any_number() -> None:
    assert not trim_envelope(envelope(), "m", 10**400, 10**400).report.applied
    assert not trim_envelope(envelope(), "gpt-4o", 10**400, 10**400).report.applied


def test_a_reserve_that_leaves_nothing_is_an_error() -> None:
    with pytest.raises(PromptComposeError, match="leaves nothing of the 8,192 tokens of gpt-4"):
        trim_envelope(envelope(), "gpt-4", 0, 8192)
    assert trim_envelope(envelope(), "gpt-4", 0, 8000).report.budget == 192


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1"),
        ('{"a": 1,\n  "b": }', "line 2, column 8"),
        ('{"a": 1} {}', "line 1, column 10"),
        ('{"a": NaN}', "line 1: NaN is not a JSON number"),
        ('{"a": "NaN",\n "b": [NaN]}', "line 2: NaN is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ('{"b": {"a": 1, "c": 2, "a": 3}}', "the field 'a' appears twice"),
        ('{"b": {"a": 1,\n "a": 3}}', "fields of that name are on lines 1, 2"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": 1,\n"b": ' + "9" * 10_000 + "}", "line 2: a number of thousands of digits cannot be read"),
        ('{"a": "\\ud8"}', "line 1"),
    ],
)
def test_malformed_json_is_named_by_its_place(text: str, message: str) -> None:
    with pytest.raises(PromptComposeError) as error:
        parse_envelope(text)
    assert message in error.value.message


@pytest.mark.parametrize(
    "held",
    [
        "\ud800" * 5000,
        "\x00\x1b[2J" * 2000,
        "\u202e" * 4000,
        "\U0010ffff" * 3000,
        " " * 300_000,
        "订单" * 4000,
        "\n" * 9000,
    ],
)
def test_any_text_is_counted_and_cut(held: str) -> None:
    target = {held[:40]: held[:9], "t": ("a", ["b", ("c",)])}
    before = envelope(
        {"notes": held, held[:30]: [held, held], "files": [{"path": held, "summary": held, "hash": held}]},
        target=target,
    )
    result = trim_envelope(before, "m", 900)
    assert result.envelope["target_snapshot"] == target
    assert count_tokens(json.dumps(result.envelope, ensure_ascii=False)) == result.report.after <= 900
    assert all(len(json.dumps(action.section)) < 5000 for action in result.report.actions)


def test_huge_names_leave_no_room_and_say_so() -> None:
    """A name is no text that can be cut: only the digest's last reduction takes it away."""
    result = trim_envelope(
        envelope({"k" * 50_000: {"a": [1] * 50}, "b": [{"path": "p" * 50_000, "hash": "h" * 50_000}]}), "m", 300
    )
    assert list(result.envelope["dependency_digest"]) == ["path", "summary", "hash"]
    assert result.report.after <= 300


class Watching:
    """Characters / 4, and how many characters were read for it."""

    name, exact = "watching", False

    def __init__(self) -> None:
        self.read = 0

    def count(self, text: str) -> int:
        self.read += len(text)
        return -(-len(text) // 4)

    def count_many(self, texts: Iterable[str]) -> list[int]:
        return [self.count(text) for text in texts]


def test_cost_is_a_fixed_number_of_counts_whatever_the_number_of_cuts() -> None:
    """One count of the whole for each cut would be thousands here."""
    for number in (200, 4000):
        before = envelope(
            {
                "files": files(number, 600),
                "paths": asset_paths(9000),
                **{f"n{position}": "word " * 200 for position in range(number)},
            }
        )
        size = len(json.dumps(before))
        for share in (0.6, 0.3, 0.15):
            counter = Watching()
            result = fit(before, Budget(int(share * size / 4), 0), counter)
            assert len(result.report.actions) > number // 8
            assert counter.read < 13 * size


def test_mappings_of_any_kind_are_read() -> None:
    before = {name: MappingProxyType(value) for name, value in envelope({"a": (1, 2)}).items()}
    out = trim_context_with_budget(
        envelope=MappingProxyType(before), model="m", context_token_budget=900, reserve_for_response=0
    )["trimmedEnvelope"]
    assert out["target_snapshot"] == before["target_snapshot"]
    assert out["dependency_digest"] == {"a": [1, 2]}
    json.dumps(out)
