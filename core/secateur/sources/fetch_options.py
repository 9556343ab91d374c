"""Options of a call that names a remote repository: whether to fetch it again and how much of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from msgspec import Struct, field

from secateur.progress import Progress, unreported


class FetchOptions(Struct, frozen=True):
    """Allows a call to use the network. One object serves one call, which fetches no repository twice."""

    refresh: bool = False  # fetch again what is in the cache
    shallow: bool = False  # the newest commit alone, where nothing is in the cache yet
    reporting: Callable[[], AbstractContextManager[Progress]] | None = None  # opened while something is fetched
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    refreshed: set[str] = field(default_factory=set)

    def open_progress(self) -> AbstractContextManager[Progress]:
        """Returns the progress to report to while something is fetched."""
        return self.reporting() if self.reporting is not None else nullcontext(unreported)
