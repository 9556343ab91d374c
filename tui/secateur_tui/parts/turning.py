"""Turns knobs, overrules decisions on items (pin, exclude, boost, hold), and undoes and redoes all of it."""

from collections.abc import Mapping, Sequence
from functools import partial, partialmethod
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.knobs import Knob, ProfileKnob, Steer, further_knobs, round_step, typed
from secateur.settings import Settings, installed_keys, lookup
from secateur.terminal import visible
from textual.widget import Widget

from secateur_tui.jobs import KnobClicked
from secateur_tui.pages.kind_page import KindPage
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.answer import SearchAnswer
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets.dialogue import AskPage


class Turning(ScreenPart):
    """The actions of the groups "Turn" and "Steer", undo and redo."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._left: dict[str, float] = {}  # by knob the value between two steps that a step left last
        self._before_knobs: Widget | None = None  # where the keys were before all knobs were shown

    def state_taken(self) -> None:
        self._left.clear()

    # --- knobs ---

    @property
    def _knob(self) -> Knob:
        return self.bench.knobs.chosen

    def do_weights(self) -> None:
        self.bench.open_knobs()

    def do_all_knobs(self) -> None:
        """Goes to the knobs to show all of them, and back to where the keys were before to show fewer."""
        bench, knobs = self.bench, self.bench.knobs
        knobs.toggle_all()
        if knobs.has_class("-all"):
            self._before_knobs = bench.focused
            bench.open_knobs()
        elif self._before_knobs is not knobs and knobs.has_focus:
            bench.go_home()

    def knob_clicked(self, event: KnobClicked) -> None:
        if event.value is not None:
            self.bench.change(event.knob.near(self.state.settings, event.value))
        else:
            self._turn_knob(event.knob, event.direction)

    def _turn(self, direction: int, *, fine: bool = False) -> None:
        knob = self._knob
        if fine:
            self.bench.change(knob.turned(self.state.settings, direction, fine=True))
        elif knob == self.kind.budget:
            self._turn_budget(direction)
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
        self.bench.change_budget(int(self._end_step(self.kind.budget, before, after, round_step(after, -direction))))

    def _end_step(self, knob: Knob, before: float, after: float, back: float) -> float:
        """Returns where a step ends, so that there and back lead to the same number: at one between two steps that was
        left, or at `after`. `back`: where a step back from there would lead."""
        left = self._left.get(knob.key, before)
        if min(before, after) < left < max(before, after):
            return left
        if back != before:
            self._left[knob.key] = before
        return after

    do_tune_up, do_tune_down = partialmethod(_turn, 1), partialmethod(_turn, -1)
    do_tune_up_fine, do_tune_down_fine = partialmethod(_turn, 1, fine=True), partialmethod(_turn, -1, fine=True)
    do_budget_up, do_budget_down = partialmethod(_turn_budget, 1), partialmethod(_turn_budget, -1)

    def no_mute(self) -> str:
        return "" if self._knob.mutable else f"{self._knob.label} has no 0"

    def do_mute(self) -> None:
        self.bench.change(self._knob.put(self.state.settings, 0.0))

    def do_reset(self) -> None:
        self.bench.change(self._knob.put(self.state.settings, self._knob.value(self.state.opened)))

    def no_strategy(self) -> str:
        return "it has only one value" if self.kind.strategy is None else ""

    def do_strategy(self) -> None:
        if self.kind.strategy is not None:
            self.bench.change(self.kind.strategy.turned(self.state.settings, 1))

    def do_profile(self) -> None:
        self.bench.change(ProfileKnob().turned(self.state.settings, 1))

    def do_type(self) -> None:
        """Asks for the value of the chosen knob if the panel has the focus, else for the budget."""
        knob, settings = self._knob if self.bench.knobs.has_focus else self.kind.budget, self.state.settings
        if knob == self.kind.budget:
            settings = knob.put(settings, self.state.budget)

        def draw(cells: int, text: str) -> Sequence[Line]:
            try:
                value = knob.text(typed(knob, text, settings))
            except SecateurError as error:
                words = wrap_words(visible(error.message), cells, "error")
                return [*words, *wrap_words(visible(error.hint), cells, "faint")]
            return [line(Span(f"{knob.label} {value}", "accent"))]

        check = partial(typed, knob, settings=settings)
        page = AskPage(knob.label.capitalize(), draw, knob.text(settings), replaced=True, check=check)
        self.bench.ask(page, lambda text: self.bench.change(typed(knob, text, settings)))

    # --- items ---

    def _try(self, how: Steer | None) -> Settings | str:
        """Returns the settings that steer the item at the cursor, or hold it (None), or no longer do; or why not."""
        state = self.state
        if how is None and isinstance(state.answer, SearchAnswer):
            return "nothing in this list can be pinned"
        if state.answer is None or not state.listed:
            return "nothing is open yet" if how is None else "there is no answer yet"
        outcome, entry_number = state.answer.outcome, state.entry_number  # in a burst of keys the outcome before them
        if how is None:
            last = len(outcome.ledger.entries)  # no entry: the kind says that it holds nothing of this number
            return self.kind.hold(outcome, last if entry_number is None else entry_number, state.settings)
        if entry_number is None:
            return f"nothing here can be {how.value}"
        return self.kind.steer(outcome, entry_number, state.settings, how)

    def _not_steered(self, how: Steer | None) -> str:
        if how is Steer.PIN and self.app.stop is not None:  # of a recording it is the next stop
            return ""
        steered = self._try(how)
        return steered if isinstance(steered, str) else ""

    def _steer(self, how: Steer | None) -> None:
        if how is Steer.PIN and self.app.stop is not None:
            self.app.replay(1)
        elif isinstance(settings := self._try(how), Settings):
            entry = self.state.entry
            self.bench.attempt(settings)
            if how in (Steer.BOOST, Steer.DAMP):
                self.app.say(f"priority × {settings.boosts.get(entry, 1.0):g}: {visible(entry)}")

    do_pin, do_exclude = partialmethod(_steer, Steer.PIN), partialmethod(_steer, Steer.EXCLUDE)
    do_boost, do_damp = partialmethod(_steer, Steer.BOOST), partialmethod(_steer, Steer.DAMP)
    no_pin, no_exclude = partialmethod(_not_steered, Steer.PIN), partialmethod(_not_steered, Steer.EXCLUDE)
    no_boost, no_damp = partialmethod(_not_steered, Steer.BOOST), partialmethod(_not_steered, Steer.DAMP)
    do_hold, no_hold = partialmethod(_steer, None), partialmethod(_not_steered, None)

    # --- undo and redo ---

    def no_undo(self) -> str:
        return "" if self.state.history.can_undo else "nothing was changed"

    def no_redo(self) -> str:
        return "" if self.state.history.can_redo else "nothing was taken back"

    def _step(self, verb: str, *, back: bool) -> None:
        state, before = self.state, self.state.settings
        file = state.history.files.get(state.history.place + (not back))
        if not (state.undo() if back else state.redo()):
            return
        change = describe_change(self.kind_page, before, state.settings)
        if file is not None:
            try:
                outcome = "" if file.put(back=back) else " was changed since, and stays as it is"
            except SecateurError as error:
                outcome = f" stays as it is: {error.message}"
            change = ", ".join(filter(None, (change, f"{file.path.name}{outcome}")))
        self.bench.settings_changed()
        if file is not None:
            self.bench.read_again()
        self.app.say(f"{verb}: {change}")

    do_undo, do_redo = partialmethod(_step, "undone", back=True), partialmethod(_step, "done again", back=False)


# Prefixes of keys that cannot be tuned in the inspector.
_NOT_TUNED = ("profiles", "kinds", "ui.", "llm.", "embedding.", "index.", "graph_rag.cache_")

NAMED_CHANGES = 3  # changes of settings that are named; the rest is counted


def describe_change(page: KindPage[Any, Any], before: Settings, after: Settings) -> str:
    """Returns what differs between two settings, in words: "budget 5,000 → 4,000"."""
    if before.profile != after.profile:
        return f"profile {before.profile} → {after.profile}"
    shown = page.knobs_of(after)
    knobs = {knob.key: knob for knob in (*further_knobs(shown, page.kind.deciding_keys), *shown, page.kind.budget)}
    words = []
    for name in installed_keys():
        was, now = lookup(before, name), lookup(after, name)
        if name.startswith(_NOT_TUNED) or was == now:
            continue
        knob = knobs.get(name)
        known = f"{knob.label} {knob.text(before)} → {knob.text(after)}" if knob is not None else ""
        words.append(known or f"{name.replace('.', ' ').replace('_', ' ')} {', '.join(_describe_value(was, now))}")
    more = f" and {len(words) - NAMED_CHANGES} more" if len(words) > NAMED_CHANGES else ""
    return ", ".join(words[:NAMED_CHANGES]) + more


def _describe_value(before: object, after: object) -> list[str]:
    if isinstance(before, tuple) and isinstance(after, tuple):
        gone = [f"−{value}" for value in before if value not in after]
        return gone + [f"+{value}" for value in after if value not in before]
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        return [f"{key} {before.get(key, '·')} → {after.get(key, '·')}" for key in changed]
    if isinstance(after, bool):
        return ["off → on" if after else "on → off"]
    return [f"{before} → {after}"]
