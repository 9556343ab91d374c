"""The outcome of a decision, the output of a kind's command, and protocols for abilities of only some kinds of context.
A kind has an ability if it has the methods; nothing is registered. The functions of `run` check for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypeVar, runtime_checkable

from msgspec import Meta, Struct

from secateur.kinds.environment import Environment, Inputs
from secateur.kinds.knobs import FilePlace
from secateur.ledger import Ledger, ModelCall, Notice, State, StateName
from secateur.settings import Settings
from secateur.shape import Shape

if TYPE_CHECKING:  # what most commands never use is imported where it is
    from secateur.llm.interface import Question
    from secateur.what_if.explanation import Explanation
    from secateur.what_if.trials import Trials

P = TypeVar("P")


class Outcome(Struct, Generic[P], frozen=True, eq=False, dict=True, weakref=True):
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


class EntryDescription(Struct, frozen=True):
    """The words on an entry beside its figures; texts from outside."""

    name: str  # its name for people
    place: str = ""  # its location, if its name does not say
    beside: str = ""  # its subject, if its id does not tell; a list shows the beginning
    facts: Sequence[tuple[str, str]] = ()  # (label, text)
    because: str = ""  # its reason as a sentence without its subject
    line: Callable[[int], int] | int = 1  # first line of its text in the input, or a function from its lines, from 0


class OutputFolder(Struct, frozen=True):
    """Files that a command writes into one folder: all of them or none."""

    path: Path
    files: Mapping[str, str]  # name -> text
    outdated: Callable[[Path], bool]  # tells whether a file is from an earlier run and may be removed


class Delivery(Struct, frozen=True):
    """The output of a command: text, files and messages."""

    text: str  # for standard output
    files: tuple[tuple[Path, str], ...] = ()  # written completely or not at all, before anything is printed
    said: tuple[str, ...] = ()  # lines for standard error
    exit_code: int = 0
    folder: OutputFolder | None = None  # written like `files`


@runtime_checkable
class Locates(Protocol):
    """Its entries have other locations than `Kind.describe` says, or lie in several files."""

    def location(self, outcome: Outcome[Any], index: int, inputs: Inputs, environment: Environment) -> FilePlace | None:
        """The file and line of an entry; None if it has none."""


@runtime_checkable
class Proves(Protocol):
    """It has its own trials, to prove what would change its decisions."""

    def trials(self, material: Any, inputs: Inputs, settings: Settings, outcome: Outcome[Any]) -> Trials:
        """The trials of a decision, to prove what would change it. No model is asked."""


class ArrivalShape(Shape, frozen=True):
    """A change that makes a symbol a candidate."""

    typed: Annotated[str, Meta(description="Flags, or the query with a further word, as one types them.")]
    state: Annotated[StateName, Meta(description="Of the symbol, with it.")]
    because: Annotated[str, Meta(description="The reason of that state.")]
    loses: Annotated[list[str], Meta(description="Ids that go out now, and do not with it.")]
    gains: Annotated[list[str], Meta(description="Ids of others that go out with it, and do not now.")]

    @property
    def words(self) -> str:
        """The state, and what it costs: "a candidate, dropped: needs 251, only 13 left then, gains 3"."""
        state = "kept" if self.state == State.KEPT.label else f"a candidate, {self.state}: {self.because}"
        sides = ("loses", self.loses), ("gains", self.gains)
        costs = (f"{verb} {ids[0] if len(ids) == 1 else f'{len(ids):,}'}" for verb, ids in sides if ids)
        return ", ".join((state, *costs))


class MissingShape(Shape, frozen=True):
    """A symbol that is not a candidate: the stage that lost it, the reason in words, and what makes it one: first what
    keeps it whole, then what loses the fewest others."""

    id: str
    stage: str
    because: str
    levers: list[ArrivalShape]


class Missing(Struct, frozen=True):
    """The answer, and for each of its levers the query and the settings that it was searched with."""

    shape: MissingShape
    changes: list[tuple[str, Settings]] = []


@runtime_checkable
class ExplainsMissing(Protocol):
    """Its input holds more than its entries."""

    def missing(self, outcome: Outcome[Any], name: str) -> Missing:
        """Explains why something is not an entry, and what makes it one. Raises UsageError: it has no such name."""


@runtime_checkable
class Delivers(Protocol):
    """Its command writes files or prints further messages."""

    def deliver(self, delivery: Delivery, outcome: Outcome[Any], inputs: Inputs) -> Delivery:
        """Adds to the default output of a command."""


class KeptAnswers(Protocol):
    """Finished answers that a kind keeps: opened before anything is read, and closed at the end."""

    def find(self, *, verbose: bool) -> Delivery | None:
        """Delivers the answer if nothing that it rests on has changed. What it looked at serves `Kind.read`."""

    def deliver(self, text: str, outcome: Outcome[Any], *, verbose: bool) -> Delivery:
        """Keeps the text of an answer, if `find` looked for it, and delivers it."""

    def close(self) -> None:
        """Closes what was opened."""


@runtime_checkable
class SpellsCommand(Protocol):
    """Its command line has more than its inputs and flags."""

    def command_line(
        self, inputs: Inputs, settings: Settings, opened: Settings, outcome: Outcome[Any] | None = None
    ) -> str:
        """See `run.command_line_of`."""
