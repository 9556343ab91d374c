"""The face of the engine the inspector draws: just the methods it calls, so anything that has them can be inspected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from secateur.model import Pool, Selection
from secateur.settings import Settings

Progress = Callable[[str, int, int], None]
"""`(phase, done, total)`; raising from it stops the work."""


class Status(Protocol):
    """What is indexed and whether it is what is on disk now."""

    @property
    def files(self) -> int: ...
    @property
    def fragments(self) -> int: ...
    @property
    def fresh(self) -> bool: ...


class SearchEngine(Protocol):
    """`secateur.engine.Engine`, as far as the Search bench needs it."""

    @property
    def source_name(self) -> str:
        """What is read ("orders @ 4f2c91d"); text from outside."""
        ...

    def freshen(self, progress: Progress | None = None) -> Status:
        """Build or update the index. Slow."""
        ...

    def status(self) -> Status:
        """What is indexed now. May look at every file."""
        ...

    def retrieve(self, query: str, settings: Settings | None = None) -> Pool:
        """All candidates of a query. Slow."""
        ...

    def select(self, pool: Pool, settings: Settings | None = None) -> Selection:
        """Decide on every candidate. Pure and fast."""
        ...

    def content(self, pool: Pool, row: int) -> str:
        """Text of a fragment; text from outside."""
        ...

    def report(self, selection: Selection) -> dict[str, Any]:
        """The JSON of `secateur search`."""
        ...
