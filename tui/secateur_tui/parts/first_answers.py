"""Says that nothing was cut, and once for each repository what the recommended profile would keep instead."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from secateur.engine import Engine
from secateur.kinds.search.first_answer import NAMED, RECOMMENDED, FirstAnswer, first_answer, nothing_cut
from secateur.settings import Settings

from secateur_tui.frame import MOST_NOTICE_LINES
from secateur_tui.pages.search import SearchPage
from secateur_tui.screen import ScreenPart
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.styled_text import Line, wrap_words

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
        if (
            bench.state.partial
            or bench.state.outcome is None
            or settings.profile != Settings().profile
            or not settings.ui.compare_first
        ):
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
