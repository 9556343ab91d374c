"""A lock between processes that is waited for as long as it takes, while Ctrl-C is still answered."""

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
def locked(path: Path, progress: Progress = unreported) -> Iterator[None]:
    """Holds the lock of a file, which is made where it is missing; where the file system knows no locks, nothing is
    held. `progress` is told while another process holds it, and may raise. Raises OSError: it cannot be opened."""
    handle = open_lock(path)
    try:
        with suppress(OSError):
            while not try_lock(handle):
                progress("waiting for another process", 0, 0)
                time.sleep(_LOOK_SECONDS)
        yield
    finally:
        os.close(handle)
