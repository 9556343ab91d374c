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
    import ctypes  # no package is imported before a command is known
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32")
    kernel.GetStdHandle.restype = wintypes.HANDLE
    for stream in _STREAMS:
        handle, mode = wintypes.HANDLE(kernel.GetStdHandle(stream)), wintypes.DWORD()
        if kernel.GetConsoleMode(handle, ctypes.byref(mode)):
            kernel.SetConsoleMode(handle, mode.value | _ESCAPES)
