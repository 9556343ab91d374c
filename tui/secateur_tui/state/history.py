"""What every state with knobs shares: settings with undo and redo, and the baseline that the present answer is compared
with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from secateur import config
from secateur.settings import Settings

A = TypeVar("A")


@dataclass(slots=True)
class SettingsHistory:
    """Undo and redo: a list of frozen settings and a place in it."""

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
        """A new present; what was undone before is forgotten."""
        self.entries[self.place + 1 :] = [settings]
        self.place += 1


class KnobState(Generic[A]):
    """`A` is what settings lead to. Subclasses are dataclasses that hold these fields; methods return whether something
    changed."""

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
        """Whether a knob stands elsewhere than at the start, or than the profile chosen since then puts it."""
        profile = self.settings.profile
        return self.settings != (
            self.opened if profile == self.opened.profile else config.with_profile(self.opened, profile)
        )

    def change(self, settings: Settings) -> bool:
        """Other settings; the first change pins the answer before it as the baseline."""
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
        """Pin a baseline unless there is one."""
        if self.baseline is None:
            self.baseline = self.answer

    def pin_baseline(self) -> None:
        """Compare with the present answer from now on."""
        self.baseline = self.answer
