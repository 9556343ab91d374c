"""Settings with undo and redo."""

from __future__ import annotations

from dataclasses import dataclass

from secateur.settings import Settings


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
