"""Reports the progress of slow work: a function that is told how far it is and may raise to end the work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""`progress(phase, done, total)`: what is being done ("counting"), and how many steps of how many; `total` is 0 where
that is not known. An exception raised by it ends the work."""

FIRST = "indexing, once"
"""Phase of a first reading of a repository, the longest wait there is: it says that it will not come again."""


def unreported(phase: str, done: int, total: int) -> None:
    """Progress that nobody looks at."""
