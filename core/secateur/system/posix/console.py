"""Signals and terminals of POSIX systems."""

from __future__ import annotations

import sys

assert sys.platform != "win32"

import os
import signal

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""The signals by which the system, or a closed terminal, asks a program to end."""

AWAITED = (signal.SIGINT, *ENDING)
"""The signals that an event loop can wait for."""


def end_by(number: int) -> None:
    """Ends this process by a signal without a handler, which its parent sees."""
    os.kill(os.getpid(), number)


def understand_escapes() -> None:
    """Does nothing: a terminal understands escape sequences."""
