"""The one protocol of every kind of context: inputs -> read -> decide -> outcome with one ledger -> what goes out.

    kind = registry.get_kind("envelope")
    inputs = {"path": "envelope.json", "model": "gpt-4o"}
    material = kind.read(inputs, settings, Environment())     # slow, once: reads, parses, counts
    outcome = kind.decide(material, inputs, settings)         # pure: what a knob calls
    outcome.ledger                                            # each input once: state, reason, figures
    run.render(kind, outcome, "json")

The command line, the inspector and the Python API are written once over this, by the functions of `run`. What only
some kinds can do is in `protocols`. A kind is a module beside its tests and
an entry in `kind_places.BUILT_IN`, or an entry point `secateur.kinds` of another distribution.

Payloads stay typed per kind: `M` is what was read and measured, `P` what was decided.
"""

# ruff: noqa: ARG002 - what a kind need not fill in takes its arguments for those that do

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct

from secateur.kinds.arguments import Flag, Input, blank_inputs, opened_inputs
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs, Load
from secateur.kinds.knobs import Knob, strategy_of
from secateur.kinds.outcomes import Delivery, EntryDescription, Outcome, OutputFolder, P
from secateur.model import State
from secateur.render.page import Page
from secateur.render.sentences import sentence
from secateur.settings import Loaded, Settings, key_of
from secateur.shape import Shape

__all__ = ["Delivery", "EntryDescription", "Environment", "Flag", "Input", "Inputs", "Kind", "Load", "Outcome"]
__all__ += [
    "OutputFolder",
    "Wording",
    "blank_inputs",
    "budget_in_force",
    "least_budget",
    "opened_inputs",
    "strategy_of",
]

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for a kind and its entries, on the screen and in reports."""

    title: str
    about: str  # what it does, in a clause: "a prompt envelope within a model's budget"
    noun: str  # what its entries are: "Sections"
    opening: str  # what can be opened, in a sentence
    entries: str = ""  # what the entries of its ledger are, where the list on the screen shows something else
    unit: str = "files"  # what its progress counts


class Kind(ABC, Generic[M, P]):
    """See the module docstring."""

    name: ClassVar[str]  # of its command, of `--bench`, in the ledger: "envelope"
    wording: ClassVar[Wording]
    inputs: ClassVar[Sequence[Input]]  # the first is what is read
    flags: ClassVar[Sequence[Flag]] = ()
    table: ClassVar[type[Struct] | None] = None  # its own settings, `[kinds.NAME]`; those of ours are in `Settings`
    budget: ClassVar[Knob]
    knobs: ClassVar[Sequence[Knob]]  # with the budget, in the order of the panel
    formats: ClassVar[Sequence[str]] = ("text", "json")  # the first is what its command prints unasked
    one_line: ClassVar[Sequence[str]] = ()  # fields of its JSON that are printed as they are counted, on one line
    depends_on: ClassVar[Sequence[str]] = ("tokens.",)  # keys (prefixes) that change answers, beside those of its knobs

    def recognises(self, path: Path, head: str) -> bool:
        """Tells whether a file is of this kind, by its name and how it begins."""
        return False

    def load(self, inputs: Inputs, load: Load, environment: Environment) -> Loaded:
        """The settings that count for these inputs, by default of the current folder; fills `environment.found`.

        Raises:
            SecateurError: inputs are wrong whatever is read.
        """
        return load(environment.base, None)

    def reading_of(self, inputs: Inputs, settings: Settings) -> Hashable:
        """The values that reading depends on: while they are equal, what was read serves."""
        return inputs[self.inputs[0].name], settings.tokens.counter

    @abstractmethod
    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> M:
        """Read and measure: slow, once; `environment.progress` may end it. Raises SecateurError, with the name.

        What it returns has a method `close` where something is to be let go of; see `run.release`.
        """

    @abstractmethod
    def decide(self, material: M, inputs: Inputs, settings: Settings, during: Deciding = ALONE) -> Outcome[P]:
        """Decide under the settings, and under what they hold and exclude: what every step of a knob calls. Pure.

        Raises:
            SecateurError: there is no answer, for example because a budget cannot be met.
        """

    def described(self, material: M) -> str:
        """Describes what was read, in a few words."""
        return ""

    def describe(self, outcome: Outcome[P], number: int) -> EntryDescription:
        """Describes an entry beside its figures."""
        entry = outcome.ledger.entries[number]
        return EntryDescription(entry.id, because=sentence(entry))

    def texts(self, outcome: Outcome[P], number: int) -> tuple[str, str]:
        """(what came in, what goes out) of an entry, as text for people; "" for nothing."""
        return "", ""

    def leaving(self, outcome: Outcome[P], form: str = "") -> str:
        """The text that a model reads: by default of every entry what goes out, in the order it goes out.

        Args:
            form: one of the formats that are neither text nor JSON, such as "markdown"; "": as the kind has it.
        """
        entries = enumerate(outcome.ledger.entries)
        leave = [(entry.position or 0, number) for number, entry in entries if entry.state is not State.DROPPED]
        return "\n".join(filter(None, (self.texts(outcome, number)[1] for _, number in sorted(leave))))

    @abstractmethod
    def output(self, outcome: Outcome[P]) -> Shape:
        """The answer that is printed as JSON, with `ledger` and the `ProofFields`, which `run.render` fills."""

    @abstractmethod
    def page(self, outcome: Outcome[P], *, verbose: bool = False) -> Page:
        """The report as text for people, not laid out yet."""


def least_budget(kind: Kind[Any, Any]) -> int:
    """The least budget that means what it says: 0 may stand for one that follows from something else."""
    return max(int(key_of(kind.budget.key).low or 0), int(_derived(kind)))


def budget_in_force(kind: Kind[Any, Any], settings: Settings, outcome: Outcome[Any] | None) -> int:
    """The budget that one step more or less goes on from."""
    if _derived(kind) and outcome is not None:
        return outcome.ledger.budget
    return kind.budget.in_force(settings)


def _derived(kind: Kind[Any, Any]) -> bool:
    return any(flag.key == kind.budget.key and flag.derived for flag in kind.flags)
