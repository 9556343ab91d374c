"""Overrules decisions by key: pins, excludes or boosts the item at the cursor, remembers it as preferred, and
takes typed values of the budget and of any knob."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial, partialmethod

from secateur import directories
from secateur.errors import SecateurError
from secateur.kinds.knobs import Knob, typed
from secateur.kinds.steering import Steer
from secateur.remembered.preferences import HALF_LIFE, PreferenceStore
from secateur.settings import Settings, with_values
from secateur.terminal import visible
from textual.widget import Widget

from secateur_tui.pages.search import SearchPage
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.history import WrittenFile
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets.dialogue import AskPage

STEP = 10
"""Tokens of the finest step of the budget by key; any number can be typed."""


class Steering(ScreenPart):
    """See the module docstring. Undo takes all of it back, what is remembered on disk too."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._added: dict[str, WrittenFile] = {}  # by preferred symbol
        self._before_knobs: Widget | None = None  # where the keys were before all knobs were shown
        self._known_before: set[str] | None = None  # what was preferred before a key switched the preference on

    def no_pin(self) -> str:
        return "" if self._bench.app.stop is not None else self._not_steered(Steer.PIN)

    def no_prefer(self) -> str:
        if not isinstance(self._bench.kind_page, SearchPage):
            return "only a candidate of a search is preferred"
        return "" if self._bench.state.entry else "there is no candidate"

    # --- items ---

    def _try_steer(self, how: Steer) -> Settings | str:
        """Returns the settings that steer the item at the cursor, or no longer steer it; or the reason why not."""
        state = self._bench.state
        if state.answer is None or not state.listed:
            return "there is no answer yet"
        outcome, entry_number = state.answer.outcome, state.entry_number  # in a burst of keys the outcome before them
        if entry_number is None:
            return f"nothing here is {how.value}"
        return state.kind_page.kind.steer(outcome, entry_number, state.settings, how)

    def _not_steered(self, how: Steer) -> str:
        steered = self._try_steer(how)
        return steered if isinstance(steered, str) else ""

    def _steer(self, how: Steer) -> None:
        if how is Steer.PIN and self._bench.app.stop is not None:  # of a recording it is the next stop
            self._bench.app.replay(1)
            return
        settings = self._try_steer(how)
        if isinstance(settings, Settings):
            factor = settings.boosts.get(self._bench.state.entry, 1.0)
            self._bench.attempt(settings)
            if how in (Steer.BOOST, Steer.DAMP):
                self._bench.app.say(f"priority × {factor:g}: {visible(self._bench.state.entry)}")

    do_pin, do_exclude = partialmethod(_steer, Steer.PIN), partialmethod(_steer, Steer.EXCLUDE)
    do_boost, do_damp = partialmethod(_steer, Steer.BOOST), partialmethod(_steer, Steer.DAMP)
    no_exclude, no_boost = partialmethod(_not_steered, Steer.EXCLUDE), partialmethod(_not_steered, Steer.BOOST)
    no_damp = partialmethod(_not_steered, Steer.DAMP)

    def do_prefer(self) -> None:
        """Remembers the candidate at the cursor as preferred in this repository, or no longer."""
        bench, page = self._bench, self._bench.kind_page
        assert isinstance(page, SearchPage)
        symbol, settings = bench.state.entry, bench.state.settings
        try:
            root = page.outside.folder_of(page.path)
            store = PreferenceStore(directories.config_dir(bench.app.environ), root, time.time)
            known = store.values()
            if symbol in known:
                file = self._forget_preferred(store, symbol)
                message = f"no longer preferred here: {symbol}"
                if set(known) - {symbol} == self._known_before and settings.preference.enabled:
                    settings, self._known_before = with_values(settings, {"preference.enabled": False}), None
            else:
                file, _ = WrittenFile.by(store.path, partial(store.add, symbol, 1.0))
                self._added[symbol] = file
                message = f"preferred here, half in {HALF_LIFE} days: {symbol}"
                if not settings.preference.enabled:
                    settings, self._known_before = with_values(settings, {"preference.enabled": True}), set(known)
        except SecateurError as error:
            bench.app.say(error.message)
            return
        bench.app.say(message)
        again = settings == bench.state.settings
        bench.change(settings, file)
        if again:
            bench.read_again()

    def _forget_preferred(self, store: PreferenceStore, symbol: str) -> WrittenFile:
        """Forgets a symbol; where it was the last that was added here, the file is again what it was before."""
        added = self._added.pop(symbol, None)

        def forget() -> None:
            if added is None or not added.put(back=True):
                store.remove(symbol)

        file, _ = WrittenFile.by(store.path, forget)
        return file

    # --- values ---

    def _step(self, by: int) -> None:
        self._bench.change_budget(self._bench.state.budget + by)

    do_budget_step_up, do_budget_step_down = partialmethod(_step, STEP), partialmethod(_step, -STEP)

    @property
    def _knob(self) -> Knob:
        """The knob whose value is typed: the chosen knob if the panel has the focus, else the budget."""
        panel = self._bench.knobs
        return panel.chosen if panel.has_focus else self._bench.kind_page.kind.budget

    def do_type(self) -> None:
        knob, settings = self._knob, self._bench.state.settings
        if knob == self._bench.kind_page.kind.budget:
            settings = knob.put(settings, self._bench.state.budget)
        draw, check = partial(self._draw_value, knob, settings), partial(typed, knob, settings=settings)
        page = AskPage(knob.label.capitalize(), draw, knob.text(settings), replaced=True, check=check)
        self._bench.ask(page, lambda text: self._bench.change(typed(knob, text, settings)))

    def _draw_value(self, knob: Knob, settings: Settings, cells: int, text: str) -> Sequence[Line]:
        try:
            value = knob.text(typed(knob, text, settings))
        except SecateurError as error:
            words = wrap_words(visible(error.message), cells, "error")
            return [*words, *wrap_words(visible(error.hint), cells, "faint")]
        return [line(Span(f"{knob.label} {value}", "accent"))]

    def do_all_knobs(self) -> None:
        """Goes to the knobs to show all of them, and back to where the keys were before to show fewer."""
        bench, knobs = self._bench, self._bench.knobs
        knobs.toggle_all()
        if knobs.has_class("-all"):
            self._before_knobs = bench.focused
            bench.open_knobs()
        elif self._before_knobs is not knobs and knobs.has_focus:
            bench.go_home()
