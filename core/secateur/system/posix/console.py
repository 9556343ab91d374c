"""Signals and terminals of POSIX systems."""

from __future__ import annotations

import sys

assert sys.platform != "win32"

import os
import signal

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals by which the system, or a closed terminal, asks a program to end."""

AWAITED = (signal.SIGINT, *ENDING)
"""Signals that an event loop can wait for."""


def end_by(number: int) -> None:
    """Ends this process by a signal that nobody catches any more: whoever started it sees that."""
    os.kill(os.getpid(), number)


def understand_escapes() -> None:
    """Makes the console understand escape sequences: a terminal does."""
