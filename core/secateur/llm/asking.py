"""A question to a model, its reply, and the face of whoever answers. No server is spoken to here.

    replies = model.ask([Question("score src/a.py", "Rate the file …", text, Score)])
    replies[0].value          # a Score, checked; None where there is no usable answer, and `problem` says why

Replies come in the order of the questions, whatever the order in which a server answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from secateur.model import ModelCall

Progress = Callable[[str, int, int], None]
"""`progress(phase, done, total)`."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call: what is to be done, the text it is about, and the shape of the answer."""

    what: str  # for people and the ledger: "score src/a.py"
    instructions: str  # ours; never text from outside
    text: str  # from outside; a model is told that it is data
    answer: type[msgspec.Struct]  # what the answer is decoded into and validated against
    most_tokens: int = 512  # of the answer
    check: Callable[[Any], str] | None = None  # what is wrong with a decoded answer, "" if nothing: an answer that would break an invariant is none


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a question."""

    value: Any | None  # an instance of `Question.answer`
    call: ModelCall  # what it cost
    problem: str = ""  # why there is no value, for people


class LanguageModel(Protocol):
    """Whoever answers: a server's client, or a test's."""

    @property
    def name(self) -> str:
        """The model, for people."""
        ...

    def ask(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:
        """One reply per question, in their order. A question that fails has a reply that says so; nothing is raised for it."""
        ...
