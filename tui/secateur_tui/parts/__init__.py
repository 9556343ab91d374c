"""The parts of the screen: each a module with a class, listed in `PARTS`, for something that can be done there. A part
knows the screen; the screen knows no part."""

from collections.abc import Callable, Sequence
from typing import Any

from secateur.model import Ledger
from secateur.settings import Settings
from secateur_lab.replays.recorder import Observation

from secateur_tui.jobs import Derived
from secateur_tui.pages.kind_page import KindPage
from secateur_tui.parts.asking import Asking, FirstAnswers, Staleness
from secateur_tui.parts.cases import Cases
from secateur_tui.parts.comparing import Comparing
from secateur_tui.parts.finding import ItemFinding
from secateur_tui.parts.keeping import Exporting, Keeping
from secateur_tui.parts.looking import Looking, Program
from secateur_tui.parts.proofs import Proofs
from secateur_tui.parts.scenarios import Scenarios
from secateur_tui.parts.turning import Turning
from secateur_tui.parts.window import FilledWindow
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.answer import SearchAnswer
from secateur_tui.state.bench_state import BenchState


def observe(state: BenchState[KindPage[Any, Any]]) -> Observation | None:
    """Returns what a recording says of an answer, or of the refusal in its place; None if there is neither."""
    answer: Any = state.answer
    search = isinstance(answer, SearchAnswer)
    if search and (not answer.counted or answer.settings is not state.settings or state.partial):
        return None
    if answer is None and (state.refusal is None or state.kind_page.instant):
        return None
    ledger: Ledger | None = answer.ledger if answer is not None and (search or state.refusal is None) else None
    kind, settings = state.kind_page.kind, state.settings

    def find_hold(name: str) -> Settings | None:
        # nothing in the list of a search is held
        entry_number = answer.item_of(name) if answer is not None and not search else None
        settings_then = kind.hold(answer.outcome, entry_number, settings) if entry_number is not None else ""
        return settings_then if isinstance(settings_then, Settings) else None

    pinned = ledger is not None and state.baseline is answer
    given = state.kind_page.given(state.inputs)
    return Observation(kind, given, settings, ledger, state.entry, pinned, state.page, find_hold, state.hinted_entry)


class Observing(ScreenPart):
    """Tells the recorder what is shown, unless the engine is at work or an error is shown."""

    def cursor_moved(self) -> None:
        if self.app.recorder is not None:
            self.app.look(self.state.entry)

    def painted(self) -> None:
        bench, state, jobs = self.bench, self.state, self.jobs
        if self.app.recorder is None or not bench.is_current or not bench.standing:
            return
        if not (jobs.activity or jobs.error is not None or state.reading is None or state.needs_answer):
            self.app.observe(observe(state))

    page_opened = in_front = painted


class Counting(ScreenPart):
    """Counts the tokens of the pack of an answer, which its decisions only bound."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        # Where a file changed, what is on screen stays a bound, and is stale.
        self._counted = Derived[list[None]](self.jobs, "recount", bench.paint, between=True)

    def list_painted(self) -> None:
        shown = [answer for answer in (self.state.answer, self.state.baseline) if answer is not None]
        uncounted = [answer for answer in shown if isinstance(answer, SearchAnswer) and not answer.counted]
        if uncounted and not self.state.needs_reading:
            self._counted.at(uncounted, lambda: list(map(SearchAnswer.count, uncounted)))


# In the order in which they are asked why an action cannot be done, in which their notices stand, and their pages.
PARTS: Sequence[Callable[[Bench], ScreenPart]] = (
    Scenarios,
    Asking,
    Turning,
    Keeping,
    FirstAnswers,
    Looking,
    Exporting,
    Comparing,
    Cases,
    FilledWindow,
    ItemFinding,
    Proofs,
    Counting,
    Staleness,
    Observing,
    Program,
)
