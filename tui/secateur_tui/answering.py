"""Reads what is asked and decides on it: the slow phase on the engine's thread, the other wherever it belongs.

Reading happens once. Every turn of a knob decides again: at once where a decision is instant, else on the engine's
thread, so that no decision blocks the screen. While a decision takes longer than a moment the old answer is dimmed;
knobs turned meanwhile are collected, and only the last settings are decided next. The answer to an older question is
dimmed and never painted as the answer to a newer one. While all that may be asked is being prepared, an answer from a
part of it is shown as such, and the whole one takes its place.
"""

import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from secateur.errors import SecateurError
from secateur.progress import Progress

from secateur_tui.background import Cancelled, suspend_collection
from secateur_tui.host import Pace
from secateur_tui.jobs import DEBOUNCE, ENGINE
from secateur_tui.pages.kind_page import KindPage, Scene
from secateur_tui.state.answer import ShownAnswer
from secateur_tui.state.bench_state import BenchState, Reading, Request

# Seconds a decision may take before the old one is dimmed: below it a screen seems to answer at once, and dimming would
# flicker.
PATIENCE = 0.1

# The factor by which a pause in a path is longer than one in a query, because half a path may name a large folder.
READING_PAUSE = 5

_PATIENCE = "patience"


class Answering:
    """Brings the answer up to what is wanted. `paint` paints the screen from the state.

    Attributes:
        stale: what has changed since it was read, for people: "3 files changed".
        took: seconds that the last answer took, with what was read for it.
    """

    def __init__(self, scene: Scene, pace: Callable[[], Pace], paint: Callable[[], None]) -> None:
        self._scene, self._jobs, self._pace, self._paint = scene, scene.jobs, pace, paint
        self.stale, self.took = "", 0.0
        self._reads: Hashable = None  # the key of what is being read; None: nothing
        self._late = False  # whether an answer is awaited longer than a moment

    @property
    def outdated(self) -> bool:
        """Tells whether the answer on screen belongs to an older question and is dimmed."""
        state = self._scene.state
        if state.kind_page.instant or state.answer_to_inputs is None:
            return state.needs_reading
        return self._late and state.needs_answer

    def forget(self) -> None:
        """The state was replaced by another one."""
        self._reads, self._late = None, False
        self._jobs.stop(DEBOUNCE)
        self._jobs.stop(_PATIENCE)

    def asked_in_typing(self) -> None:
        """Asks once the typing pauses."""
        self._jobs.error = None
        self._paint()
        self._jobs.after(
            DEBOUNCE, self._pace().debounce * (1 if self._scene.state.kind_page.instant else READING_PAUSE), self.answer
        )

    def decide(self) -> None:
        """Decides under changed settings."""
        state = self._scene.state
        if not state.kind_page.instant:
            self.answer()
            return
        if state.needs_reading:
            self._jobs.error = None
            self._jobs.after(DEBOUNCE, self._pace().debounce, self.answer)
        else:
            self._decide_at_once(state)
        self._paint()

    def answer(self, again: bool = False) -> None:
        """Starts a job where one is needed. While the wanted material is being read no new job starts: the running one
        decides under the latest settings."""
        state = self._scene.state
        self._jobs.stop(DEBOUNCE)
        reads = self._reads is not None and state.kind_page.serves(self._reads, state.key)
        if again or not state.kind_page.prepared or (state.needs_answer and not reads):
            self._jobs.start(partial(self._serve, again), ENGINE)
        self._paint()

    def cancel(self, hint: str) -> bool:
        """Ends the first reading of what takes long to read; returns whether one was under way. `hint`: what the user
        can do then."""
        state, jobs = self._scene.state, self._jobs
        page = state.kind_page
        if page.instant or state.answer is not None or jobs.activity != page.reading:
            return False
        jobs.reset()
        self._reads, self._late = None, False
        jobs.stop(_PATIENCE)
        jobs.error = SecateurError(f"{page.reading} {state.question} was cancelled", hint=hint)
        self._paint()
        return True

    def _act(self, activity: str) -> None:
        self._jobs.activity, self._jobs.error = activity, None
        self._paint()

    async def _serve(self, again: bool) -> None:
        """Reads what is missing, then decides. A newer job cancels this one."""
        jobs, state = self._jobs, self._scene.state
        page = state.kind_page
        jobs.number += 1
        job, start = jobs.number, time.perf_counter()
        progress = jobs.reporting(job)
        if not page.instant and not jobs.waits(_PATIENCE):
            jobs.after(_PATIENCE, PATIENCE, self._be_late, matters=False)
        try:
            self._reads = None
            if page.preparing and (again or not page.prepared):
                self._act(page.preparing)
                if state.needs_reading:
                    inputs, settings, key = dict(state.inputs), state.settings, state.key
                    part = await jobs.run(lambda: page.read_part(inputs, settings, jobs.report), between=True)
                    if part is not None:
                        state.read(Reading(key, part))
                        self._decide_at_once(state)
                        self._paint()
                await jobs.run(partial(page.prepare, jobs.report_giving_way))
                jobs.progress, self.stale = None, ""
            if state.asks and (again or state.needs_reading):
                self._act(page.reading)
                inputs, settings, key = dict(state.inputs), state.settings, state.key
                page.start_watching(inputs)
                self._reads = key
                read = suspend_collection()(partial(page.read, inputs, settings, progress))
                state.read(Reading(key, await jobs.run(read)))
                self._reads, jobs.progress, self.stale = None, None, ""
                self._paint()
            if state.reading is not None and not state.needs_reading and state.needs_answer:
                if page.instant:
                    self._decide_at_once(state)
                else:
                    asked, material, then = state.wanted, state.reading.material, state.baseline
                    answer = await jobs.run(partial(_decide_quietly, page, material, asked, then, progress))
                    state.accept(asked, answer)
        except SecateurError as error:
            if job == jobs.number:
                if not page.instant:
                    state.forget()
                jobs.error = error
        except Cancelled:
            return
        if job == jobs.number:  # a job that was cancelled leaves this to the one that took its place
            jobs.activity, jobs.progress, self._reads, self._late = "", None, None, False
            self.took = time.perf_counter() - start
            jobs.stop(_PATIENCE)
            self._paint()

    def _decide_at_once(self, state: BenchState[Any]) -> None:
        if state.asks and state.reading is not None:
            material, inputs = state.reading.material, dict(state.inputs)
            state.accept(state.wanted, state.kind_page.decide(material, inputs, state.settings))

    def _be_late(self) -> None:
        self._late = True
        self._jobs.activity = self._jobs.activity or "deciding"
        self._paint()


@suspend_collection()
def _decide_quietly(
    page: KindPage[Any, Any], material: Any, asked: Request, baseline: ShownAnswer[Any] | None, progress: Progress
) -> ShownAnswer[Any] | SecateurError:
    try:
        answer: ShownAnswer[Any] = page.decide(material, dict(asked.inputs), asked.settings, progress)
        page.prepare_answer(answer, baseline)
        return answer
    except SecateurError as error:
        return error
