"""Proves, on a thread while the user rests, what would change a decision and within which range a weight changes
none."""

from __future__ import annotations

import threading

from secateur_tui.messages import HintProven, PartMessage, RangeProven
from secateur_tui.part import ScreenPart
from secateur_tui.parts.what_ifs import what_ifs
from secateur_tui.screen import Bench
from secateur_tui.state.search_answer import SearchAnswer

_REST, _PROOFS = "rest", "proofs"


class Proofs(ScreenPart):
    """Writes the hints for the candidate at the cursor and the ranges of the weights into the scene, both of the
    present answer."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._hints: list[HintProven] = []
        self._ranges: dict[str, tuple[float, float]] = {}
        self._proven_for: tuple[SearchAnswer, int] | None = None

    def cursor_moved(self) -> None:
        self.list_painted()

    def list_painted(self) -> None:
        """Starts the proofs anew after a rest, unless those for this answer and item are under way already."""
        bench, state = self._bench, self._bench.state
        answer, cursor = state.answer, state.cursor
        if isinstance(answer, SearchAnswer) and not state.needs_reading:
            if self._proven_for is None or self._proven_for[0] is not answer:
                self._ranges = {}
            if self._proven_for != (answer, cursor):
                self._hints = []
                self._proven_for = (answer, cursor)
                bench.jobs.cancel(_PROOFS)
                bench.jobs.after(_REST, bench.app.pace.rest, self._prove)
        self._show()

    def _show(self) -> None:
        """Shows what was proven; ranges while the settings are those of the answer."""
        scene, answer = self._bench.scene, self._bench.state.answer
        proven = (
            answer is not None
            and answer.settings is self._bench.state.settings
            and self._proven_for is not None
            and self._proven_for[0] is answer
        )
        scene.hints, scene.ranges = self._hints, self._ranges if proven else {}
        scene.proving = self._bench.jobs.waits(_REST) or self._bench.jobs.runs(_PROOFS)

    def _prove(self) -> None:
        self._bench.jobs.start(self._run(), _PROOFS)

    async def _run(self) -> None:
        if self._proven_for is None:
            return
        (answer, row), known, unwanted = self._proven_for, frozenset(self._ranges), threading.Event()
        bench, prover = self._bench, self._bench.app.prover

        def prove() -> None:
            for proof in what_ifs(answer, row, known):
                if unwanted.is_set() or prover.closing.is_set():
                    return
                bench.post_message(proof)

        try:
            await prover.run(prove)
        finally:
            unwanted.set()

    def told(self, message: PartMessage) -> None:
        if isinstance(message, RangeProven) and message.answer is self._bench.state.answer:
            self._ranges[message.signal] = (message.low, message.high)
            self._show()
            self._bench.paint_knobs()
        elif isinstance(message, HintProven) and self._proven_for == (message.answer, message.row):
            self._hints.append(message)
            self._show()
            self._bench.paint_page()

    def job_ended(self, group: str) -> None:
        if group == _PROOFS:
            self._show()
            self._bench.paint_page()
