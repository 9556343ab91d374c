"""A bench that notices when the files it shows have changed on disk, and says so or reads again (`ui.watch`).

A look compares listings and reads next to nothing. The longer a look took, the later the next one is due.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Protocol

from secateur.errors import SecateurError
from textual import on
from textual.timer import Timer

from secateur_tui.benches.bench import Bench
from secateur_tui.messages import Look

REST = 20
"""Times as long as a look took until the next: looking takes a twentieth of a processor at most."""


class Watched(Protocol):
    """A source that can change on disk."""

    def changes(self) -> object:
        """Returns what differs on disk from what was read last, as text for people; "" for nothing."""
        ...


class StalenessBench(Bench):
    """See the module docstring. A subclass says what is watched, and clears `stale` when it has read."""

    stale: str = ""  # what has changed since it was read, for people: "3 files changed"
    _next: Timer | None = None

    @property
    @abstractmethod
    def watched(self) -> Watched:
        """The source that is compared with the disk."""

    @property
    @abstractmethod
    def reading(self) -> int:
        """Number of the latest reading, from 1; 0 while one is under way or about to be."""

    @abstractmethod
    def read_again(self) -> None:
        """Brings the screen up to what is on disk."""

    def on_mount(self) -> None:
        super().on_mount()
        self._look_after(0.0)

    def returned_to(self) -> None:
        self.post_message(Look())

    def _look_after(self, took: float) -> None:
        if self._next is not None:
            self._next.stop()
        if self.app.pace.watch:
            self._next = self.set_timer(max(self.app.pace.watch, REST * took), lambda: self.post_message(Look()))

    @on(Look)
    def _due(self) -> None:
        if self.app.watching != "off":
            self.run_worker(self._look(), group="watch", exclusive=True)

    async def _look(self) -> None:
        reading, start = self.reading, time.perf_counter()
        try:
            if reading:
                found = str(await self.app.watcher.run(self.watched.changes))
                if reading == self.reading:  # otherwise it was compared with what is no longer shown
                    if found and self.app.watching == "follow":
                        self.read_again()
                    else:
                        self._say(found)
        except SecateurError:
            self._say("not readable")
        self._look_after(time.perf_counter() - start)

    def _say(self, stale: str) -> None:
        if stale != self.stale:
            self.stale = stale
            self.repaint_frame()
