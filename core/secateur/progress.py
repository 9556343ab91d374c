"""How work that takes a while tells how far it has come."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is called with the name of what is being done ("reading"), and how much of it is done out of how much; a total of
    0 is not known. What it raises stops the work."""

    def __call__(self, phase: str, done: int, total: int, /) -> None: ...


def unreported(phase: str, done: int, total: int, /) -> None:
    """For work whose progress nobody follows."""
