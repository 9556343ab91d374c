"""A page reads a kind of context and draws its answer. `KindPage` is the page of any kind; a kind that wants columns,
facts or a bar of its own has a module here with a subclass; a kind of another distribution has this one.

Every `draw_…` takes the scene and the width in cells, and knows no widget.

Everything that the pages of a bench are drawn from.

The page on which a folder is opened: a bench that reads folders shows it while no folder is open.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, cast

from msgspec.structs import replace
from secateur.directories import current_folder
from secateur.errors import BudgetExceeded
from secateur.example_queries import ExampleQuery
from secateur.kinds.base import PIN, Environment, Input, Kind, Outcome
from secateur.kinds.command_line import quote_word
from secateur.kinds.knobs import Knob, Steer, further_knobs
from secateur.kinds.run import answer_of, command_line_of, trials_of
from secateur.progress import Progress, unreported
from secateur.settings import Settings
from secateur.sources.git import HistoryCommit
from secateur.sources.git_addresses import FetchOptions
from secateur.terminal import visible
from secateur.what_if.trials import Trials
from secateur_lab.scenarios.check import OpenedScenario, recorded_ledger
from secateur_lab.scenarios.running import Decided
from secateur_lab.scenarios.scenario import Recorded

from secateur_tui.actions import Keymap
from secateur_tui.jobs import Jobs
from secateur_tui.short_names import shorten_paths
from secateur_tui.state.answer import ShownAnswer, compare, ledger_answer
from secateur_tui.state.bench_state import BenchState, Inputs
from secateur_tui.state.input_files import FileWatch
from secateur_tui.state.proving import ProvenCurve, ProvenHint
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets import item_pages
from secateur_tui.widgets.budget_bar import BudgetPicture, draw_budget, item_at, picture_of, reach_of
from secateur_tui.widgets.listing import Crossing, ItemListing
from secateur_tui.widgets.pack_view import PackText
from secateur_tui.widgets.text_view import ItemText

REST, PROOFS = "rest", "proofs"  # the timer before proofs are worked out, and the group of their job


@dataclass
class Scene:
    """The state of a bench, what is under way, and what was worked out beside the answer. Parts of the screen write
    what they find out into it; whoever draws only reads."""

    state: BenchState[Any]
    jobs: Jobs
    keys: Keymap
    proven_of: ShownAnswer[Any] | None = None  # the answer that the following is proven of
    hints: Sequence[ProvenHint] = ()  # what would change the decision on the item at the cursor
    chosen_hint: int = 0  # the one that a key applies; -1: none before the user marks one, since the item stays
    nothing: str = ""  # why nothing would, where that is known
    trials: Trials | None = None  # what these were proven with
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of each number that changes nothing
    not_known: str = ""  # the limit within which not every range is known, in words; "" for none
    curve: ProvenCurve | None = None  # what goes out at each budget
    crossings: Sequence[Crossing] = ()  # what crosses the cut of the present answer one step up, and one down
    typing: bool = False  # whether the keys go to a field
    examples: Sequence[ExampleQuery] = ()  # questions that the repository suggests
    query_lines: Mapping[str, Sequence[int]] | None = None  # per word of the query the lines of the item that hold it
    commits: Sequence[HistoryCommit] = ()  # the last that changed the file of the item

    @property
    def proven(self) -> bool:
        """Tells whether the proofs are of the present answer, under the present settings."""
        answer = self.state.answer
        return answer is not None and answer is self.proven_of and answer.settings is self.state.settings

    @property
    def proving(self) -> bool:
        """Tells whether further proofs may come."""
        return self.jobs.waits(REST) or self.jobs.runs(PROOFS)

    @property
    def ranges_pending(self) -> str:
        """The reason why some ranges are missing; "" if all are there or none will come."""
        if self.proving:
            return "re-running …"
        known = not self.not_known or not self.proven
        return "" if known else f"not known: the search ended after {self.not_known}"


M = TypeVar("M")  # what was read
P = TypeVar("P")  # what the kind decided


class KindPage(Generic[M, P]):
    """See the module docstring.

    Attributes:
        fields: the fields of the input on top; the first is what is read or asked.
        instant: a decision takes no time, and is made where the screen is: a pause in typing asks, the old answer
            stays, dimmed, until the answer to another question comes, and the cursor goes to the best item if its own
            is gone.
        grows: items come at the end: a cursor on the newest item follows what is read.
        outside: what the kind may use of the world; of a scenario with the folder from which its paths start.
        watch: compares what was read with what is on disk.
    """

    instant: bool = False
    grows: bool = False
    preparing: ClassVar[str] = ""  # the name of the work before anything can be asked; "" for none
    reading: ClassVar[str] = "reading"  # the name of reading, for people
    nothing_asked: ClassVar[str] = "nothing is open yet"
    unopened: ClassVar[bool] = False  # nothing can be inspected yet, there is only a field for a folder
    listing_type: ClassVar[type[ItemListing]] = ItemListing
    knobs_title: ClassVar[str] = "Knobs"
    first_warnings: ClassVar[Collection[str]] = ()  # codes of the warnings that stand above all other notices

    def __init__(self, kind: Kind[M, P], opened: OpenedScenario | None = None) -> None:
        self.kind = kind
        self.scenario = opened
        self.outside = Environment(fetching=FetchOptions()) if opened is None else opened.environment
        self._opened: list[M] = []  # the baseline may still show the texts of what was read before
        self.fields: Sequence[Input] = tuple(shown for shown in kind.inputs if shown.title)
        self.watch: Any = FileWatch()

    @property
    def asking_field(self) -> Input:
        """The field in which people ask: the query where there is one, else what is opened."""
        return next((field for field in self.fields if field.name == "query"), self.fields[0])

    @property
    def action_labels(self) -> Mapping[str, str]:
        """Returns what the last line calls actions on this bench; "" for one that the kind refuses for every item."""
        own = {"weights": self.knobs_title, "query": "Query" if self.asking_field.name == "query" else "Open"}
        kind = type(self.kind)
        refused = {
            "pin": PIN not in self.kind.flags and kind.hold is Kind.hold and kind.steer is Kind.steer,
            "exclude": kind.steer is Kind.steer,
        }
        return own | {action: "" for action, never in refused.items() if never}

    # --- reading ---

    def reading_key(self, inputs: Inputs, settings: Settings) -> Hashable:
        """Returns what reading depends on: while it stays equal, the material is not read again."""
        return self.kind.reading_of(self.given(inputs), settings)

    def serves(self, had: Any, wanted: Any) -> bool:
        """Tells whether what was read for one key also serves another."""
        return bool(had == wanted)

    def first_item(self, answer: Any) -> int:
        """Returns the item that the cursor is on when an answer comes where there was none."""
        item: int = answer.item_at(0)
        return item

    @property
    def prepared(self) -> bool:
        """Tells whether all that may be asked is prepared; until then an answer may be from a part of it."""
        return True

    def prepare(self, progress: Progress) -> None:
        """Prepares all that may be asked, on the engine's thread; again if what is on disk has changed."""

    def read_part(self, inputs: Inputs, settings: Settings, progress: Progress) -> M | None:
        """Reads what is available before `prepare` is over, on the engine's thread; None for nothing."""
        return None

    def is_part(self, material: M) -> bool:
        """Tells whether material is a part of what will be read once all is prepared."""
        return False

    def fresh(self, material: M | None) -> bool | None:
        """Tells whether this was read from what was on disk at the last look; None if that is unknown."""
        return material is not None or None

    def start_watching(self, inputs: Inputs) -> None:
        """Watches from now on for changes of what is about to be read."""
        path = inputs[self.fields[0].name]
        self.watch.read(str(self.outside.folder / path) if self.outside.folder is not None and path else path)

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> M:
        """Reads and measures, on the engine's thread. Slow. Raises SecateurError."""
        outside = replace(self.outside, regular=True, ahead=True, progress=progress)
        material = self.kind.read(self.given(inputs), settings, outside.redacting(settings))
        self._opened.append(material)
        return material

    def release(self) -> None:
        """Releases everything that was read."""
        while self._opened:
            Kind.release(self._opened.pop())

    # --- deciding ---

    def decide(self, material: M, inputs: Inputs, settings: Settings, progress: Progress = unreported) -> Any:
        """Decides; called at every turn of a knob. Pure. No language model is asked: what is on screen was decided
        here.

        A decision that may take longer than a moment reports its progress: the report ends it when newer settings make
        it needless. Raises SecateurError if there is no answer, such as for a budget that cannot be met.
        """
        return self.make_answer(
            settings, answer_of(self.kind, material, self.given(inputs), settings, progress=progress)
        )

    def make_answer(self, settings: Settings, outcome: Outcome[P]) -> ShownAnswer[P]:
        """Returns an outcome as the answer that is drawn."""
        return ledger_answer(settings, outcome)

    def prepare_answer(self, answer: Any, baseline: Any) -> None:
        """Computes everything that is drawn of an answer, on the engine's thread, so that no frame waits for it."""
        _ = answer.place_of, answer.place
        if baseline is not None:
            comparison = compare(baseline, answer)
            _ = comparison.same, comparison.flip_counts
        self.picture(answer)

    def make_baseline(self, recorded: Recorded, decided: Decided, settings: Settings) -> Any:
        """Returns recorded decisions as the baseline of an answer under these settings."""
        ledger = recorded_ledger(recorded, decided)
        return ledger_answer(settings, Outcome(self.kind.name, settings, cast("Any", None), lambda: ledger))

    # --- inputs ---

    def given(self, inputs: Inputs) -> dict[str, Any]:
        """Returns the inputs of the kind: those of the scenario, if there is one, except what was typed since it was
        opened."""
        typed = self.parse_fields(inputs)
        if self.scenario is None:
            return typed
        shown = self.parse_fields(self.texts_of(self.scenario.inputs))
        held = self.scenario.inputs
        return {name: held[name] if typed[name] == shown[name] else typed[name] for name in typed}

    def parse_fields(self, inputs: Inputs) -> dict[str, Any]:
        """Returns the typed texts as inputs; an input without a field is blank."""
        given = self.kind.blank_inputs() | dict(inputs)
        return {
            known.name: [given[known.name]] if known.repeatable and known.name in inputs else given[known.name]
            for known in self.kind.inputs
        }

    def texts_of(self, given: Mapping[str, Any]) -> dict[str, str]:
        """Returns the texts of the fields that show these inputs of the kind."""
        values = {field.name: given[field.name] for field in self.fields}
        return {name: " ".join(value) if isinstance(value, list) else value or "" for name, value in values.items()}

    def command(self, inputs: Inputs, settings: Settings, opened: Settings, answer: Any = None) -> str:
        """Returns the command line that gives the answer on the screen. It names the folder in which a scenario's paths
        start, and every flag of the kind, so that no configuration file can change the answer.

        Args:
            answer: an answer to these inputs: revisions are named by the commits that it was read from.
        """
        outcome = answer.outcome if answer is not None else None
        command = command_line_of(self.kind, self.given(inputs), settings, opened, outcome)
        return f"cd {quote_word(str(self.outside.folder))} && {command}" if self.outside.folder is not None else command

    # --- knobs ---

    def knobs_of(self, settings: Settings) -> Sequence[Knob]:
        """Returns the knobs in the order of their panel."""
        return self.kind.knobs

    def all_knobs_of(self, settings: Settings) -> Sequence[Knob]:
        """Returns every setting that decides as a knob: those of the panel come first."""
        knobs = self.knobs_of(settings)
        return (*knobs, *further_knobs(knobs, self.kind.deciding_keys))

    def knob_notes(self, state: BenchState[Any]) -> Mapping[str, str]:
        """Returns words beside knobs, by their keys."""
        derived = not self.kind.budget.value(state.settings) and state.budget
        return {self.kind.budget.key: f"  {state.budget:,} follows from the model"} if derived else {}

    # --- proofs ---

    def trials(self, state: BenchState[Any]) -> Trials | None:
        """Returns what decides the answer again; None if nothing was read to decide from."""
        answer: Any = state.answer
        if state.reading is None or answer is None:
            return None
        return trials_of(self.kind, state.reading.material, self.given(state.inputs), answer.settings, answer.outcome)

    # --- the title line ---

    def source(self, scene: Scene) -> str:
        """Returns the name of what is read; text from outside."""
        question = scene.state.question
        if question.rstrip("/") in (".", "..") and (folder := current_folder()) is not None:
            return folder.name if question[:2] != ".." else folder.parent.name  # people know a folder by its name
        return question or "nothing open"

    def counter(self, scene: Scene) -> str:
        """Returns the counter of tokens: the model's, where an answer counts in the tokens of its model."""
        own = getattr(scene.state.outcome.payload, "counter", "") if scene.state.outcome is not None else ""
        return own if own and isinstance(own, str) else scene.state.settings.tokens.counter

    def count_items(self, scene: Scene) -> tuple[int, str] | None:
        """Returns the number of items and what one is called; None while nothing is listed."""
        return (len(scene.state.answer), "item") if scene.state.listed and scene.state.answer is not None else None

    # --- the budget ---

    def draw_budget(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws the headline of the budget, and the two lines below it."""
        state = scene.state
        if state.answer is None or state.refusal is not None:
            now = state.budget
            label = self.kind.budget.label
            named = "" if label == "budget" else f"{label} "  # the border says budget already
            headline = f"{named}{now:,}" if now else f"no {label} yet"
            if not isinstance(state.refusal, BudgetExceeded):
                return [line(headline), (), line("·" * cells)]
            return [line(f"{headline} · not met"), (), line(Span("▚" * cells, "error"))]
        item, then = state.cursor, self.picture(state.baseline) if state.comparison is not None else None
        words = self.listing(scene).describe_item(item) if item < len(state.answer) else ""
        return draw_budget(self.picture(state.answer), then, item, words, cells)

    def segment_at(self, scene: Scene, cell: int, cells: int) -> int | None:
        """Returns the item whose segment of the bar is in a cell; None if no segment is there."""
        state = scene.state
        if state.answer is None or state.refusal is not None:
            return None
        picture, then = self.picture(state.answer), state.baseline if state.comparison is not None else None
        return item_at(picture, cell, cells, reach_of(picture, self.picture(then) if then is not None else None))

    def picture(self, answer: Any) -> BudgetPicture:
        """Returns the picture of the budget of an answer."""
        return picture_of(answer)

    # --- the list ---

    def listing(self, scene: Scene) -> ItemListing:
        """Returns what the list shows of the answer."""
        state = scene.state
        assert state.answer is not None
        crossings = scene.crossings if scene.proven else ()
        return self.listing_type(state.answer, state.comparison, crossings, state.choice.by)

    def draw_caption(self, scene: Scene, cells: int) -> Line:
        """Draws the line in the lower border of the list."""
        return ()

    def draw_notices(self, scene: Scene, cells: int) -> list[Line]:
        """Draws every notice about the answer."""
        if (answer := scene.state.answer) is None:
            return []
        warned = sorted(answer.outcome.notices, key=lambda notice: notice.code not in self.first_warnings)
        first = sum(notice.code in self.first_warnings for notice in warned)
        texts = [(f"! {notice.message}", "warning") for notice in warned]
        texts[first:first] = self.notices(answer)
        return [part for text, role in texts for part in wrap_words(shorten_paths(visible(text), cells), cells, role)]

    def notices(self, answer: Any) -> Sequence[tuple[str, str]]:
        """Returns (text, role) of each notice beside the warnings."""
        return ()

    def draw_blank(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws what stands in place of the items: an error, progress, or the kind of emptiness."""
        state, back = scene.state, scene.keys.first_key("back")
        if scene.jobs.error is not None:
            return item_pages.draw_error(scene.jobs.error, cells)
        if not state.asks:
            words = f"{scene.keys.first_key('query')} goes to the field for it; Enter reads it."
            if scene.typing and back:
                words = f"Enter reads it; {back} leaves the field, then a digit opens a bench."
            return [*wrap_words(self.kind.wording.opening, cells, "bold"), (), *wrap_words(words, cells, "faint")]
        if scene.jobs.activity == self.reading:
            lines = item_pages.draw_progress(state.question, scene.jobs.progress, cells)
            return [*lines, (), line(Span(f"{back} cancels", "faint"))] if back and not scene.typing else lines
        if state.refusal is not None and state.reading is not None:
            below = self.explain_refusal(state.reading.material, state.inputs, state.settings, cells)
            return [*item_pages.draw_error(state.refusal, cells), (), *below]
        return self.draw_empty(scene, cells)

    def draw_empty(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Says that an answer is empty, or awaited."""
        return [line("nothing is in it" if scene.state.answer is not None else "deciding …")]

    def explain_refusal(self, material: M, inputs: Inputs, settings: Settings, cells: int) -> list[Line]:
        """Returns the figures below an error of `decide` that help to make it fit."""
        return []

    # --- the pages beside it ---

    def draw_why(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws why the item at the cursor was decided so."""
        answer, item = scene.state.columns, scene.state.cursor
        if answer is None:
            return []
        return item_pages.draw_why(answer, item, cells, self.facts(answer, item, cells))

    def text_of(self, scene: Scene) -> ItemText | None:
        """Returns the text of the item at the cursor; None while nothing is listed."""
        answer, item = scene.state.columns, scene.state.cursor
        return None if answer is None else item_pages.text_of(answer.state_of(item), *self.texts(answer, item))

    def draw_diff(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws what changed since the baseline."""
        answer, item = scene.state.columns, scene.state.cursor
        if answer is None:
            return []
        return item_pages.draw_diff(scene.state.comparison, answer.ids[item], *self.texts(answer, item), cells)

    def facts(self, answer: Any, item: int, cells: int) -> list[Line]:
        """Returns further facts on a decision, below its reason."""
        told = self.kind.describe(answer.outcome, item).facts
        return [part for label, text in told for part in wrap_words(f"{label} {visible(text)}", cells)]

    def texts(self, answer: Any, item: int) -> tuple[str, str]:
        """Returns (what came in, what goes out) of an item, as text for people; "" for nothing."""
        return self.kind.texts(answer.outcome, item)

    def source_text(self, answer: Any, item: int) -> str:
        """Returns the text that came in of an item. May be slow."""
        return self.texts(answer, item)[0]

    def pack(self, answer: Any) -> PackText:
        """Returns what leaves, with the item of every line. Slow; on the engine's thread. Raises SecateurError."""
        outcome = answer.outcome
        return PackText.of(self.kind.leaving(outcome), self._leaving_parts(answer, outcome))

    def _leaving_parts(self, answer: Any, outcome: Outcome[P]) -> Iterator[tuple[int, str]]:
        for item in answer.leaving.tolist():
            yield item, self.kind.texts(outcome, item)[1]


def find_overruling(kind: Kind[Any, Any], answer: Any, item: int) -> Steer | None:
    """Returns how the settings of an answer overrule the decision on an item; None if they do not."""
    entry_number = answer.entry_number(item)
    return None if entry_number is None else kind.overruled(answer.outcome, entry_number, answer.settings)


class FolderPage(KindPage[Any, Any]):
    """`open_folder(path)` opens the typed folder and shows it; it raises SecateurError where the folder cannot be
    opened."""

    unopened: ClassVar[bool] = True

    def __init__(self, kind: Kind[Any, Any], open_folder: Callable[[str], None]) -> None:
        super().__init__(kind)
        self.open_folder = open_folder
        self.fields = (Input("folder", "", title="Folder", placeholder="a folder, sample:NAME or a git URL"),)

    def source(self, scene: Scene) -> str:
        return "nothing open"

    def knob_notes(self, state: BenchState[Any]) -> dict[str, str]:
        return {}

    def draw_budget(self, scene: Scene, cells: int) -> Sequence[Line]:
        return [line("nothing open"), (), line("·" * cells)]

    def draw_blank(self, scene: Scene, cells: int) -> Sequence[Line]:
        if scene.jobs.error is not None:
            return item_pages.draw_error(scene.jobs.error, cells)
        words = "A folder can be opened here: a repository whose code is to be searched. Nothing in it is run."
        return [
            *wrap_words(words, cells, "bold"),
            (),
            *wrap_words("Enter opens it; an empty field means the folder you are in.", cells, "faint"),
        ]
