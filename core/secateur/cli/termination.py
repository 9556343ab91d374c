"""Ends a command when the system or a closed terminal asks for it: temporary folders, processes and the screen are put
back first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_SIGNALS = tuple(number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None)


class _Terminated(SystemExit):
    """A SystemExit, because an event loop passes that on."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


@contextmanager
def unwound() -> Iterator[None]:
    """SIGTERM and SIGHUP, where they would end the process at once, end the block like an error first, then the
    process.

    What started the process sees it ended by that signal. A signal that is ignored (`nohup`) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _terminate)
    try:
        yield
    except _Terminated as terminated:
        signal.signal(terminated.number, signal.SIG_DFL)
        os.kill(os.getpid(), terminated.number)
        raise
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    for other in _SIGNALS:  # a second one must not stop what the first has begun
        signal.signal(other, signal.SIG_IGN)
    raise _Terminated(number)
