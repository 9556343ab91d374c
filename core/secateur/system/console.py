"""The signals that ask a program to end."""

from __future__ import annotations

import os
import signal
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)  # the signals by which the system, or a closed terminal, asks a program to end
AWAITED = (signal.SIGINT, *ENDING)  # the signals that an event loop can wait for


def end_by(number: int) -> None:
    """Ends this process by a signal without a handler, which its parent sees."""
    os.kill(os.getpid(), number)


def hasten_end(seconds: float) -> None:
    """Makes the system end this process so many seconds after a signal that asks for an end, even if it waits for a
    terminal that takes nothing."""
    handlers = {int(number): handler for number in ENDING if callable(handler := signal.getsignal(number))}

    def begin_end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # without Python, which a blocked write may keep from running
        signal.setitimer(signal.ITIMER_REAL, seconds)
        handlers[number](number, frame)

    for number in handlers:
        signal.signal(number, begin_end)
