"""Takes what is typed on top, reads again what is on disk, and leads back to the items. What has changed on disk is
noticed, and said or read again. Before a question is typed, those that the repository suggests are listed; the first
answer says that nothing was cut, or what the recommended profile would keep instead."""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.example_queries import ExampleQuery, example_queries
from secateur.kinds.search.first_answer import NAMED, RECOMMENDED, FirstAnswer, first_answer, nothing_cut
from secateur.settings import Settings, with_values
from secateur.terminal import clip, visible

from secateur_tui.frame import MOST_NOTICE_LINES
from secateur_tui.jobs import DEBOUNCE, Report
from secateur_tui.pages.kind_page import FolderPage
from secateur_tui.pages.search import SearchPage
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.answer import SearchAnswer
from secateur_tui.state.input_files import ReplacedError, expand_path
from secateur_tui.state.list_view import WHOLE
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets.dialogue import ChoiceLine, Chooser, Offers, QueryInput, match_rows


class Asking(ScreenPart):
    """Handles the fields. A pause in typing asks, Enter and Escape ask at once, and Escape leaves the text. Where
    nothing is open yet, only Enter opens a folder."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._opened_in: QueryInput | None = None  # the empty field that had the keys at the start, till an answer

    def no_refresh(self) -> str:
        page = self.kind_page
        return "" if self.state.asks or page.preparing else page.nothing_asked

    def mounted(self) -> None:
        self._opened_in = self._empty_field
        self.bench.go_to(self._opened_in or self.bench.home)

    def painted(self) -> None:
        """Gives the keys to the list as soon as there is an answer without what the first field asks for."""
        if (field := self._opened_in) is not None and self.state.answer is not None:
            self._opened_in = None
            if self.bench.focused is field and not field.value:
                self.bench.go_home()

    @property
    def _empty_field(self) -> QueryInput | None:
        fields, inputs = self.kind_page.fields, self.state.inputs
        empty = (field.name for field in fields if not field.optional and not inputs[field.name].strip())
        return next((self.bench.field(name) for name in empty), None)

    def do_query(self) -> None:
        bench, page = self.bench, self.kind_page
        bench.close_overlays()
        asking = bench.field(page.asking_field.name)
        wrong = self.jobs.error is not None and not asking.value  # nothing is asked, and the path could not be read
        bench.go_to(bench.field(page.fields[0].name) if wrong else self._empty_field or asking)

    def cancel(self) -> bool:
        refresh = self.key("refresh")
        return self.bench.answering.cancel(f"{refresh} reads it" if refresh else "")

    def do_back(self) -> None:
        """Cancels slow work that is waited for, else moves the focus to the items; from there it shows all of them in
        their own order."""
        bench = self.bench
        if bench.in_field:
            if not self.kind_page.unopened:
                self._ask_now()
        elif any(part.cancel() for part in bench.parts):
            return
        elif bench.focused is bench.home and self.state.view is not None:
            bench.choose(WHOLE)
        bench.go_home()

    def do_refresh(self) -> None:
        for part in self.bench.parts:
            part.refreshing()
        self.bench.read_again()

    def typed(self) -> None:
        """The text of a field changed."""
        if not self.kind_page.unopened and self._take_fields():
            self.bench.answering.asked_in_typing()

    def submitted(self) -> None:
        """Enter was pressed in a field."""
        bench, page = self.bench, self.kind_page
        if not isinstance(page, FolderPage):
            self._ask_now(again=self.jobs.error is not None)
            bench.go_home()
            return
        try:
            page.open_folder(expand_path(bench.field(page.fields[0].name).value) or ".")
        except SecateurError as error:
            self.jobs.error = error
            bench.paint()

    def _take_fields(self) -> bool:
        state, page, changed = self.state, self.kind_page, False
        for index, field in enumerate(page.fields):
            widget = self.bench.field(field.name)
            if widget.value != visible(state.inputs[field.name]):
                text = widget.text if field.lines else widget.text.strip()
                changed |= state.type(field.name, text if index or page.instant else expand_path(text))
        return changed

    def _ask_now(self, *, again: bool = False) -> None:
        """Asks what the fields say, without waiting for a pause. `again`: even where that was asked before."""
        if self._take_fields() or self.jobs.waits(DEBOUNCE) or again:
            self.jobs.error = None
            self.bench.put_fields()
            self.bench.answering.answer()

    def type(self, texts: Mapping[str, str]) -> None:
        """Types texts into fields, and reads or decides what follows from them."""
        bench, changed = self.bench, False
        for name, text in texts.items():
            changed |= bench.state.type(name, text)
            bench.field(name).put(text)
        if changed:
            bench.answering.answer()


REST = 20  # the pause after a look, as a multiple of the time it took: looking takes a twentieth of a processor at most
REST_OF_ANSWERS = 3  # the same factor for an answer that is followed: following takes a quarter of a processor at most


class Staleness(ScreenPart):
    """Notices when what is shown has changed on disk; what is watched is the `watch` of the page.

    A look compares listings and reads next to nothing. The longer a look took, the later the next one is due; and so it
    is where an answer to what was read again took long.
    """

    def mounted(self) -> None:
        self.state.follows = self.app.follows
        if not self.kind_page.unopened:
            self._look_after(0.0)

    def _look_after(self, took: float) -> None:
        if watch := self.app.pace.watch:
            followed = REST_OF_ANSWERS * self.bench.answering.took if self.app.follows else 0.0
            self.jobs.after("look", max(watch, REST * took, followed), self.returned, matters=False)

    def returned(self) -> None:
        def start() -> None:
            if not self.kind_page.unopened:
                self.jobs.start(self._look, "watch")

        self.bench.post_message(Report(start, "look"))

    async def _look(self) -> None:
        reading, start, answering = self.jobs.reading, time.perf_counter(), self.bench.answering
        stale = None  # not known
        try:
            if reading and not (self.app.follows and self.jobs.activity):  # else it would never be read
                changes = str(await self.app.watcher.run(self.kind_page.watch.changes))
                if reading == self.jobs.reading:  # otherwise it was compared with what is no longer shown
                    if changes and self.app.follows:
                        self.bench.read_again()
                    else:
                        stale = changes
        except ReplacedError as error:  # not followed any further; the key that reads again reads it
            stale = error.message
        except SecateurError:
            stale = "not readable"
        if stale is not None and stale != answering.stale:
            answering.stale = stale
            self.bench.repaint_frame()
        self._look_after(time.perf_counter() - start)


NOTED = "first answer on the screen"  # the name under which it is remembered that the comparison was shown
FEWEST = 5  # candidates from which it is worth saying that all of them fit

_SUGGESTING = "suggest"


class FirstAnswers(ScreenPart):
    """Says what may be asked, and what of the first answer is worth knowing; once for each repository what the
    recommended profile would keep."""

    _found: FirstAnswer | None = None
    _of: tuple[str, Settings] | None = None  # the question and the settings that it was found for
    _asked = _suggested = False

    @property
    def engine(self) -> Engine | None:
        """The engine of a search; None of another kind."""
        page = self.kind_page
        return page.engine if isinstance(page, SearchPage) and isinstance(page.engine, Engine) else None

    # --- the first answer ---

    @property
    def offered(self) -> str:
        """The profile that is offered for the answer on the screen; "" if no profile is offered."""
        state, found = self.state, self._found
        return RECOMMENDED if found and found.others and self._of == (state.question, state.settings) else ""

    def painted(self) -> None:
        state, engine = self.state, self.engine
        if self._asked or engine is None or state.partial or state.outcome is None:
            return
        if state.settings.profile != Settings().profile:
            return
        self._asked = True
        if self.app.first_time(NOTED):
            self._of = state.question, state.settings
            # Where it fails the answer is there all the same.
            self.jobs.work_out("first answer", partial(first_answer, engine, *self._of), self._take)

    def _take(self, found: FirstAnswer | None) -> None:
        self._found = found
        self.bench.paint()

    def notices(self, cells: int) -> Iterable[Line]:
        answer = self.state.answer
        if self.state.partial:
            return ()
        if self.offered and self._found is not None:
            keys = f"{self.key('compare')} compares, {self.key('default')} makes {RECOMMENDED} your default"
            names = range(NAMED, -1, -1)  # the fewer, the longer they are
            drawn = [wrap_words(f"! {self._found.sentence(named)}: {keys}", cells, "accent") for named in names]
            return next((lines for lines in drawn if len(lines) < MOST_NOTICE_LINES), drawn[-1])
        if isinstance(answer, SearchAnswer) and FEWEST <= len(answer) == len(answer.selection.kept_rows):
            fit = nothing_cut(len(answer), answer.selection.budget)
            keys = f"{self.key('budget-down')} cuts, {self.key('compare')} compares profiles"
            return wrap_words(f"! {fit}; {keys}", cells, "faint")
        return ()

    # --- questions that are suggested ---

    def no_suggested(self) -> str:
        return "" if self.bench.scene.examples else "no question is suggested"

    def job_ended(self, group: str) -> None:
        state, engine = self.state, self.engine
        if self._suggested or group == _SUGGESTING or state.asks or self.jobs.at_work:
            return
        if engine is not None and self.kind_page.prepared:
            self._suggested = True

            def take(examples: Sequence[ExampleQuery]) -> None:
                self.bench.scene.examples = examples
                self.bench.paint()

            # Where it fails the screen does without.
            self.jobs.work_out(_SUGGESTING, partial(example_queries, engine, state.settings), take)

    def do_suggested(self) -> None:
        def offer(typed: str) -> Offers:
            cases = self.bench.scene.examples
            lines = match_rows([(case.query, ChoiceLine(case, partial(_draw_question, case))) for case in cases], typed)
            return Offers(lines, "" if lines else "no such question")

        def ask(question: ExampleQuery) -> None:
            if question.budget != self.state.settings.effective_budget:
                self.bench.change(with_values(self.state.settings, {"budget": question.budget}))
            self.bench.part(Asking).type({self.kind_page.fields[0].name: question.query})
            self.bench.go_home()

        self.bench.ask(Chooser("Suggested", offer, "words of a question"), ask)


def _draw_question(case: ExampleQuery, cells: int) -> Line:
    beside = f"{case.drawn_from}, cut at {case.budget:,}"
    return line(
        " ", clip(visible(" ".join(case.query.split())), max(10, cells - len(beside) - 4)), Span(f"  {beside}", "faint")
    )
