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
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct

from secateur.kind_places import command_name
from secateur.kinds.arguments import Flag, Input, opened_inputs
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs, Load, Rehearsal
from secateur.kinds.knobs import Knob
from secateur.kinds.outcomes import Delivery, EntryDescription, Outcome, OutputFolder, P
from secateur.kinds.protocols import Finds
from secateur.model import Ledger, State
from secateur.render.page import Page
from secateur.render.sentences import sentence
from secateur.settings import Loaded, Settings, key_of
from secateur.settings.tables import OF_KINDS
from secateur.shape import Shape

__all__ = ["Delivery", "EntryDescription", "Environment", "Flag", "Input", "Inputs", "Kind", "Load", "Outcome"]
__all__ += ["OutputFolder", "Wording", "least_budget"]

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

        What it returns has a method `close` where something is to be let go of; see `release`.
        """

    @abstractmethod
    def decide(self, material: M, inputs: Inputs, settings: Settings, during: Deciding = ALONE) -> Outcome[P]:
        """Decide under the settings, and under what they hold and exclude: what every step of a knob calls. Pure.

        Raises:
            SecateurError: there is no answer, for example because a budget cannot be met.
        """

    @staticmethod
    def release(material: Any) -> None:
        """Lets go of what reading opened, when no outcome of the material is looked at any more."""
        close = getattr(material, "close", None)
        if close is not None:
            close()

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

    def pieces(self, outcome: Outcome[P]) -> Sequence[str]:
        """The text that a model reads, in the pieces that may be handed over one at a time."""
        return [self.leaving(outcome, "markdown" if "markdown" in self.formats else "")]

    @abstractmethod
    def output(self, outcome: Outcome[P]) -> Shape:
        """The answer that is printed as JSON, with `ledger` and the `ProofFields`, which `run.render` fills."""

    @abstractmethod
    def page(self, outcome: Outcome[P], *, verbose: bool = False) -> Page:
        """The report as text for people, not laid out yet."""

    # --- the entries of its ledger ------------------------------------------------------------------------------------

    def listed(self, outcome: Outcome[P], dropped: int, ids: Collection[str] = ()) -> tuple[Ledger, Sequence[int]]:
        """The ledger with what an account of the decision names, and the numbers of those entries in the whole one.

        Args:
            dropped: of a kind that finds its entries, how many of those that are dropped are named, the best first.
            ids: entries that are named whatever became of them.
        """
        return outcome.ledger, range(len(outcome.ledger.entries))

    def ranked(self, outcome: Outcome[P]) -> Sequence[tuple[str, bool]]:
        """(id, whether it leaves whole) of every entry that leaves, the best first."""
        return outcome.ledger.ranked

    def unknown(self, outcome: Outcome[P], ids: Collection[str]) -> Sequence[str]:
        """Those ids that name nothing of what was given, or of what was searched, sorted."""
        return sorted(set(ids).difference(outcome.ledger.ids))

    def hold(self, outcome: Outcome[P], number: int, settings: Settings) -> Settings | str:
        """The settings with what this entry holds kept whatever happens, or no longer; or why that cannot be."""
        return "nothing in this list is held"

    # --- weights, which `evaluate` measures and `tune` fits -----------------------------------------------------------

    def weights(self) -> Sequence[str]:
        """Keys of the settings that weigh signals: what `evaluate --ablate` sets to 0, one at a time."""
        return ()

    def tunable(self, settings: Settings) -> Mapping[str, Sequence[float | str]]:
        """Settings that `tune` fits, each with the values that it tries, the present one among them."""
        return {}

    def rehearsal(self, outcome: Outcome[P], ids: Collection[str]) -> Rehearsal:
        """Decides the same input under other values of `tunable`, fast, and near enough to search by.

        Args:
            ids: entries that may not be lost sight of.
        """
        raise NotImplementedError(f"{self.name} has weights and no rehearsal")

    # --- what follows from the above ----------------------------------------------------------------------------------

    @property
    def command(self) -> str:
        """The command of the kind: of other people's its name."""
        return command_name(self.name)

    @property
    def finds(self) -> bool:
        """Tells whether its entries are found by a search, and not given: there are more than anybody looks at."""
        return isinstance(self, Finds)

    @property
    def strategy(self) -> Knob | None:
        """The knob of the strategy; None where there is only one."""
        return next((knob for knob in self.knobs if knob.key.endswith(".strategy")), None)

    @property
    def tables(self) -> tuple[str, ...]:
        """Keys (prefixes) of the settings that its decisions depend on: its own, those of its knobs, `depends_on`."""
        of_knobs = {knob.key.partition(".")[0] + "." for knob in self.knobs if "." in knob.key} - {OF_KINDS}
        return (*sorted(of_knobs), f"{OF_KINDS}{self.name}.", *self.depends_on)

    def blank_inputs(self) -> dict[str, Any]:
        """The inputs where nothing is given."""
        return {one.name: [] if one.repeatable else False if one.switch else one.default for one in self.inputs}

    def opened_inputs(self, path: str) -> dict[str, Any]:
        """The input that a path stands for, where it is all that is named."""
        return opened_inputs(self.inputs, path)

    def budget_in_force(self, settings: Settings, outcome: Outcome[Any] | None) -> int:
        """The budget that one step more or less goes on from."""
        if _derived(self) and outcome is not None:
            return outcome.ledger.budget
        return self.budget.in_force(settings)


def least_budget(kind: Kind[Any, Any]) -> int:
    """The least budget that means what it says: 0 may stand for one that follows from something else."""
    return max(int(key_of(kind.budget.key).low or 0), int(_derived(kind)))


def _derived(kind: Kind[Any, Any]) -> bool:
    return any(flag.key == kind.budget.key and flag.derived for flag in kind.flags)
