"""Lists questions that the repository suggests. It is asked for them once, while no query is typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.example_queries import ExampleQuery, example_queries
from secateur.settings import with_values
from secateur.terminal import clip, visible

from secateur_tui.background import Cancelled
from secateur_tui.pages.search import SearchPage
from secateur_tui.part import ScreenPart
from secateur_tui.parts.asking import Asking
from secateur_tui.screen import Bench
from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.chooser import ChoiceLine, Chooser, Offers

_SUGGESTING = "suggest"


class Suggesting(ScreenPart):
    """See the module docstring."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._suggested = False

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        return {"suggested": self._choose}

    def unavailable(self, action: str) -> str:
        return "no question is suggested" if action == "suggested" and not self._bench.scene.examples else ""

    def job_ended(self, group: str) -> None:
        page, state = self._bench.kind_page, self._bench.state
        wanted = isinstance(page, SearchPage) and page.prepared and not state.asks and isinstance(page.engine, Engine)
        if group != _SUGGESTING and wanted and not self._suggested and not self._bench.jobs.at_work:
            self._suggested = True
            self._bench.jobs.start(self._find_examples, _SUGGESTING)

    async def _find_examples(self) -> None:
        page, settings = self._bench.kind_page, self._bench.state.settings
        if not isinstance(page, SearchPage) or not isinstance(page.engine, Engine):
            return
        try:
            examples = await self._bench.jobs.run(partial(example_queries, page.engine, settings))
        except (SecateurError, Cancelled):  # the screen does without
            return
        self._bench.scene.examples = examples
        self._bench.paint()

    def _choose(self) -> None:
        self._bench.app.push_screen(Chooser("Suggested", self._questions, "words of a question"), self._take)

    def _questions(self, typed: str) -> Offers:
        words = typed.lower().split()
        matching = [case for case in self._bench.scene.examples if all(word in case.query.lower() for word in words)]
        lines = [ChoiceLine(case, partial(_draw_question, case)) for case in matching]
        return Offers(lines, "" if lines else "no such question")

    def _take(self, question: ExampleQuery | None) -> None:
        if question is None:
            return
        if question.budget != self._bench.state.settings.effective_budget:
            self._bench.change(with_values(self._bench.state.settings, {"budget": question.budget}))
        self._bench.part(Asking).type({self._bench.kind_page.fields[0].name: question.query})
        self._bench.go_home()


def _draw_question(case: ExampleQuery, cells: int) -> Line:
    beside = f"{case.drawn_from}, cut at {case.budget:,}"
    shown = clip(visible(" ".join(case.query.split())), max(10, cells - len(beside) - 4))
    return line(" ", shown, Span(f"  {beside}", "faint"))
