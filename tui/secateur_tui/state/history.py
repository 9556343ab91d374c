"""The part that all states with knobs share: settings with undo and redo, and the baseline that an answer is compared
with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from secateur.settings import Settings, with_profile

A = TypeVar("A")


@dataclass(slots=True)
class SettingsHistory:
    """A list of frozen settings with a place in it, for undo and redo."""

    entries: list[Settings]
    place: int = 0

    @property
    def present(self) -> Settings:
        return self.entries[self.place]

    @property
    def can_undo(self) -> bool:
        return self.place > 0

    @property
    def can_redo(self) -> bool:
        return self.place + 1 < len(self.entries)

    def push(self, settings: Settings) -> None:
        """Adds new present settings and forgets what was undone before."""
        self.entries[self.place + 1 :] = [settings]
        self.place += 1


class KnobState(Generic[A]):
    """A bench's state with settings and an answer `A` to them. Subclasses are dataclasses that hold these fields;
    methods return whether something changed."""

    opened: Settings  # as the inspector was started with; `r` goes back to these values
    history: SettingsHistory
    answer: A | None
    baseline: A | None
    cursor: int  # what of the answer is looked at

    @property
    def settings(self) -> Settings:
        return self.history.present

    @property
    def changed(self) -> bool:
        """Tells whether a knob stands elsewhere than at the start, or than the profile chosen since then puts it."""
        profile = self.settings.profile
        return self.settings != (self.opened if profile == self.opened.profile else with_profile(self.opened, profile))

    def change(self, settings: Settings) -> bool:
        """Takes other settings; the first change makes the answer before it the baseline."""
        if settings == self.settings:
            return False
        self.pin_first()
        self.history.push(settings)
        return True

    def undo(self) -> bool:
        return self._step(-1, self.history.can_undo)

    def redo(self) -> bool:
        return self._step(1, self.history.can_redo)

    def _step(self, by: int, possible: bool) -> bool:
        if possible:
            self.pin_first()
            self.history.place += by
        return possible

    def pin_first(self) -> None:
        """Makes the present answer the baseline unless there is one."""
        if self.baseline is None:
            self.baseline = self.answer

    def pin_baseline(self) -> None:
        """Makes the present answer the baseline."""
        self.baseline = self.answer
