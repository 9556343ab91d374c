"""Keeps things open between the tasks of a worker: an index, a session. One thing of each kind is kept.

    session = keep_open("session", root, lambda: Session(os.environ))     # closes the session of another root

The functions of tasks call `keep_open`. The worker that runs them calls `close_kept` at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar


class Closable(Protocol):
    """Something that has to be closed."""

    def close(self) -> None:
        """Closes its files."""


C = TypeVar("C", bound=Closable)

_KEPT: dict[str, tuple[Hashable, Any]] = {}


def keep_open(kind: str, of: Hashable, opening: Callable[[], C]) -> C:
    """Returns the kept thing of a kind if it was opened for the same `of`; else closes it and opens another."""
    known = _KEPT.get(kind)
    if known is None or known[0] != of:
        if known is not None:
            del _KEPT[kind]
            known[1].close()
        _KEPT[kind] = of, opening()
    thing: C = _KEPT[kind][1]
    return thing


def close_kept() -> None:
    """Closes everything that is kept."""
    while _KEPT:
        _, (_, thing) = _KEPT.popitem()
        thing.close()
