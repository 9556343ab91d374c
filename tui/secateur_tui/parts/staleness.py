"""Notices when what is shown has changed on disk, and says so or reads it again (`ui.watch`).

A look compares listings and reads next to nothing. The longer a look took, the later the next one is due; and so it is
where an answer to what was read again took long.
"""

from __future__ import annotations

import time

from secateur.errors import SecateurError

from secateur_tui.messages import Report
from secateur_tui.screen import ScreenPart
from secateur_tui.state.input_files import ReplacedError

REST = 20
"""The pause after a look, as a multiple of the time it took: looking takes a twentieth of a processor at most."""

REST_OF_ANSWERS = 3
"""The same factor for an answer that is followed: following takes a quarter of a processor at most."""


class Staleness(ScreenPart):
    """See the module docstring. What is watched is the `watch` of the page."""

    def mounted(self) -> None:
        self._bench.state.follows = self._bench.app.watching == "follow"
        if not self._bench.kind_page.unopened:
            self._look_after(0.0)

    def returned(self) -> None:
        self._due()

    def _look_after(self, took: float) -> None:
        bench, watch = self._bench, self._bench.app.pace.watch
        if watch:
            followed = REST_OF_ANSWERS * bench.answering.took if bench.app.watching == "follow" else 0.0
            bench.jobs.after("look", max(watch, REST * took, followed), self._due, matters=False)

    def _due(self) -> None:
        self._bench.post_message(Report(self._start, "look"))

    def _start(self) -> None:
        if self._bench.app.watching != "off" and not self._bench.kind_page.unopened:
            self._bench.jobs.start(self._look, "watch")

    async def _look(self) -> None:
        bench = self._bench
        reading, start = bench.jobs.reading, time.perf_counter()
        try:
            if reading and not (bench.app.watching == "follow" and bench.jobs.activity):  # else it would never be read
                changes = str(await bench.app.watcher.run(bench.kind_page.watch.changes))
                if reading == bench.jobs.reading:  # otherwise it was compared with what is no longer shown
                    if changes and bench.app.watching == "follow":
                        bench.read_again()
                    else:
                        self._say(changes)
        except ReplacedError as error:  # not followed any further; the key that reads again reads it
            self._say(error.message)
        except SecateurError:
            self._say("not readable")
        self._look_after(time.perf_counter() - start)

    def _say(self, stale: str) -> None:
        if stale != self._bench.answering.stale:
            self._bench.answering.stale = stale
            self._bench.repaint_frame()
