"""The scenarios of the spec `smart-pruning` through the command line, each under its test id; the formula itself is
tested beside this file."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from secateur import count_tokens
from support.cli import secateur
from support.repos import handlers, write

QUERY = "handleToolCall"
FORMATS = ("text", "json", "markdown", "xml")
TOO_SMALL = "预算过小，无法包含任何完整片段"
Count = Callable[[str], int]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("repo") / "tools", handlers())


def test_budget_pruning(tools: Path, reference_tokens: Count) -> None:
    """SC-SP-001: 20 candidates above the budget; what leaves is at most 4000 tokens, taken greedily by priority."""
    report = secateur("search", QUERY, tools, "--top-k", 20, "--budget", 4000, "--format", "json").json
    everything = report["candidates"] + report["dropped"]
    assert len(everything) == 20
    assert sum(candidate["token_count"] for candidate in everything) > 4000
    packs = {
        form: secateur("search", QUERY, tools, "--top-k", 20, "--budget", 4000, "--format", form).out
        for form in ("markdown", "xml")
    }
    for pack in packs.values():
        assert reference_tokens(pack) <= 4000
    assert report["token_count"] == reference_tokens(packs["markdown"])
    for candidate in everything:
        assert candidate["token_count"] > 0
        assert sum(candidate["terms"].values()) == pytest.approx(candidate["priority"], abs=1e-6)
    priorities = [candidate["priority"] for candidate in report["candidates"]]
    assert priorities == sorted(priorities, reverse=True)
    for dropped in report["dropped"]:
        assert dropped["decision"]["reason"] == "no_room"
        assert dropped["decision"]["needed"] > dropped["decision"]["left"]
    for candidate in report["candidates"]:  # never split
        assert candidate["content"] == _lines(
            tools / candidate["file_path"], candidate["line_start"], candidate["line_end"]
        )


@pytest.mark.parametrize("budget", [1, 50, 481, 1000, 2500, 3999, 7777])
def test_no_budget_is_exceeded(tools: Path, reference_tokens: Count, budget: int) -> None:
    """REQ-SP-001 for the text that leaves, counted anew."""
    for form in ("markdown", "xml"):
        pack = secateur("search", QUERY, tools, "--budget", budget, "--format", form).out
        if "handle_tool_call" in pack:
            assert reference_tokens(pack) <= budget


def test_default_budget(tools: Path, reference_tokens: Count) -> None:
    """SC-SP-004: without --budget it is 8000."""
    report = secateur("search", QUERY, tools, "--top-k", 20, "--format", "json").json
    assert report["budget"] == 8000
    assert report["report"]["estimateBefore"] > 8000
    assert report["dropped"]
    pack = secateur("search", QUERY, tools, "--top-k", 20, "--format", "markdown").out
    assert 7000 < reference_tokens(pack) <= 8000


@pytest.mark.parametrize("form", FORMATS)
def test_zero_budget(tools: Path, form: str) -> None:
    """SC-SP-005: an empty result, no error, and every format says why."""
    ran = secateur("search", QUERY, tools, "--budget", 0, "--format", form)
    assert ran.code == 0
    assert "The budget is 0 tokens" in ran.out
    assert "registry.lookup" not in ran.out
    assert ran.err == ""
    if form == "json":
        assert ran.json["candidates"] == []
        assert ran.json["token_count"] == 0
        assert "zero_budget" in [warning["code"] for warning in ran.json["warnings"]]
        assert all(dropped["decision"]["reason"] == "zero_budget" for dropped in ran.json["dropped"])


@pytest.mark.parametrize("form", FORMATS)
def test_single_fragment_exceeds_budget(tools: Path, form: str) -> None:
    """SC-SP-006: budget 100, every candidate larger: empty, with the spec's warning in every format."""
    ran = secateur("search", QUERY, tools, "--budget", 100, "--format", form)
    assert ran.code == 0
    assert TOO_SMALL in ran.out
    assert "registry.lookup" not in ran.out
    if form == "json":
        assert ran.json["candidates"] == []
        assert ran.json["token_count"] == 0
        assert "budget_too_small" in [warning["code"] for warning in ran.json["warnings"]]
        assert all(dropped["decision"]["reason"] == "larger_than_budget" for dropped in ran.json["dropped"])
        assert all(dropped["token_count"] > 100 for dropped in ran.json["dropped"])


def test_intent_preference_integration(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-SP-007: with preferences on, what the user prefers gets a term of its own and is kept at --budget 5000."""
    words = ("search", QUERY, tools, "--top-k", 20, "--budget", 5000, "--format", "json")
    before = secateur(*words).json
    loser = before["dropped"][-1]["symbol_id"]
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path))
    other = before["candidates"][-1]["symbol_id"]
    for symbol, strength in ((loser, 1.0), (other, 0.1)):
        assert secateur("prefer", "add", symbol, tools, "--strength", strength).code == 0
    assert secateur(*words).json["candidates"] == before["candidates"]  # off by default
    after = secateur(*words, "--set", "preference.enabled=true").json
    assert after["candidates"][0]["symbol_id"] == loser
    assert after["candidates"][0]["terms"]["preference"] == 0.2
    assert {one["terms"]["preference"] for one in after["candidates"] if one["symbol_id"] == other} == {0.02}
    assert after["token_count"] <= 5000


def test_token_estimation(reference_tokens: Count) -> None:
    """SC-SP-008: on code and on Chinese text the estimate is within 20 % and rather above; the default counter is
    exact."""
    root = Path(__file__).parents[2]
    texts = [path.read_text("utf-8") for path in sorted(root.glob("core/secateur/*.py"))]
    texts += [
        path.read_text("utf-8")
        for path in sorted(root.glob("sample_repos/*/**/*"))
        if path.suffix in {".py", ".ts", ".md"}
    ]
    texts = [text for text in texts if len(text) > 400]
    chinese = [text for text in texts if sum("\u4e00" <= letter <= "\u9fff" for letter in text) > len(text) / 8]
    assert len(texts) > 50
    assert chinese
    exact = [reference_tokens(text) for text in texts]
    assert [count_tokens(text) for text in texts] == exact
    errors = [count_tokens(text, "estimate") / tokens - 1 for text, tokens in zip(texts, exact, strict=True)]
    assert 0 < statistics.mean(errors) < 0.2
    assert statistics.quantiles(errors, n=20)[-1] < 0.25
    assert sum(error >= 0 for error in errors) > 0.75 * len(errors)
    for text in chinese:
        assert -0.05 < count_tokens(text, "estimate") / reference_tokens(text) - 1 < 0.2


def test_characters_over_four_stay_available_under_their_name() -> None:
    """REQ-SP-004."""
    assert count_tokens("x" * 400, "chars4") == 100


def _lines(path: Path, first: int, last: int) -> str:
    return "\n".join(path.read_text().split("\n")[first - 1 : last])
