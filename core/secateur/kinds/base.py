"""The one protocol of every kind of context: inputs -> read -> decide -> outcome with one ledger -> what goes out.

    kind = registry.get_kind("envelope")
    inputs = {"path": "envelope.json", "model": "gpt-4o"}
    material = kind.read(inputs, settings, Environment())     # slow, once: reads, parses, counts
    outcome = kind.decide(material, inputs, settings)         # pure: what a knob calls
    outcome.ledger                                            # each input once: state, reason, figures
    run.render(kind, outcome, "json")

The command line, the inspector and the Python API are written once over this, by the functions of `run`. Abilities of
only some kinds are in `protocols`. A kind is a module with tests and an entry in `kind_places.BUILT_IN`, or an entry
point `secateur.kinds` of another distribution.

Payloads are typed per kind: `M` is the material that was read and measured, `P` the decision.
"""

# ruff: noqa: ARG002 - default methods take arguments for the kinds that override them

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from msgspec import Struct, UnsetType

from secateur import render as rendering
from secateur.kind_places import command_name
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs, Load, Rehearsal
from secateur.kinds.knobs import Knob, Steer, steered
from secateur.kinds.protocols import Delivery, EntryDescription, KeptAnswers, Outcome, OutputFolder, P
from secateur.ledger import Reason, State
from secateur.render.page import Page, sentence
from secateur.settings import Loaded, Settings, installed_keys, key_of
from secateur.settings.search import OF_KINDS
from secateur.shape import Shape

if TYPE_CHECKING:  # what most commands never use is imported where it is
    import secateur.render.proofs  # noqa: F401 - the type checker needs to see it


class Input(Struct, frozen=True):
    """One input of a kind: an argument or flag of its command, and a field of its bench."""

    name: str  # "fail_on_skip": the flag `--fail-on-skip`
    help: str  # in the help of the command
    metavar: str = "FILE"
    positional: bool = False
    required: bool = False
    repeatable: bool = False
    switch: bool = False
    default: str | None = ""
    least: int | None = None  # the value is an integer of at least this
    words: Sequence[str] = ()  # allowed instead of the integer: "all"
    holds: str = ""  # "path", "revision", "text"; "output": it does not change the decision; "": see `role`
    title: str = ""  # title of its field on the screen; "": no field
    placeholder: str = ""  # shown in the empty field
    optional: bool = False  # whether the field may stay empty
    lines: bool = False  # whether the field takes several lines
    folders: bool = False  # whether it names folders, so that it may also be a git URL (`secateur.sources.named`)
    workspaces: bool = False  # whether it may also be the file of a workspace (`secateur.sources.workspace_file`)
    sessions: bool = False  # whether `--session` may name it: a session of a coding agent
    takes: Callable[[str], bool] | None = None  # tells whether a lone path is meant for this input; None: any path is

    @property
    def role(self) -> str:
        """The kind of value: `holds`, else derived from the metavar: a path, a revision or text."""
        return self.holds or {"FILE": "path", "PATH": "path", "REV": "revision", "COMMIT": "revision"}.get(
            self.metavar if not self.switch else "", "text"
        )


class Flag(Struct, frozen=True):
    """A flag of the command that sets a setting: `--max-tokens` is `context_prune.max_tokens`.

    Its setting determines the syntax: an integer, a number, names separated by commas, or a switch that sets it to
    true.
    """

    key: str
    metavar: str
    help: str
    typed: str = ""  # the flag as typed, if not as the setting declares it
    least: int | None = None  # an integer of at least this
    derived: bool = False  # 0 stands for a derived value, as does omitting the flag
    repeatable: bool = False
    values: Callable[[Any], Mapping[str, Any]] | None = None  # returns the settings of a flag that sets several

    @property
    def name(self) -> str:
        """The flag as it is typed."""
        return self.typed or key_of(self.key).flag

    @property
    def kind(self) -> type:
        """The type of its setting; `str` for a flag that sets several."""
        return str if self.values is not None else key_of(self.key).kind


# The flag of every kind whose `decide` honours `settings.pins`, which hold ids of the ledger.
PIN = Flag("pins", "ID", "choose this item before all others (--explain shows ids); repeatable", repeatable=True)


def opened_inputs(inputs: Sequence[Input], path: str) -> dict[str, Any]:
    """The input that a lone path is meant for, as a value by name."""
    paths = (declared for declared in inputs if declared.role == "path")
    declared = next((declared for declared in paths if declared.takes is None or declared.takes(path)), inputs[0])
    return {declared.name: [path] if declared.repeatable else path}


def fields_of(inputs: Sequence[Input]) -> Sequence[Input]:
    """The inputs that are flags of `inspect`: inputs with a field on their bench, except the one that PATH gives."""
    opened = opened_inputs(inputs, "")
    return [declared for declared in inputs if declared.title and declared.name not in opened]


__all__ = ["Delivery", "EntryDescription", "Environment", "Flag", "Input", "Inputs", "Kind", "Load", "Outcome"]
__all__ += ["PIN", "OutputFolder", "Wording", "least_budget"]

M = TypeVar("M")

_NOT_DECIDING = ("graph_rag.cache_", "index.workers")  # prefixes of settings that change how fast an answer comes


class Wording(Struct, frozen=True):
    """The words for a kind and its entries, on the screen and in reports."""

    title: str
    about: str  # its purpose as a clause: "a prompt envelope within a model's budget"
    noun: str  # the name of its entries: "Sections"
    opening: str  # a sentence on what can be opened
    entries: str = ""  # the name of the ledger's entries, if the list on the screen shows something else
    unit: str = "files"  # what its progress counts


class Kind(ABC, Generic[M, P]):
    """See the module docstring."""

    name: ClassVar[str]  # of its command, of `--bench`, in the ledger: "envelope"
    wording: ClassVar[Wording]
    inputs: ClassVar[Sequence[Input]]  # the first is the main input
    flags: ClassVar[Sequence[Flag]] = ()
    table: ClassVar[type[Struct] | None] = None  # its own settings, `[kinds.NAME]`; None for a built-in kind
    budget: ClassVar[Knob]
    knobs: ClassVar[Sequence[Knob]]  # with the budget, in the order of the panel
    formats: ClassVar[Sequence[str]] = ("text", "json")  # the first is the default
    one_line: ClassVar[Sequence[str]] = ()  # fields of its JSON that are counted and printed on one line
    finds: ClassVar[bool] = False  # its entries are found by a search: there are more than anybody looks at
    depends_on: ClassVar[Sequence[str]] = ()  # prefixes of further settings that change answers; see `deciding_keys`

    def recognises(self, path: Path, head: str) -> bool:
        """Tells whether a file is of this kind, by its name and its beginning."""
        return False

    def load(self, inputs: Inputs, load: Load, environment: Environment) -> Loaded:
        """Loads the settings for these inputs, by default of the current folder; may fill `environment.found`. Raises
        SecateurError: the inputs are wrong by themselves."""
        return load(environment.base, None)

    def reading_of(self, inputs: Inputs, settings: Settings) -> Hashable:
        """Returns the values that reading depends on: while they are equal, the material can be reused."""
        return inputs[self.inputs[0].name], settings.tokens.counter

    @abstractmethod
    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> M:
        """Reads and measures the inputs: slow, once; `environment.progress` may end it. Raises SecateurError, with the
        name.

        The material has a method `close` if it holds resources; see `release`.
        """

    @abstractmethod
    def decide(self, material: M, inputs: Inputs, settings: Settings, during: Deciding = ALONE) -> Outcome[P]:
        """Decides under the settings; every step of a knob calls it. Pure. Raises SecateurError: there is no answer,
        for example because a budget cannot be met."""

    def fit(self, outcome: Outcome[P]) -> Outcome[P]:
        """Returns the outcome whose output, counted again, is within the budget; slower than `decide`."""
        return outcome

    def kept_answers(self, inputs: Inputs, loaded: Loaded, environment: Environment) -> KeptAnswers | None:
        """Opens the finished answers to these inputs, which are asked before `read`; None: answers are not kept."""
        return None

    @staticmethod
    def release(material: Any) -> None:
        """Lets go of what reading opened, when no outcome of the material is looked at any more."""
        if (close := getattr(material, "close", None)) is not None:
            close()

    def described(self, material: M) -> str:
        """Describes the material in a few words."""
        return ""

    def describe(self, outcome: Outcome[P], index: int) -> EntryDescription:
        """Describes an entry beside its figures."""
        entry = outcome.ledger.entries[index]
        return EntryDescription(entry.id, because=sentence(entry))

    def texts(self, outcome: Outcome[P], index: int) -> tuple[str, str]:
        """Returns (text before, text that goes out) of an entry, for people; "" if there is no text."""
        return "", ""

    def leaving(self, outcome: Outcome[P], form: str = "") -> str:
        """Returns the text that a model reads: by default the outgoing texts of all entries, in their order. `form`: a
        format other than text and JSON, such as "markdown"; "": the kind's default."""
        entries = enumerate(outcome.ledger.entries)
        leave = [(entry.position or 0, index) for index, entry in entries if entry.state is not State.DROPPED]
        return "\n".join(filter(None, (self.texts(outcome, index)[1] for _, index in sorted(leave))))

    def pieces(self, outcome: Outcome[P]) -> Sequence[str]:
        """Divides the text that a model reads into pieces that may be handed over one at a time."""
        return [self.leaving(outcome, "markdown" if "markdown" in self.formats else "")]

    @abstractmethod
    def output(self, outcome: Outcome[P]) -> Shape:
        """Returns the answer to print as JSON, with `ledger` and the `ProofFields`, which `run.render` fills."""

    def add_proofs(self, output: Any, outcome: Outcome[P]) -> Shape:
        """Adds `outcome.explanation` to the answer for JSON."""
        assert outcome.explanation is not None
        added: Shape = rendering.proofs.add_explanation(output, outcome.ledger.shape(), outcome.explanation)
        return added

    @abstractmethod
    def page(self, outcome: Outcome[P], *, verbose: bool = False) -> Page:
        """Makes the report for people, not laid out yet; `run.report_page` adds pins and credentials to its head."""

    # --- the entries of its ledger ------------------------------------------------------------------------------------

    def examined(self, outcome: Outcome[P], dropped: int | UnsetType | None) -> Sequence[int] | None:
        """Returns the entries about which proofs are asked; None: those that the smallest changes turn. `dropped`: how
        many that do not go out; None: all, UNSET: the default."""
        return None

    def place_name(self, outcome: Outcome[P], number: int, line: int) -> str:
        """Names a line of an entry: "line 7", or after the id unless that consists of lines."""
        id_ = outcome.ledger.ids[number]
        return f"line {line:,}" if id_.replace("-", "").isdigit() else f"{id_}:{line}"

    def unknown(self, outcome: Outcome[P], ids: Collection[str]) -> Sequence[str]:
        """Returns the ids that neither an entry nor the searched input has, sorted."""
        return sorted(set(ids).difference(outcome.ledger.ids))

    def hold(self, outcome: Outcome[P], number: int, settings: Settings) -> Settings | str:
        """Returns settings that hold this entry, or no longer do; or a text that says why that is impossible.

        By default it pins the entry, if `flags` has `PIN`.
        """
        if PIN not in self.flags:
            return "nothing in this list can be pinned"
        entries = outcome.ledger.entries
        if number >= len(entries) or entries[number].reason is Reason.WRAPPER:
            return "only an item of the list can be pinned"
        return steered(settings, entries[number].id, Steer.PIN)

    def steer(self, outcome: Outcome[P], index: int, settings: Settings, how: Steer) -> Settings | str:
        """Returns settings with an entry pinned, excluded or boosted, or no longer; or why that is impossible."""
        return self.hold(outcome, index, settings) if how is Steer.PIN else f"nothing in this list can be {how.value}"

    def overruled(self, outcome: Outcome[P], index: int, settings: Settings) -> Steer | None:
        """Returns how the settings overrule the decision on an entry; None if they do not. Cheap."""
        pinned = settings.pins and index < len(outcome.ledger.entries)
        return Steer.PIN if pinned and outcome.ledger.entries[index].id in settings.pins else None

    # --- weights, which `tune` fits ----------------------------------------------------------------------------------

    def tunable(self, settings: Settings) -> Mapping[str, Sequence[float | str]]:
        """Returns the settings that `tune` fits, each with the values that it tries, the present value among them."""
        return {}

    def rehearsal(self, outcome: Outcome[P]) -> Rehearsal:
        """Decides the same input under other values of `tunable`, fast, and near enough to search by."""
        raise NotImplementedError(f"{self.name} has weights and no rehearsal")

    # --- what follows from the above ----------------------------------------------------------------------------------

    @property
    def command(self) -> str:
        """The command of the kind. For a kind of a plugin, it is the kind's name."""
        return command_name(self.name)

    @property
    def strategy(self) -> Knob | None:
        """The knob of the strategy; None where there is only one."""
        return next((knob for knob in self.knobs if knob.key.endswith(".strategy")), None)

    @property
    def deciding_keys(self) -> Sequence[str]:
        """Lists the keys of the settings that change its answers: its knobs and flags, the tables that these are in,
        `depends_on`, and what every kind reads and counts by. Command lines, knobs and scenarios use this list."""
        named = {self.budget.key, *(knob.key for knob in self.knobs), *(flag.key for flag in self.flags)}
        tables = {key.partition(".")[0] + "." for key in named if "." in key} - {OF_KINDS}
        prefixes = (*tables, f"{OF_KINDS}{self.name}.", *self.depends_on, "redaction.", "tokens.")
        found = [key for key in installed_keys() if key in named or key.startswith(prefixes)]
        return [key for key in found if not key.startswith(_NOT_DECIDING)]

    def blank_inputs(self) -> dict[str, Any]:
        """Returns the inputs of a call that gives none."""
        return {item.name: [] if item.repeatable else False if item.switch else item.default for item in self.inputs}

    def opened_inputs(self, path: str) -> dict[str, Any]:
        """Returns the inputs of a call that names only a path."""
        return opened_inputs(self.inputs, path)

    def budget_in_force(self, settings: Settings, outcome: Outcome[Any] | None) -> int:
        """Returns the budget that a step up or down starts from."""
        if _is_derived(self) and outcome is not None:
            return outcome.ledger.budget
        return self.budget.in_force(settings)


def least_budget(kind: Kind[Any, Any]) -> int:
    """Returns the least budget that is taken literally: 0 may mean a derived budget."""
    return max(int(key_of(kind.budget.key).low or 0), int(_is_derived(kind)))


def _is_derived(kind: Kind[Any, Any]) -> bool:
    return any(flag.key == kind.budget.key and flag.derived for flag in kind.flags)
