"""Turns knobs, and undoes and redoes changes of settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partialmethod
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.knobs import Knob, ProfileKnob, further_knobs, round_step
from secateur.settings import Settings, installed_keys, lookup

from secateur_tui.messages import KnobClicked
from secateur_tui.pages.kind_page import KindPage
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.search_answer import SearchAnswer


class Tuning(ScreenPart):
    """The actions of the group "Turn", undo and redo."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._left: dict[str, float] = {}  # by knob the value between two steps that a step left last

    def no_undo(self) -> str:
        return "" if self.state.history.can_undo else "nothing was changed"

    def no_redo(self) -> str:
        return "" if self.state.history.can_redo else "nothing was taken back"

    def no_mute(self) -> str:
        return "" if self._knob.mutable else f"{self._knob.label} has no 0"

    def no_strategy(self) -> str:
        return "there is one way only" if self.kind.strategy is None else ""

    def no_hold(self) -> str:
        held = self._try_hold()
        return held if isinstance(held, str) else ""

    def do_weights(self) -> None:
        self.bench.open_knobs()

    @property
    def _knob(self) -> Knob:
        return self.bench.knobs.chosen

    def knob_clicked(self, event: KnobClicked) -> None:
        if event.value is not None:
            self.bench.change(event.knob.near(self.state.settings, event.value))
        else:
            self._turn_knob(event.knob, event.direction)

    def state_taken(self) -> None:
        self._left.clear()

    def _turn(self, direction: int, *, fine: bool = False) -> None:
        knob = self._knob
        if knob == self.kind.budget and not fine:
            self._turn_budget(direction)
        elif fine:
            self.bench.change(knob.turned(self.state.settings, direction, fine=True))
        else:
            self._turn_knob(knob, direction)

    def _turn_knob(self, knob: Knob, direction: int) -> None:
        settings = self.state.settings
        turned = knob.turned(settings, direction)
        before, after, back = (knob.value(each) for each in (settings, turned, knob.turned(turned, -direction)))
        if not isinstance(before, str | bool):
            turned = knob.put(settings, self._end_step(knob, before, float(after), float(back)))
        self.bench.change(turned)

    def _turn_budget(self, direction: int) -> None:
        before = self.state.budget
        after = round_step(before, direction)
        budget = self.kind.budget
        self.bench.change_budget(int(self._end_step(budget, before, after, round_step(after, -direction))))

    def _end_step(self, knob: Knob, before: float, after: float, back: float) -> float:
        """Returns where a step ends, so that there and back lead to the same number: at one between two steps that was
        left, or at `after`. `back`: where a step back from there would lead."""
        left = self._left.get(knob.key, before)
        if min(before, after) < left < max(before, after):
            return left
        if back != before:
            self._left[knob.key] = before
        return after

    def do_mute(self) -> None:
        self.bench.change(self._knob.put(self.state.settings, 0.0))

    def do_reset(self) -> None:
        state = self.state
        self.bench.change(self._knob.put(state.settings, self._knob.value(state.opened)))

    def do_strategy(self) -> None:
        strategy = self.kind.strategy
        if strategy is not None:
            self.bench.change(strategy.turned(self.state.settings, 1))

    def do_profile(self) -> None:
        self.bench.change(ProfileKnob().turned(self.state.settings, 1))

    def _try_hold(self) -> Settings | str:
        """Returns the settings that hold the item at the cursor, or no longer hold it; or the reason why not."""
        state = self.state
        if isinstance(state.answer, SearchAnswer):
            return "nothing in this list is held"
        if state.answer is None or not state.listed:
            return "nothing is open yet"
        outcome, entry_number = state.answer.outcome, state.entry_number
        last = len(outcome.ledger.entries)  # no entry: the kind says that it holds nothing of this number
        return state.kind_page.kind.hold(outcome, last if entry_number is None else entry_number, state.settings)

    def do_hold(self) -> None:
        held = self._try_hold()
        if not isinstance(held, str):
            self.bench.attempt(held)

    def _step(self, verb: str, *, back: bool) -> None:
        bench, state = self.bench, self.state
        history, before = state.history, state.settings
        file = history.files.get(history.place + (not back))
        if not (state.undo() if back else state.redo()):
            return
        change = describe_change(bench.kind_page, before, state.settings)
        if file is not None:
            try:
                outcome = "" if file.put(back=back) else " was changed since, and stays as it is"
            except SecateurError as error:
                outcome = f" stays as it is: {error.message}"
            change = ", ".join(filter(None, (change, f"{file.path.name}{outcome}")))
            bench.settings_changed()
            bench.read_again()
        else:
            bench.settings_changed()
        bench.app.say(f"{verb}: {change}")

    do_undo, do_redo = partialmethod(_step, "undone", back=True), partialmethod(_step, "done again", back=False)
    do_tune_up, do_tune_down = partialmethod(_turn, 1), partialmethod(_turn, -1)
    do_tune_up_fine, do_tune_down_fine = partialmethod(_turn, 1, fine=True), partialmethod(_turn, -1, fine=True)
    do_budget_up, do_budget_down = partialmethod(_turn_budget, 1), partialmethod(_turn_budget, -1)


_NOT_TUNED = ("profiles", "kinds", "ui.", "llm.", "embedding.", "index.", "graph_rag.cache_")
"""Prefixes of keys that cannot be tuned in the inspector."""

NAMED_CHANGES = 3
"""Changes of settings that are named; the rest is counted."""


def describe_change(page: KindPage[Any, Any], before: Settings, after: Settings) -> str:
    """Returns what differs between two settings, in words: "budget 5,000 → 4,000"."""
    if before.profile != after.profile:
        return f"profile {before.profile} → {after.profile}"
    shown = page.knobs_of(after)
    knobs = {knob.key: knob for knob in (*further_knobs(shown, page.kind.deciding_keys), *shown, page.kind.budget)}
    words = []
    for name in installed_keys():
        if name.startswith(_NOT_TUNED) or lookup(before, name) == lookup(after, name):
            continue
        if name in knobs:
            words.append(f"{knobs[name].label} {knobs[name].text(before)} → {knobs[name].text(after)}")
        else:
            words.append(_describe_value(name, lookup(before, name), lookup(after, name)))
    more = f" and {len(words) - NAMED_CHANGES} more" if len(words) > NAMED_CHANGES else ""
    return ", ".join(words[:NAMED_CHANGES]) + more


def _describe_value(name: str, before: object, after: object) -> str:
    if isinstance(before, tuple) and isinstance(after, tuple):
        parts = [f"−{value}" for value in before if value not in after]
        parts += [f"+{value}" for value in after if value not in before]
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        keys = [*before, *(key for key in after if key not in before)]
        changed = [key for key in keys if before.get(key) != after.get(key)]
        parts = [f"{key} {before.get(key, '·')} → {after.get(key, '·')}" for key in changed]
    elif isinstance(after, bool):
        parts = ["off → on" if after else "on → off"]
    else:
        parts = [f"{before} → {after}"]
    return f"{name.replace('.', ' ').replace('_', ' ')} {', '.join(parts)}"
