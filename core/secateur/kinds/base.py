"""The one protocol of every kind of context: inputs -> read -> decide -> outcome with one ledger -> what goes out.

    kind = registry.kind("envelope")
    inputs = {"path": "envelope.json", "model": "gpt-4o"}
    material = kind.read(inputs, settings, Environment())     # slow, once: reads, parses, counts
    outcome = kind.decide(material, inputs, settings)         # pure: what a knob calls
    outcome.ledger                                            # each input once: state, reason, figures
    kind.render(outcome, "json")

The command line, the inspector and the Python API are written once over this. A kind is a module beside its tests and
an entry in `kind_places.BUILT_IN`, or an entry point `secateur.kinds` of another distribution.

Payloads stay typed per kind: `M` is what was read and measured, `P` what was decided.
"""

# ruff: noqa: ARG002 - what a kind need not fill in takes its arguments for those that do

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from msgspec import Struct

from secateur import kinds, render, what_if
from secateur.errors import UsageError
from secateur.kinds.arguments import Flag, Input
from secateur.kinds.entry_redactions import redacted_page, unsaid, with_redactions
from secateur.kinds.environment import Environment, Inputs, Load, Rehearsal
from secateur.kinds.knobs import Knob
from secateur.kinds.outcomes import Delivery, Outcome, OutputFolder, P
from secateur.kinds.steering import FilePlace, Steer, location_in
from secateur.llm import open_model
from secateur.model import Ledger, Notice, State, TrimReport
from secateur.progress import Progress, unreported
from secateur.redaction import not_scanned
from secateur.render.page import Page, Section, render_page
from secateur.render.sentences import sentence
from secateur.settings import Loaded, Settings, key_of, table_of
from secateur.settings.keys import OF_KINDS
from secateur.shape import Shape

if TYPE_CHECKING:  # what most commands never use is imported where it is
    import secateur.kinds.command_line
    import secateur.kinds.kind_trials
    import secateur.render.proofs
    import secateur.what_if.explanation  # noqa: F401 - the type checker needs to see it
    from secateur.llm.interface import LanguageModel, Reply
    from secateur.render.walk_shapes import Walk
    from secateur.what_if.trials import Knapsack, Trials

__all__ = [
    "MOST_ROUNDS",
    "Delivery",
    "Environment",
    "Flag",
    "Input",
    "Inputs",
    "Kind",
    "Load",
    "Outcome",
    "OutputFolder",
    "Rehearsal",
]

M = TypeVar("M")
MOST_ROUNDS = 4
"""The most rounds of questions that a kind may ask, each in the light of the replies."""

EXPLAIN = "explain"
"""The input that asks for proofs of what would change a decision."""

NOT_PROVEN = Notice("not_proven", "A model was asked, so nothing is proven of what would change this decision.")


def with_model(settings: Settings, *, asked: bool) -> Settings:
    """The settings as a kind decides by them: `llm.enabled` says whether a model is asked."""
    if settings.llm.enabled == asked:
        return settings
    return replace(settings, llm=replace(settings.llm, enabled=asked))


class Kind(ABC, Generic[M, P]):
    """See the module docstring."""

    name: ClassVar[str]  # of `--bench`, in the ledger: "envelope"
    command: ClassVar[str]  # of the command line; where it is not declared, the name
    title: ClassVar[str]  # on the screen; where it is not declared, the name with a capital letter
    about: ClassVar[str]  # what it does, in a clause: "a prompt envelope within a model's budget"
    noun: ClassVar[str]  # what its entries are: "Sections"
    entries: ClassVar[str] = ""  # what the entries of its ledger are, where the list on the screen shows something else
    opening: ClassVar[str]  # what can be opened, in a sentence
    inputs: ClassVar[Sequence[Input]]  # the first is what is read
    flags: ClassVar[Sequence[Flag]] = ()
    table: ClassVar[type[Struct] | None] = None  # its own settings, `[kinds.NAME]`; those of ours are in `Settings`
    budget: ClassVar[Knob]
    strategy: ClassVar[Knob | None] = None
    asking_strategies: ClassVar[Sequence[str]] = ()  # those that a language model has words for, where one is set
    knobs: ClassVar[Sequence[Knob]]  # with budget and strategy, in the order of the panel
    formats: ClassVar[Sequence[str]] = ("text", "json")
    formats_with_warnings: ClassVar[Sequence[str]] = ("text", "json")  # with others they are messages of the command
    default_format: ClassVar[str] = "text"
    opens_folders: ClassVar[bool] = False  # a folder that is named without a bench is opened in this one
    opens_sessions: ClassVar[bool] = False  # `--session` may name what is read: a session of a coding agent
    reads_folders: ClassVar[bool] = False  # its bench starts on a folder that was opened in another
    loads_itself: ClassVar[Sequence[str]] = ()  # tables of settings that a repository sets only as `load` finds them
    unit: ClassVar[str] = "files"  # what its progress counts
    meanwhile: ClassVar[str] = ""  # how the command answers before a first reading is over; "": not at all
    depends_on: ClassVar[Sequence[str]] = ("tokens.",)  # keys (prefixes) that change answers, beside those of its knobs
    finds_entries: ClassVar[bool] = False  # its entries are found, by a search, and not what was given
    most_runs: ClassVar[int] = 200  # of `decide`, to prove what would change its decisions

    def __init_subclass__(cls) -> None:
        declared = vars(cls)
        if "name" in declared:
            cls.command = declared.get("command", cls.name)
            cls.title = declared.get("title", cls.name.capitalize())

    @property
    def tables(self) -> tuple[str, ...]:
        """Keys (prefixes) of the settings that its decisions depend on: its own, those of its knobs, `depends_on`."""
        of_knobs = {knob.key.partition(".")[0] + "." for knob in self.knobs if "." in knob.key} - {OF_KINDS}
        return (*sorted(of_knobs), f"{OF_KINDS}{self.name}.", *self.depends_on)

    # --- reading and deciding -----------------------------------------------------------------------------------------

    def own(self, settings: Settings) -> Any:
        """The values of `[kinds.NAME]`, as the struct that the kind declares as its `table`."""
        assert self.table is not None
        return table_of(settings, self.name, self.table)

    def recognises(self, path: Path, head: str) -> bool:
        """Tells whether a file is of this kind, by its name and how it begins."""
        return False

    def asks(self, inputs: Inputs) -> bool:
        """Tells whether the inputs ask for an answer. Where they do not, what is known of the folder is reported."""
        return True

    def blank(self) -> dict[str, Any]:
        """The inputs where nothing is given."""
        return {one.name: [] if one.repeatable else False if one.switch else one.default for one in self.inputs}

    def opened_on(self, path: str) -> Inputs:
        """The inputs that a path stands for, where it is all that is named."""
        first = self.inputs[0]
        return {first.name: [path] if first.repeatable else path}

    @property
    def fields(self) -> Sequence[Input]:
        """The inputs that are flags of `inspect`: those with a field on its bench, but for what PATH is."""
        opened = self.opened_on("")
        return [one for one in self.inputs if one.title and one.name not in opened]

    def check(self, inputs: Inputs, form: str) -> None:
        """Raises UsageError: the kind has no such format, or inputs are wrong whatever is read."""
        self.check_format(form)

    def load(self, inputs: Inputs, load: Load, environment: Environment) -> Loaded:
        """The settings that count for these inputs, by default of the current folder; fills `environment.found`."""
        return load(environment.base, None)

    def reading_of(self, inputs: Inputs, settings: Settings) -> Hashable:
        """The values that reading depends on: while they are equal, what was read serves."""
        return inputs[self.inputs[0].name], settings.tokens.counter

    @abstractmethod
    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> M:
        """Read and measure: slow, once; `environment.progress` may end it. Raises SecateurError, with the name."""

    def release(self, material: M) -> None:
        """Let go of what `read` opened: who reads releases, when no outcome of the material is looked at any more."""

    @abstractmethod
    def decide(
        self,
        material: M,
        inputs: Inputs,
        settings: Settings,
        *,
        replies: Sequence[Reply] = (),
        progress: Progress = unreported,
    ) -> Outcome[P]:
        """Decide under the settings, and under what they hold and exclude: what every step of a knob calls. Pure.

        Args:
            replies: to all questions so far about the same material, inputs and settings, in their order. The outcome
                has only further questions.

        Raises:
            SecateurError: there is no answer, for example because a budget cannot be met.
        """

    def model(self, settings: Settings, environ: Mapping[str, str]) -> LanguageModel | None:
        """The language model that these settings ask; None: none."""
        asks = self.strategy is not None and self.strategy.value(settings) in self.asking_strategies
        return open_model(settings.llm, environ) if asks else None

    def answer(
        self,
        material: M,
        inputs: Inputs,
        settings: Settings,
        model: LanguageModel | None = None,
        progress: Progress = unreported,
    ) -> Outcome[P]:
        """`decide`; while that has questions, ask the model and decide again. Without a model nothing is asked."""
        settings = with_model(settings, asked=model is not None)
        outcome = self.decide(material, inputs, settings, progress=progress)
        replies: list[Reply] = []
        for _ in range(MOST_ROUNDS):
            if model is None or not outcome.questions:
                break
            from secateur.llm.interface import replies_of

            replies += replies_of(model, outcome.questions, progress)
            outcome = self.decide(material, inputs, settings, replies=replies, progress=progress)
        return with_redactions(self, material, outcome)

    def lines_of(self, outcome: Outcome[P], number: int) -> Callable[[int], int] | int:
        """The line of the input that an entry's text begins on, or a function from a line of it, from 0, to its own."""
        return 1

    def carry_out(
        self,
        inputs: Inputs,
        loaded: Loaded,
        environment: Environment,
        *,
        verbose: bool = False,
        also: Callable[[Outcome[P]], None] | None = None,
    ) -> Delivery:
        """Read, answer and deliver: what the command does. A kind that keeps finished answers looks for one first.

        Args:
            also: takes the outcome while its texts can be read; then no finished answer will do.
        """
        settings = loaded.settings
        ahead = environment.ahead or bool(inputs.get(EXPLAIN))  # proofs decide under other settings too
        material = self.read(inputs, settings, replace(environment.redacting(settings), ahead=ahead))
        try:
            model = self.model(settings, environment.environ)
            outcome = self.answer(material, inputs, settings, model, environment.progress)
            outcome = replace(outcome, of_settings=(*loaded.notices, *not_scanned(settings)))
            if inputs.get(EXPLAIN):
                outcome = self.explained(material, inputs, settings, outcome, environment.progress)
            if also is not None:
                also(outcome)
            return self.deliver(outcome, inputs, environment.form, verbose=verbose)
        finally:
            self.release(material)

    def trials(self, material: M, inputs: Inputs, settings: Settings, outcome: Outcome[P]) -> Trials:
        """Deciding again what was decided, to prove what would change it. No model is asked."""
        return kinds.kind_trials.KindTrials(self, material, inputs, with_model(settings, asked=False), outcome)

    def explained(
        self, material: M, inputs: Inputs, settings: Settings, outcome: Outcome[P], progress: Progress = unreported
    ) -> Outcome[P]:
        """The outcome with what is proven of it; as it is, with a notice, where a model had a say in it."""
        if outcome.calls:
            return replace(outcome, notices=(*outcome.notices, NOT_PROVEN))
        trials = self.trials(material, inputs, settings, outcome)
        return replace(outcome, explanation=what_if.explanation.explain(trials, progress=progress))

    def states_in(self, asked: Outcome[P], outcome: Outcome[P]) -> Sequence[State]:
        """The states that an outcome has for the entries of another one of the same material; an entry that it does
        not have is dropped."""
        number_of, entries = outcome.ledger.place_of, outcome.ledger.entries
        places = (number_of.get(id_) for id_ in asked.ledger.ids)
        return [State.DROPPED if place is None else entries[place].state for place in places]

    def knapsack(self, outcome: Outcome[P]) -> Knapsack | None:
        """The question what the best possible selection holds; None where a rule decides and no score."""
        return None

    def least_budget(self) -> int:
        """The least budget that means what it says: 0 may stand for one that follows from something else."""
        derived = any(flag.key == self.budget.key and flag.derived for flag in self.flags)
        return max(int(key_of(self.budget.key).low or 0), int(derived))

    def budget_in_force(self, settings: Settings, outcome: Outcome[P] | None) -> int:
        """The budget that one step more or less goes on from."""
        return outcome.ledger.budget if outcome is not None else int(self.budget.value(settings))

    def hold(self, outcome: Outcome[P], number: int, settings: Settings) -> Settings | str:
        """The settings with what this entry holds kept whatever happens, or no longer; or why that cannot be."""
        return "nothing in this list is held"

    # --- what it is called --------------------------------------------------------------------------------------------

    def headline(self, outcome: Outcome[P], inputs: Inputs) -> tuple[str, str]:
        """(what was asked or read, where that is from): the title of a report; text from outside."""
        first = self.inputs[0]
        given = inputs[first.name] or ""
        named = given if isinstance(given, list) else [given]
        return ", ".join(Path(one).name or one if first.role == "path" else one for one in named), ""

    def name_of(self, outcome: Outcome[P], number: int) -> tuple[str, str]:
        """(name, place) of an entry: what a person knows it by, and where it is found; text from outside."""
        return outcome.ledger.entries[number].id, ""

    def facts(self, outcome: Outcome[P], number: int) -> Sequence[tuple[str, str]]:
        """(label, text) of what else there is to say of an entry; text from outside."""
        return ()

    def further(self, outcome: Outcome[P], page: Page) -> Sequence[Section]:
        """Sections that a report shows below its list: what is proven. Harmless text; `page`: that of the outcome."""
        return () if outcome.explanation is None else render.proofs.sections_of(outcome.explanation)

    def walked(self, outcome: Outcome[P]) -> Walk | None:
        """The calls around what goes out, where it is code that was searched."""
        return None

    def resolved(self, outcome: Outcome[P], inputs: Inputs) -> Inputs:
        """The inputs by names that mean the same later: revisions as ids of commits, texts in place of `-`."""
        return inputs

    def command_line(self, inputs: Inputs, settings: Settings, opened: Settings) -> str:
        """The command line of this decision, every flag spelled out, so that no configuration file can change it.

        Args:
            opened: the settings as they were loaded, which a file may hold.
        """
        tables = {knob.key.partition(".")[0] + "." for knob in self.knobs}
        depends = *sorted(tables), *self.depends_on
        return kinds.command_line.command_line(self.command, self.inputs, self.flags, depends, inputs, settings, opened)

    def steer(self, outcome: Outcome[P], number: int, settings: Settings, how: Steer) -> Settings | str:
        """The settings under which an entry is pinned, excluded or boosted, or no longer; or why that cannot be."""
        return self.hold(outcome, number, settings) if how is Steer.PIN else f"nothing in this list is {how.value}"

    def overruled(self, outcome: Outcome[P], number: int, settings: Settings) -> Steer | None:
        """The way in which the settings overrule the decision on an entry; None: they do not. Cheap."""
        return None

    def location(self, outcome: Outcome[P], number: int, inputs: Inputs, environment: Environment) -> FilePlace | None:
        """The file and line where an entry stands: by default the start of the file that is read; None for none."""
        return location_in(environment.base, inputs[self.inputs[0].name])

    # --- what goes out ------------------------------------------------------------------------------------------------

    def described(self, material: M) -> str:
        """Describes what was read, in a few words."""
        return ""

    def report(self, outcome: Outcome[P]) -> TrimReport:
        """The ledger in the frozen shape of the context-budget spec."""
        return outcome.ledger.report()

    @abstractmethod
    def output(self, outcome: Outcome[P]) -> Shape:
        """The answer that is printed as JSON, with `ledger` and the `ProofFields`, which `render` fills."""

    @abstractmethod
    def page(self, outcome: Outcome[P], *, verbose: bool = False) -> Page:
        """The report as text for people, not laid out yet."""

    def document(self, outcome: Outcome[P], form: str) -> str:
        """Writes what goes out in a format that is neither text nor JSON: "markdown", "xml"."""
        raise NotImplementedError(form)

    def check_format(self, form: str) -> None:
        """Raises UsageError: the kind has no such format."""
        if form not in self.formats:
            known = " or ".join(sorted(self.formats, key=lambda one: one != "text"))
            raise UsageError(f"{self.command} is printed as {known}, not as {form}", hint="choose another --format")

    def texts(self, outcome: Outcome[P], number: int) -> tuple[str, str]:
        """(what came in, what goes out) of an entry, as text for people; "" for nothing."""
        return "", ""

    def leaving(self, outcome: Outcome[P]) -> str:
        """The text that a model reads: by default of every entry what goes out, in the order it goes out."""
        entries = enumerate(outcome.ledger.entries)
        leave = [(entry.position or 0, number) for number, entry in entries if entry.state is not State.DROPPED]
        return "\n".join(filter(None, (self.texts(outcome, number)[1] for _, number in sorted(leave))))

    def listed(self, outcome: Outcome[P], dropped: int, ids: Collection[str] = ()) -> tuple[Ledger, Sequence[int]]:
        """The ledger with what an account of the decision names, and the numbers of those entries in the whole one.

        Args:
            dropped: of a kind that finds its entries, how many of those that are dropped are named, the best first.
            ids: entries that are named whatever became of them.
        """
        return outcome.ledger, range(len(outcome.ledger.entries))

    def measures(self, outcome: Outcome[P]) -> Mapping[str, Any]:
        """Further facts of the outcome: `cache_reread` in tokens, `coverage` by path ("whole", "split", "left_out")."""
        return {}

    def ranked(self, outcome: Outcome[P]) -> Sequence[tuple[str, bool]]:
        """(id, whether it leaves whole) of every entry that leaves, the best first."""
        return outcome.ledger.ranked

    def unknown(self, outcome: Outcome[P], ids: Collection[str]) -> Sequence[str]:
        """Those ids that name nothing of what was given, sorted."""
        return sorted(set(ids).difference(outcome.ledger.ids))

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
        raise NotImplementedError

    def because(self, outcome: Outcome[P], number: int) -> str:
        """The reason of an entry as a sentence without its subject."""
        return sentence(outcome.ledger.entries[number])

    def beside(self, outcome: Outcome[P], number: int) -> str:
        """The text that tells people what an entry is about, where its id does not: a list shows how it begins."""
        return ""

    def render(self, outcome: Outcome[P], form: str, *, verbose: bool = False) -> str:
        """The outcome in one of the kind's formats.

        Raises:
            UsageError: the kind has no such format.
        """
        self.check_format(form)
        proven = outcome.explanation
        if form == "json":
            output = self.output(outcome)
            if proven is not None:
                output = render.proofs.add_explanation(output, outcome.ledger.shape(), proven)
            return render.dumps(output)
        if form == "text":
            page = redacted_page(self, outcome, self.page(outcome, verbose=verbose))
            return render_page(page if proven is None else render.proofs.add_explanation_sections(page, proven))
        return self.document(outcome, form)

    def deliver(self, outcome: Outcome[P], inputs: Inputs, form: str, *, verbose: bool = False) -> Delivery:
        """The text, files and messages of the command."""
        told = () if form in self.formats_with_warnings else unsaid(outcome)
        said = tuple(f"warning: {notice.message}" for notice in told)
        return Delivery(self.render(outcome, form, verbose=verbose), said=said)
