"""Things that a worker opened for a task and keeps for the next one: an index, a session. One thing of each kind.

    opened = keep_open("session", root, lambda: Session(os.environ))     # closes that of another root

Functions of tasks call this, wherever they run; who runs them calls `let_go` when there is nothing left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar


class Closable(Protocol):
    """Something that is closed at the end."""

    def close(self) -> None:
        """Let go of what it holds."""


C = TypeVar("C", bound=Closable)

_KEPT: dict[str, tuple[Hashable, Any]] = {}


def keep_open(kind: str, of: Hashable, opening: Callable[[], C]) -> C:
    """The thing that was opened last of a kind, if it is `of` the same; else that is closed, and one is opened."""
    known = _KEPT.get(kind)
    if known is None or known[0] != of:
        if known is not None:
            del _KEPT[kind]
            known[1].close()
        _KEPT[kind] = of, opening()
    found: C = _KEPT[kind][1]
    return found


def let_go() -> None:
    """Close all that is kept."""
    while _KEPT:
        _, (_, thing) = _KEPT.popitem()
        thing.close()
