"""Ends a command when the system or a closed terminal asks for it: temporary folders, processes and the screen are put
back first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from secateur.system.console import ENDING, end_by


class _Terminated(SystemExit):
    """A SystemExit, because an event loop passes that on."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


@contextmanager
def unwound() -> Iterator[None]:
    """A signal that asks for an end (SIGTERM, SIGHUP), where it would end the process at once, ends the block like an
    error first, then the process.

    What started the process sees it ended by that signal. A signal that is ignored (`nohup`) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _terminate)
    try:
        yield
    except _Terminated as terminated:
        signal.signal(terminated.number, signal.SIG_DFL)
        end_by(terminated.number)
        raise
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    for other in ENDING:  # a second one must not stop what the first has begun
        signal.signal(other, signal.SIG_IGN)
    raise _Terminated(number)
