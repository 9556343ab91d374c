"""A bench that proves, on a thread while the user rests, what would change a decision and within which range a weight
changes none."""

from __future__ import annotations

import threading

from secateur.scenarios.opened_scenario import OpenedScenario
from textual import on
from textual.timer import Timer
from textual.worker import Worker

from secateur_tui.benches.scenario_bench import ScenarioBench
from secateur_tui.benches.what_ifs import what_ifs
from secateur_tui.messages import HintProven, RangeProven
from secateur_tui.state.search_state import SearchAnswer, SearchState


class WhatIfBench(ScenarioBench):
    """Holds `hints` for the candidate at the cursor, and `ranges` of the signals, both of the present answer."""

    state: SearchState

    def __init__(self, opened: OpenedScenario | None = None) -> None:
        super().__init__(opened)
        self.hints: list[HintProven] = []
        self._ranges: dict[str, tuple[float, float]] = {}
        self._rest: Timer | None = None
        self._proven_for: tuple[SearchAnswer, int] | None = None

    @property
    def busy(self) -> bool:
        return self._rest is not None or super().busy

    @property
    def proving(self) -> bool:
        """Tells whether hints may still come."""
        return self._rest is not None or any(
            worker.group == "proofs" and not worker.is_finished for worker in self.workers
        )

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Ranges proven for the answer on screen; none while the settings are others."""
        answer = self.state.answer
        proven = (
            answer is not None
            and answer.settings is self.state.settings
            and self._proven_for is not None
            and self._proven_for[0] is answer
        )
        return self._ranges if proven else {}

    def cursor_moved(self) -> None:
        self.prove_after_rest()

    def prove_after_rest(self) -> None:
        """Starts the proofs anew after a rest, unless those for this answer and item are under way already."""
        answer, cursor = self.state.answer, self.state.cursor
        if answer is None or self.state.needs_pool:
            return
        if self._proven_for is None or self._proven_for[0] is not answer:
            self._ranges = {}
        if self._proven_for != (answer, cursor):
            self.hints = []
            self._proven_for = (answer, cursor)
            self.workers.cancel_group(self, "proofs")
            if self._rest is not None:
                self._rest.stop()
            self._rest = self.set_timer(self.app.pace.rest, self._prove)

    def _prove(self) -> None:
        self._rest = None
        self.run_worker(self._run_proofs(), group="proofs", exclusive=True)

    async def _run_proofs(self) -> None:
        if self._proven_for is None:
            return
        (answer, row), known, unwanted = self._proven_for, frozenset(self._ranges), threading.Event()

        def prove() -> None:
            for proof in what_ifs(answer, row, known):
                if unwanted.is_set() or self.app.prover.closing.is_set():
                    return
                self.post_message(proof)

        try:
            await self.app.prover.run(prove)
        finally:
            unwanted.set()

    @on(RangeProven)
    def _range_proven(self, event: RangeProven) -> None:
        if event.answer is self.state.answer:
            self._ranges[event.signal] = (event.low, event.high)
            self.paint_knobs()

    @on(HintProven)
    def _hint_proven(self, event: HintProven) -> None:
        if self._proven_for == (event.answer, event.row):
            self.hints.append(event)
            self.paint_page()

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == "proofs" and event.worker.is_finished:
            self.paint_page()
