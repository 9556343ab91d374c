"""Settings with undo and redo, and the files that actions wrote on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from secateur.output_files import write_output
from secateur.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that an action wrote, as it was before and after; None: there was no file."""

    path: Path
    before: str | None
    after: str | None

    @classmethod
    def by(cls, path: Path, action: Callable[[], T]) -> tuple[WrittenFile, T]:
        """Returns what an action made of a file, and what the action returned."""
        path = path.resolve()  # the user's own file may be a link
        before = _read(path)
        result = action()
        return cls(path, before, _read(path)), result

    def put(self, *, back: bool) -> bool:
        """Writes the text before the action, or after it again; returns False and writes nothing if the file changed
        since then.

        Raises:
            SecateurError: it cannot be written.
        """
        had, wanted = (self.after, self.before) if back else (self.before, self.after)
        if _read(self.path) != had:
            return False
        if wanted is None:
            self.path.unlink(missing_ok=True)
        else:
            write_output(self.path, wanted)
        return True


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None


@dataclass(slots=True)
class SettingsHistory:
    """A list of frozen settings with a place in it, for undo and redo."""

    entries: list[Settings]
    place: int = 0
    files: dict[int, WrittenFile] = field(default_factory=dict)  # by the place that the step which wrote it led to

    @property
    def present(self) -> Settings:
        return self.entries[self.place]

    @property
    def can_undo(self) -> bool:
        return self.place > 0

    @property
    def can_redo(self) -> bool:
        return self.place + 1 < len(self.entries)

    def drop(self) -> None:
        """Goes back a step and forgets it."""
        del self.entries[self.place :]
        self.place -= 1

    def push(self, settings: Settings, file: WrittenFile | None = None) -> None:
        """Adds new present settings and forgets what was undone before."""
        self.entries[self.place + 1 :] = [settings]
        self.place += 1
        self.files = {place: written for place, written in self.files.items() if place < self.place}
        if file is not None:
            self.files[self.place] = file
