"""Lists questions that the repository suggests. It is asked for them once, while no query is typed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from secateur.engine import Engine
from secateur.example_queries import ExampleQuery, example_queries
from secateur.settings import with_values
from secateur.terminal import clip, visible

from secateur_tui.pages.search import SearchPage
from secateur_tui.parts.asking import Asking
from secateur_tui.screen import ScreenPart
from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.dialogue import ChoiceLine, Chooser, Offers

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
