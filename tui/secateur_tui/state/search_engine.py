"""The engine as the Search bench sees it: only the methods it calls, so anything that has them can be inspected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from secateur.index.update.staleness import Changes
from secateur.model import Pool, Selection
from secateur.progress import Progress
from secateur.settings import Settings
from secateur.sources.git_log import HistoryCommit


class Status(Protocol):
    """The state of the index."""

    @property
    def files(self) -> int: ...
    @property
    def fragments(self) -> int: ...
    @property
    def snapshot(self) -> str:
        """A digest of everything that was read: another one after a change."""
        ...


class SearchEngine(Protocol):
    """`secateur.engine.Engine`, as far as the Search bench needs it."""

    @property
    def source_name(self) -> str:
        """The name of what is read ("orders @ 4f2c91d"); text from outside."""
        ...

    def refresh(self, progress: Progress | None = None) -> Status:
        """Builds the index or brings it up to what is on disk. Looks at every file."""
        ...

    def status(self) -> Status:
        """Returns the state of the index, as of the last look."""
        ...

    def changes(self) -> Changes:
        """Returns what differs on disk from what was read last. Cheap; called while another thread may retrieve."""
        ...

    def retrieve(self, query: str, settings: Settings | None = None) -> Pool:
        """Returns all candidates of a query. Slow."""
        ...

    def retrieve_partial(
        self, query: str, settings: Settings | None = None, *, progress: Progress | None = None
    ) -> Pool | None:
        """Returns the candidates of the files that promise most, while most is not indexed; None where that is not
        so."""
        ...

    def select(self, pool: Pool, settings: Settings | None = None) -> Selection:
        """Decides on every candidate. Pure and fast."""
        ...

    def pack_tokens(self, selection: Selection) -> int:
        """Returns the recounted tokens of the pack, at most `selection.used + selection.last_line`. Reads the texts."""
        ...

    def changes_of(self, pool: Pool, row: int) -> Sequence[HistoryCommit]:
        """Returns the last commits that changed the file of a candidate."""
        ...

    def content(self, pool: Pool, row: int) -> str:
        """Text of a fragment; text from outside."""
        ...
