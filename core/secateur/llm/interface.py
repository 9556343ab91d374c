"""Defines questions to a model, their replies, and the interface of a model. This module sends nothing.

    replies = model.ask([Question("score src/a.py", "Rate the file …", text, Score)])
    replies[0].value          # a checked Score; None if there is no usable answer, and `problem` says why

Replies are in the order of the questions, even if the server answers in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec
from msgspec import structs

from secateur.model import ModelCall, Notice
from secateur.progress import Progress


@dataclass(frozen=True, slots=True)
class Question:
    """One question: the instructions, the text they are about, and the type of the answer."""

    what: str  # the name for people and the ledger: "score src/a.py"
    instructions: str  # our own text, never text from outside
    text: str  # text from outside; the model is told that it is data
    answer: type[msgspec.Struct]  # the type that the answer is decoded into and validated against
    most_tokens: int = 512  # the most tokens of the answer
    check: Callable[[Any], str] | None = None  # says what is wrong with a decoded answer; "" if it is valid


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a question."""

    value: Any | None  # an instance of `Question.answer`
    call: ModelCall  # the cost
    problem: str = ""  # why there is no value, for people; it quotes nothing that a server sent
    reserved: int = 0  # tokens reserved for prompt and answer before anything was sent; 0 if unknown


class LanguageModel(Protocol):
    """Answers questions: the client of a server, or an object of a test."""

    @property
    def name(self) -> str:
        """The model's name, for people."""
        ...

    def ask(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:
        """Returns one reply per question, in their order. If a question fails, its reply says so, and no error is
        raised."""
        ...


def replies_of(model: LanguageModel, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:
    """Asks `model`, and returns one checked reply per question: its value has the type that was asked for, or
    is None."""
    replies = list(model.ask(questions, progress)) if questions else []
    replies += [
        Reply(None, ModelCall(question.what, "failed", 0, 0, 0), "there is no reply")
        for question in questions[len(replies) :]
    ]
    return [_checked(question, reply) for question, reply in zip(questions, replies, strict=False)]


def _checked(question: Question, reply: Reply) -> Reply:
    if reply.value is None:
        return reply
    try:
        value = (
            msgspec.convert(msgspec.to_builtins(reply.value), question.answer)
            if isinstance(reply.value, question.answer)
            else None
        )
    except (msgspec.ValidationError, TypeError, ValueError):
        value = None
    if value is not None and not (question.check is not None and question.check(value)):
        return replace(reply, value=value)
    return Reply(
        None, structs.replace(reply.call, outcome="refused"), "the answer is not what was asked for", reply.reserved
    )


MOST_PROBLEMS = 3
"""The most problems that get a notice of their own."""


def notices_of(replies: Sequence[Reply]) -> tuple[Notice, ...]:
    """Returns notices for the user: which questions have no usable answer and why, and whether a server counted more
    tokens than were reserved."""
    notices: list[Notice] = []
    without: dict[str, list[str]] = {}
    for reply in replies:
        if reply.value is None:
            without.setdefault(reply.problem, []).append(reply.call.what)
    for problem, unanswered in list(without.items())[:MOST_PROBLEMS]:
        which = f"{unanswered[0]} first" if len(unanswered) > 1 else unanswered[0]
        notices.append(
            Notice(
                "llm_unanswered",
                f"The model has no usable answer to {len(unanswered):,} of {len(replies):,} questions"
                f" ({which}): {problem}.",
            )
        )
    if len(without) > MOST_PROBLEMS:
        others = sum(map(len, list(without.values())[MOST_PROBLEMS:]))
        notices.append(
            Notice(
                "llm_unanswered",
                f"To {others:,} more questions it has none, for {len(without) - MOST_PROBLEMS:,} other reasons.",
            )
        )
    return (*notices, *overspent(replies))


def overspent(replies: Sequence[Reply]) -> tuple[Notice, ...]:
    """Returns a notice if a server counted more tokens than were reserved."""
    over = [
        reply
        for reply in replies
        if reply.reserved and reply.call.prompt_tokens + reply.call.completion_tokens > reply.reserved
    ]
    if not over:
        return ()
    counted, reserved = (
        sum(reply.call.prompt_tokens + reply.call.completion_tokens for reply in over),
        sum(reply.reserved for reply in over),
    )
    message = (
        f"The server counted {counted:,} tokens for {len(over):,} of {len(replies):,} questions, for which {reserved:,}"
        " were set aside"
    )
    return (Notice("llm_spend", f"{message}: llm.spend_cap is held by estimates."),)
