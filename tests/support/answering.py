"""A language model that answers from a table, in any order it likes, also wrongly or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from secateur.llm.interface import Question, Reply
from secateur.model import ModelCall
from secateur.progress import Progress


class Table:
    """Answers by the name of a question: a value as it is, a problem where there is none. What it was asked is in
    `asked`."""

    name = "table"

    def __init__(self, answers: Mapping[str, Any] | Callable[[Question], Any]) -> None:
        self._answers = answers if callable(answers) else lambda question: answers.get(question.what)
        self.asked: list[Question] = []

    def ask(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:  # noqa: ARG002 - the protocol's
        self.asked += questions
        return [self._reply(question) for question in questions]

    def _reply(self, question: Question) -> Reply:
        value = self._answers(question)
        call = ModelCall(question.what, "failed" if value is None else "answered", 1, 100, 10)
        return Reply(value, call, "it did not answer" if value is None else "")
