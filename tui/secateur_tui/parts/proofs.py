"""Proves, on a thread while the user rests, what would change a decision, within which range a number changes none, and
what goes out against the budget. A key applies a hint."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial, partialmethod
from typing import Any

from secateur.ledger import State
from secateur.render.proofs import NOTHING_FIXED
from secateur.settings import with_values
from secateur.what_if.levers import Lever
from secateur.what_if.trials import FIXED, TimeLimit

from secateur_tui.background import Cancelled
from secateur_tui.frame import Tab
from secateur_tui.messages import Report
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.answer import Answer
from secateur_tui.state.proving import (
    Crossed,
    Nothing,
    NotKnown,
    Proof,
    ProvenCurve,
    ProvenHint,
    Proving,
    Range,
    list_hints,
)
from secateur_tui.styled_text import Line, Span, line
from secateur_tui.widgets.listing import Crossing
from secateur_tui.widgets.proof_pages import draw_curve

CURVE = "curve"
"""The page of the curve."""

_REST, _PROOFS = "rest", "proofs"


class Proofs(ScreenPart):
    """Writes hints for the item at the cursor, ranges of the knobs and the curve into the scene, all for the present
    answer."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._answer: Answer[Any] | None = None  # that all below is proven of
        self._item: int | None = None  # looked at, among those that are tried
        self._proving: Proving | None = None
        self._hints: list[ProvenHint] = []
        self._chosen = 0  # the marked one
        self._awaits_hint, self._awaited_for = False, ""  # whether the first hint is applied, and the entry it is for
        self._nothing = ""
        self._not_known = ""  # the limit that ended the latest proofs, in words
        self._ranges: dict[str, tuple[float, float]] = {}
        self._curve: ProvenCurve | None = None
        self._crossings: Sequence[Crossing] = ()

    do_curve = partialmethod(ScreenPart.open_page, CURVE)

    def no_next_hint(self) -> str:
        if self._hints and self._present:
            return ""
        if self.state.listed and self.state.entry_number is None:
            return "nothing is decided about this line"
        return self._nothing or "nothing is proven yet"

    def no_hint(self) -> str:
        return "" if self._under_way and not self._nothing else self.no_next_hint()

    @property
    def _proves(self) -> bool:
        return self.jobs.waits(_REST) or self.jobs.runs(_PROOFS)

    @property
    def _under_way(self) -> bool:
        return (self.state.needs_answer and self.jobs.at_work) or self._proves

    @property
    def tabs(self) -> Sequence[Tab]:
        return (Tab(CURVE, "Curve", self._draw_curve),)

    # --- when ---

    def cursor_moved(self) -> None:
        self.list_painted()
        if self.bench.page == "why":  # painted before this part heard of it: with the hints of the item before
            self.bench.paint_page()

    def page_opened(self) -> None:
        if self.bench.page == CURVE and self._curve is None and self._answer is not None:
            self._start()

    def list_painted(self) -> None:
        """Starts the proofs anew after a rest, unless those for this answer and item are under way already."""
        bench, state = self.bench, self.state
        answer = state.answer
        if answer is not None and state.listed and not state.needs_reading:
            item = self.kind_page.trial_item(answer, state.cursor)
            if self._answer is not answer:
                self._answer, self._item = answer, None
                self._proving, self._ranges, self._curve, self._crossings = None, {}, None, ()
                self._forget_hints(answer)
                if bench.scene.crossings:  # painted just now, and of the answer before
                    self._show()
                    bench.paint_list()
            if self._item != item:
                self._item = item
                self._forget_hints(answer)
        self._show()

    def _forget_hints(self, answer: Answer[Any]) -> None:
        """Drops the hints, and starts to prove others."""
        self._hints, self._chosen, self._nothing, self._not_known = [], 0, "", ""
        self._awaits_hint = self._awaits_hint and self.state.entry == self._awaited_for
        cursor = self.state.cursor
        if answer.reason_of(cursor) in FIXED and answer.state_of(cursor) is State.KEPT:  # others may be pinned
            self._nothing = NOTHING_FIXED
        self._start()

    def _start(self) -> None:
        self.jobs.cancel(_PROOFS)
        if self.app.pace.proves:
            self.jobs.after(_REST, self.app.pace.rest, lambda: self.jobs.start(self._run, _PROOFS))

    def state_taken(self) -> None:
        self._answer = self._item = self._proving = self._curve = None
        self._hints, self._ranges, self._crossings, self._nothing = [], {}, (), ""

    # --- proving ---

    async def _run(self) -> None:
        prover, unwanted, state, answer, item = self.app.prover, threading.Event(), self.state, self._answer, self._item
        if answer is None or answer is not state.answer:
            return
        curve = self.bench.page == CURVE or self._curve is not None

        def ended() -> bool:
            return unwanted.is_set() or prover.closing.is_set()

        def stop(*_report: object) -> None:
            self.app.courtesy.wait(ended)
            if ended():
                raise Cancelled

        def prove() -> None:
            proving = self._proving
            if proving is None:
                trials = self.kind_page.trials(state)
                if trials is None or answer is not state.answer:
                    return
                proving = Proving(trials)
                if answer is self._answer:
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

    def _take(self, answer: Answer[Any], proof: Proof) -> None:
        if answer is not self._answer:
            return
        if isinstance(proof, Range):
            self._ranges[proof.name] = (proof.low, proof.high)
        elif isinstance(proof, ProvenCurve):
            self._curve = proof
        elif isinstance(proof, Crossed):
            if self._proving is not None:
                self._crossings = [self._name_crossing(answer, step) for step in proof.steps]
                self._show()
                self.bench.paint_list()
            return
        elif isinstance(proof, NotKnown):
            self._not_known = proof.within
        elif proof.item != self._item:
            return
        elif isinstance(proof, Nothing):
            self._nothing = proof.why
        elif proof not in self._hints:
            # It is inserted by its cost; the marked one stays marked, unless it is the cheapest or no longer listed.
            marked = self._hints[self._chosen] if self._chosen else None
            self._hints = list_hints([*self._hints, proof])
            self._chosen = self._hints.index(marked) if marked in self._hints else 0
        self._show()
        if isinstance(proof, Range | NotKnown):
            self.bench.paint_knobs()
        else:
            self.bench.paint_page()
        if self._awaits_hint and (self._hints or self._nothing):
            self._apply_awaited()

    def _apply_awaited(self) -> None:
        self._awaits_hint = False
        if self.state.entry == self._awaited_for:
            self.bench.action_do("hint")

    def _name_crossing(self, answer: Answer[Any], step: Lever) -> Crossing:
        assert self._proving is not None
        lists = step.others.gains, step.others.loses
        gains, loses = ([self.kind_page.trial_name(answer, item) for item in items] for items in lists)
        return Crossing(int(step.value) - self._proving.trials.budget, gains, loses)

    def job_ended(self, group: str) -> None:
        if group == _PROOFS:
            self._show()
            self.bench.paint_page()
            self.bench.paint_knobs()
            if self._awaits_hint and not self._under_way:
                self._apply_awaited()

    # --- showing ---

    @property
    def _present(self) -> bool:
        state = self.state
        answer = state.answer
        return answer is not None and answer is self._answer and answer.settings is state.settings

    def _show(self) -> None:
        scene = self.bench.scene
        scene.hints, scene.chosen_hint, scene.nothing = self._hints, self._chosen, self._nothing
        scene.trials = self._proving.trials if self._proving is not None else None
        scene.ranges = self._ranges if self._present else {}
        scene.not_known = self._not_known if self._present else ""
        scene.curve = self._curve
        scene.crossings = self._crossings if self._present else ()
        scene.proving = self._proves

    def _draw_curve(self, cells: int) -> Sequence[Line]:
        if not self.state.listed:
            return []
        if self._curve is None:
            words = "deciding at other budgets …" if self.bench.scene.proving else "nothing can be decided again"
            return [line(Span(words, "faint"))]
        return draw_curve(self._curve, cells)

    # --- applying ---

    def do_next_hint(self) -> None:
        self._chosen = (self._chosen + 1) % len(self._hints)
        self._show()
        self.bench.paint_page()

    def do_hint(self) -> None:
        state = self.state
        if not (self._hints and self._present):  # it is applied as soon as it is proven
            self._awaits_hint, self._awaited_for = True, state.entry
            return
        hint = self._hints[self._chosen]
        assert self._proving is not None
        settings = with_values(state.settings, self._proving.trials.changes(hint.lever.name, hint.lever.value))
        if hint.gains:
            state.hinted = state.entry, settings
        self.bench.change(settings)
