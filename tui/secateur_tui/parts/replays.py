"""Repeats on a bench what was recorded there, and captions what is being recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from secateur.errors import SecateurError

from secateur_tui.screen import ScreenPart
from secateur_tui.state.bench_state import BenchState
from secateur_tui.styled_text import Line, wrap_words
from secateur_tui.widgets.ask_page import AskPage


class Replays(ScreenPart):
    """See the module docstring; `ReplayPlayer` calls it."""

    def no_caption(self) -> str:
        recorded = self._bench.app.recorder is not None
        return "" if recorded else "nothing is recorded: start with --record NAME.replay.jsonl"

    def do_caption(self) -> None:
        recorder = self._bench.app.recorder
        if recorder is not None:
            self._bench.ask(AskPage("Caption", _draw_caption, recorder.caption), self._take_caption)

    def _take_caption(self, text: str) -> None:
        try:
            if self._bench.app.recorder is not None:
                self._bench.app.recorder.set_caption(text)
        except SecateurError as error:
            self._bench.app.say(error.message)

    def go_to_entry(self, entry: str) -> None:
        """Puts the cursor on an entry of the ledger.

        Raises:
            SecateurError: there is no such entry.
        """
        state = self._bench.state
        item = state.answer.item_of(entry) if state.answer is not None else None
        if item is None:
            raise SecateurError(f"unknown entry {entry}", hint="what was read has changed since it was recorded")
        self._bench.move_cursor(item, in_place=True)  # a stop looks the same, whichever stop was before

    def hold_entry(self, entry: str) -> None:
        """Holds what an entry of the ledger holds, or lets it go; raises as `go_to_entry`."""
        self.go_to_entry(entry)
        if reason := self._bench.unavailable("hold"):
            raise SecateurError(f"{entry} cannot be held: {reason}", hint="leave the event out")
        self._bench.do("hold")

    def put_back(self, state: BenchState[Any], *, in_page: bool) -> None:
        """Shows what the bench knew before: the answer is among it, and nothing is decided anew."""
        bench = self._bench
        bench.take_state(state)
        if bench.standing:
            bench.go_home()
            if in_page:
                bench.show_page(state.page)
            bench.paint()


def _draw_caption(cells: int, _typed: str) -> Sequence[Line]:
    return wrap_words("The recording shows this text with what is on the screen now. An empty one is removed.", cells)
