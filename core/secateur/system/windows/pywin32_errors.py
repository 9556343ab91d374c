"""Turns errors of pywin32 into OSErrors, which the rest of the program handles."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_os_error(name: str | None = None) -> Iterator[None]:
    """Turns an error of pywin32 into the OSError of its code, such as FileNotFoundError."""
    import pywintypes

    try:
        yield
    except pywintypes.error as error:
        raise OSError(0, error.strerror, name, error.winerror) from error
