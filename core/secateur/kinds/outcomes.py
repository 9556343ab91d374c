"""The outcome of a decision, and the output of a kind's command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from secateur.model import Ledger, ModelCall, Notice
from secateur.retrieval.answers import AnswerPlace
from secateur.settings import Settings

if TYPE_CHECKING:
    from secateur.llm.interface import Question
    from secateur.what_if.explanation import Explanation

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Outcome(Generic[P]):
    """The decision of a kind under settings, and its ledger."""

    kind: str
    settings: Settings
    payload: P
    make_ledger: Callable[[], Ledger]  # called at the first use: the ledger of a search has an entry per candidate
    notices: tuple[Notice, ...] = ()
    of_settings: tuple[Notice, ...] = ()  # notices from loading the settings
    questions: tuple[Question, ...] = ()  # for a language model; `decide` takes the replies to them
    calls: tuple[ModelCall, ...] = ()  # the calls of the replies
    explanation: Explanation | None = None  # the proofs about the decision, if asked for
    measures: Callable[[], Mapping[str, Any]] = dict  # further facts: "cache_reread" in tokens, "coverage" by path

    @cached_property
    def ledger(self) -> Ledger:
        """Each input once, and the wrapper."""
        return self.make_ledger()

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """All notices, those about the settings first."""
        return (*self.of_settings, *self.notices)


@dataclass(frozen=True, slots=True)
class EntryDescription:
    """The words on an entry beside its figures; texts from outside."""

    name: str  # its name for people
    place: str = ""  # its location, if its name does not say
    beside: str = ""  # its subject, if its id does not tell; a list shows the beginning
    facts: Sequence[tuple[str, str]] = ()  # (label, text)
    because: str = ""  # its reason as a sentence without its subject
    line: Callable[[int], int] | int = (
        1  # first line of its text in the input, or a function from lines of the text, from 0
    )


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """Files that a command writes into one folder: all of them or none."""

    path: Path
    files: Mapping[str, str]  # name -> text
    outdated: Callable[[Path], bool]  # tells whether a file is from an earlier run and may be removed


@dataclass(frozen=True, slots=True)
class Delivery:
    """The output of a command: text, files and messages."""

    text: str  # for standard output
    files: tuple[tuple[Path, str], ...] = ()  # written completely or not at all, before anything is printed
    said: tuple[str, ...] = ()  # lines for standard error
    advice: tuple[str, ...] = ()  # further lines, below the text
    exit_code: int = 0
    folder: OutputFolder | None = None  # written like `files`
    kept: AnswerPlace | None = None  # where the text is cached, if it may be printed again
