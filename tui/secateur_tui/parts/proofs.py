"""Proves, on a thread while the user rests, what would change a decision, within which range a number changes none, and
what goes out at each budget. A key applies a hint."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial, partialmethod
from typing import Any

from secateur.ledger import State
from secateur.render.proofs import NOTHING_FIXED
from secateur.settings import with_values
from secateur.what_if.trials import FIXED, TimeLimit

from secateur_tui.background import Cancelled
from secateur_tui.frame import Tab
from secateur_tui.jobs import Report
from secateur_tui.pages.kind_page import PROOFS, REST
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.answer import ShownAnswer
from secateur_tui.state.proving import Crossed, Nothing, NotKnown, Proof, ProvenCurve, Proving, Range, list_hints
from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.listing import Crossing
from secateur_tui.widgets.proof_pages import draw_curve

CURVE = "curve"  # the page of the curve


class Proofs(ScreenPart):
    """Writes hints for the item at the cursor, ranges of the knobs and the curve into the scene, all for the present
    answer."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._scene = bench.scene
        self._item: int | None = None  # looked at, among those that are tried
        self._proving: Proving | None = None
        self._awaits_hint, self._awaited_for = False, ""  # whether the first hint is applied, and the entry it is for

    do_curve = partialmethod(ScreenPart.open_page, CURVE)

    def no_next_hint(self) -> str:
        if self._scene.hints and self._scene.proven:
            return ""
        if self.state.listed and self.state.entry_number is None:
            return "no decision is made about this line"
        return self._scene.nothing or "nothing is proven yet"

    def no_hint(self) -> str:
        if self._stays and (not self._scene.hints or self._scene.chosen_hint < 0):
            return self.no_next_hint() or f"this one stays; {self.key('next-hint')} marks what would take it out"
        return "" if self._under_way and not self._scene.nothing else self.no_next_hint()

    @property
    def _stays(self) -> bool:
        answer, cursor = self.state.answer, self.state.cursor
        return answer is not None and self.state.listed and answer.state_of(cursor) is State.KEPT

    @property
    def _under_way(self) -> bool:
        return (self.state.needs_answer and self.jobs.at_work) or self._scene.proving

    @property
    def tabs(self) -> Sequence[Tab]:
        return (Tab(CURVE, "Curve", self._draw_curve),)

    # --- when ---

    def cursor_moved(self) -> None:
        self.list_painted()
        if self.bench.page == "why":  # painted before this part heard of it: with the hints of the item before
            self.bench.paint_page()

    def page_opened(self) -> None:
        if self.bench.page == CURVE and self._scene.curve is None and self._scene.proven_of is not None:
            self._start()

    def list_painted(self) -> None:
        """Starts the proofs anew after a rest, unless those for this answer and item are under way already."""
        scene, state, answer = self._scene, self.state, self.state.answer
        if answer is None or not state.listed or state.needs_reading:
            return
        item = answer.entry_number(state.cursor)
        if another := scene.proven_of is not answer:
            crossed = scene.crossings
            self.state_taken()
            scene.proven_of = answer
            if crossed:  # painted just now, and of the answer before
                self.bench.paint_list()
        if another or self._item != item:
            self._item = item
            scene.hints, scene.chosen_hint, scene.nothing, scene.not_known = [], -self._stays, "", ""
            self._awaits_hint = self._awaits_hint and state.entry == self._awaited_for
            fixed = answer.reason_of(state.cursor) in FIXED and answer.state_of(state.cursor) is State.KEPT
            scene.nothing = NOTHING_FIXED if fixed else ""  # others may be pinned
            self._start()

    def _start(self) -> None:
        self.jobs.cancel(PROOFS)
        if self.app.pace.proves:
            self.jobs.after(REST, self.app.pace.rest, lambda: self.jobs.start(self._run, PROOFS))

    def state_taken(self) -> None:
        scene = self._scene
        self._item = self._proving = scene.proven_of = scene.curve = scene.trials = None
        scene.hints, scene.ranges, scene.crossings, scene.nothing = [], {}, (), ""

    # --- proving ---

    async def _run(self) -> None:
        prover, unwanted, state, item, scene = self.app.prover, threading.Event(), self.state, self._item, self._scene
        if (answer := scene.proven_of) is None or answer is not state.answer:
            return
        curve = self.bench.page == CURVE or scene.curve is not None

        def ended() -> bool:
            return unwanted.is_set() or prover.closing.is_set()

        def stop(*_report: object) -> None:
            self.app.courtesy.wait(ended)
            if ended():
                raise Cancelled

        def prove() -> None:
            if (proving := self._proving) is None:
                if (trials := self.kind_page.trials(state)) is None or answer is not state.answer:
                    return
                proving = Proving(trials)
                if answer is scene.proven_of:
                    self._proving = proving
            proving.stop, proving.limit = stop, TimeLimit(self.app.pace.proof)
            with suppress(Cancelled):
                for proof in proving.proofs(item, curve=curve):
                    stop()
                    self.bench.post_message(Report(partial(self._take, answer, proof)))

        try:
            await prover.run(prove)
        finally:
            unwanted.set()

    def _take(self, answer: ShownAnswer[Any], proof: Proof) -> None:
        scene, bench, proving = self._scene, self.bench, self._proving
        if answer is not scene.proven_of or proving is None:
            return
        scene.trials = proving.trials
        if isinstance(proof, Crossed):
            crossings = []
            for step in proof.steps:
                items = step.others.gains, step.others.loses
                gains, loses = ([answer.called(item) for item in each] for each in items)
                crossings.append(Crossing(int(step.value) - proving.trials.budget, gains, loses))
            scene.crossings = crossings
            bench.paint_list()
            return
        if isinstance(proof, Range):
            scene.ranges = {**scene.ranges, proof.name: (proof.low, proof.high)}
        elif isinstance(proof, ProvenCurve):
            scene.curve = proof
        elif isinstance(proof, NotKnown):
            scene.not_known = proof.within
        elif proof.item != self._item:
            return
        elif isinstance(proof, Nothing):
            scene.nothing = proof.why
        elif proof not in scene.hints:
            # It is inserted by its cost; one that the user marked stays marked, unless it is no longer listed.
            first = 0 if proof.gains else -1
            marked = scene.hints[scene.chosen_hint] if scene.chosen_hint > first else None
            scene.hints = list_hints([*scene.hints, proof])
            scene.chosen_hint = scene.hints.index(marked) if marked in scene.hints else first
        if isinstance(proof, Range | NotKnown):
            bench.paint_knobs()
        else:
            bench.paint_page()
        if self._awaits_hint and (scene.hints or scene.nothing):
            self._apply_awaited()

    def _apply_awaited(self) -> None:
        self._awaits_hint = False
        if self.state.entry == self._awaited_for:
            self.bench.action_do("hint")

    def job_ended(self, group: str) -> None:
        if group == PROOFS:
            self.bench.paint_page()
            self.bench.paint_knobs()
            if self._awaits_hint and not self._under_way:
                self._apply_awaited()

    def _draw_curve(self, cells: int) -> Sequence[Line]:
        if not self.state.listed:
            return []
        if self._scene.curve is None:
            words = "deciding at other budgets …" if self._scene.proving else "nothing can be decided again"
            return [line(Span(words, "faint"))]
        return draw_curve(self._scene.curve, cells)

    # --- applying ---

    def do_next_hint(self) -> None:
        self._scene.chosen_hint = (self._scene.chosen_hint + 1) % len(self._scene.hints)
        self.bench.paint_page()

    def do_hint(self) -> None:
        state, scene = self.state, self._scene
        if not (scene.hints and scene.proven):  # it is applied as soon as it is proven
            self._awaits_hint, self._awaited_for = True, state.entry
            return
        hint = scene.hints[scene.chosen_hint]
        assert self._proving is not None
        settings = with_values(state.settings, self._proving.trials.changes(hint.lever.name, hint.lever.value))
        if hint.gains:
            state.hinted = state.entry, settings
        self.bench.change(settings)
