"""Errors of pywin32, raised as the rest of the program knows them."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_os_error(name: str | None = None) -> Iterator[None]:
    """Raises an error of pywin32 as the OSError of its code: FileNotFoundError and the like."""
    import pywintypes

    try:
        yield
    except pywintypes.error as error:
        raise OSError(0, error.strerror, name, error.winerror) from error
