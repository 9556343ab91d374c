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


class FirstAnswers(ScreenPart):
    """See the module docstring."""

    _found: FirstAnswer | None = None
    _of: tuple[str, Settings] | None = None  # the question and the settings that it was found for
    _asked = False

    @property
    def offered(self) -> str:
        """The profile that is offered for the answer on the screen; "" if no profile is offered."""
        state, found = self._bench.state, self._found
        return RECOMMENDED if found and found.others and self._of == (state.question, state.settings) else ""

    def painted(self) -> None:
        bench, page = self._bench, self._bench.kind_page
        settings = bench.state.settings
        if self._asked or not isinstance(page, SearchPage) or not isinstance(page.engine, Engine):
            return
        if bench.state.partial or bench.state.outcome is None or settings.profile != Settings().profile:
            return
        self._asked = True
        if bench.app.first_time(NOTED):
            self._of = bench.state.question, settings
            # Without it the answer is there all the same.
            bench.jobs.work_out("first answer", partial(first_answer, page.engine, *self._of), self._take)

    def _take(self, found: FirstAnswer | None) -> None:
        self._found = found
        self._bench.paint()

    def notices(self, cells: int) -> Iterable[Line]:
        bench, answer = self._bench, self._bench.state.answer
        if bench.state.partial:
            return ()
        shown = bench.app.keymap.first_key
        if self.offered and self._found is not None:
            keys = f"{shown('compare')} compares, {shown('default')} makes {RECOMMENDED} your default"
            names = range(NAMED, -1, -1)  # the fewer, the longer they are
            drawn = [wrap_words(f"! {self._found.sentence(named)}: {keys}", cells, "accent") for named in names]
            return next((lines for lines in drawn if len(lines) < MOST_NOTICE_LINES), drawn[-1])
        if isinstance(answer, SearchAnswer) and FEWEST <= len(answer) == len(answer.selection.kept_rows):
            fit = nothing_cut(len(answer), answer.selection.budget)
            keys = f"{shown('budget-down')} cuts, {shown('compare')} compares profiles"
            return wrap_words(f"! {fit}; {keys}", cells, "faint")
        return ()


_SUGGESTING = "suggest"


class Suggesting(ScreenPart):
    """See the module docstring."""

    _suggested = False

    def no_suggested(self) -> str:
        return "" if self._bench.scene.examples else "no question is suggested"

    def job_ended(self, group: str) -> None:
        page, state = self._bench.kind_page, self._bench.state
        if self._suggested or group == _SUGGESTING or state.asks or self._bench.jobs.at_work:
            return
        if isinstance(page, SearchPage) and page.prepared and isinstance(page.engine, Engine):
            self._suggested = True
            make = partial(example_queries, page.engine, state.settings)
            self._bench.jobs.work_out(_SUGGESTING, make, self._take_examples)  # where it fails the screen does without

    def _take_examples(self, examples: Sequence[ExampleQuery]) -> None:
        self._bench.scene.examples = examples
        self._bench.paint()

    def do_suggested(self) -> None:
        self._bench.ask(Chooser("Suggested", self._questions, "words of a question"), self._take)

    def _questions(self, typed: str) -> Offers:
        words = typed.lower().split()
        matching = [case for case in self._bench.scene.examples if all(word in case.query.lower() for word in words)]
        lines = [ChoiceLine(case, partial(_draw_question, case)) for case in matching]
        return Offers(lines, "" if lines else "no such question")

    def _take(self, question: ExampleQuery) -> None:
        if question.budget != self._bench.state.settings.effective_budget:
            self._bench.change(with_values(self._bench.state.settings, {"budget": question.budget}))
        self._bench.part(Asking).type({self._bench.kind_page.fields[0].name: question.query})
        self._bench.go_home()


def _draw_question(case: ExampleQuery, cells: int) -> Line:
    beside = f"{case.drawn_from}, cut at {case.budget:,}"
    shown = clip(visible(" ".join(case.query.split())), max(10, cells - len(beside) - 4))
    return line(" ", shown, Span(f"  {beside}", "faint"))
