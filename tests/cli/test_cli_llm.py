"""Commands that ask a language model, from the command line, with a server on loopback."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.chat_server import KEY, Back, ChatServer, chat_server, refusal, said
from support.cli import Ran, secateur
from support.conversations import Said, conversation
from support.credentials import planted
from support.json_shapes import violations


def transcript(folder: Path) -> Path:
    chatter = "I looked at the code around it and this is how it has been for a long time. " * 15
    turns = [Said(f"Please look at part {number}.", (), f"{chatter}Option {number} it is.") for number in range(12)]
    path = folder / "session.json"
    path.write_text(json.dumps(conversation("openai", turns, asks="And now?")))
    return path


def with_model(server: ChatServer, *words: object) -> Ran:
    sets = ("llm.enabled=true", f"llm.base_url={server.url}", "llm.model=m", "llm.api_key_env=MY_KEY")
    command, *others = words
    return secateur(command, *(word for one in sets for word in ("--set", one)), *others)


def answered(body: dict[str, Any]) -> Back:
    """What the schema of the question asks for."""
    fields = body["response_format"]["json_schema"]["schema"]["properties"]
    return said(
        {"notes": ["The user wants the parts looked at."]}
        if "notes" in fields
        else {"relevant_score": 9, "reason": "it is \x1b[31mit"}
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)


def test_a_conversation_is_summarised_by_the_model_and_its_cost_is_in_the_report(tmp_path: Path) -> None:
    with chat_server(answered) as server:
        ran = with_model(
            server,
            "conversation",
            transcript(tmp_path),
            "--strategy",
            "summarize",
            "--safe-zone",
            1200,
            "--format",
            "json",
        )
    assert ran.code == 0
    assert violations("conversation", ran.json) == []
    (call,) = ran.json["report"]["modelCalls"]
    assert re.fullmatch(r"summarize messages\[0-\d+\]", call["what"])
    assert (call["outcome"], call["promptTokens"]) == ("answered", 11)
    assert "in a model's words]\n- The user wants the parts looked at." in ran.json["messages"][0]["content"]
    assert ran.json["statistics"]["pruned_tokens"] <= 1200
    assert KEY not in ran.out + ran.err


def test_the_text_says_what_the_model_cost(tmp_path: Path) -> None:
    with chat_server(answered) as server:
        ran = with_model(server, "conversation", transcript(tmp_path), "--strategy", "hybrid", "--safe-zone", 1200)
    assert "model     1 of 1 questions answered, 16 tokens" in ran.out


def test_files_are_scored_by_the_model(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(f"def total_{name}(cart):\n    return sum(cart)\n" * 10)
    with chat_server(answered) as server:
        ran = with_model(
            server, "files", tmp_path / "a.py", tmp_path / "b.py", "--query", "where is the total?", "--max-tokens", 160
        )
    assert ran.code == 0
    assert "2 of 2 questions answered" in ran.out
    assert "\x1b" not in ran.out + ran.err


def test_no_credential_is_sent_to_a_server(tmp_path: Path) -> None:
    text, secret = planted(Random(42), "aws-access-key")
    path = tmp_path / "a.py"
    path.write_text(f"# {text}\ndef total(cart):\n    return sum(cart)\n" * 10)
    path.with_name("b.py").write_bytes(path.read_bytes())
    talk = json.loads(transcript(tmp_path).read_bytes())
    talk[1]["content"] += text
    (tmp_path / "talk.json").write_text(json.dumps(talk))
    sent: list[str] = []

    def answer(body: dict[str, Any]) -> Back:
        sent.append(json.dumps(body))
        return answered(body)

    with chat_server(answer) as server:
        with_model(server, "files", path, path.with_name("b.py"), "--query", "total", "--max-tokens", 300)
        with_model(server, "conversation", tmp_path / "talk.json", "--strategy", "summarize", "--safe-zone", 1200)
    assert len(sent) == 3 and all("[redacted: aws-access-key #1]" in body for body in sent)
    assert secret not in "".join(sent)


@pytest.mark.parametrize(
    "words",
    [
        ("conversation", "--strategy", "summarize", "--safe-zone", 1200),
        ("files", "--query", "the parts", "--strategy", "extract", "--max-tokens", 1200),
    ],
)
@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_a_server_that_fails_costs_the_words_and_nothing_else(
    tmp_path: Path, words: tuple[object, ...], debug: tuple[str, ...]
) -> None:
    command, *flags = words
    with chat_server(lambda _: refusal(401, f"Incorrect API key provided: {KEY}")) as server:
        ran = with_model(server, command, transcript(tmp_path), *flags, *debug)
    assert ran.code == 0
    assert "the key is not accepted (status 401)" in ran.out
    assert KEY not in ran.out + ran.err


@pytest.mark.parametrize("strategy", ["truncate", "tool-results"])
def test_where_nothing_is_to_be_told_no_server_is_needed(tmp_path: Path, strategy: str) -> None:
    ran = secateur(
        "conversation", transcript(tmp_path), "--strategy", strategy, "--safe-zone", 1200, "--set", "llm.enabled=true"
    )
    assert ran.code == 0


@pytest.mark.parametrize(
    ("sets", "code", "error"),
    [
        (("llm.base_url=",), 2, "llm.base_url is empty"),
        (("llm.model=",), 2, "llm.model is empty"),
        (("llm.base_url=localhost:80",), 2, "llm.base_url is not an http or https address"),
        (("llm.api_key_env=MY_OTHER_KEY",), 1, "the environment variable MY_OTHER_KEY is not set"),
        (("llm.timeout=0",), 2, "llm.timeout"),
    ],
)
@pytest.mark.parametrize("command", ["conversation", "files"])
def test_what_is_missing_is_said_before_anything_is_sent(
    tmp_path: Path, command: str, sets: tuple[str, ...], code: int, error: str
) -> None:
    flags = ("--strategy", "summarize") if command == "conversation" else ("--query", "parts")
    with chat_server(answered) as server:
        ran = with_model(
            server,
            command,
            transcript(tmp_path),
            *flags,
            "--format",
            "json",
            *(word for one in sets for word in ("--set", one)),
        )
    assert ran.code == code
    assert error in ran.json["error"]["message"]
    assert server.bodies == []
    assert "Traceback" not in ran.err


def test_a_repository_cannot_have_a_model_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with chat_server(answered) as server:
        (tmp_path / "secateur.toml").write_text(
            f"[llm]\nenabled = true\nbase_url = '{server.url}'\nmodel = 'm'\napi_key_env = 'MY_KEY'\n"
        )
        ran = secateur("conversation", transcript(tmp_path), "--strategy", "summarize", "--safe-zone", 1200)
    assert ran.code == 0
    assert server.bodies == []
    assert "llm.base_url counts only from your own configuration" in ran.err


def test_the_settings_in_force_show_the_variable_and_not_the_key(tmp_path: Path) -> None:
    ran = secateur("config", tmp_path, "--set", "llm.api_key_env=MY_KEY")
    assert "MY_KEY" in ran.out
    assert KEY not in ran.out + ran.err
