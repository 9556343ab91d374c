"""The subject of a bench over a ledger: what it reads, how it decides, and what is its own on the screen. Pure but for
`read`; knows no widget.

A subject asks its kind of context and words its answer; `LedgerBench` does the rest: the list, the budget bar, the
pages, the keys, undo, baseline, progress, errors. Every kind has the subject `KindSubject`, or one of
`secateur_tui.app.LOOKS`.
"""

# ruff: noqa: ARG002 - what a subject need not fill in takes its arguments for those that do

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from secateur.kinds.base import Kind
from secateur.kinds.knobs import Knob
from secateur.ledger import WRAPPER
from secateur.model import State
from secateur.progress import Progress, unreported
from secateur.render.sentences import sentence
from secateur.settings import Settings

from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.styled_text import Line, wrapped

M = TypeVar("M")  # what was read
R = TypeVar("R")  # what the pruner gives back

Inputs = Mapping[str, str]
"""Per field of the input, what is typed there."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the input on top."""

    name: str
    title: str
    placeholder: str
    optional: bool = False  # whether it may well stay empty
    lines: bool = False  # whether it takes a text of several lines


class Subject(ABC, Generic[M, R]):
    """See the module docstring; subclasses fill in what is abstract."""

    name: ClassVar[str]  # as in `--bench`
    noun: ClassVar[str]  # what the items are: "Messages"
    fields: ClassVar[Sequence[Field]]  # the first is the path of what is read
    prompt: ClassVar[str]  # what can be opened, in a sentence
    budget: ClassVar[Knob]
    strategy: ClassVar[Knob | None] = None
    reads_folders: ClassVar[bool] = False  # then it starts on the folder that Search was opened on
    knobs: ClassVar[Sequence[Knob]]

    kind: Kind[M, Any]  # whose inputs the fields are

    # --- deciding ---

    @abstractmethod
    def given(self, inputs: Inputs) -> dict[str, Any]:
        """Returns the inputs of the kind that the fields stand for."""

    def entry_number(self, answer: LedgerAnswer[R], item: int) -> int | None:
        """Returns the number of the ledger's entry that an item is; None: it is none."""
        return item if answer.entries[item].id != WRAPPER else None

    def reading_key(self, inputs: Inputs, settings: Settings) -> Hashable:
        """Returns what reading depends on: while it stays equal, the material is not read again."""
        return inputs[self.fields[0].name], settings.tokens.counter

    @abstractmethod
    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> M:
        """Reads and measures, on the engine's thread. Slow. Raises SecateurError."""

    def release(self) -> None:
        """Lets go of everything that was read."""

    @abstractmethod
    def decide(
        self, material: M, inputs: Inputs, settings: Settings, progress: Progress = unreported
    ) -> LedgerAnswer[R]:
        """Decides; called at every turn of a knob. Pure. Raises SecateurError where there is no answer, such as a
        budget that cannot be met.

        A decision that may take longer than a moment reports its progress: the report ends it when newer settings make
        it needless.
        """

    def budget_in_force(self, settings: Settings, answer: LedgerAnswer[R] | None) -> int:
        """Returns the budget that `b` and `B` start from."""
        return answer.ledger.budget if answer is not None else int(self.budget.value(settings))

    def hold(self, answer: LedgerAnswer[R], item: int, settings: Settings) -> Settings | str:
        """Returns the settings under which this item is kept whatever happens, or no longer is; or a text on why it
        cannot be held."""
        return "nothing in this list is held"

    def place(self, path: str) -> str:
        """Returns where the path of the first field is."""
        return path

    # --- wording ---

    @abstractmethod
    def described(self, material: M) -> str:
        """Returns what was read in a few words."""

    def notices(self, answer: LedgerAnswer[R]) -> Sequence[tuple[str, str]]:
        """Returns (text, role) of what has to be said beside the warnings."""
        return ()

    def lead_title(self, answer: LedgerAnswer[R]) -> str:
        """Returns the title of the first column; the column is as wide as its title."""
        return ""

    def lead(self, answer: LedgerAnswer[R], item: int) -> str:
        """Returns the first column of an item, as wide as its title."""
        return ""

    def tail_title(self, answer: LedgerAnswer[R]) -> str:
        """Returns the title of the last columns. A bench that draws its rows itself leaves out this and the next
        method."""
        return ""

    def tail(self, answer: LedgerAnswer[R], item: int, cells: int) -> Line:
        """Returns the last columns of an item, within `cells`."""
        return ()

    def because(self, answer: LedgerAnswer[R], item: int) -> str:
        """Returns the reason of a decision as a clause."""
        return sentence(answer.entries[item])

    def facts(self, answer: LedgerAnswer[R], item: int, cells: int) -> list[Line]:
        """Returns further facts on a decision, below its reason."""
        return []

    def texts(self, answer: LedgerAnswer[R], item: int) -> tuple[str, str]:
        """Returns (what came in, what goes out) of an item, as text for people; "" for nothing."""
        return "", ""

    def refused(self, material: M, inputs: Inputs, settings: Settings, cells: int) -> list[Line]:
        """Returns what stands below an error of `decide`: the figures that help to make it fit."""
        return []

    @abstractmethod
    def command(self, inputs: Inputs, settings: Settings, opened: Settings) -> str:
        """Returns the command line whose answer is the one on screen."""

    def draw_prompt(self, field_key: str, cells: int) -> list[Line]:
        """Draws what stands in place of the items while nothing is given."""
        return [
            *wrapped(self.prompt, cells, "bold"),
            (),
            *wrapped(f"{field_key} goes to the field for it; Enter reads it.", cells, "faint"),
        ]


STATE_WORDS: Mapping[State, str] = {
    State.KEPT: "goes out as it came",
    State.SHORTENED: "goes out shortened",
    State.SUMMARISED: "goes out in a summary",
    State.DROPPED: "nothing of it goes out",
}
