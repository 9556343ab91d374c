"""Whoever answers may not keep to the protocol: what is not usable is a reply without a value, and never an error."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from secateur.kinds.conversation.strategies import prune
from secateur.kinds.conversation.transcripts import read_messages
from secateur.llm.interface import Question, Reply, replies_of
from secateur.model import ModelCall
from secateur.settings import Settings, with_values
from support.answering import Table


class Number(msgspec.Struct):
    number: int


def question(what: str) -> Question:
    return Question(
        what, "Say a number.", "text", Number, check=lambda value: "" if value.number > 0 else "it is not above 0"
    )


class Silent:
    """Gives fewer replies than there are questions."""

    name = "silent"

    def ask(self, questions: Any, progress: Any = None) -> list[Reply]:  # noqa: ARG002 - the protocol's
        return [Reply(Number(1), ModelCall(questions[0].what, "answered", 1, 1, 1))]


def test_every_question_has_a_reply() -> None:
    first, second = replies_of(Silent(), [question("first"), question("second")])
    assert (first.value, second.value, second.call.what, second.problem) == (
        Number(1),
        None,
        "second",
        "there is no reply",
    )
    assert replies_of(Silent(), []) == []


@pytest.mark.parametrize("value", [Number("7"), Number(-1), {"number": 1}, "text", 7])  # type: ignore[arg-type]
def test_a_value_of_another_shape_or_one_that_does_not_do_is_none(value: Any) -> None:
    (reply,) = replies_of(Table({"q": value}), [question("q")])
    assert (reply.value, reply.call.outcome) == (None, "refused")


@pytest.mark.parametrize("value", [{"notes": ["x"]}, "words", 7])
def test_a_conversation_is_told_in_excerpts_where_the_answers_are_none(value: Any) -> None:
    messages = [
        {"role": role, "content": f"We decided {number}. " * 30}
        for number in range(12)
        for role in ("user", "assistant")
    ]
    settings = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 900})
    transcript = read_messages(messages)
    told = prune(transcript, settings, "summarize", llm=Table(lambda _: value))
    assert told.messages == prune(transcript, settings, "summarize").messages
    assert {call.outcome for call in told.report.calls} == {"refused"} and "summary_in_excerpts" in [
        notice.code for notice in told.warnings
    ]
