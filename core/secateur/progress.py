"""Reports the progress of slow work, through a function that may raise to end the work."""

from collections.abc import Callable

# `progress(phase, done, total)`: the current phase ("counting"), and how many steps of how many; `total` is 0 if it is
# unknown. An exception that it raises ends the work.
Progress = Callable[[str, int, int], None]

# Phase of a first reading of a repository, the longest wait: it says that it will not come again.
FIRST = "indexing, once"


def unreported(phase: str, done: int, total: int) -> None:
    """Ignores progress."""
