"""`secateur conversation`: the shape of the contract, the file in the shape it came in, and figures that agree with
each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from secateur.kinds.conversation.decisions import CacheShape
from support.cli import secateur
from support.conversations import FORMATS, Said, conversation

LONG = "value = 1\n" * 400
TURNS = [
    Said(f"Look at src/m{number}.py.", (("read_file", f"m{number}.py", LONG + str(number), True),), "It is fine. " * 20)
    for number in range(4)
]


@pytest.fixture(params=FORMATS)
def transcript(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    path = tmp_path / "transcript.jsonl"
    path.write_text(
        "".join(json.dumps(message) + "\n" for message in conversation(request.param, TURNS, asks="And now?")), "utf-8"
    )
    return request.param, path


@pytest.mark.parametrize("strategy", ["tool-results", "truncate", "summarize", "hybrid", "staged"])
def test_the_json_is_that_of_the_contract_and_agrees_with_itself(transcript: tuple[str, Path], strategy: str) -> None:
    form, path = transcript
    ran = secateur("conversation", path, "--strategy", strategy, "--safe-zone", 2500, "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    out = ran.json
    of_an_agent = ["session"] if form == "claude-code" else []
    head = ["schema_version", "messages", "format", "statistics", "cache", *of_an_agent]
    assert list(out) == [*head, "report", "ledger", "warnings"]
    assert out["format"] == form
    figures, report, cache = out["statistics"], out["report"], out["cache"]
    assert (report["estimateBefore"], report["estimateAfter"]) == (figures["original_tokens"], figures["pruned_tokens"])
    assert figures["pruned_tokens"] <= 2500 < figures["original_tokens"]
    assert figures["tokens_saved"] == figures["original_tokens"] - figures["pruned_tokens"]
    assert cache["prefix_tokens"] + cache["reread_tokens"] == figures["pruned_tokens"]
    assert cache["tokens_saved"] == figures["tokens_saved"]
    assert cache["pays_after_requests"] >= 1
    assert sum(action["afterTokens"] for action in report["actions"]) == figures["pruned_tokens"]


def test_out_is_the_file_in_the_shape_it_came_in_and_fits_when_it_is_read_again(
    transcript: tuple[str, Path], tmp_path: Path
) -> None:
    form, path = transcript
    secateur("conversation", path, "--safe-zone", 5000, "--out", tmp_path / "out.jsonl", "--quiet")
    before, after = (file.read_text("utf-8").splitlines() for file in (path, tmp_path / "out.jsonl"))
    assert len(before) == len(after)
    assert sum(left != right for left, right in zip(before, after, strict=True)) == 2
    again = secateur("conversation", tmp_path / "out.jsonl", "--safe-zone", 5000, "--format", "json").json
    assert (again["format"], again["report"]["applied"], again["cache"]["pays_after_requests"]) == (form, False, 0)


def test_a_reason_names_the_tokens_that_a_lasting_cut_goes_down_to(transcript: tuple[str, Path]) -> None:
    arguments = "conversation", transcript[1], "--safe-zone", 5000
    words = "tokens still had to go; cuts begin above 5,000 tokens and go down to 2,001"
    for strategy in ("tool-results", "truncate", "hybrid", "staged"):
        assert words in secateur(*arguments, "--cut-to", 0.4, "--strategy", strategy).out
        assert "cuts begin" not in secateur(*arguments, "--strategy", strategy).out


def test_the_text_says_what_changed_what_is_read_again_and_when_it_pays(transcript: tuple[str, Path]) -> None:
    out = secateur("conversation", transcript[1], "--safe-zone", 5000).out
    assert "is the first that changed" in out
    assert "with a warm cache it pays after" in out
    assert out.count("shorten: its result is among the oldest") == 2
    assert ("of them reaches no model" in out) == (transcript[0] == "claude-code")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"messages": 3}', "$.messages: must be a list, is a number"),
        ('{"messages": {"role": "user"}}', "$.messages: must be a list, is an object"),
        ('{"messages": null}', "$.messages: must be a list, is null"),
    ],
)
def test_messages_that_are_no_list_are_said_with_what_they_are(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "session.json").write_text(text, encoding="utf-8")
    ran = secateur("conversation", tmp_path / "session.json")
    assert ran.code == 1 and not ran.out and f"error: {said}" in ran.err


def test_a_transcript_that_fits_is_said_to_be_unchanged(transcript: tuple[str, Path]) -> None:
    out = secateur("conversation", transcript[1]).out
    assert "unchanged: nothing is read again" in out
    cache = next(line for line in out.splitlines() if line.startswith("cache"))
    assert "pays" not in cache


@pytest.mark.parametrize(
    ("cache", "requests"),
    [
        (CacheShape.of(None, 100, 0, 0), 0),  # nothing changed
        (CacheShape.of(3, 100, 0, 50), 0),  # only the end went
        (CacheShape.of(3, 100, 1000, 0), None),  # nothing is saved
        (CacheShape.of(3, 100, 1000, 11_500), 1),
        (CacheShape.of(3, 100, 1000, 1000), 12),  # 1,150 more at once, 100 less each time
    ],
)
def test_when_a_prune_pays(cache: CacheShape, requests: int | None) -> None:
    assert cache.pays_after == requests
