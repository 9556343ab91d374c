"""A lock between processes. Waiting for it has no time limit, and Ctrl-C ends it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from secateur.progress import Progress, unreported
from secateur.system.locks import open_lock, try_lock

_LOOK_SECONDS = 0.1


@contextmanager
def hold_lock(path: Path, progress: Progress = unreported) -> Iterator[None]:
    """Holds the lock of a file, creating the file if needed; if the file system has no locks, nothing is held.
    `progress` is called while another process holds it, and may raise. Raises OSError if the file cannot be opened."""
    handle = open_lock(path)
    try:
        with suppress(OSError):
            while not try_lock(handle):
                progress("waiting for another process", 0, 0)
                time.sleep(_LOOK_SECONDS)
        yield
    finally:
        os.close(handle)
