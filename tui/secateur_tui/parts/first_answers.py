"""Says that nothing was cut, and once for each repository what the recommended profile would keep instead. Before a
question is typed it lists those that the repository suggests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from secateur.engine import Engine
from secateur.example_queries import ExampleQuery, example_queries
from secateur.kinds.search.first_answer import NAMED, RECOMMENDED, FirstAnswer, first_answer, nothing_cut
from secateur.settings import Settings, with_values
from secateur.terminal import clip, visible

from secateur_tui.frame import MOST_NOTICE_LINES
from secateur_tui.pages.search import SearchPage
from secateur_tui.parts.asking import Asking
from secateur_tui.screen import ScreenPart
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets.dialogue import ChoiceLine, Chooser, Offers

NOTED = "first answer on the screen"
"""The name under which it is remembered that the comparison was shown."""

FEWEST = 5
"""Candidates from which it is worth saying that all of them fit."""

_SUGGESTING = "suggest"


class FirstAnswers(ScreenPart):
    """See the module docstring."""

    _found: FirstAnswer | None = None
    _of: tuple[str, Settings] | None = None  # the question and the settings that it was found for
    _asked = _suggested = False

    @property
    def _engine(self) -> Engine | None:
        page = self.kind_page
        return page.engine if isinstance(page, SearchPage) and isinstance(page.engine, Engine) else None

    # --- the first answer ---

    @property
    def offered(self) -> str:
        """The profile that is offered for the answer on the screen; "" if no profile is offered."""
        state, found = self.state, self._found
        return RECOMMENDED if found and found.others and self._of == (state.question, state.settings) else ""

    def painted(self) -> None:
        state, engine = self.state, self._engine
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
        state, engine = self.state, self._engine
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
            words = typed.lower().split()
            matching = [case for case in self.bench.scene.examples if all(word in case.query.lower() for word in words)]
            lines = [ChoiceLine(case, partial(_draw_question, case)) for case in matching]
            return Offers(lines, "" if lines else "no such question")

        def ask(question: ExampleQuery) -> None:
            if question.budget != self.state.settings.effective_budget:
                self.bench.change(with_values(self.state.settings, {"budget": question.budget}))
            self.bench.part(Asking).type({self.kind_page.fields[0].name: question.query})
            self.bench.go_home()

        self.bench.ask(Chooser("Suggested", offer, "words of a question"), ask)


def _draw_question(case: ExampleQuery, cells: int) -> Line:
    beside = f"{case.drawn_from}, cut at {case.budget:,}"
    shown = clip(visible(" ".join(case.query.split())), max(10, cells - len(beside) - 4))
    return line(" ", shown, Span(f"  {beside}", "faint"))
