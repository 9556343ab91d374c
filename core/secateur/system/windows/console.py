"""Signals and the console of Windows."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import os
import signal

ENDING = (signal.SIGTERM, signal.SIGBREAK)
"""Signals by which the system, or a closed console, asks a program to end."""

AWAITED: tuple[signal.Signals, ...] = ()
"""Signals that an event loop can wait for: none; Ctrl-C is an exception in it."""

_STREAMS = (-11, -12)  # standard output and error
_ESCAPES = 0x4


def end_by(number: int) -> None:
    """Ends this process as by a signal that nobody catches any more; the exit code is its number."""
    os.kill(os.getpid(), number)


def understand_escapes() -> None:
    """Makes the console understand escape sequences, which the one of Windows does when it is asked to."""
    import ctypes
    from ctypes import wintypes

    from secateur.system.windows.api import KERNEL

    for stream in _STREAMS:
        handle, mode = KERNEL.GetStdHandle(stream), wintypes.DWORD()
        if handle and KERNEL.GetConsoleMode(handle, ctypes.byref(mode)):
            KERNEL.SetConsoleMode(handle, mode.value | _ESCAPES)
