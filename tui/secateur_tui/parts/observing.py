"""Tells a recording of the session what the screen shows once it has come to rest."""

from __future__ import annotations

from secateur_tui.part import ScreenPart
from secateur_tui.screen import Bench


class Observing(ScreenPart):
    """See the module docstring. While the engine is at work, or an error is shown, nothing is told."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def cursor_moved(self) -> None:
        if self._bench.app.recorder is not None:
            self._bench.app.look(self._bench.entry)

    def painted(self) -> None:
        self.in_front()

    def page_opened(self) -> None:
        self.in_front()

    def in_front(self) -> None:
        bench, state, jobs = self._bench, self._bench.state, self._bench.jobs
        if bench.app.recorder is None or not bench.is_current or not bench.standing:
            return
        if not (jobs.activity or jobs.error is not None or state.reading is None or state.needs_answer):
            bench.app.observe(bench.subject.observed(state))
