"""The subject of a bench: how a kind of context is read and decided on the screen, and how it words its answer. Pure
but for reading; knows no widget.

This is what any kind has. A kind with more of its own has a subclass in `secateur_tui.pages`, as a search has, whose
answers are columns and whose decisions are instant.
"""

# ruff: noqa: ARG002 - what a subject need not fill in takes its arguments for those that do

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast, runtime_checkable

from secateur.kinds.base import Environment, Kind, Outcome, blank_inputs, least_budget
from secateur.kinds.command_line import quoted
from secateur.kinds.knobs import Knob, further_knobs
from secateur.kinds.protocols import Steers
from secateur.kinds.run import answer_of, command_line_of, hold_entry, release
from secateur.kinds.steering import Steer
from secateur.model import State
from secateur.progress import Progress, unreported
from secateur.replays.recorder import Observation
from secateur.scenarios.opened_scenario import OpenedScenario, recorded_ledger
from secateur.scenarios.running import Decided
from secateur.scenarios.scenario import Recorded
from secateur.settings import Settings
from secateur.sources.fetch_options import FetchOptions
from secateur.terminal import visible
from secateur_lab.replays.recorder import Observation
from secateur_lab.scenarios.opened_scenario import OpenedScenario, recorded_ledger
from secateur_lab.scenarios.running import Decided, decided_of
from secateur_lab.scenarios.scenario import Recorded

from secateur_tui.columns import Label, ListColumn
from secateur_tui.state.input_files import FileWatch
from secateur_tui.state.ledger_answer import LedgerAnswer, entry_number_of
from secateur_tui.state.list_view import ItemColumns, ledger_columns
from secateur_tui.state.pack_text import PackText
from secateur_tui.styled_text import Line

M = TypeVar("M")  # what was read
P = TypeVar("P")  # what the kind decided

Inputs = Mapping[str, str]
"""Per field of the input, what is typed there."""

_LONGEST_BESIDE = 1_000
"""Characters of the text beside a name that are looked at: more than any list has room for."""

STATE_WORDS: Mapping[State, str] = {
    State.KEPT: "goes out as it came",
    State.SHORTENED: "goes out shortened",
    State.SUMMARISED: "goes out in a summary",
    State.DROPPED: "nothing of it goes out",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the input on top."""

    name: str
    title: str
    placeholder: str
    optional: bool = False  # whether it may well stay empty
    lines: bool = False  # whether it takes a text of several lines


def named(entry: str) -> Label:
    """The id of an entry as a name and a place: `flask/sessions.py::open` is `open` in that file, a path is a file in a
    folder."""
    text = visible(entry)
    place, of_symbol, name = text.rpartition("::")
    if not of_symbol:
        place, _, name = text.rpartition("/")
    return Label(name, place) if name and place else Label(text)


@runtime_checkable
class Prepares(Protocol):
    """A subject that prepares all that may be asked before anything is read, and answers from a part of it meanwhile.

    Attributes:
        preparing: what it does to prepare, for people.
        prepared: whether that was done.
    """

    preparing: str

    @property
    def prepared(self) -> bool: ...

    def prepare(self, progress: Progress) -> None:
        """Prepares, on the engine's thread; again where what is on disk has changed."""

    def read_part(self, inputs: Inputs, settings: Settings, progress: Progress) -> Any:
        """Reads what can be had before `prepare` is over, on the engine's thread; None for nothing."""

    def is_part(self, material: Any) -> bool:
        """Tells whether this is from `read_part`: once all is prepared, it is read again."""

    def fresh(self, material: Any) -> bool | None:
        """Tells whether this was read from what was on disk at the last look; None: nobody knows."""


class Subject(Generic[M, P]):
    """See the module docstring.

    Attributes:
        fields: those of the input on top; the first is what is read or asked.
        watch: compares what was read with what is on disk.
        folder: where relative inputs start, of a scenario; None: in the working folder.
    """

    instant: ClassVar[bool] = False
    """A decision takes no time, and is made where the screen is: a pause in typing asks, the old answer stays,
    dimmed, until that to another question comes, and the best item is looked at where the present one is gone."""

    grows: ClassVar[bool] = False  # items come at the end: who follows what is read looks at the newest
    holds: ClassVar[bool] = True  # items may be held, as far as the kind can
    reading: ClassVar[str] = "reading"  # what is done to read, for people
    nothing_asked: ClassVar[str] = "nothing is open yet"
    label_titles: ClassVar[tuple[str, str]] = ("name", "")  # of the columns of names and places
    spends_in_order: ClassVar[bool] = False  # its items are listed in the order in which the budget is spent
    unopened: ClassVar[bool] = False  # there is nothing to inspect yet, only a place to open

    def __init__(self, kind: Kind[M, P], opened: OpenedScenario | None = None) -> None:
        self.kind = kind
        self.scenario = opened
        self.outside = Environment(fetching=FetchOptions()) if opened is None else opened.environment
        self._opened: list[M] = []  # the baseline may still show the texts of what was read before
        self.fields: Sequence[Field] = tuple(
            Field(one.name, one.title, one.placeholder, one.optional, one.lines) for one in kind.inputs if one.title
        )
        self.watch: Any = FileWatch()
        self.folder = opened.environment.folder if opened is not None else None

    # --- reading ---

    def reading_key(self, inputs: Inputs, settings: Settings) -> Hashable:
        """Returns what reading depends on: while it stays equal, the material is not read again."""
        return self.kind.reading_of(self.given(inputs), settings)

    def serves(self, had: Any, wanted: Any) -> bool:
        """Tells whether what was read for one key also serves another."""
        return bool(had == wanted)

    def watched(self, inputs: Inputs) -> None:
        """Watches from now on for changes of what is about to be read."""
        path = inputs[self.fields[0].name]
        self.watch.read(str(self.folder / path) if self.folder is not None and path else path)

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> M:
        """Reads and measures, on the engine's thread. Slow. Raises SecateurError."""
        outside = replace(self.outside, regular=True, ahead=True, progress=progress)
        material = self.kind.read(self.given(inputs), settings, outside.redacting(settings))
        self._opened.append(material)
        return material

    def release(self) -> None:
        """Lets go of everything that was read."""
        while self._opened:
            release(self._opened.pop())

    # --- deciding ---

    def decide(self, material: M, inputs: Inputs, settings: Settings, progress: Progress = unreported) -> Any:
        """Decides; called at every turn of a knob. Pure. No language model is asked: what is on screen was decided
        here.

        A decision that may take longer than a moment reports its progress: the report ends it when newer settings make
        it needless. Raises SecateurError where there is no answer, such as a budget that cannot be met.
        """
        outcome = answer_of(self.kind, material, self.given(inputs), settings, progress=progress)
        return self.drawn(settings, outcome)

    def drawn(self, settings: Settings, outcome: Outcome[P]) -> LedgerAnswer[P]:
        """Returns an outcome as it is drawn."""
        return LedgerAnswer(settings, outcome.ledger, outcome, outcome.notices)

    def ready(self, answer: Any, baseline: Any) -> None:
        """Works out all that is drawn of an answer, on the engine's thread, where no frame waits."""
        answer.prepared()
        if baseline is not None:
            answer.since(baseline).prepared()

    def recorded(self, recorded: Recorded, decided: Decided, settings: Settings) -> Any:
        """Returns recorded decisions as a baseline for an answer under these settings."""
        return LedgerAnswer(settings, recorded_ledger(recorded, decided), cast("Any", None)).prepared()

    # --- finding ---

    def item_columns(self, answer: Any, comparison: Any) -> ItemColumns:
        """Returns the items as columns, by which they are found, filtered and sorted."""
        changed = [item for item in range(len(answer)) if comparison.flipped(item)] if comparison is not None else ()
        entries, order = answer.entries, answer.order
        return ledger_columns(entries, order, changed, self.paths(answer), self.facets(answer))

    def paths(self, answer: Any) -> Sequence[str]:
        """Returns the file that each item is, or is in; empty where items are in none."""
        return ()

    def facets(self, answer: Any) -> Mapping[str, Callable[[], Sequence[str]]]:
        """Returns what items can be filtered by beside state and reason."""
        return {}

    def sought_names(self, answer: Any) -> Sequence[str]:
        """Returns the words by which a person looks for each item. May be slow."""
        names = []
        for item, name in enumerate(answer.ids):
            number = answer.entry_number(item)
            beside = self.kind.describe(answer.outcome, number).beside if number is not None else ""
            names.append(f"{name} {' '.join(beside[:_LONGEST_BESIDE].split())}".strip())
        return names

    def source_text(self, answer: Any, item: int) -> str:
        """Returns the text that came in of an item. May be slow."""
        return self.texts(answer, item)[0]

    def held(self, answer: Any, item: int, settings: Settings) -> Settings | str:
        """Returns the settings under which this item is kept whatever happens, or no longer is; or a text on why it
        cannot be held."""
        number, outcome = answer.entry_number(item), answer.outcome
        return hold_entry(self.kind, outcome, len(outcome.ledger.entries) if number is None else number, settings)

    def observed(self, state: Any) -> Observation | None:
        """Returns what a recording says of an answer, or of the refusal in its place; None while there is neither."""
        answer, before = state.answer, state.settings
        if answer is None and state.refusal is None:
            return None

        def held(name: str) -> Settings | None:
            number = entry_number_of(answer.outcome, name) if answer is not None else None
            settings = hold_entry(self.kind, answer.outcome, number, before) if number is not None else ""
            return settings if isinstance(settings, Settings) else None

        ledger = answer.outcome.ledger if answer is not None and state.refusal is None else None
        pinned = ledger is not None and state.baseline is answer
        entry = state.entry
        given, hinted = self.given(state.inputs), state.hinted_entry
        return Observation(self.kind, given, before, ledger, entry, pinned, state.page, held, hinted)

    # --- knobs ---

    def knobs_of(self, settings: Settings) -> Sequence[Knob]:
        """Returns the knobs in the order of their panel."""
        return self.kind.knobs

    def budget_at(self, settings: Settings, tokens: int) -> Settings:
        """Returns the settings with a budget, or with the least or the largest there may be."""
        return self.kind.budget.within(settings, max(least_budget(self.kind), tokens))

    # --- wording ---

    def notices(self, answer: Any) -> Sequence[tuple[str, str]]:
        """Returns (text, role) of what has to be said beside the warnings."""
        return ()

    def columns(self, answer: Any) -> tuple[Sequence[ListColumn], Sequence[ListColumn]]:
        """Returns the columns of its own that stand before and behind those of every list."""
        return (), ()

    def cell(self, answer: Any, item: int, column: str, cells: int) -> Line:
        """Returns the cell of an item in one of `columns`."""
        return ()

    def label(self, answer: Any, item: int) -> Label:
        """Returns what an item is called, and where it is or what it says."""
        number = answer.entry_number(item)
        beside = self.kind.describe(answer.outcome, number).beside if number is not None else ""
        if beside:
            return Label(visible(answer.entries[item].id), visible(beside[:_LONGEST_BESIDE]), prose=True)
        return named(answer.entries[item].id)

    def facts(self, answer: Any, item: int, cells: int) -> list[Line]:
        """Returns further facts on a decision, below its reason."""
        return []

    def texts(self, answer: Any, item: int) -> tuple[str, str]:
        """Returns (what came in, what goes out) of an item, as text for people; "" for nothing."""
        return self.kind.texts(answer.outcome, item)

    def pack(self, answer: Any) -> PackText:
        """Returns what leaves, with the item of every line. Slow; on the engine's thread. Raises SecateurError."""
        outcome = answer.outcome
        return PackText.of(self.kind.leaving(outcome), self._leaving_parts(answer, outcome))

    def _leaving_parts(self, answer: Any, outcome: Outcome[P]) -> Iterator[tuple[int, str]]:
        """(item, text) of what leaves, in the order it leaves."""
        leaving = [(entry.position or 0, item) for item, entry in enumerate(answer.entries) if entry.after > 0]
        for _, item in sorted(leaving):
            if (number := answer.entry_number(item)) is not None:
                yield item, self.kind.texts(outcome, number)[1]

    def refused(self, material: M, inputs: Inputs, settings: Settings, cells: int) -> list[Line]:
        """Returns what stands below an error of `decide`: the figures that help to make it fit."""
        return []

    # --- inputs ---

    def given(self, inputs: Inputs) -> dict[str, Any]:
        """The inputs of the kind. Of a scenario all that it names, but for what was typed since it was opened."""
        typed = self.typed(inputs)
        if self.scenario is None:
            return typed
        shown = self.typed(self.texts_of(self.scenario.inputs))
        held = self.scenario.inputs
        return {name: held[name] if typed[name] == shown[name] else typed[name] for name in typed}

    def typed(self, inputs: Inputs) -> dict[str, Any]:
        """Returns what was typed, and nothing for the inputs that have no field."""
        given = blank_inputs(self.kind.inputs) | dict(inputs)
        return {
            one.name: [given[one.name]] if one.repeatable and one.name in inputs else given[one.name]
            for one in self.kind.inputs
        }

    def texts_of(self, given: Mapping[str, Any]) -> dict[str, str]:
        """The texts of the fields that show inputs of the kind."""
        values = {field.name: given[field.name] for field in self.fields}
        return {name: " ".join(value) if isinstance(value, list) else value or "" for name, value in values.items()}

    def command(self, inputs: Inputs, settings: Settings, opened: Settings, answer: Any = None) -> str:
        """Returns the command line whose answer is the one on screen, with the folder that its paths start from, where
        that is another one. Every flag of the kind is spelled out, so that no configuration file can change the answer.

        Args:
            answer: an answer to these inputs: revisions are named by the commits that it was read from.
        """
        outcome = answer.outcome if answer is not None else None
        command = command_line_of(self.kind, self.given(inputs), settings, opened, outcome)
        return f"cd {quoted(str(self.folder))} && {command}" if self.folder is not None else command


def overruled(subject: Subject[Any, Any], answer: Any, item: int) -> Steer | None:
    """Returns how the settings of an answer overrule the decision on an item; None: they do not."""
    number = answer.entry_number(item)
    if number is None or not isinstance(subject.kind, Steers):
        return None
    return subject.kind.overruled(answer.outcome, number, answer.settings)


def all_knobs(subject: Subject[Any, Any], settings: Settings) -> Sequence[Knob]:
    """Returns the knobs of the panel and everything else that can be turned."""
    knobs = subject.knobs_of(settings)
    return (*knobs, *further_knobs(knobs, subject.kind.depends_on))


def is_fresh(subject: Subject[Any, Any], material: Any) -> bool | None:
    """Tells whether this was read from what was on disk at the last look; None: nobody knows."""
    return subject.fresh(material) if isinstance(subject, Prepares) else material is not None or None
