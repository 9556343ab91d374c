"""Signals and the console of Windows."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import os
import signal

ENDING = (signal.SIGTERM, signal.SIGBREAK)
"""The signals by which the system, or a closed console, asks a program to end."""

AWAITED: tuple[signal.Signals, ...] = ()
"""The signals that an event loop can wait for. There are none here: Ctrl-C is an exception in the loop."""

_STREAMS = (-11, -12)  # standard output and error
_ESCAPES = 0x4


def end_by(number: int) -> None:
    """Ends this process with the number of the signal as its exit code."""
    os.kill(os.getpid(), number)


def understand_escapes() -> None:
    """Makes the console understand escape sequences."""
    import ctypes  # not pywin32: every command calls this, and loading a package takes time
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32")
    kernel.GetStdHandle.restype = wintypes.HANDLE
    for stream in _STREAMS:
        handle, mode = wintypes.HANDLE(kernel.GetStdHandle(stream)), wintypes.DWORD()
        if kernel.GetConsoleMode(handle, ctypes.byref(mode)):
            kernel.SetConsoleMode(handle, mode.value | _ESCAPES)


def hasten_end(seconds: float) -> None:
    """Does nothing: Windows itself ends a process whose console was closed."""
