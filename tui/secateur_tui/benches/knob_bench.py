"""A bench with knobs, undo and redo. Subclasses say what follows from other settings."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from secateur.kinds import knobs
from secateur.settings import PROFILES, Settings, with_profile

from secateur_tui.benches.bench import Bench
from secateur_tui.state.history import KnobState
from secateur_tui.widgets.knob_panel import KnobPanel


class KnobBench(Bench):
    """Does the actions of the group "Turn", undo and redo. The knobs are a `KnobPanel` with the id `knobs`."""

    state: KnobState[Any]

    @property
    @abstractmethod
    def strategy_knob(self) -> knobs.Knob | None:
        """The knob that `s` turns; None where there are no strategies."""

    @abstractmethod
    def budget_turned(self, direction: int) -> Settings:
        """Returns the settings with the next larger (1) or smaller (-1) budget."""

    @abstractmethod
    def settings_changed(self) -> None:
        """Called after the settings changed."""

    def unavailable(self, action: str) -> str:
        if action == "undo" and not self.state.history.can_undo:
            return "nothing was changed"
        if action == "redo" and not self.state.history.can_redo:
            return "nothing was taken back"
        if action == "mute" and not self._knob.mutable:
            return f"{self._knob.label} has no 0"
        if action == "strategy" and self.strategy_knob is None:
            return "there is one way only"
        return super().unavailable(action)

    @property
    def _knob(self) -> knobs.Knob:
        return self.query_one("#knobs", KnobPanel).chosen

    def change(self, settings: Settings) -> None:
        """Takes other settings and does what follows from them."""
        if self.state.change(settings):
            self.settings_changed()

    def knob_turned(self, knob: knobs.Knob, direction: int, *, fine: bool = False) -> Settings:
        """Returns the settings with a knob one step further."""
        return knob.turned(self.state.settings, direction, fine=fine)

    def do_tune_up(self) -> None:
        self.change(self.knob_turned(self._knob, 1))

    def do_tune_down(self) -> None:
        self.change(self.knob_turned(self._knob, -1))

    def do_tune_up_fine(self) -> None:
        self.change(self.knob_turned(self._knob, 1, fine=True))

    def do_tune_down_fine(self) -> None:
        self.change(self.knob_turned(self._knob, -1, fine=True))

    def do_mute(self) -> None:
        self.change(self._knob.put(self.state.settings, 0.0))

    def do_reset(self) -> None:
        self.change(self._knob.put(self.state.settings, self._knob.value(self.state.opened)))

    def do_budget_up(self) -> None:
        self.change(self.budget_turned(1))

    def do_budget_down(self) -> None:
        self.change(self.budget_turned(-1))

    def do_strategy(self) -> None:
        if self.strategy_knob is not None:
            self.change(self.strategy_knob.turned(self.state.settings, 1))

    def do_profile(self) -> None:
        names = [*PROFILES, *(name for name in self.state.settings.profiles if name not in PROFILES)]
        place = names.index(self.state.settings.profile) + 1
        self.change(with_profile(self.state.settings, names[place % len(names)]))

    def do_undo(self) -> None:
        if self.state.undo():
            self.settings_changed()

    def do_redo(self) -> None:
        if self.state.redo():
            self.settings_changed()
