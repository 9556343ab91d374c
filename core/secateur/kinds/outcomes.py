"""The outcome of a decision, and what the command of a kind puts out."""

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
    make_ledger: Callable[[], Ledger]  # worked out when somebody looks: of a search it has an entry per candidate
    notices: tuple[Notice, ...] = ()
    of_settings: tuple[Notice, ...] = ()  # notices about the settings, which were said when they were loaded
    questions: tuple[Question, ...] = ()  # for a language model; `decide` takes the replies to them
    calls: tuple[ModelCall, ...] = ()  # what the replies cost
    explanation: Explanation | None = None  # what is proven of the decision, where that was asked for
    measures: Callable[[], Mapping[str, Any]] = dict  # further facts: "cache_reread" in tokens, "coverage" by path

    @cached_property
    def ledger(self) -> Ledger:
        """Each input once, and the wrapper."""
        return self.make_ledger()

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """All notices, those of the settings first."""
        return (*self.of_settings, *self.notices)


@dataclass(frozen=True, slots=True)
class EntryDescription:
    """The words on an entry beside its figures; texts from outside."""

    name: str  # what a person knows it by
    place: str = ""  # where it is found, if its name does not say
    beside: str = ""  # what it is about, where its id does not tell: a list shows how that begins
    facts: Sequence[tuple[str, str]] = ()  # (label, text)
    because: str = ""  # its reason as a sentence without its subject
    line: Callable[[int], int] | int = 1  # of the input that its text begins on, or of each line of the text, from 0


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """Files that a command writes into one folder: all of them or none."""

    path: Path
    files: Mapping[str, str]  # name -> text
    outdated: Callable[[Path], bool]  # whether a file there is of an earlier run, and goes


@dataclass(frozen=True, slots=True)
class Delivery:
    """The output of a command: text, files and messages."""

    text: str  # for standard output
    files: tuple[tuple[Path, str], ...] = ()  # written whole or not at all, before anything is printed
    said: tuple[str, ...] = ()  # lines for standard error
    advice: tuple[str, ...] = ()  # further ones, below the text
    exit_code: int = 0
    folder: OutputFolder | None = None  # written as `files` are
    kept: AnswerPlace | None = None  # where the text is kept, if it may be printed again as long as it is there
