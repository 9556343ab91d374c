"""Counts the packs on screen: a decision charges an upper bound, and the command line prints the counted figure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from secateur.errors import SecateurError

from secateur_tui.background import Cancelled
from secateur_tui.part import ScreenPart
from secateur_tui.screen import Bench


class Counting(ScreenPart):
    """See the module docstring."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._counting: Sequence[Any] = ()

    def list_painted(self) -> None:
        state = self._bench.state
        shown = [answer for answer in (state.answer, state.baseline) if answer is not None]
        uncounted = state.subject.uncounted(shown)
        if uncounted and not state.needs_reading and self._counting != uncounted:
            self._counting = uncounted
            self._bench.jobs.start(partial(self._count, uncounted), "recount")

    def state_taken(self) -> None:
        self._counting = ()

    async def _count(self, answers: Sequence[Any]) -> None:
        for answer in answers:
            try:
                await self._bench.jobs.run(partial(self._bench.subject.count, answer), between=True)
            except (
                SecateurError,
                Cancelled,
            ):  # a file changed meanwhile: what is on screen stays a bound, and the title says that it is stale
                return
        self._bench.paint()
