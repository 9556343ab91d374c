"""Folders of the cache that one process at a time writes: a lock beside each, and the error if it cannot be written."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from secateur.errors import RepositoryError, reason_of, shown
from secateur.progress import Progress, unreported
from secateur.system.files import open_lock, try_lock

_LOOK_SECONDS = 0.1


@contextmanager
def hold_folder(folder: Path, progress: Progress = unreported) -> Iterator[None]:
    """Lets one process at a time write a folder; all, if the file system has no locks. Raises OSError.

    Waiting has no time limit, and Ctrl-C ends it. `progress` is called meanwhile, and may raise. The file of the lock
    is never removed: two processes could then hold one lock.
    """
    handle = open_lock(folder.with_name(folder.name + ".lock"))
    try:
        with suppress(OSError):
            while not try_lock(handle):
                progress("waiting for another process", 0, 0)
                time.sleep(_LOOK_SECONDS)
        yield
    finally:
        os.close(handle)


def remove_folder(folder: Path) -> int:
    """Removes a folder and returns how many bytes its files held; 0 if there is none. Raises OSError."""
    if not folder.is_dir():
        return 0
    with hold_folder(folder):
        size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
        shutil.rmtree(folder)
    return size


def unwritable_cache(folder: Path, error: OSError) -> RepositoryError:
    """Returns the error for a folder of the cache that cannot be written."""
    hint = "Set SECATEUR_CACHE_DIR to a folder you can write to."
    return RepositoryError(f"cannot write to {shown(folder)}: {reason_of(error)}", hint=hint, code="CACHE_NOT_WRITABLE")
