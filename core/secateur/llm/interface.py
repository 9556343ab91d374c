"""Defines questions to a model, their replies, and the interface of a model. It speaks to no server.

    replies = model.ask([Question("score src/a.py", "Rate the file …", text, Score)])
    replies[0].value          # a Score, checked; None where there is no usable answer, and `problem` says why

Replies come in the order of the questions, whatever the order in which a server answers.
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
    """Holds one question: the instructions, the text they are about, and the type of the answer."""

    what: str  # for people and the ledger: "score src/a.py"
    instructions: str  # ours; never text from outside
    text: str  # from outside; a model is told that it is data
    answer: type[msgspec.Struct]  # what the answer is decoded into and validated against
    most_tokens: int = 512  # of the answer
    check: Callable[[Any], str] | None = (
        None  # what is wrong with a decoded answer, "" if nothing: an answer that would break an invariant is none
    )


@dataclass(frozen=True, slots=True)
class Reply:
    """Holds what came of a question."""

    value: Any | None  # an instance of `Question.answer`
    call: ModelCall  # what it cost
    problem: str = ""  # why there is no value, for people; nothing of what a server said is in it
    reserved: int = 0  # tokens set aside for it before anything was sent, prompt and answer; 0 where nobody reckoned


class LanguageModel(Protocol):
    """Answers questions: the client of a server, or an object of a test."""

    @property
    def name(self) -> str:
        """The model's name, for people."""
        ...

    def ask(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:
        """Returns one reply per question, in their order. A question that fails has a reply that says so; nothing is
        raised for it."""
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
"""Problems that are told one by one."""


def notices_of(replies: Sequence[Reply]) -> tuple[Notice, ...]:
    """Returns notices for the user: which questions have no usable answer and why, and whether a server counted more
    tokens than were set aside."""
    notices: list[Notice] = []
    without: dict[str, list[str]] = {}
    for reply in replies:
        if reply.value is None:
            without.setdefault(reply.problem, []).append(reply.call.what)
    for problem, asked in list(without.items())[:MOST_PROBLEMS]:
        which = f"{asked[0]} first" if len(asked) > 1 else asked[0]
        notices.append(
            Notice(
                "llm_unanswered",
                f"The model has no usable answer to {len(asked):,} of {len(replies):,} questions ({which}): {problem}.",
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
    """Returns a notice where a server counted more tokens than were set aside."""
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
    said = (
        f"The server counted {counted:,} tokens for {len(over):,} of {len(replies):,} questions, for which {reserved:,}"
        " were set aside"
    )
    return (Notice("llm_spend", f"{said}: llm.spend_cap is held by estimates."),)
