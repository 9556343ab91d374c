"""A bench with knobs: turning them, undo and redo. What a turn leads to is the bench's own business."""

from __future__ import annotations

from typing import Protocol

from secateur import config
from secateur.settings import PROFILES, Settings

from secateur_tui import knobs
from secateur_tui.benches.bench import Bench
from secateur_tui.benches.state import History
from secateur_tui.widgets.knob_panel import KnobPanel


class Turnable(Protocol):
    """State with settings that can be changed and changed back; methods return whether something changed."""

    opened: Settings
    history: History

    @property
    def settings(self) -> Settings: ...
    def change(self, settings: Settings) -> bool: ...
    def undo(self) -> bool: ...
    def redo(self) -> bool: ...


class TurningBench(Bench):
    """Does the actions of the group "Turn", undo and redo. The knobs are a `KnobPanel` with the id `knobs`."""

    state: Turnable

    def turned(self) -> None:
        """The settings are others now."""
        raise NotImplementedError

    def unavailable(self, action: str) -> str:
        if action == "undo" and not self.state.history.can_undo:
            return "nothing was changed"
        if action == "redo" and not self.state.history.can_redo:
            return "nothing was taken back"
        if action == "mute" and not self._knob.mutable:
            return f"{self._knob.label} has no 0"
        return ""

    @property
    def _knob(self) -> knobs.Knob:
        return self.query_one("#knobs", KnobPanel).chosen

    def _change(self, settings: Settings) -> None:
        if self.state.change(settings):
            self.turned()

    def do_tune_up(self) -> None:
        self._change(self._knob.turned(self.state.settings, 1))

    def do_tune_down(self) -> None:
        self._change(self._knob.turned(self.state.settings, -1))

    def do_tune_up_fine(self) -> None:
        self._change(self._knob.turned(self.state.settings, 1, fine=True))

    def do_tune_down_fine(self) -> None:
        self._change(self._knob.turned(self.state.settings, -1, fine=True))

    def do_mute(self) -> None:
        self._change(self._knob.put(self.state.settings, 0.0))

    def do_reset(self) -> None:
        self._change(self._knob.put(self.state.settings, self._knob.value(self.state.opened)))

    def do_budget_up(self) -> None:
        self._change(knobs.budget_turned(self.state.settings, 1))

    def do_budget_down(self) -> None:
        self._change(knobs.budget_turned(self.state.settings, -1))

    def do_strategy(self) -> None:
        self._change(knobs.STRATEGY.turned(self.state.settings, 1))

    def do_profile(self) -> None:
        names = [*PROFILES, *(name for name in self.state.settings.profiles if name not in PROFILES)]
        place = names.index(self.state.settings.profile) + 1
        self._change(config.with_profile(self.state.settings, names[place % len(names)]))

    def do_undo(self) -> None:
        if self.state.undo():
            self.turned()

    def do_redo(self) -> None:
        if self.state.redo():
            self.turned()
